#include "serape/mixed_score.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace serape {
namespace {

constexpr std::size_t most_known = 2'000'000;  // sets
constexpr double prior_rows = 1.0;

constexpr std::size_t row_begin(std::size_t row) {
    return row * (row + 1) / 2;
}

struct Factored {
    double log_determinant;
    double inverse_trace;
};

// Of a positive definite matrix, whose lower half is given row by row and replaced.
Factored factorise(std::vector<double>& matrix, std::size_t size) {
    Factored found{0.0, 0.0};
    for (std::size_t i = 0; i < size; ++i) {
        double* const own = matrix.data() + row_begin(i);
        for (std::size_t j = 0; j <= i; ++j) {
            const double* const other = matrix.data() + row_begin(j);
            for (std::size_t k = 0; k < j; ++k) {
                own[j] -= own[k] * other[k];
            }
            if (j < i) {
                own[j] /= other[j];
            }
        }
        own[i] = std::sqrt(std::max(own[i], least_variance));
        found.log_determinant += 2.0 * std::log(own[i]);
    }
    std::vector<double> column(size);
    for (std::size_t j = 0; j < size; ++j) {  // of the factor's inverse
        for (std::size_t i = j; i < size; ++i) {
            double value = i == j ? 1.0 : 0.0;
            for (std::size_t k = j; k < i; ++k) {
                value -= matrix[row_begin(i) + k] * column[k];
            }
            column[i] = value / matrix[row_begin(i) + i];
            found.inverse_trace += column[i] * column[i];
        }
    }
    return found;
}

}  // namespace

std::size_t MixedScore::Hash::operator()(const Set& set) const {
    std::uint64_t hash = set.size();
    for (const std::uint32_t x : set) {
        hash = (hash ^ (x + 0x9e3779b97f4a7c15ULL)) * 0xff51afd7ed558ccdULL;
        hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
}

MixedScore::MixedScore(const GaussianTest& numbers, std::vector<double> log_variance, double cost)
    : numbers_(numbers),
      rows_(numbers.rows()),
      per_parameter_(0.5 * std::log(static_cast<double>(rows_))),
      cost_(cost),
      unit_(std::ldexp(1.0, std::ilogb(static_cast<double>(rows_)) - 34)),
      log_variance_(std::move(log_variance)) {}

void MixedScore::add_category(std::span<const std::uint16_t> codes, std::uint32_t levels) {
    if (codes.size() != rows_ ||
        std::any_of(codes.begin(), codes.end(), [&](std::uint16_t code) { return code >= levels; })) {
        throw std::invalid_argument("a category must have a code below its number of levels for every row");
    }
    variables_.push_back({levels, static_cast<std::uint32_t>(codes_.size())});
    codes_.emplace_back(codes.begin(), codes.end());
}

void MixedScore::add_number() {
    if (count_numbers_ == numbers_.columns()) {
        throw std::invalid_argument("there are no further numbers");
    }
    variables_.push_back({0, count_numbers_++});
}

// Divides the rows into the cells of some categories; there are never more cells than rows.
void MixedScore::divide(std::span<const std::uint32_t> categories, Scratch& scratch) const {
    scratch.order.resize(rows_);
    if (categories.empty()) {
        scratch.begin = {0, static_cast<std::uint32_t>(rows_)};
        return;  // the order does not matter
    }
    scratch.cell.assign(rows_, 0);
    std::size_t cells = 1;
    for (const std::uint32_t x : categories) {
        cells = refine(codes_[variables_[x].place], cells, variables_[x].levels, scratch);
    }
    scratch.begin.assign(cells + 1, 0);
    for (const std::uint32_t cell : scratch.cell) {
        ++scratch.begin[cell + 1];
    }
    std::partial_sum(scratch.begin.begin(), scratch.begin.end(), scratch.begin.begin());
    std::vector<std::uint32_t>& next = scratch.code;
    next.assign(scratch.begin.begin(), scratch.begin.end());
    for (std::uint32_t row = 0; row < rows_; ++row) {
        scratch.order[next[scratch.cell[row]]++] = row;
    }
}

// Divides cells by one more category; returns how many there are.
std::size_t MixedScore::refine(const std::vector<std::uint16_t>& codes, std::size_t cells, std::uint32_t levels,
                               Scratch& scratch) const {
    constexpr std::uint32_t unseen = 0xffffffff;
    std::uint32_t made = 0;
    if (cells * levels <= 4 * rows_ + 65536) {
        scratch.code.assign(cells * levels, unseen);
        for (std::size_t row = 0; row < rows_; ++row) {
            std::uint32_t& known = scratch.code[std::size_t{scratch.cell[row]} * levels + codes[row]];
            if (known == unseen) {
                known = made++;
            }
            scratch.cell[row] = known;
        }
        return made;
    }
    std::unordered_map<std::uint64_t, std::uint32_t> known;
    for (std::size_t row = 0; row < rows_; ++row) {
        const auto [found, fresh] = known.emplace(std::uint64_t{scratch.cell[row]} * levels + codes[row], made);
        made += fresh ? 1 : 0;
        scratch.cell[row] = found->second;
    }
    return made;
}

// Sums of products of deviations from the means of some rows, in units of the columns' standard deviations.
void MixedScore::load_products(std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> rows,
                               Scratch& scratch) const {
    const auto all = static_cast<double>(rows_);
    scratch.products.assign(row_begin(numbers.size() + 1), 0.0);
    if (rows.size() == rows_) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                scratch.products[row_begin(i) + j] = all * numbers_.correlation(numbers[i], numbers[j]);
            }
            scratch.products[row_begin(i) + i] = numbers_.varies(numbers[i]) ? all : 0.0;
        }
        return;
    }
    scratch.means.assign(numbers.size(), 0.0);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double* const column = numbers_.column(numbers[i]);
        double sum = 0.0;
        for (const std::uint32_t row : rows) {
            sum += column[row];
        }
        scratch.means[i] = sum / static_cast<double>(rows.size());
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double* const one = numbers_.column(numbers[i]);
        for (std::size_t j = 0; j <= i; ++j) {
            const double* const other = numbers_.column(numbers[j]);
            double sum = 0.0;
            for (const std::uint32_t row : rows) {
                sum += (one[row] - scratch.means[i]) * (other[row] - scratch.means[j]);
            }
            scratch.products[row_begin(i) + j] = all * sum;  // columns are of length 1
        }
    }
}

