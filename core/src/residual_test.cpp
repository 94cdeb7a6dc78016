#include "serape/residual_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include "conditioning.hpp"
#include "residuals.hpp"
#include "serape/counting/costs.hpp"
#include "serape/f_distribution.hpp"
#include "serape/subset_driver.hpp"

namespace serape {
namespace {

constexpr double common_share = 0.1;  // of the rows, from which a value has an indicator

}  // namespace

ResidualTest::ResidualTest(const PackedTable& table, std::vector<std::uint8_t> numbers, Rules rules, bool curved,
                           std::span<const double> weights, bool frequencies, ResidualLimits limits)
    : table_(table),
      numbers_(std::move(numbers)),
      stride_((table.rows() + 15) / 16 * 16),
      weighted_(!weights.empty()),
      frequencies_(frequencies),
      effective_rows_(static_cast<double>(table.rows())),
      root_weights_(table.rows(), 1.0),
      categorical_(table, rules),
      curved_(curved),
      limits_(limits),
      scores_(numbers_.size()) {
    if (weighted_) {
        const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
        effective_rows_ = sum;
        if (!frequencies) {
            effective_rows_ *= sum / std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0);
        }
        for (std::size_t r = 0; r < weights.size(); ++r) {
            root_weights_[r] = std::sqrt(weights[r] * effective_rows_ / sum);
        }
        return;
    }
    // Blom's scores of ranks 1, 1½, 2 …
    const double rows = static_cast<double>(table.rows());
    for (std::size_t half = 2; half <= 2 * table.rows(); ++half) {
        quantiles_.push_back(normal_quantile((0.5 * static_cast<double>(half) - 0.375) / (rows + 0.25)));
    }
    for (std::size_t k = 0; k < quantiles_.size() / 2; ++k) {
        quantiles_[quantiles_.size() - 1 - k] = -quantiles_[k];  // the same bits for a column and its negative
    }
}

void ResidualTest::set_values(std::size_t column, std::span<const double> values) {
    const std::size_t rows = values.size();
    std::vector<std::uint32_t> order(rows);
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
    Scores& made = scores_[column];
    made.columns.assign(stride_, 0.0);
    made.values = 0;
    std::size_t common = 0, common_end = 0;
    double common_rows = 0.0, before = 0.0;
    bool one_common = true;
    for (std::size_t begin = 0, end = 0; begin < rows; begin = end) {
        double tied = 0.0;
        for (; end < rows && values[order[end]] == values[order[begin]]; ++end) {
            tied += root_weights_[order[end]] * root_weights_[order[end]];
        }
        const double score = weighted_ ? normal_quantile((before + 0.5 * tied + 0.125) / (effective_rows_ + 0.25))
                                       : quantiles_[begin + end - 1];  // half ranks begin + 1 + end, from 2 on
        for (std::size_t k = begin; k < end; ++k) {
            made.columns[order[k]] = score;
        }
        if (tied > common_rows) {
            common = begin;
            common_end = end;
            common_rows = tied;
            one_common = true;
        } else if (tied == common_rows) {
            one_common = false;  // so that a number and its negative have the same scores
        }
        before += tied;
        ++made.values;
    }
    made.testable = effective_rows_ - common_rows >= limits_.min_level_rows * (1.0 - 1e-9);
    made.width = 1;
    if (made.values > 2 && one_common && common_rows > common_share * effective_rows_) {
        made.width = 2;
        made.columns.resize(2 * stride_, 0.0);
        for (std::size_t k = common; k < common_end; ++k) {
            made.columns[stride_ + order[k]] = 1.0;
        }
    }
    for (std::size_t k = 0; k < made.width; ++k) {
        double* scores = made.columns.data() + k * stride_;
        for (std::size_t r = 0; r < rows; ++r) {
            scores[r] *= root_weights_[r];
        }
        centre(scores);
        const double squares = std::inner_product(scores, scores + rows, scores, 0.0);
        for (std::size_t r = 0; r < rows && squares > 0.0; ++r) {
            scores[r] /= std::sqrt(squares);
        }
    }
    bytes_ += made.columns.size() * sizeof(double);
}

void ResidualTest::centre(double* column) const {
    const double mean = std::inner_product(column, column + rows(), root_weights_.begin(), 0.0) / effective_rows_;
    for (std::size_t r = 0; r < rows(); ++r) {
        column[r] -= mean * root_weights_[r];
    }
}

void ResidualTest::set_category(std::size_t column) {
    Scores& made = scores_[column];
    made.levels =
        indicated_levels(*this, codes(column), table_.levels(column), limits_.max_levels, limits_.min_level_rows);
    made.width = made.levels.size();
}

std::vector<std::uint16_t> ResidualTest::codes(std::size_t column) const {
    std::vector<std::uint16_t> made(rows());
    table_.unpack(column, made);
    return made;
}

bool ResidualTest::all_categorical(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given) const {
    return !weighted_ && !number(x) && !number(y) &&
           std::none_of(given.begin(), given.end(), [&](auto z) { return number(z); });
}

Outcome ResidualTest::test(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given) const {
    if (all_categorical(x, y, given)) {
        return categorical_.test(x, y, given);
    }
    const Conditioning conditioning(*this, given);
    const Residuals of_y(*this, conditioning, y, Residuals::Form::columns);
    return ResidualComparison(*this)(x, y, of_y, conditioning);
}

