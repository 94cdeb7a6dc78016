#include "correlation_evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace serape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double rounding = 1e-13;      // of a correlation, generously
constexpr double least_certain = 1e-7;  // product of pivots up to which sweeping is trusted at all
constexpr double nearly_one = 1.0 - 1e-6;

}  // namespace

// What is known given the subset at a depth of the tree. Arrays go by member.
struct CorrelationEvaluator::Level {
    double certain = 1.0;  // product of the pivots; 0: nothing is known
    double target_left = 1.0;
    std::vector<double> left;    // variances
    std::vector<double> target;  // covariances with the target
    std::vector<double> x_left;  // by walk
    std::vector<double> x_target;
    std::vector<double> x_row;  // by walk and member
    // Covariances among members, row by row as far as asked for; those of a row after it.
    bool as_above = false;  // nothing was swept out: rows are those of the depth before
    std::size_t swept = 0;
    double inverse = 0.0;
    std::uint64_t stamp = 0;
    std::vector<std::uint64_t> made;
    std::vector<std::vector<double>> rows;

    double bound() const { return rounding / certain; }
};

CorrelationEvaluator::CorrelationEvaluator(const GaussianTest& test, SubsetState& state) : test_(test), state_(state) {
    const SubsetQuery& query = state.query;
    Level& root = level(0, 0);
    for (const std::uint32_t z : query.fixed) {
        std::vector<double> shares;
        const double left = left_of_fixed(z, shares);
        if (left <= least_variance - root.bound()) {
            continue;
        }
        root.certain = left <= least_variance + root.bound() ? 0.0 : root.certain * left;
        if (root.certain < least_certain) {
            root.certain = 0.0;
            break;
        }
        shares.push_back(std::sqrt(left));
        fixed_.push_back(z);
        fixed_shares_.push_back(std::move(shares));
    }
    if (root.certain == 0.0) {
        return;
    }
    member_shares_.assign(fixed_.size(), std::vector<double>(query.pool.size()));
    std::vector<double> shares;
    for (const std::uint32_t j : state.live) {
        root.left[j] = left_of_fixed(query.pool[j], shares);
        for (std::size_t f = 0; f < fixed_.size(); ++f) {
            member_shares_[f][j] = shares[f];
        }
    }
    root.target_left = left_of_fixed(query.target, shares);
    for (const std::uint32_t j : state.live) {
        root.target[j] = test_.correlation(query.target, query.pool[j]);
        for (std::size_t f = 0; f < fixed_.size(); ++f) {
            root.target[j] -= shares[f] * member_shares_[f][j];
        }
    }
}

void CorrelationEvaluator::pool_changed() {
    Level& root = level(0, 0);
    ++root.stamp;
    for (const std::uint32_t j : state_.live) {
        root.left[j] = test_.varies(state_.query.pool[j]) ? 1.0 : 0.0;
        root.target[j] = test_.correlation(state_.query.target, state_.query.pool[j]);
    }
}

CorrelationEvaluator::~CorrelationEvaluator() = default;

// What the fixed leave of a variable's variance; `shares` get its products with an orthonormal basis of theirs.
double CorrelationEvaluator::left_of_fixed(std::size_t variable, std::vector<double>& shares) const {
    shares.clear();
    double left = test_.varies(variable) ? 1.0 : 0.0;
    for (std::size_t f = 0; f < fixed_.size(); ++f) {
        double share = test_.correlation(fixed_[f], variable);
        for (std::size_t e = 0; e < f; ++e) {
            share -= shares[e] * fixed_shares_[f][e];
        }
        shares.push_back(share / fixed_shares_[f][f]);
        left -= shares[f] * shares[f];
    }
    return left;
}

CorrelationEvaluator::Level& CorrelationEvaluator::level(std::size_t depth, std::size_t walks) {
    const std::size_t members = state_.query.pool.size();
    while (levels_.size() <= depth) {
        levels_.push_back(std::make_unique<Level>());
        levels_.back()->stamp = 1;
    }
    Level& at = *levels_[depth];
    if (at.left.size() < members) {
        at.left.resize(members);
        at.target.resize(members);
        at.made.resize(members, 0);
        at.rows.resize(members);
    }
    if (at.x_left.size() < walks) {
        at.x_left.resize(walks);
        at.x_target.resize(walks);
    }
    if (at.x_row.size() < at.x_left.size() * members) {
        at.x_row.resize(at.x_left.size() * members);
    }
    return at;
}

void CorrelationEvaluator::start_size(Walks& walks, std::size_t size) {
    const Level& root = *levels_[0];
    const bool target_left = root.certain == 0.0 || root.target_left > least_variance - root.bound();
    const std::size_t given = state_.query.fixed.size() + size;
    dof_ = test_.rule().dof(test_.effective_rows(), given);
    testable_ = given <= state_.query.max_size && dof_ >= 1.0 && test_.varies(state_.query.target) && target_left;
    if (!testable_) {
        return;
    }
    for (Walk* walk : walks) {
        raise_bar(*walk);
        for (std::size_t k = 0; size > 1 && root.certain > 0.0 && k < state_.live.size(); ++k) {
            with_member(*walk, state_.live[k]);  // all of them are swept
        }
    }
    if (state_.query.stop_above) {
        critical_ = critical(size);
    }
}

