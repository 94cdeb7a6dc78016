#include "conditioning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "small_matrices.hpp"

namespace serape {
namespace {

constexpr std::size_t max_moderating_levels = 8;  // of a category
constexpr double max_condition = 1e7;             // of features' products, beyond which their factor is refined

constexpr std::uint32_t unnumbered = ~std::uint32_t{0};
constexpr std::size_t some_cells = 256;  // whose means stay in the cache

// Puts the value of each row into one of some columns.
template <class Code>
void scatter(const Code* codes, const std::uint32_t* column, const double* values, double* out) {
    for (std::size_t r = 0; r < panel_rows; ++r) {
        out[column[codes[r]] * panel_stride + r] = values[r];
    }
}

std::size_t padded(std::size_t count) {
    return (count + 15) / 16 * 16;
}

}  // namespace

void add_products(const Coordinates& one, const Coordinates& other, double times, double* out, std::size_t stride) {
    std::vector<double> sums(one.count * other.count, 0.0);
    for (std::size_t begin = 0; begin < one.length; begin += some_cells) {
        kernels().panel_products(one.values.data() + begin, one.count, other.values.data() + begin, other.count,
                                 std::min(some_cells, one.length - begin), one.length, sums.data(), other.count);
    }
    for (std::size_t i = 0; i < one.count; ++i) {
        for (std::size_t j = 0; j < other.count; ++j) {
            out[i * stride + j] += times * sums[i * other.count + j];
        }
    }
}

std::vector<std::uint32_t> indicated_levels(std::span<const double> rows, std::size_t max_levels, double min_rows) {
    std::vector<std::uint32_t> order;
    std::size_t present = 0;
    for (std::uint32_t level = 0; level < rows.size(); ++level) {
        present += rows[level] > 0.0;
        if (rows[level] > 0.0 && rows[level] >= min_rows * (1.0 - 1e-9)) {
            order.push_back(level);
        }
    }
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return rows[a] > rows[b]; });
    order.resize(std::min(order.size(), max_levels));
    // Rare levels join the most frequent one; if there is no other, they are the other.
    if (order.size() > 1 || (order.size() == 1 && present == 1)) {
        order.erase(order.begin());
    }
    return order;
}

DividedRows divide_rows(const ResidualTest& test, std::span<const std::uint32_t> categories) {
    DividedRows made{std::vector<std::uint32_t>(test.stride(), 0)};
    const std::size_t rows = test.rows(), fitting = 4 * rows + 4096;
    std::uint64_t kinds = 1;  // of cells, of which not all occur
    const auto number_by = [&](const auto& find) {
        std::uint32_t known = 0;
        for (std::size_t r = 0; r < rows; ++r) {
            std::uint32_t& found = find(r);
            made.cell[r] = found = found == unnumbered ? known++ : found;
        }
        kinds = made.count = known;
    };
    const auto number = [&] {
        std::vector<std::uint32_t> number_of(kinds, unnumbered);
        number_by([&](std::size_t r) -> std::uint32_t& { return number_of[made.cell[r]]; });
    };
    for (const std::uint32_t z : categories) {
        const std::span<const std::uint16_t> codes = test.codes(z);
        const std::uint32_t levels = test.table().levels(z);
        if (kinds * levels > fitting) {
            number();
        }
        if (kinds * levels <= fitting) {
            for (std::size_t r = 0; r < rows; ++r) {
                made.cell[r] = made.cell[r] * levels + codes[r];
            }
            kinds *= levels;
        } else {
            std::unordered_map<std::uint64_t, std::uint32_t> number_of;
            number_by([&](std::size_t r) -> std::uint32_t& {
                const std::uint64_t key = std::uint64_t{made.cell[r]} * levels + codes[r];
                return number_of.try_emplace(key, unnumbered).first->second;
            });
        }
    }
    number();
    return made;
}