void ResidualTest::screen(std::uint32_t target, std::span<const std::uint32_t> candidates,
                          std::span<const std::uint32_t> given, std::size_t threads, CancellationToken& token,
                          Answers out) const {
    const auto put = [&](std::size_t k, double statistic, double dof, bool reliable) {
        out.statistic[k] = statistic;
        out.dof[k] = dof;
        out.reliable[k] = reliable;
    };
    std::vector<std::uint32_t> counted, others;  // positions among the candidates
    for (std::uint32_t k = 0; k < candidates.size(); ++k) {
        (all_categorical(candidates[k], target, given) ? counted : others).push_back(k);
    }
    if (!counted.empty()) {
        std::vector<std::uint32_t> columns;
        for (const std::uint32_t k : counted) {
            columns.push_back(candidates[k]);
        }
        std::vector<double> statistic(counted.size()), dof(counted.size());
        std::vector<std::uint8_t> reliable(counted.size());
        categorical_.screen(target, columns, given, threads, token, {statistic.data(), dof.data(), reliable.data()});
        for (std::size_t k = 0; k < counted.size(); ++k) {
            put(counted[k], statistic[k], dof[k], reliable[k] != 0);
        }
    }
    if (others.empty()) {
        return;
    }
    const Conditioning conditioning(*this, given);
    const Residuals of_target(*this, conditioning, target, Residuals::Form::columns);
    std::vector<ResidualComparison> comparisons(std::max<std::size_t>(threads, 1), ResidualComparison(*this));
    const std::size_t grain = std::max<std::size_t>(100'000 / (stride_ * (given.size() + 1)), 1);
    parallel_for(others.size(), grain, threads, token, [&](std::size_t first, std::size_t last, std::size_t w) {
        for (std::size_t k = first; k < last; ++k) {
            const Outcome found = comparisons[w](candidates[others[k]], target, of_target, conditioning);
            put(others[k], found.statistic, found.dof, found.reliable);
        }
    });
}

void ResidualTest::effects(std::uint32_t target, std::span<const std::uint32_t> candidates,
                           std::span<const std::uint32_t> given, CancellationToken& token,
                           std::span<ResidualEffect> out) const {
    const Conditioning conditioning(*this, given);
    const Residuals of_target(*this, conditioning, target, Residuals::Form::columns);
    ResidualComparison compare(*this);
    for (std::size_t k = 0; k < candidates.size(); ++k) {
        token.check();
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        out[k] = all_categorical(candidates[k], target, given)
                     ? ResidualEffect{nan, nan, nan}
                     : compare.effect(candidates[k], target, of_target, conditioning);
    }
}

// --- subsets --------------------------------------------------------------------------------------------------------

namespace {

// A conditioning set and what it leaves of the target.
struct Prepared {
    Prepared(const ResidualTest& test, std::uint32_t target, std::span<const std::uint32_t> given)
        : conditioning(test, given), target(test, conditioning, target, Residuals::Form::columns) {}
    Conditioning conditioning;
    Residuals target;
};

class ResidualEvaluator {
  public:
    struct Walk : SubsetWalk {};
    using Walks = std::vector<Walk*>;
    struct Node {};
    static constexpr bool resumable = false;
    static constexpr std::size_t poll_every = 1;
    static constexpr std::uint64_t few_questions = 64;

    ResidualEvaluator(const ResidualTest& test, SubsetState& state) : test_(test), state_(state), compare_(test) {}

    void start(std::vector<Walk>&) {}
    void start_size(const Walks&, std::size_t) {}
    bool visit_singles(const Walks&) { return false; }
    Node root() const { return {}; }
    Node child(const Node&, std::uint32_t, const Walks&) const { return {}; }
    Node leaf(const Node&, std::uint32_t, const Walks&) const { return {}; }
    bool may_test(const Walk&, const Node&, std::size_t) const { return true; }
    bool examine(Walk& walk, const Node&) {
        state_.poll_cancel<poll_every>();
        const std::vector<std::uint32_t> given = state_.given();
        const Outcome found = outcome(walk.x, given);
        if (!found.reliable) {
            state_.tally.add_skip(given.size());
            return false;
        }
        state_.tally.add_test(given.size());
        const std::optional<double>& stop_above = state_.query.stop_above;
        const bool separated = stop_above && found.log_p > *stop_above;
        if (separated || !walk.best->outcome.reliable || weaker(found, walk.best->outcome)) {
            *walk.best = {found, given, separated};
        }
        return separated;
    }
    void finish(const Walk&) {}

  private:
    Outcome outcome(std::uint32_t x, const std::vector<std::uint32_t>& given) {
        const std::uint32_t target = state_.query.target;
        if (test_.all_categorical(x, target, given)) {
            return test_.categorical().test(x, target, given);
        }
        std::vector<std::uint32_t> key(given);
        std::sort(key.begin(), key.end());
        auto at = kept_.find(key);
        if (at == kept_.end()) {
            if (bytes_ > default_costs.max_kept_bytes) {
                kept_.clear();
                bytes_ = 0;
            }
            at = kept_.emplace(key, std::make_unique<Prepared>(test_, target, key)).first;
            bytes_ += at->second->conditioning.bytes() + (at->second->target.block.size() + 1) * test_.stride() * 8;
        }
        const Prepared& prepared = *at->second;
        return compare_(x, target, prepared.target, prepared.conditioning);
    }

    const ResidualTest& test_;
    SubsetState& state_;
    ResidualComparison compare_;
    std::map<std::vector<std::uint32_t>, std::unique_ptr<Prepared>> kept_;
    std::size_t bytes_ = 0;
};

}  // namespace

SubsetAnswers ResidualTest::search_subsets(const SubsetQuery& query, std::size_t threads,
                                           CancellationToken& token) const {
    return drive_subsets<ResidualEvaluator>(*this, query, threads, token);
}

}  // namespace serape
