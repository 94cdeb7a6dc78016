#include "serape/mixed_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "mixed_moments.hpp"
#include "serape/cell_moments.hpp"
#include "serape/cmh_test.hpp"

namespace serape {

namespace {

constexpr std::size_t leaf_rows = 10;  // at least, and for every continuous variable
constexpr std::size_t leaf_rows_a_variable = 5;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double square(double value) {
    return value * value;
}

double rows_log_share(double rows, double scatter) {
    return rows * std::log(scatter / rows);
}

}  // namespace

MixedTest::MixedTest(const PackedTable& table, std::vector<std::uint8_t> continuous, double minimum,
                     std::size_t most_bytes)
    : table_(table),
      continuous_(std::move(continuous)),
      values_(continuous_.size()),
      ranks_(continuous_.size()),
      minimum_(minimum),
      most_bytes_(most_bytes) {}

MixedTest::~MixedTest() = default;

void MixedTest::set_values(std::size_t column, std::span<const double> values) {
    values_[column].assign(values.begin(), values.end());
}

void MixedTest::check(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given) const {
    Columns all(given.begin(), given.end());
    all.insert(all.end(), {x, y});
    bool categorical = true;
    for (const std::uint32_t v : all) {
        if (v >= columns()) {
            throw std::out_of_range("no such column");
        }
        if (continuous(v) && !has_values(v)) {
            throw std::invalid_argument("a column without values");
        }
        categorical = categorical && !continuous(v);
    }
    std::sort(all.begin(), all.end());
    if (categorical || std::adjacent_find(all.begin(), all.end()) != all.end()) {
        throw std::invalid_argument("columns must differ and not all be categorical");
    }
}

MixedOutcome MixedTest::test(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given, bool thorough,
                             bool remember) {
    check(x, y, given);
    Question question{x, y, {}, {}, remember};
    for (const std::uint32_t z : given) {
        (continuous(z) ? question.numbers : question.categories).push_back(z);
    }
    std::sort(question.numbers.begin(), question.numbers.end());
    std::sort(question.categories.begin(), question.categories.end());
    const double rows = static_cast<double>(table_.rows());
    const bool hopeless = rows < minimum_ * full_dof(question);
    if (hopeless && !thorough) {
        return {nan, nan, 0, false};
    }
    const int kinds = continuous(x) + continuous(y);
    if (kinds == 0 && x > y) {
        std::swap(question.x, question.y);  // the same bits either way
    }
    MixedOutcome out = kinds == 2   ? two_continuous(question)
                       : kinds == 1 ? one_continuous(question)
                                    : none_continuous(question);
    out.reliable = !hopeless && out.dof > 0 && static_cast<double>(out.rows) >= minimum_ * out.dof;
    forget();
    return out;
}

// The degrees of freedom there would be if all cells were there.
double MixedTest::full_dof(const Question& question) const {
    double full = 1.0;
    for (const std::uint32_t z : question.categories) {
        full *= table_.levels(z);
    }
    for (const std::uint32_t v : {question.x, question.y}) {
        full *= continuous(v) ? 1.0 : table_.levels(v) - 1.0;
    }
    const double d = static_cast<double>(question.numbers.size());
    const int kinds = continuous(question.x) + continuous(question.y);
    return full * (kinds == 1 ? d + 2 : 1.0);
}

// --- divisions of the rows ------------------------------------------------------------------------------------------

std::shared_ptr<MixedTest::Division> MixedTest::divided(const Columns& categories) {
    auto at = known_.find(categories);
    if (at == known_.end()) {
        at = known_.emplace(categories, divide(categories)).first;
    }
    at->second->used = ++clock_;
    return at->second;
}

std::shared_ptr<MixedTest::Division> MixedTest::divided(const Columns& categories, std::uint32_t more) {
    Columns with = categories;
    with.insert(std::upper_bound(with.begin(), with.end(), more), more);
    return divided(with);
}

std::shared_ptr<MixedTest::Division> MixedTest::divide(const Columns& categories) {
    const std::size_t n = table_.rows();
    auto out = std::make_shared<Division>();
    out->cell_of_row.resize(n);
    if (categories.empty()) {
        out->begin = {0, static_cast<std::uint32_t>(n)};
        out->bytes = n * sizeof(std::uint32_t);
        return out;
    }
    const std::shared_ptr<Division> parent = divided(Columns(categories.begin(), categories.end() - 1));
    const std::uint64_t levels = table_.levels(categories.back());
    std::vector<std::uint16_t> codes(n);
    table_.unpack(categories.back(), codes);
    const auto key = [&](std::size_t i) { return parent->cell_of_row[i] * levels + codes[i]; };
    // Cells are numbered by their keys, those that do not occur left out.
    std::uint32_t cells = 0;
    const std::uint64_t bound = parent->size() * levels;
    if (bound <= 4 * n + 1024) {
        std::vector<std::uint32_t> number(bound);
        for (std::size_t i = 0; i < n; ++i) {
            number[key(i)] = 1;
        }
        for (std::uint32_t& cell : number) {
            cell = cell ? cells++ : 0;
        }
        for (std::size_t i = 0; i < n; ++i) {
            out->cell_of_row[i] = number[key(i)];
        }
    } else {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> keys(n);
        for (std::size_t i = 0; i < n; ++i) {
            keys[i] = {key(i), static_cast<std::uint32_t>(i)};
        }
        std::sort(keys.begin(), keys.end());
        for (std::size_t i = 0; i < n; ++i) {
            cells += i > 0 && keys[i].first != keys[i - 1].first;
            out->cell_of_row[keys[i].second] = cells;
        }
        ++cells;
    }
    out->begin.assign(cells + 1, 0);
    for (const std::uint32_t cell : out->cell_of_row) {
        ++out->begin[cell + 1];
    }
    std::partial_sum(out->begin.begin(), out->begin.end(), out->begin.begin());
    if (cells > 1) {
        std::vector<std::uint32_t> next(out->begin.begin(), out->begin.end() - 1);
        out->order.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            out->order[next[out->cell_of_row[i]]++] = static_cast<std::uint32_t>(i);
        }
    }
    out->bytes = (2 * n + cells) * sizeof(std::uint32_t);
    return out;
}