Conditioning::Conditioning(const ResidualTest& test, std::span<const std::uint32_t> given) : test_(test) {
    std::vector<std::uint32_t> numbers, categories;
    std::vector<std::uint32_t> sorted(given.begin(), given.end());
    std::sort(sorted.begin(), sorted.end());  // the same bits for any order
    for (const std::uint32_t z : sorted) {
        (test.number(z) ? numbers : categories).push_back(z);
    }
    cell_rows_.assign(1, test.effective_rows());
    budget_ = test.effective_rows() / test.limits().rows_per_column;
    divide(categories);
    for (const std::uint32_t z : numbers) {
        for (std::uint32_t k = 0; k < test.scores(z).width; ++k) {
            add({Feature::Kind::score, z, k}, true);
        }
        if (test.scores(z).values > 2) {
            numbers_.push_back(z);
            polynomials_.emplace_back(test.polynomials(z, test.limits().max_degree));
        }
    }
    enrich(numbers_);
    add_pending();
    padded_features_ = padded(features_.size());
    rows_left_ = test.effective_rows() - static_cast<double>(cells() + features_.size());
    arrange();
    refine();
    moderate(numbers, categories);
}

// Numbers the cells of the categories, and adds indicators of those that do not divide the rows.
void Conditioning::divide(const std::vector<std::uint32_t>& categories) {
    const std::size_t rows = test_.rows();
    if (!categories.empty()) {
        auto [cell, count] = divide_rows(test_, categories);
        std::size_t divides = categories.size();
        if (categories.size() > 1 && static_cast<double>(count) > budget_) {
            divides = static_cast<std::size_t>(
                std::max_element(categories.begin(), categories.end(),
                                 [&](auto a, auto b) { return test_.table().levels(a) < test_.table().levels(b); }) -
                categories.begin());
            DividedRows by_one = divide_rows(test_, std::span(&categories[divides], 1));
            cell = std::move(by_one.cell);
            count = by_one.count;
        }
        divided_by_ = divides < categories.size() ? std::vector{categories[divides]} : categories;
        cell_ = std::move(cell);
        cell_rows_.assign(count, 0.0);
        for (std::size_t r = 0; r < rows; ++r) {
            cell_rows_[cell_[r]] += test_.root_weight(r) * test_.root_weight(r);
        }
        std::size_t indicated = 0;
        for (std::size_t k = 0; k < categories.size() && divides < categories.size(); ++k) {
            indicated += k == divides ? 0 : test_.table().levels(categories[k]);
        }
        roomy_ = indicated <= test_.limits().max_indicators;
        for (std::size_t k = 0; k < categories.size() && divides < categories.size() && roomy_; ++k) {
            if (k != divides) {
                const std::vector<double>& level_rows = test_.scores(categories[k]).level_rows;
                for (const std::uint32_t level : indicated_levels(level_rows, level_rows.size(), 0.0)) {
                    add({Feature::Kind::indicator, categories[k], level}, true);
                }
            }
        }
    }
    padded_cells_ = padded(cells());
    for (const double rows_of_cell : cell_rows_) {
        root_cell_rows_.push_back(std::sqrt(rows_of_cell));
    }
    of_features_ = Coordinates(0, padded_cells_);
}