// The correlations below and above which a set of a size separates for certain, or does not; computed once.
CorrelationRule::Bracket CorrelationEvaluator::critical(std::size_t size) {
    criticals_.resize(std::max(criticals_.size(), size + 1));
    if (!criticals_[size]) {
        CorrelationRule::Bracket made{-1.0, -1.0};
        if (const auto [below, above] = test_.rule().critical(*state_.query.stop_above, dof_); above >= 0.0) {
            made = {test_.rule().correlation(below, dof_), test_.rule().correlation(above, dof_)};
            made.below = std::min(made.below, nearly_one);
            made.above = made.above > nearly_one || std::isnan(made.above) ? 2.0 : made.above;
        }
        criticals_[size] = made;
    }
    return *criticals_[size];
}

// The covariance of an x with a member given the fixed ones: computed when it is first needed, as mostly one of the
// first members separates an x.
double CorrelationEvaluator::with_member(const Walk& walk, std::size_t member) {
    double& known = levels_[0]->x_row[walk.index * state_.query.pool.size() + member];
    if (std::isnan(known)) {
        known = test_.correlation(state_.query.pool[member], walk.x);
    }
    return known;
}

// Puts the x at the root.
void CorrelationEvaluator::start(std::vector<Walk>& walks) {
    const SubsetQuery& query = state_.query;
    Level& root = level(0, walks.size());
    if (root.certain == 0.0) {
        return;
    }
    std::vector<double> shares;
    std::vector<double> target_shares;
    left_of_fixed(query.target, target_shares);
    for (const Walk& walk : walks) {
        root.x_left[walk.index] = left_of_fixed(walk.x, shares);
        double* row = root.x_row.data() + walk.index * query.pool.size();
        double with_target = test_.correlation(query.target, walk.x);
        for (std::size_t f = 0; f < fixed_.size(); ++f) {
            with_target -= shares[f] * target_shares[f];
        }
        root.x_target[walk.index] = with_target;
        for (const std::uint32_t j : state_.live) {
            row[j] = query.largest == 0 ? 0.0 : fixed_.empty() ? nan : test_.correlation(query.pool[j], walk.x);
            for (std::size_t f = 0; f < fixed_.size(); ++f) {
                row[j] -= shares[f] * member_shares_[f][j];
            }
        }
    }
}

// Covariances of a member with those after it, given the subset at a depth.
const double* CorrelationEvaluator::row(std::size_t depth, std::size_t member) {
    const std::vector<std::uint32_t>& pool = state_.query.pool;
    Level& at = *levels_[depth];
    if (at.as_above) {
        return row(depth - 1, member);
    }
    std::vector<double>& values = at.rows[member];
    if (at.made[member] == at.stamp) {
        return values.data();
    }
    at.made[member] = at.stamp;
    values.resize(pool.size());
    if (depth == 0) {
        for (const std::uint32_t j : state_.live) {
            if (j > member) {
                values[j] = test_.correlation(pool[member], pool[j]);
                for (std::size_t f = 0; f < fixed_.size(); ++f) {
                    values[j] -= member_shares_[f][member] * member_shares_[f][j];
                }
            }
        }
        return values.data();
    }
    const double* before = row(depth - 1, member);
    const double* pivots = row(depth - 1, at.swept);
    const double factor = pivots[member] * at.inverse;
    for (std::size_t j = member + 1; j < pool.size(); ++j) {
        values[j] = before[j] - factor * pivots[j];
    }
    return values.data();
}

CorrelationEvaluator::Sweep CorrelationEvaluator::sweep(const Level& from, std::size_t member) const {
    if (from.certain == 0.0) {
        return {0.0, 0.0, 0.0, 0.0};
    }
    const double pivot = from.left[member];
    const double bound = from.bound();
    if (pivot <= least_variance - bound) {
        return {from.certain, 0.0, 0.0, from.target_left};
    }
    const double certain = from.certain * pivot;
    if (pivot <= least_variance + bound || certain < least_certain) {
        return {0.0, 0.0, 0.0, 0.0};
    }
    const double inverse = 1.0 / pivot;
    const double target = from.target[member] * inverse;
    return {certain, inverse, target, from.target_left - from.target[member] * target};
}

CorrelationEvaluator::Node CorrelationEvaluator::leaf(const Node& node, std::uint32_t member, const Walks&) const {
    return {node.depth, member, sweep(*levels_[node.depth], member)};
}