// Forgets the divisions used longest ago, if all together take too much.
void MixedTest::forget() {
    bytes_ = 0;
    for (const auto& [columns, division] : known_) {
        bytes_ += division->bytes;
    }
    while (bytes_ > most_bytes_ && !known_.empty()) {
        const auto oldest = std::min_element(
            known_.begin(), known_.end(), [](const auto& a, const auto& b) { return a.second->used < b.second->used; });
        bytes_ -= oldest->second->bytes;
        known_.erase(oldest);
    }
}

// --- the statistic --------------------------------------------------------------------------------------------------

MixedOutcome MixedTest::two_continuous(const Question& question) {
    Columns variables = question.numbers;
    variables.insert(variables.end(), {std::min(question.x, question.y), std::max(question.x, question.y)});
    Moments moments(*this, divided(question.categories), variables, question);
    const std::size_t d = moments.leave_out_determined(question.numbers.size());
    Cell cell(moments.size());
    MixedOutcome out{0.0, 0.0, 0, false};
    for (std::size_t c = 0; c < moments.division().size(); ++c) {
        moments.load(c, cell);
        if (cell.rows < static_cast<double>(cell.size() + 2) || !cell.take_out_first(d) || !cell.varies(d) ||
            !cell.varies(d + 1)) {
            continue;
        }
        const double share = square(cell.scatter(d, d + 1)) / (cell.left(d) * cell.left(d + 1));
        out.statistic -= cell.rows * std::log1p(-std::min(share, 1.0 - Cell::singular));
        out.dof += 1.0;
        out.rows += static_cast<std::size_t>(cell.rows);
    }
    return out;
}