// From here on the rows of a cell are side by side: what is summed by cell, and the means of cells, are then in a few
// lines of the cache, mostly of one cell. Only so many rows are arranged at a time that the values of a column are
// close to each other too. Products of features are known by now: they are shared, so they have the order of the table.
void Conditioning::arrange() {
    if (cell_.empty() || cells() < 2) {
        return;
    }
    constexpr std::size_t arranged = 64 * panel_rows;
    const std::size_t rows = test_.rows();
    std::vector<std::uint32_t> begin(cells() + 1, 0), by_cell(rows), filled((rows + arranged - 1) / arranged, 0);
    for (std::size_t r = 0; r < rows; ++r) {
        ++begin[cell_[r] + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (std::uint32_t r = 0; r < rows; ++r) {
        by_cell[begin[cell_[r]]++] = r;
    }
    row_.resize(test_.stride());
    std::iota(row_.begin() + static_cast<std::ptrdiff_t>(rows), row_.end(), static_cast<std::uint32_t>(rows));
    std::vector<std::uint32_t> cell(test_.stride());
    for (const std::uint32_t r : by_cell) {
        const std::size_t some = r / arranged, at = some * arranged + filled[some]++;
        row_[at] = r;
        cell[at] = cell_[r];
    }
    std::fill(cell.begin() + static_cast<std::ptrdiff_t>(rows), cell.end(), cell[rows - 1]);
    cell_ = std::move(cell);
    if (test_.weighted()) {
        for (auto& [from, to] :
             {std::pair(test_.root_weights(), &roots_), {test_.inverse_root_weights(), &inverses_}}) {
            to->resize(test_.stride());
            std::transform(row_.begin(), row_.end(), to->begin(), [&](auto r) { return from[r]; });
        }
    }
}

// Whether so many more features may join. Those that wait are taken to be new; if they are too many, it is found out
// which of them are.
bool Conditioning::fits(std::size_t more) {
    const auto fit = [&] {
        const std::size_t width = features_.size() + pending_.size() + more;
        const double divided = cell_.empty() ? 0.0 : static_cast<double>(cells()) - 1.0;
        return static_cast<double>(width) + divided <= budget_ &&
               width - first_width_ - first_pending_ <= test_.limits().max_width;
    };
    if (!fit() && !pending_.empty()) {
        add_pending();
    }
    return fit();
}

void Conditioning::enrich(const std::vector<std::uint32_t>& numbers) {
    const auto count = static_cast<std::uint32_t>(numbers.size());
    const auto has_degree = [&](std::uint32_t k, std::size_t degree) { return polynomials_[k].size() >= degree; };
    std::uint32_t degree = 1;
    const auto raise = [&](std::uint32_t to) {
        for (; degree < to && count > 0 && fits(count); ++degree) {
            for (std::uint32_t k = 0; k < count; ++k) {
                if (has_degree(k, degree + 1)) {
                    add({Feature::Kind::power, k, degree + 1}, false);
                }
            }
        }
    };
    const auto by_cell = [&](std::uint32_t k, std::uint32_t power) {
        const auto largest = std::max_element(cell_rows_.begin(), cell_rows_.end()) - cell_rows_.begin();
        for (std::int64_t c = 0; c < std::ssize(cell_rows_); ++c) {
            if (c != largest) {
                add({Feature::Kind::power, k, power, c}, false);
            }
        }
    };
    raise(3);
    roomy_ = roomy_ && (count == 0 || degree > 1);
    const std::size_t pairs = count * (count - std::min<std::size_t>(count, 1)) / 2;
    const std::size_t slopes = count * (cells() - 1);
    if (pairs > 0 && fits(pairs)) {
        for (std::uint32_t k = 0; k < count; ++k) {
            for (std::uint32_t j = 0; j < k; ++j) {
                add({Feature::Kind::product, k, j}, false);
            }
        }
    }
    const bool sloped = slopes > 0 && fits(slopes);
    for (std::uint32_t k = 0; k < count && sloped; ++k) {
        by_cell(k, 1);
    }
    raise(5);
    if (sloped && degree >= 3 && fits(2 * slopes)) {
        for (std::uint32_t k = 0; k < count; ++k) {
            for (const std::uint32_t power : {2, 3}) {
                if (has_degree(k, power)) {
                    by_cell(k, power);
                }
            }
        }
    }
    raise(static_cast<std::uint32_t>(test_.limits().max_degree));
}

void Conditioning::add(Feature feature, bool first) {
    pending_.push_back(feature);
    first_pending_ += first;
    if (feature.kind == Feature::Kind::power) {
        highest_ = std::max<std::size_t>(highest_, feature.b);
    }
}

// Of the features that wait, those join that the others do not explain.
void Conditioning::add_pending() {
    if (pending_.empty()) {
        return;
    }
    const std::size_t known = features_.size(), some = pending_.size();
    std::vector<double> products((known + some) * some);
    Coordinates coordinates(some, padded_cells_);
    multiply_pending(products, coordinates);
    std::vector<double> before(some);  // squared length, centred
    for (std::size_t k = 0; k < some; ++k) {
        double sum = 0.0;
        for (std::size_t c = 0; c < cells(); ++c) {
            sum += coordinates[k][c];
            coordinates[k][c] /= root_cell_rows_[c];
        }
        before[k] = products[(known + k) * some + k] - sum * sum / test_.effective_rows();
        if (const Feature& one = pending_[k]; one.kind == Feature::Kind::power && one.cell < 0 && one.b > 1) {
            before[k] *= polynomials_[one.a][one.b - 1].before;
        }
    }
    add_products(of_features_, coordinates, -1.0, products.data(), some);
    add_products(coordinates, coordinates, -1.0, products.data() + known * some, some);
    // The factor grows by a row for each feature that joins; `joined` are their rows of the products.
    std::vector<std::size_t> joined(known);
    std::iota(joined.begin(), joined.end(), std::size_t{0});
    std::vector<std::vector<double>> factor;
    for (std::size_t k = 0; k < known; ++k) {
        factor.emplace_back(root_.begin() + static_cast<std::ptrdiff_t>(k * known),
                            root_.begin() + static_cast<std::ptrdiff_t>(k * known + k + 1));
    }
    std::vector<double> kept(of_features_.values.begin(), of_features_.values.end());
    for (std::size_t k = 0; k < some; ++k) {
        std::vector<double> row(joined.size() + 1);
        double rest = products[(known + k) * some + k];
        for (std::size_t i = 0; i < joined.size(); ++i) {
            double value = products[joined[i] * some + k];
            for (std::size_t j = 0; j < i; ++j) {
                value -= factor[i][j] * row[j];
            }
            row[i] = value / factor[i][i];
            rest -= row[i] * row[i];
        }
        if (rest > test_.limits().least_new * before[k]) {
            row.back() = std::sqrt(rest);
            factor.push_back(std::move(row));
            joined.push_back(known + k);
            features_.push_back(pending_[k]);
            first_width_ += k < first_pending_;
            kept.insert(kept.end(), coordinates[k], coordinates[k] + padded_cells_);
        }
    }
    pending_.clear();
    first_pending_ = 0;
    sparse_ = sparse_among(features_);
    const std::size_t width = features_.size();
    root_.assign(width * width, 0.0);
    for (std::size_t k = 0; k < width; ++k) {
        std::copy(factor[k].begin(), factor[k].end(), root_.begin() + static_cast<std::ptrdiff_t>(k * width));
    }
    of_features_ = Coordinates(width, padded_cells_);
    std::copy(kept.begin(), kept.end(), of_features_.values.begin());
}

FeatureKey Conditioning::key(const Feature& feature) const {
    const auto kind = static_cast<std::uint32_t>(feature.kind);
    switch (feature.kind) {
        case Feature::Kind::power: return {kind, numbers_[feature.a], feature.b, feature.cell};
        case Feature::Kind::product: return {kind, numbers_[feature.a], numbers_[feature.b], feature.cell};
        default: return {kind, feature.a, feature.b, feature.cell};
    }
}

void Conditioning::multiply_pending(std::vector<double>& products, Coordinates& sums) {
    const std::size_t known = features_.size(), some = pending_.size(), all = known + some;
    std::vector<Feature> both(features_);
    both.insert(both.end(), pending_.begin(), pending_.end());
    std::vector<FeatureKey> keys;
    std::transform(both.begin(), both.end(), std::back_inserter(keys), [&](const auto& one) { return key(one); });
    test_.feature_products().find(keys, some, divided_by_, padded_cells_, products.data(), sums[0]);
    // Of those of which products are missing, the ones that miss most, until all that is missing is one of theirs.
    std::vector<std::size_t> missing(all, 0);
    const auto lacks = [&](std::size_t i, std::size_t j) {  // of two features of which one waits, at least
        return j >= known ? std::isnan(products[i * some + j - known])
                          : i >= known && std::isnan(products[j * some + i - known]);
    };
    for (std::size_t i = 0; i < all; ++i) {
        for (std::size_t j = 0; j < all; ++j) {
            missing[i] += lacks(i, j);
        }
    }
    std::vector<std::size_t> order;  // those first, then what they and sums are made with
    std::vector<std::uint8_t> chosen(all, 0);
    while (true) {
        const auto most = static_cast<std::size_t>(std::max_element(missing.begin(), missing.end()) - missing.begin());
        if (missing[most] == 0) {
            break;
        }
        order.push_back(most);
        chosen[most] = 1;
        missing[most] = 0;
        for (std::size_t i = 0; i < all; ++i) {
            missing[i] -= chosen[i] == 0 && lacks(i, most);
        }
    }
    const std::size_t many = order.size();
    for (std::size_t i = 0; i < all; ++i) {
        const bool lacks_sums = i >= known && std::isnan(sums[i - known][0]);
        const bool is_needed = std::any_of(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(many),
                                           [&](auto m) { return lacks(i, m); });
        if (chosen[i] == 0 && (lacks_sums || is_needed)) {
            order.push_back(i);
        }
    }
    if (order.empty()) {
        return;
    }
    std::vector<Feature> which;
    std::vector<FeatureKey> made_keys;
    for (const std::size_t i : order) {
        which.push_back(both[i]);
        made_keys.push_back(keys[i]);
    }
    const std::vector<OneOfRow> sparse = sparse_among(which);
    std::vector<double> made_products(many * which.size(), 0.0);
    Coordinates made_sums(which.size(), padded_cells_);
    Panel powers, made;
    for (std::size_t begin = 0; begin < test_.stride(); begin += panel_rows) {
        make(begin, which, sparse, powers, made);
        for (std::size_t first = 0; first < many; first += 8) {  // the upper half, and what lies beside it
            const std::size_t count = std::min<std::size_t>(many - first, 8);
            add_products(made[first], count, made[first], which.size() - first,
                         made_products.data() + first * which.size() + first, which.size());
        }
        add_cell_sums(begin, made[0], which.size(), made_sums[0]);
    }
    for (std::size_t m = 0; m < many; ++m) {
        for (std::size_t i = 0; i < m / 8 * 8; ++i) {
            made_products[m * which.size() + i] = made_products[i * which.size() + m];
        }
    }
    for (std::size_t m = 0; m < many; ++m) {
        for (std::size_t i = 0; i < which.size(); ++i) {
            const double value = made_products[m * which.size() + i];
            if (order[m] >= known) {
                products[order[i] * some + order[m] - known] = value;
            }
            if (order[i] >= known) {
                products[order[m] * some + order[i] - known] = value;
            }
        }
    }
    for (std::size_t i = 0; i < which.size(); ++i) {
        if (order[i] >= known) {
            std::copy_n(made_sums[i], padded_cells_, sums[order[i] - known]);
        }
    }
    test_.feature_products().keep(made_keys, many, divided_by_, padded_cells_, made_products.data(), made_sums[0]);
}

void Conditioning::make_features(std::size_t begin, Panel& powers, Panel& out) const {
    make(begin, features_, sparse_, powers, out);
}

void Conditioning::make(std::size_t begin, std::span<const Feature> which, std::span<const OneOfRow> sparse,
                        Panel& powers, Panel& out) const {
    // Scores of mean square 1, and their polynomials, orthonormal over the rows.
    powers.resize(numbers_.size() * highest_);
    const double scale = std::sqrt(test_.effective_rows());
    const double* const root = roots() + begin;
    const double* const inverse = inverse_roots() + begin;
    std::array<double, panel_rows> buffer;
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
        double* const first = powers[k * highest_];
        const double* const scores = in_rows(test_.scores(numbers_[k]).columns.data(), begin, buffer);
        for (std::size_t r = 0; r < panel_rows; ++r) {
            first[r] = scores[r] * scale * inverse[r];
        }
        const std::span<const ResidualTest::Polynomial> polynomials = polynomials_[k];
        for (std::size_t degree = 1; degree < std::min(highest_, polynomials.size()); ++degree) {
            const ResidualTest::Polynomial& made = polynomials[degree];
            const double* const last = powers[k * highest_ + degree - 1];
            const double* const before = degree > 1 ? powers[k * highest_ + degree - 2] : constant_panel.data();
            kernels().next_polynomial(first, last, before, made.shift, made.back, made.scale, panel_rows,
                                      powers[k * highest_ + degree]);
        }
    }
    out.resize(which.size() + 1);  // the last for rows without a value
    for (std::size_t k = 0; k < which.size(); ++k) {
        const Feature& feature = which[k];
        double* const column = out[k];
        if (feature.is_sparse()) {
            std::fill_n(column, panel_rows, 0.0);
            continue;
        }
        switch (feature.kind) {
            case Feature::Kind::indicator: break;  // sparse
            case Feature::Kind::score: {
                const double* const all = test_.scores(feature.a).columns.data() + feature.b * test_.stride();
                const double* const scores = in_rows(all, begin, buffer);
                for (std::size_t r = 0; r < panel_rows; ++r) {
                    column[r] = scores[r] * scale;
                }
                break;
            }
            case Feature::Kind::power: {
                kernels().multiply(powers[feature.a * highest_ + feature.b - 1], root, panel_rows, column);
                break;
            }
            case Feature::Kind::product: {
                kernels().multiply(powers[feature.a * highest_], powers[feature.b * highest_], panel_rows, column);
                kernels().multiply(column, root, panel_rows, column);
                break;
            }
        }
    }
    for (const OneOfRow& some : sparse) {
        if (!some.by_cell) {
            std::array<std::uint16_t, panel_rows> codes;
            scatter(in_rows(test_.codes(some.of).data(), begin, codes), some.feature.data(), root, out[0]);
            continue;
        }
        const double* const score = powers[some.of * highest_];
        std::array<double, panel_rows> values;
        for (std::size_t r = 0; r < panel_rows; ++r) {
            const double z = score[r];
            const double value = some.degree == 1   ? z
                                 : some.degree == 2 ? (z * z - 1.0) / std::sqrt(2.0)
                                                    : z * (z * z - 3.0) / std::sqrt(6.0);
            values[r] = value * root[r];
        }
        scatter(cell_.data() + begin, some.feature.data(), values.data(), out[0]);
    }
}

std::vector<Conditioning::OneOfRow> Conditioning::sparse_among(std::span<const Feature> which) const {
    const auto none = static_cast<std::uint32_t>(which.size());
    std::vector<OneOfRow> found;
    for (std::uint32_t k = 0; k < none; ++k) {
        const Feature& one = which[k];
        if (!one.is_sparse()) {
            continue;
        }
        const bool by_cell = one.cell >= 0;
        const std::uint32_t degree = by_cell ? one.b : 0;
        if (found.empty() || found.back().by_cell != by_cell || found.back().of != one.a ||
            found.back().degree != degree) {
            const std::size_t kinds = by_cell ? cells() : test_.table().levels(one.a);
            found.push_back({by_cell, one.a, degree, std::vector<std::uint32_t>(kinds, none)});
        }
        found.back().feature[by_cell ? static_cast<std::size_t>(one.cell) : one.b] = k;
    }
    return found;
}

void Conditioning::add_cell_sums(std::size_t begin, const double* columns, std::size_t count, double* sums) const {
    const double* const root = roots() + begin;
    if (cell_.empty() || (!row_.empty() && cell_[begin] == cell_[begin + panel_rows - 1])) {
        kernels().panel_products(columns, count, root, 1, panel_rows, panel_stride, sums + cell(begin), padded_cells_);
        return;
    }
    const auto add = row_.empty() ? kernels().panel_cell_sums : kernels().panel_run_sums;
    add(cell_.data() + begin, root, columns, count, panel_rows, panel_stride, sums, padded_cells_);
}

double Conditioning::mean_part(const double* coordinates) const {
    double sum = 0.0;
    for (std::size_t c = 0; c < cells(); ++c) {
        sum += coordinates[c] * root_cell_rows_[c];
    }
    return sum / std::sqrt(test_.effective_rows());
}

void Conditioning::add_constant(double constant, double* coordinates) const {
    for (std::size_t c = 0; c < cells(); ++c) {
        coordinates[c] += constant * root_cell_rows_[c];
    }
}

Fit Conditioning::fit(const Coordinates& coordinates) const {
    const std::size_t width = features_.size(), count = coordinates.count;
    Fit made{count, std::vector<double>(width * count), LineVector<double>(count * padded_cells_, 0.0)};
    for (std::size_t i = width; i-- > 0;) {
        double* const own = made.factors.data() + i * count;
        for (std::size_t j = 0; j < count; ++j) {
            own[j] = coordinates[j][padded_cells_ + i];
        }
        for (std::size_t k = i + 1; k < width; ++k) {
            const double factor = root_[k * width + i];
            const double* const other = made.factors.data() + k * count;
            for (std::size_t j = 0; j < count; ++j) {
                own[j] -= factor * other[j];
            }
        }
        for (std::size_t j = 0; j < count; ++j) {
            own[j] /= root_[i * width + i];
        }
    }
    for (std::size_t j = 0; j < count; ++j) {
        std::copy_n(coordinates[j], cells(), made.means.data() + j * padded_cells_);
    }
    for (std::size_t begin = 0; begin < padded_cells_; begin += some_cells) {
        kernels().panel_subtract(made.means.data() + begin, count, of_features_.values.data() + begin, width,
                                 made.factors.data(), count, std::min(some_cells, padded_cells_ - begin),
                                 padded_cells_);
    }
    for (std::size_t j = 0; j < count; ++j) {
        for (std::size_t c = 0; c < cells(); ++c) {
            made.means[j * padded_cells_ + c] /= root_cell_rows_[c];
        }
    }
    return made;
}

void Conditioning::subtract(const Fit& fit, std::size_t begin, const Panel& features, double* columns) const {
    subtract_products(columns, fit.count, features[0], features_.size(), fit.factors.data(), fit.count);
    subtract_means(fit.means.data(), fit.count, begin, columns);
}

void Conditioning::subtract_means(const double* means, std::size_t count, std::size_t begin, double* columns) const {
    const double* const root = roots() + begin;
    const std::size_t first = cell(begin), last = cell(begin + panel_rows - 1);
    if (!cell_.empty() && (row_.empty() || first != last)) {
        const std::size_t from = row_.empty() ? 0 : std::min(first, padded_cells_ - 16);
        kernels().panel_subtract_means(columns, count, cell_.data() + begin, from, row_.empty() ? cells() : last + 1,
                                       means, padded_cells_, root, panel_rows, panel_stride);
        return;
    }
    for (std::size_t j = 0; j < count; ++j) {
        const double mean = means[j * padded_cells_ + first];
        double* const column = columns + j * panel_stride;
        for (std::size_t r = 0; r < panel_rows; ++r) {
            column[r] -= mean * root[r];
        }
    }
}

void Conditioning::moderate(const std::vector<std::uint32_t>& numbers, const std::vector<std::uint32_t>& categories) {
    const double rows = test_.effective_rows();
    for (const std::uint32_t z : categories) {
        const std::vector<double>& level_rows = test_.scores(z).level_rows;
        for (const std::uint32_t level :
             indicated_levels(level_rows, max_moderating_levels, test_.limits().rows_per_product)) {
            const double mean = level_rows[level] / rows;
            moderators_.push_back({z, level, mean, 1.0 / std::sqrt(mean * (1.0 - mean))});
        }
    }
    for (const std::uint32_t z : numbers) {
        if (test_.scores(z).values > 1) {
            moderators_.push_back({z, 0, 0.0, std::sqrt(rows)});
        }
    }
    if (moderators_.size() > test_.limits().max_curved) {  // no question has so many products
        moderators_.clear();
    }
}

void Conditioning::make_moderators(std::size_t begin, Panel& out) const {
    out.resize(moderators_.size());
    const double* const inverse = inverse_roots() + begin;
    for (std::size_t k = 0; k < moderators_.size(); ++k) {
        const Moderator& one = moderators_[k];
        double* const column = out[k];
        if (test_.number(one.column)) {
            std::array<double, panel_rows> buffer;
            const double* const scores = in_rows(test_.scores(one.column).columns.data(), begin, buffer);
            for (std::size_t r = 0; r < panel_rows; ++r) {
                column[r] = scores[r] * inverse[r] * one.scale;
            }
        } else {
            std::array<std::uint16_t, panel_rows> buffer;
            const std::uint16_t* const codes = in_rows(test_.codes(one.column).data(), begin, buffer);
            for (std::size_t r = 0; r < panel_rows; ++r) {
                column[r] = ((codes[r] == one.level ? 1.0 : 0.0) - one.mean) * one.scale;
            }
        }
    }
}

Fit Conditioning::basis() const {
    const std::size_t width = features_.size();
    Coordinates unit(width, length());
    for (std::size_t k = 0; k < width; ++k) {
        unit[k][padded_cells_ + k] = 1.0;
    }
    return fit(unit);
}

// Calls body(first, count, columns) with a few columns of the basis after the other.
template <class Body>
void Conditioning::each_basis(const Fit& basis, std::size_t begin, const Panel& features, Panel& out,
                              const Body& body) const {
    const std::size_t width = features_.size();
    constexpr std::size_t some = 8;
    for (std::size_t first = 0; first < width; first += some) {
        const std::size_t end = std::min(first + some, width), count = end - first;
        double* const columns = out[first];
        std::fill_n(columns, count * panel_stride, 0.0);
        // Each is made of the features up to it.
        subtract_products(columns, count, features[0], end, basis.factors.data() + first, width);
        subtract_means(basis.means.data() + first * padded_cells_, count, begin, columns);
        body(first, count, columns);
    }
}

// Where features are nearly combinations of others, the factor has lost digits: the basis that it makes is not quite
// orthonormal, and the factor of its products mends it (Fukaya et al. 2014).
void Conditioning::refine() {
    const std::size_t width = features_.size();
    Fit first = basis();
    double most = 0.0;
    for (std::size_t j = 0; j < width; ++j) {
        double sum = 0.0;
        for (std::size_t i = 0; i <= j; ++i) {
            sum += first.factors[i * width + j] * first.factors[i * width + j];
        }
        most = std::max(most, sum * test_.effective_rows());  // the features have a mean square of about 1
    }
    if (most < max_condition) {
        basis_ = std::make_unique<Fit>(std::move(first));
        return;
    }
    Panel powers, features, vectors;
    vectors.resize(width);
    std::vector<double> products(width * width, 0.0);
    for (std::size_t begin = 0; begin < test_.stride(); begin += panel_rows) {
        make_features(begin, powers, features);
        each_basis(first, begin, features, vectors, [&](std::size_t at, std::size_t count, const double* columns) {
            add_products(columns, count, vectors[0], at + count, products.data() + at * width, width);  // lower half
        });
    }
    factorise(products, width, 0.0);
    std::vector<double> refined(width * width, 0.0);
    for (std::size_t i = 0; i < width; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            for (std::size_t k = j; k <= i; ++k) {
                refined[i * width + j] += root_[i * width + k] * products[k * width + j];
            }
        }
    }
    root_ = std::move(refined);
    basis_ = std::make_unique<Fit>(basis());
}