CorrelationEvaluator::Node CorrelationEvaluator::child(const Node& node, std::uint32_t member, const Walks& walks) {
    const std::size_t depth = node.depth;
    Level& next = level(depth + 1, levels_[0]->x_left.size());
    const Level& at = *levels_[depth];
    const Sweep by = sweep(at, member);
    next.certain = by.certain;
    next.target_left = by.target_left;
    next.as_above = by.inverse == 0.0;
    next.swept = member;
    next.inverse = by.inverse;
    ++next.stamp;
    if (by.certain == 0.0) {
        return {depth + 1};
    }
    const std::size_t count = state_.query.pool.size();
    const double* pivots = next.as_above ? at.left.data() : row(depth, member);  // any, if nothing is swept out
    for (std::size_t j = member + 1; j < count; ++j) {
        next.left[j] = at.left[j] - pivots[j] * pivots[j] * by.inverse;
        next.target[j] = at.target[j] - pivots[j] * by.target;
    }
    for (const Walk* walk : walks) {
        const double* before = at.x_row.data() + walk->index * count;
        double* after = next.x_row.data() + walk->index * count;
        const double factor = before[member] * by.inverse;
        next.x_left[walk->index] = at.x_left[walk->index] - before[member] * factor;
        next.x_target[walk->index] = at.x_target[walk->index] - before[member] * by.target;
        for (std::size_t j = member + 1; j < count; ++j) {
            after[j] = before[j] - factor * pivots[j];
        }
    }
    return {depth + 1};
}

bool CorrelationEvaluator::examine(Walk& walk, const Node& node) {
    const Level& at = *levels_[node.depth];
    const Sweep* by = node.sweep ? &*node.sweep : nullptr;
    const std::size_t size = state_.set_size();
    const double certain = by == nullptr ? at.certain : by->certain;
    if (certain > 0.0) {
        const double bound = rounding / certain;
        double covariance = at.x_target[walk.index];
        double left = at.x_left[walk.index];
        double target_left = at.target_left;
        if (by != nullptr) {
            const double with = node.depth == 0 ? with_member(walk, node.member)
                                                : at.x_row[walk.index * state_.query.pool.size() + node.member];
            covariance -= with * by->target;
            left -= with * with * by->inverse;
            target_left = by->target_left;
        }
        if (left <= least_variance - bound || target_left <= least_variance - bound) {
            state_.tally.add_skip(size);
            return false;
        }
        const double all_certain = certain * left * target_left;
        if (all_certain > least_certain) {
            state_.tally.add_test(size);
            decide(walk, std::fabs(covariance) / std::sqrt(left * target_left), rounding / all_certain, nullptr);
            return walk.best->separated;
        }
    }
    state_.poll_cancel<poll_every>();
    const Outcome outcome = exact(walk.x, state_.given());
    if (!outcome.reliable) {
        state_.tally.add_skip(size);
        return false;
    }
    state_.tally.add_test(size);
    decide(walk, test_.rule().correlation(outcome.statistic, dof_), rounding, &outcome);
    return walk.best->separated;
}

// Takes a correlation, known within a bound or exactly, into account.
void CorrelationEvaluator::decide(Walk& walk, double r, double bound, const Outcome* known) {
    Outcome computed{};
    const auto outcome = [&]() -> const Outcome& {
        if (known == nullptr) {
            computed = exact(walk.x, state_.given());
            known = &computed;
        }
        return *known;
    };
    if (const std::optional<double>& stop_above = state_.query.stop_above;
        stop_above && r - bound < critical_.above && (r + bound < critical_.below || outcome().log_p > *stop_above)) {
        keep(walk, r, bound, known, true);
        return;
    }
    Outcome& best = walk.best->outcome;
    bool weaker = !best.reliable || r + bound < walk.weaker_below;
    if (!weaker && r - bound <= walk.weaker_above) {
        settle(walk);
        weaker = serape::weaker(outcome(), best);
    }
    if (weaker) {
        keep(walk, r, bound, known, false);
    }
}

void CorrelationEvaluator::keep(Walk& walk, double r, double bound, const Outcome* known, bool separated) {
    walk.best->outcome = known == nullptr ? Outcome{nan, dof_, nan, true} : *known;
    walk.best->given = state_.given();
    walk.best->separated = separated;
    walk.settled = known != nullptr;
    walk.r = r;
    walk.bound = bound;
    walk.dof = dof_;
    raise_bar(walk);
}

// Computes the outcome of the best, if that has not been done.
void CorrelationEvaluator::settle(Walk& walk) {
    if (walk.best->outcome.reliable && !walk.settled) {
        walk.best->outcome = exact(walk.x, walk.best->given);
        walk.settled = true;
    }
}

// Finds the correlation that has the log p of the best at the present degrees of freedom.
void CorrelationEvaluator::raise_bar(Walk& walk) {
    if (!walk.best->outcome.reliable) {
        return;
    }
    double r = walk.r;
    double margin = walk.bound;
    if (r <= nearly_one && dof_ != walk.dof) {
        r = test_.rule().as_rare(r, walk.dof, dof_);
        margin = 4.0 * margin + 1e-6 * r;
    }
    walk.weaker_below = r > nearly_one ? nearly_one : r - margin;
    walk.weaker_above = r > nearly_one ? 2.0 : r + margin;
}

Outcome CorrelationEvaluator::exact(std::uint32_t x, std::span<const std::uint32_t> given) {
    if (!projection_ || !std::equal(given.begin(), given.end(), projected_.begin(), projected_.end())) {
        projection_.emplace(test_, state_.query.target, given);
        projected_.assign(given.begin(), given.end());
    }
    return projection_->outcome(x, scratch_);
}

}  // namespace serape