MixedOutcome MixedTest::one_continuous(const Question& question) {
    const auto [category, number] =
        continuous(question.x) ? std::pair(question.y, question.x) : std::pair(question.x, question.y);
    Columns variables = question.numbers;
    variables.push_back(number);
    const std::shared_ptr<Division> strata = divided(question.categories);
    Moments moments(*this, divided(question.categories, category), variables, question);
    const Division& cells = moments.division();
    const std::size_t d = moments.leave_out_determined(question.numbers.size());
    std::vector<std::uint8_t> good(cells.size());
    std::vector<std::uint32_t> to(cells.size());
    std::vector<std::uint32_t> levels(strata->size());
    std::vector<double> terms(strata->size());
    Cell cell(moments.size());
    for (std::size_t c = 0; c < cells.size(); ++c) {
        moments.load(c, cell);
        to[c] = cells.cell_in(*strata, c);
        good[c] = cell.rows >= static_cast<double>(cell.size() + 2) && cell.take_out_first(d + 1);
        if (good[c]) {
            levels[to[c]] += 1;
            terms[to[c]] -= rows_log_share(cell.rows, cell.left(d));
        }
    }
    MixedOutcome out{0.0, 0.0, 0, false};
    std::vector<Cell> merged = moments.merged(good, to, strata->size());
    for (std::size_t s = 0; s < strata->size(); ++s) {
        if (levels[s] >= 2) {
            for (std::size_t j = 0; j < d; ++j) {
                merged[s].take_out(j);
            }
            out.statistic += terms[s] + rows_log_share(merged[s].rows, merged[s].left(d));
            out.dof += static_cast<double>((levels[s] - 1) * (d + 2));
            out.rows += static_cast<std::size_t>(merged[s].rows);
        }
    }
    out.statistic = std::max(out.statistic, 0.0);
    return out;
}

MixedOutcome MixedTest::none_continuous(const Question& question) {
    const Columns numbers = undetermined(question);
    const KdTree& tree = tree_of(question.categories, numbers);
    std::vector<const double*> values;
    for (const std::uint32_t z : numbers) {
        values.push_back(values_[z].data());
    }
    const auto codes = [&](std::uint32_t v) {
        Codes out{std::vector<std::uint16_t>(table_.rows()), table_.levels(v)};
        table_.unpack(v, out.of_row);
        return out;
    };
    const CmhResult found = cmh_test(tree, values, codes(question.x), codes(question.y));
    return {found.statistic, found.dof, found.rows, false};
}

// The given continuous variables but those that others determine.
MixedTest::Columns MixedTest::undetermined(const Question& question) {
    Moments moments(*this, divided(question.categories), question.numbers, question);
    moments.leave_out_determined(question.numbers.size());
    Columns out;
    for (const std::size_t j : moments.taken()) {
        out.push_back(question.numbers[j]);
    }
    return out;
}

// The k-d tree of continuous variables within the strata of categorical ones.
const KdTree& MixedTest::tree_of(const Columns& categories, const Columns& numbers) {
    const std::shared_ptr<Division> strata = divided(categories);
    auto [at, fresh] = strata->trees.try_emplace(numbers);
    if (fresh) {
        std::vector<const std::uint32_t*> ranks;
        std::vector<const double*> values;
        for (const std::uint32_t z : numbers) {
            if (ranks_[z].empty()) {
                ranks_[z] = ranks_of(values_[z]);
            }
            ranks.push_back(ranks_[z].data());
            values.push_back(values_[z].data());
        }
        std::vector<std::uint32_t> rows = strata->order;
        if (rows.empty()) {
            rows.resize(table_.rows());
            std::iota(rows.begin(), rows.end(), 0U);
        }
        const std::size_t min_rows = leaf_rows + leaf_rows_a_variable * numbers.size();
        at->second = build_kd_tree(std::move(rows), strata->begin, ranks, values, min_rows);
        strata->bytes += at->second.bytes();
    }
    return at->second;
}

}  // namespace serape