void Conditioning::weigh(std::size_t begin, const Panel& features) {
    root_weights_.resize(test_.stride(), 0.0);
    double* const explained = root_weights_.data() + begin;
    const double* const root = roots() + begin;
    const std::size_t size = begin < test_.rows() ? std::min(panel_rows, test_.rows() - begin) : 0;
    for (std::size_t r = 0; r < size; ++r) {
        explained[r] = root[r] * root[r] / cell_rows_[cell(begin + r)];
    }
    vectors_.resize(features_.size());
    each_basis(*basis_, begin, features, vectors_, [&](std::size_t, std::size_t count, const double* columns) {
        kernels().panel_add_squares(columns, count, panel_rows, panel_stride, explained);
    });
    for (std::size_t r = 0; r < size; ++r) {
        const double copies = test_.copies(row_.empty() ? begin + r : row_[begin + r]);
        const double left = 1.0 - explained[r] / copies;
        explained[r] = left > 1e-9 ? std::sqrt(1.0 / (left * copies)) : 0.0;
    }
    if (moderators_.empty()) {
        return;
    }
    make_moderators(begin, moderated_);
    alignas(64) std::array<double, panel_rows> squares{};
    kernels().panel_add_squares(moderated_[0], moderators_.size(), panel_rows, panel_stride, squares.data());
    for (std::size_t r = 0; r < size; ++r) {
        moderators_fourth_ += squares[r] * squares[r] * root[r] * root[r];
    }
}