// The likelihood of the numbers in all cells, less what their parameters cost.
double MixedScore::normal(std::span<const std::uint32_t> numbers, Scratch& scratch) const {
    const std::size_t size = numbers.size();
    const auto d = static_cast<double>(size);
    double sum = 0.0;
    for (std::size_t cell = 0; cell + 1 < scratch.begin.size(); ++cell) {
        const std::span rows =
            std::span(scratch.order).subspan(scratch.begin[cell], scratch.begin[cell + 1] - scratch.begin[cell]);
        const auto n = static_cast<double>(rows.size());
        load_products(numbers, rows, scratch);
        for (std::size_t i = 0; i < size; ++i) {
            scratch.products[row_begin(i) + i] += prior_rows;
        }
        const Factored found = factorise(scratch.products, size);
        sum -= 0.5 * n * (d * std::log(2.0 * std::numbers::pi) + found.log_determinant - d * std::log(n + prior_rows));
        sum -= 0.5 * (n + prior_rows) * (d - prior_rows * found.inverse_trace);
        sum -= per_parameter_ * d * (d + 3.0) / 2.0;
    }
    for (const std::uint32_t x : numbers) {
        sum -= 0.5 * static_cast<double>(rows_) * log_variance_[x];
    }
    return sum;
}

double MixedScore::computed(const Set& set, Scratch& scratch) const {
    std::vector<std::uint32_t> categories;
    std::vector<std::uint32_t> numbers;
    for (const std::uint32_t x : set) {
        variables_[x].levels != 0 ? categories.push_back(x) : numbers.push_back(variables_[x].place);
    }
    divide(categories, scratch);
    double sum = 0.0;
    for (std::size_t cell = 0; cell + 1 < scratch.begin.size(); ++cell) {
        const double n = scratch.begin[cell + 1] - scratch.begin[cell];
        sum += n * std::log(n / static_cast<double>(rows_));
    }
    if (!numbers.empty()) {
        sum += normal(numbers, scratch);
    }
    return std::nearbyint(sum / unit_) * unit_;
}

double MixedScore::set_score(const Set& set, Scratch& scratch) const {
    {
        const std::lock_guard lock(known_->mutex);
        if (const auto found = known_->scores.find(set); found != known_->scores.end()) {
            return found->second;
        }
    }
    const double value = computed(set, scratch);
    const std::lock_guard lock(known_->mutex);
    if (known_->scores.size() >= most_known) {
        known_->scores.clear();
    }
    known_->scores.emplace(set, value);
    return value;
}

double MixedScore::scored(std::uint32_t child, const Set& parents, Scratch& scratch) const {
    Set set(parents);
    std::sort(set.begin(), set.end());
    double combinations = 1.0;
    for (const std::uint32_t x : set) {
        combinations *= std::max<std::uint32_t>(variables_[x].levels, 1);
    }
    const double without = set_score(set, scratch);
    set.insert(std::upper_bound(set.begin(), set.end(), child), child);
    const double free = std::max<std::uint32_t>(variables_[child].levels, 1) - 1.0;
    const double penalty =
        (free > 0.0 ? per_parameter_ * free * combinations : 0.0) + cost_ * static_cast<double>(parents.size());
    return set_score(set, scratch) - without - std::nearbyint(penalty / unit_) * unit_;
}

void MixedScore::additions_of_many(std::span<const AdditionQuery> queries, std::size_t threads,
                                   CancellationToken& token, double* out) const {
    std::vector<std::pair<const AdditionQuery*, std::uint32_t>> asked;
    for (const AdditionQuery& query : queries) {
        for (const std::uint32_t x : query.candidates) {
            asked.emplace_back(&query, x);
        }
    }
    std::vector<Scratch> scratch(std::max<std::size_t>(threads, 1));
    parallel_for(asked.size(), 4, threads, token, [&](std::size_t first, std::size_t last, std::size_t worker) {
        for (std::size_t k = first; k < last; ++k) {
            const auto& [query, x] = asked[k];
            Set parents(query->parents.begin(), query->parents.end());
            parents.push_back(x);
            out[k] = scored(query->child, parents, scratch[worker]);
        }
    });
}

void MixedScore::families(std::uint32_t child, std::span<const std::vector<std::uint32_t>> parent_sets,
                          std::size_t threads, CancellationToken& token, double* out) const {
    std::vector<Scratch> scratch(std::max<std::size_t>(threads, 1));
    parallel_for(parent_sets.size(), 1, threads, token, [&](std::size_t first, std::size_t last, std::size_t worker) {
        for (std::size_t k = first; k < last; ++k) {
            out[k] = scored(child, parent_sets[k], scratch[worker]);
        }
    });
}

}  // namespace serape
