#include "conditioning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "columns_algebra.hpp"

namespace serape {
namespace {

constexpr std::size_t max_moderating_levels = 8;  // of a category
constexpr std::size_t side_by_side = 16;          // columns that are orthogonalised together

double squared_length(const double* column, std::size_t stride) {
    double value = 0.0;
    kernels().dots(column, &column, 1, stride, &value);
    return value;
}

}  // namespace

std::vector<std::uint32_t> indicated_levels(const ResidualTest& test, std::span<const std::uint16_t> codes,
                                            std::uint32_t levels, std::size_t max_levels, double min_rows) {
    std::vector<double> rows(levels, 0.0);
    for (std::size_t r = 0; r < codes.size(); ++r) {
        rows[codes[r]] += test.root_weight(r) * test.root_weight(r);
    }
    std::vector<std::uint32_t> order;
    std::size_t present = 0;
    for (std::uint32_t level = 0; level < levels; ++level) {
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

std::vector<LineVector<double>> indicators(const ResidualTest& test, std::span<const std::uint16_t> codes,
                                           std::span<const std::uint32_t> indicated) {
    std::vector<LineVector<double>> made;
    for (const std::uint32_t level : indicated) {
        LineVector<double>& column = made.emplace_back(test.stride(), 0.0);
        for (std::size_t r = 0; r < codes.size(); ++r) {
            column[r] = codes[r] == level ? test.root_weight(r) : 0.0;
        }
        test.centre(column.data());
        scale(column, 1.0 / std::sqrt(dot(column, column)));
    }
    return made;
}

Conditioning::Conditioning(const ResidualTest& test, std::span<const std::uint32_t> given) : test_(test) {
    std::vector<std::uint32_t> numbers, categories;
    std::vector<std::uint32_t> sorted(given.begin(), given.end());
    std::sort(sorted.begin(), sorted.end());  // the same bits for any order
    for (const std::uint32_t z : sorted) {
        (test.number(z) ? numbers : categories).push_back(z);
    }
    const double rows = test.effective_rows();
    const double budget = rows / test.limits().rows_per_column;
    divide(categories);
    for (const std::uint32_t z : numbers) {
        const ResidualTest::Scores& scores = test.scores(z);
        for (std::size_t k = 0; k < scores.width; ++k) {
            const double* column = scores.columns.data() + k * test.stride();
            add(Column(column, column + test.stride()));
        }
        if (scores.values > 1) {
            moderate(scores.columns.data());
        }
    }
    first_width_ = basis_.size();
    enrich(numbers, budget);
    rows_left_ = rows - static_cast<double>(std::max<std::size_t>(cell_rows_.size(), 1) + basis_.size());
    weigh();
}

// Numbers the cells of the categories, and adds indicators of those that do not divide the rows.
void Conditioning::divide(const std::vector<std::uint32_t>& categories) {
    if (categories.empty()) {
        return;
    }
    const std::size_t rows = test_.rows();
    std::vector<std::vector<std::uint16_t>> codes;
    for (const std::uint32_t z : categories) {
        codes.push_back(test_.codes(z));
        const auto frequent = indicated_levels(test_, codes.back(), test_.table().levels(z), max_moderating_levels,
                                               test_.limits().rows_per_product);
        for (const Column& column : indicators(test_, codes.back(), frequent)) {
            moderate(column.data());
        }
    }
    const auto number = [&](std::span<const std::size_t> which) {
        std::vector<std::uint32_t> cell(rows, 0);
        std::size_t count = 1;
        for (const std::size_t k : which) {
            std::unordered_map<std::uint64_t, std::uint32_t> known;
            for (std::size_t r = 0; r < rows; ++r) {
                const std::uint64_t key = std::uint64_t{cell[r]} << 16 | codes[k][r];
                cell[r] = known.try_emplace(key, static_cast<std::uint32_t>(known.size())).first->second;
            }
            count = known.size();
        }
        return std::pair(std::move(cell), count);
    };
    std::vector<std::size_t> all(categories.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    auto [cell, count] = number(all);
    std::size_t divides = categories.size();
    if (categories.size() > 1 && static_cast<double>(count) > test_.effective_rows() / test_.limits().rows_per_column) {
        divides = static_cast<std::size_t>(
            std::max_element(categories.begin(), categories.end(),
                             [&](auto a, auto b) { return test_.table().levels(a) < test_.table().levels(b); }) -
            categories.begin());
        std::tie(cell, count) = number(std::span(&divides, 1));
    }
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
            const std::uint32_t levels = test_.table().levels(categories[k]);
            auto made = indicators(test_, codes[k], indicated_levels(test_, codes[k], levels, levels, 0.0));
            add_all(made);
        }
    }
}

void Conditioning::enrich(const std::vector<std::uint32_t>& all_numbers, double budget) {
    const std::size_t rows = test_.rows();
    const ResidualLimits& limits = test_.limits();
    std::vector<std::uint32_t> numbers;
    for (const std::uint32_t z : all_numbers) {
        if (test_.scores(z).values > 2) {
            numbers.push_back(z);
        }
    }
    const std::size_t cells = cell_rows_.size();
    const auto fits = [&](std::size_t more) {
        const std::size_t width = basis_.size() + more;
        return static_cast<double>(width + cells) <= budget + (cells > 0 ? 1.0 : 0.0) &&
               width - first_width_ <= limits.max_width;
    };
    // Hermite polynomials of the scores, normalised: h_{d+1} = (z h_d − √d h_{d−1}) / √(d+1).
    std::vector<Column> first, last, before;
    for (const std::uint32_t z : numbers) {
        first.push_back(scaled(test_.scores(z).columns.data()));
        last.push_back(first.back());
        before.emplace_back(test_.stride(), 1.0);
    }
    std::size_t degree = 1;
    std::vector<std::vector<Column>> powers(numbers.size());  // of degrees 2 and 3
    const auto raise = [&](std::size_t to) {
        for (; degree < to && !numbers.empty(); ++degree) {
            if (!fits(numbers.size())) {
                return;
            }
            const double d = static_cast<double>(degree);
            std::vector<Column> made;
            for (std::size_t k = 0; k < numbers.size(); ++k) {
                Column next(test_.stride(), 0.0);
                for (std::size_t r = 0; r < rows; ++r) {
                    next[r] = (first[k][r] * last[k][r] - std::sqrt(d) * before[k][r]) / std::sqrt(d + 1.0);
                }
                before[k] = std::exchange(last[k], next);
                if (test_.scores(numbers[k]).values > degree + 1) {
                    if (degree < 3) {
                        powers[k].push_back(next);
                    }
                    made.push_back(weighted(std::move(next)));
                }
            }
            add_all(made);
        }
    };
    const auto by_cell = [&](const Column& column) {
        const auto largest = std::max_element(cell_rows_.begin(), cell_rows_.end()) - cell_rows_.begin();
        std::vector<Column> made;
        for (std::size_t c = 0; c < cells; ++c) {
            if (static_cast<std::ptrdiff_t>(c) == largest) {
                continue;
            }
            Column& part = made.emplace_back(test_.stride(), 0.0);
            for (std::size_t r = 0; r < rows; ++r) {
                part[r] = cell_[r] == c ? column[r] : 0.0;
            }
            part = weighted(std::move(part));
        }
        add_all(made);
    };
    raise(3);
    roomy_ = roomy_ && (numbers.empty() || degree > 1);
    const std::size_t pairs = numbers.size() * (numbers.size() - std::min<std::size_t>(numbers.size(), 1)) / 2;
    const std::size_t slopes = cells > 1 ? numbers.size() * (cells - 1) : 0;
    if (pairs > 0 && fits(pairs)) {
        std::vector<Column> made;
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            for (std::size_t j = 0; j < k; ++j) {
                Column& product = made.emplace_back(test_.stride(), 0.0);
                for (std::size_t r = 0; r < rows; ++r) {
                    product[r] = first[k][r] * first[j][r];
                }
                product = weighted(std::move(product));
            }
        }
        add_all(made);
    }
    const bool sloped = slopes > 0 && fits(slopes);
    for (std::size_t k = 0; k < numbers.size() && sloped; ++k) {
        by_cell(first[k]);
    }
    raise(5);
    if (sloped && degree >= 3 && fits(2 * slopes)) {
        for (const std::vector<Column>& curves : powers) {
            for (const Column& curve : curves) {
                by_cell(curve);
            }
        }
    }
    raise(limits.max_degree);
}

// Scores as they are without weights, of mean square 1.
Conditioning::Column Conditioning::scaled(const double* scores) const {
    Column made(scores, scores + test_.stride());
    const double scale = std::sqrt(test_.effective_rows());
    for (std::size_t r = 0; r < test_.rows(); ++r) {
        made[r] *= scale / test_.root_weight(r);
    }
    return made;
}

Conditioning::Column Conditioning::weighted(Column column) const {
    for (std::size_t r = 0; r < test_.rows(); ++r) {
        column[r] *= test_.root_weight(r);
    }
    return column;
}

void Conditioning::moderate(const double* scores) {
    moderators_.push_back(scaled(scores));
}

void Conditioning::take_means_out(double* column) const {
    if (cell_.empty()) {
        return;
    }
    std::vector<double> sums(cell_rows_.size(), 0.0);
    for (std::size_t r = 0; r < cell_.size(); ++r) {
        sums[cell_[r]] += column[r] * test_.root_weight(r);
    }
    for (std::size_t c = 0; c < sums.size(); ++c) {
        sums[c] /= cell_rows_[c];
    }
    for (std::size_t r = 0; r < cell_.size(); ++r) {
        column[r] -= sums[cell_[r]] * test_.root_weight(r);
    }
}

double Conditioning::take_out(double* column) const {
    take_out(std::span(&column, 1));
    return squared_length(column, test_.stride());
}

void Conditioning::take_out(std::span<double* const> columns) const {
    for (double* column : columns) {
        take_means_out(column);
    }
    take_vectors_out(vectors_, columns, columns, test_.stride());
}

void Conditioning::add_all(std::span<Column> columns) {
    // As one after another: products with the vectors that join the basis here are taken of the columns as they were.
    for (std::size_t begin = 0; begin < columns.size(); begin += side_by_side) {
        const std::size_t known = vectors_.size();
        const auto some = columns.subspan(begin, std::min(side_by_side, columns.size() - begin));
        std::vector<double*> left;
        std::vector<double> before;
        for (Column& column : some) {
            test_.centre(column.data());
            before.push_back(squared_length(column.data(), test_.stride()));
            take_means_out(column.data());
            left.push_back(column.data());
        }
        const std::vector<Column> as_they_were(some.begin() + std::min<std::ptrdiff_t>(1, std::ssize(some)),
                                               some.end());
        take_vectors_out(vectors_, left, left, test_.stride());
        for (std::size_t k = 0; k < some.size(); ++k) {
            if (vectors_.size() > known) {
                const double* const was = as_they_were[k - 1].data();
                take_vectors_out(std::span(vectors_).subspan(known), {&was, 1}, {&left[k], 1}, test_.stride());
            }
            double rest = squared_length(left[k], test_.stride());
            if (rest < 0.01 * before[k]) {
                rest = take_out(left[k]);  // again, as rounding weighs more
            }
            if (rest > test_.limits().least_new * before[k]) {
                scale(some[k], 1.0 / std::sqrt(rest));
                basis_.push_back(std::move(some[k]));
                vectors_.push_back(basis_.back().data());
            }
        }
    }
}

void Conditioning::weigh() {
    const std::size_t rows = test_.rows();
    root_weights_.assign(test_.stride(), 0.0);
    for (std::size_t r = 0; r < rows; ++r) {
        const double root = test_.root_weight(r);
        root_weights_[r] = root * root / (cell_.empty() ? test_.effective_rows() : cell_rows_[cell_[r]]);
    }
    for (const double* vector : vectors_) {
        for (std::size_t r = 0; r < rows; ++r) {
            root_weights_[r] += vector[r] * vector[r];
        }
    }
    for (std::size_t r = 0; r < rows; ++r) {
        const double copies = test_.copies(r);
        const double left = 1.0 - root_weights_[r] / copies;
        root_weights_[r] = left > 1e-9 ? std::sqrt(1.0 / (left * copies)) : 0.0;
    }
}

std::vector<double> Conditioning::left_of_levels(std::span<const std::uint16_t> level, std::size_t count) const {
    std::vector<double> left(count * count, 0.0);
    const auto explain = [&](const std::vector<double>& sums, double scale) {
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t j = 0; j <= i && sums[i] != 0.0; ++j) {
                left[i * count + j] -= sums[i] * sums[j] * scale;
            }
        }
    };
    std::vector<double> sums(count + 1);
    const auto add_row = [&](std::size_t r) { sums[level[r]] += test_.root_weight(r) * test_.root_weight(r); };
    for (std::size_t r = 0; r < level.size(); ++r) {
        add_row(r);
    }
    for (std::size_t i = 0; i < count; ++i) {
        left[i * count + i] = sums[i];
    }
    if (cell_.empty()) {
        explain(sums, 1.0 / test_.effective_rows());
    } else {
        std::vector<std::uint32_t> order(level.size());
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return cell_[a] < cell_[b]; });
        for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
            std::fill(sums.begin(), sums.end(), 0.0);
            const std::uint32_t cell = cell_[order[begin]];
            for (; end < order.size() && cell_[order[end]] == cell; ++end) {
                add_row(order[end]);
            }
            explain(sums, 1.0 / cell_rows_[cell]);
        }
    }
    for (const double* vector : vectors_) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t r = 0; r < level.size(); ++r) {
            sums[level[r]] += vector[r] * test_.root_weight(r);
        }
        explain(sums, 1.0);
    }
    return left;
}

std::size_t Conditioning::bytes() const {
    return (basis_.size() + moderators_.size() + 1) * test_.stride() * sizeof(double) +
           cell_.size() * sizeof(std::uint32_t);
}

}  // namespace serape