void Conditioning::end_weighing() {
    moderators_fourth_ /= test_.effective_rows();
    basis_.reset();
    vectors_ = moderated_ = Panel();
    is_weighed_ = true;
}

std::size_t Conditioning::bytes() const {
    return (test_.stride() + root_.size() + of_features_.values.size()) * sizeof(double) +
           (cell_.size() + row_.size()) * sizeof(std::uint32_t) + (roots_.size() + inverses_.size()) * sizeof(double);
}

void Sums::add(std::size_t begin, const Panel& features, const double* columns) {
    add_products(features[0], given_.features(), columns, count_, cross_.data(), count_);
    given_.add_cell_sums(begin, columns, count_, by_cell_.data());
}

Coordinates Sums::coordinates() const {
    const std::size_t width = given_.features(), cells = given_.padded_cells_;
    Coordinates by_cell(count_, cells), made(count_, given_.length());
    for (std::size_t j = 0; j < count_; ++j) {
        for (std::size_t c = 0; c < given_.cells(); ++c) {
            by_cell[j][c] = made[j][c] = by_cell_[j * cells + c] / given_.root_cell_rows_[c];
        }
    }
    std::vector<double> left(cross_);
    add_products(given_.of_features_, by_cell, -1.0, left.data(), count_);
    for (std::size_t i = 0; i < width; ++i) {
        double* const own = left.data() + i * count_;
        const double* const row = given_.root_.data() + i * width;
        for (std::size_t k = 0; k < i; ++k) {
            const double* const other = left.data() + k * count_;
            for (std::size_t j = 0; j < count_; ++j) {
                own[j] -= row[k] * other[j];
            }
        }
        for (std::size_t j = 0; j < count_; ++j) {
            own[j] /= row[i];
            made[j][cells + i] = own[j];
        }
    }
    return made;
}

}  // namespace serape
