#include "serape/gaussian_subsets.hpp"

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
struct GaussianSubsets::Level {
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

// Conditioning on one more member.
struct GaussianSubsets::Sweep {
    double certain;  // as in Level
    double inverse;  // of the pivot; 0 if the member adds nothing
    double target;   // covariance with the target, times the inverse
    double target_left;
};

// The way through the subsets for one x.
struct GaussianSubsets::Walk {
    std::uint32_t x;
    std::size_t index;   // among the walks
    std::size_t member;  // x in the pool, or beyond it
    std::int64_t tried;
    SubsetAnswer* best;
    bool settled = false;  // whether best->outcome is computed
    double r = 0.0;        // of the best, within a bound
    double bound = 0.0;
    double dof = 0.0;
    double weaker_below = 0.0;  // at present degrees of freedom: correlations that are weaker than the best for certain
    double weaker_above = 0.0;  // and that are not

    bool fresh(std::int64_t last) const { return tried < 0 || last >= tried; }
};

GaussianSubsets::GaussianSubsets(const GaussianTest& test, const SubsetQuestion& question)
    : test_(test), question_(question) {
    const auto fixed = question.fixed;
    for (std::size_t p = 0; p < question.pool.size(); ++p) {
        const std::uint32_t z = question.pool[p];
        if (z != question.target && std::find(fixed.begin(), fixed.end(), z) == fixed.end()) {
            member_of_.emplace(z, members_.size());
            live_.push_back(members_.size());
            members_.push_back(z);
            place_.push_back(static_cast<std::int64_t>(p));
        }
    }
    Level& root = level(0, 0);
    for (const std::uint32_t z : fixed) {
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
    member_shares_.assign(fixed_.size(), std::vector<double>(members_.size()));
    std::vector<double> shares;
    for (std::size_t j = 0; j < members_.size(); ++j) {
        root.left[j] = left_of_fixed(members_[j], shares);
        for (std::size_t f = 0; f < fixed_.size(); ++f) {
            member_shares_[f][j] = shares[f];
        }
    }
    root.target_left = left_of_fixed(question.target, shares);
    for (std::size_t j = 0; j < members_.size(); ++j) {
        root.target[j] = test_.correlation(question.target, members_[j]);
        for (std::size_t f = 0; f < fixed_.size(); ++f) {
            root.target[j] -= shares[f] * member_shares_[f][j];
        }
    }
}

GaussianSubsets::~GaussianSubsets() = default;

// What the fixed leave of a variable's variance; `shares` get its products with an orthonormal basis of theirs.
double GaussianSubsets::left_of_fixed(std::size_t variable, std::vector<double>& shares) const {
    shares.clear();
    double left = test_.varies(variable) ? 1.0 : 0.0;
    for (std::size_t f = 0; f < fixed_.size(); ++f) {
        double share = test_.correlation(variable, fixed_[f]);
        for (std::size_t e = 0; e < f; ++e) {
            share -= shares[e] * fixed_shares_[f][e];
        }
        shares.push_back(share / fixed_shares_[f][f]);
        left -= shares[f] * shares[f];
    }
    return left;
}

GaussianSubsets::Level& GaussianSubsets::level(std::size_t depth, std::size_t walks) {
    while (levels_.size() <= depth) {
        auto made = std::make_unique<Level>();
        made->left.resize(members_.size());
        made->target.resize(members_.size());
        made->made.resize(members_.size(), 0);
        made->rows.resize(members_.size());
        made->stamp = 1;
        levels_.push_back(std::move(made));
    }
    Level& at = *levels_[depth];
    if (at.x_left.size() < walks) {
        at.x_left.resize(walks);
        at.x_target.resize(walks);
        at.x_row.resize(walks * members_.size());
    }
    return at;
}

void GaussianSubsets::drop(std::uint32_t z) {
    if (const auto known = member_of_.find(z); known != member_of_.end()) {
        std::erase(live_, known->second);
    }
}

std::size_t GaussianSubsets::live_place(std::uint32_t variable) const {
    const auto known = member_of_.find(variable);
    const bool lives = known != member_of_.end() && std::binary_search(live_.begin(), live_.end(), known->second);
    return lives ? known->second : members_.size();
}

void GaussianSubsets::operator()(std::span<const std::uint32_t> xs, std::span<const std::int64_t> tried,
                                 CancellationToken& token, SubsetAnswer* answers) {
    const auto fixed = question_.fixed;
    token_ = &token;
    std::vector<Walk> all;
    all.reserve(xs.size());
    for (std::size_t k = 0; k < xs.size(); ++k) {
        answers[k] = {};
        answers[k].outcome = {nan, nan, nan, false};
        if (xs[k] != question_.target && std::find(fixed.begin(), fixed.end(), xs[k]) == fixed.end()) {
            all.push_back({xs[k], all.size(), live_place(xs[k]), tried[k], &answers[k]});
        }
    }
    start(all);
    const Level& root = *levels_[0];
    const bool no_target =
        !test_.varies(question_.target) || (root.certain > 0.0 && root.target_left <= least_variance - root.bound());
    Walks walks;
    for (Walk& walk : all) {
        walks.push_back(&walk);
    }
    for (std::size_t size = question_.smallest; size <= std::min(question_.largest, live_.size()); ++size) {
        const std::size_t given = fixed.size() + size;
        dof_ = test_.rule().dof(test_.rows(), given);
        const bool nobody = given > question_.most || !(dof_ >= 1.0) || no_target;
        Walks going;
        for (Walk* walk : walks) {
            if (nobody || !test_.varies(walk->x)) {
                skip(*walk, size);
            } else {
                going.push_back(walk);
                raise_bar(*walk, dof_);
            }
        }
        if (going.empty()) {
            poll_cancel();
            continue;
        }
        if (question_.stop_above) {
            const auto [below, above] = test_.rule().critical(*question_.stop_above, dof_);
            critical_ = {-1.0, -1.0};
            if (above >= 0.0) {
                critical_ = {test_.rule().correlation(below, dof_), test_.rule().correlation(above, dof_)};
                critical_.below = std::min(critical_.below, nearly_one);
                critical_.above = critical_.above > nearly_one || std::isnan(critical_.above) ? 2.0 : critical_.above;
            }
        }
        visit(going, 0, 0, size);
        std::erase_if(walks, [](const Walk* walk) { return walk->best->separated; });
    }
    for (Walk& walk : all) {
        settle(walk);
    }
}

// Puts the x at the root.
void GaussianSubsets::start(std::vector<Walk>& walks) {
    Level& root = level(0, walks.size());
    if (root.certain == 0.0) {
        return;
    }
    std::vector<double> shares;
    std::vector<double> target_shares;
    left_of_fixed(question_.target, target_shares);
    for (const Walk& walk : walks) {
        root.x_left[walk.index] = left_of_fixed(walk.x, shares);
        double* row = root.x_row.data() + walk.index * members_.size();
        double with_target = test_.correlation(walk.x, question_.target);
        for (std::size_t f = 0; f < fixed_.size(); ++f) {
            with_target -= shares[f] * target_shares[f];
        }
        root.x_target[walk.index] = with_target;
        for (const std::size_t j : live_) {
            row[j] = question_.largest > 0 ? test_.correlation(walk.x, members_[j]) : 0.0;
            for (std::size_t f = 0; f < fixed_.size(); ++f) {
                row[j] -= shares[f] * member_shares_[f][j];
            }
        }
    }
}

// Covariances of a member with those after it, given the subset at a depth.
const double* GaussianSubsets::row(std::size_t depth, std::size_t member) {
    Level& at = *levels_[depth];
    if (at.as_above) {
        return row(depth - 1, member);
    }
    std::vector<double>& values = at.rows[member];
    if (at.made[member] == at.stamp) {
        return values.data();
    }
    at.made[member] = at.stamp;
    values.resize(members_.size());
    if (depth == 0) {
        for (const std::size_t j : live_) {
            if (j > member) {
                values[j] = test_.correlation(members_[member], members_[j]);
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
    for (std::size_t j = member + 1; j < members_.size(); ++j) {
        values[j] = before[j] - factor * pivots[j];
    }
    return values.data();
}

GaussianSubsets::Sweep GaussianSubsets::sweep(const Level& from, std::size_t member) const {
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

// Makes the level below a depth, given one more member.
void GaussianSubsets::descend(std::size_t depth, std::size_t member, const Sweep& by, const Walks& walks) {
    Level& next = level(depth + 1, levels_[0]->x_left.size());
    const Level& at = *levels_[depth];
    next.certain = by.certain;
    next.target_left = by.target_left;
    next.as_above = by.inverse == 0.0;
    next.swept = member;
    next.inverse = by.inverse;
    ++next.stamp;
    if (by.certain == 0.0) {
        return;
    }
    const std::size_t count = members_.size();
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
}

void GaussianSubsets::poll_cancel() {
    if (++looked_ % 64 == 0) {
        token_->check();
    }
}

// Goes through the subsets that add `wanted` members, from place `from` among the live on, to those chosen. Who is
// separated leaves the walks.
void GaussianSubsets::visit(Walks& walks, std::size_t depth, std::size_t from, std::size_t wanted) {
    poll_cancel();
    const auto separated = [](const Walk* walk) { return walk->best->separated; };
    if (wanted == 0) {  // the empty subset
        for (Walk* walk : walks) {
            if (walk->fresh(-1)) {
                examine(*walk, *levels_[depth], nullptr, 0);
            }
        }
        std::erase_if(walks, separated);
        return;
    }
    Walks going;
    std::int64_t first_new = std::numeric_limits<std::int64_t>::max();
    for (Walk* walk : walks) {
        if (chosen_.empty() || walk->member != chosen_.back()) {
            going.push_back(walk);
            const bool fresh = walk->fresh(chosen_.empty() ? -1 : place_[chosen_.back()]);
            first_new = std::min(first_new, fresh ? -1 : walk->tried);
        }
    }
    if (wanted == 1) {  // the last one to choose has to be new for somebody
        while (from < live_.size() && place_[live_[from]] < first_new) {
            ++from;
        }
    }
    const std::size_t before = going.size();
    for (std::size_t k = from; k + wanted <= live_.size() && !going.empty(); ++k) {
        const std::size_t member = live_[k];
        if (going.size() == 1 && going[0]->member == member) {
            continue;
        }
        const Sweep by = sweep(*levels_[depth], member);
        chosen_.push_back(member);
        if (wanted == 1) {
            poll_cancel();
            const std::size_t tested = going.size();
            bool parted = false;
            for (std::size_t w = 0; w < tested; ++w) {
                Walk& walk = *going[w];
                if (walk.member != member && walk.fresh(place_[member])) {
                    examine(walk, *levels_[depth], &by, member);
                    parted = parted || walk.best->separated;
                }
            }
            if (parted) {
                std::erase_if(going, separated);
            }
        } else {
            descend(depth, member, by, going);
            visit(going, depth + 1, k + 1, wanted - 1);
        }
        chosen_.pop_back();
    }
    if (going.size() < before) {
        std::erase_if(walks, separated);
    }
}

// Tests one x given the subset at a level and, if `by` is one, the member swept by.
void GaussianSubsets::examine(Walk& walk, const Level& at, const Sweep* by, std::size_t member) {
    const double certain = by == nullptr ? at.certain : by->certain;
    if (certain > 0.0) {
        const double bound = rounding / certain;
        double covariance = at.x_target[walk.index];
        double left = at.x_left[walk.index];
        double target_left = at.target_left;
        if (by != nullptr) {
            const double with = at.x_row[walk.index * members_.size() + member];
            covariance -= with * by->target;
            left -= with * with * by->inverse;
            target_left = by->target_left;
        }
        if (left <= least_variance - bound || target_left <= least_variance - bound) {
            tally_.add_skip(question_.fixed.size() + chosen_.size());
            return;
        }
        const double all_certain = certain * left * target_left;
        if (all_certain > least_certain) {
            tally_.add_test(question_.fixed.size() + chosen_.size());
            decide(walk, std::fabs(covariance) / std::sqrt(left * target_left), rounding / all_certain, nullptr);
            return;
        }
    }
    poll_cancel();
    const Outcome outcome = exact(walk.x, given());
    if (!outcome.reliable) {
        tally_.add_skip(question_.fixed.size() + chosen_.size());
        return;
    }
    tally_.add_test(question_.fixed.size() + chosen_.size());
    decide(walk, test_.rule().correlation(outcome.statistic, dof_), rounding, &outcome);
}

// Takes a correlation, known within a bound or exactly, into account.
void GaussianSubsets::decide(Walk& walk, double r, double bound, const Outcome* known) {
    Outcome computed{};
    const auto outcome = [&]() -> const Outcome& {
        if (known == nullptr) {
            computed = exact(walk.x, given());
            known = &computed;
        }
        return *known;
    };
    if (question_.stop_above && r - bound < critical_.above &&
        (r + bound < critical_.below || outcome().log_p > *question_.stop_above)) {
        keep(walk, r, bound, known, true);
        return;
    }
    Outcome& best = walk.best->outcome;
    bool weaker = !best.reliable || r + bound < walk.weaker_below;
    if (!weaker && r - bound <= walk.weaker_above) {
        settle(walk);
        const Outcome& fresh = outcome();
        weaker = fresh.dof == best.dof
                     ? fresh.statistic < best.statistic
                     : fresh.log_p > best.log_p || (fresh.log_p == best.log_p && fresh.statistic < best.statistic);
    }
    if (weaker) {
        keep(walk, r, bound, known, false);
    }
}

void GaussianSubsets::keep(Walk& walk, double r, double bound, const Outcome* known, bool separated) {
    walk.best->outcome = known == nullptr ? Outcome{nan, dof_, nan, true} : *known;
    walk.best->given = given();
    walk.best->separated = separated;
    walk.settled = known != nullptr;
    walk.r = r;
    walk.bound = bound;
    walk.dof = dof_;
    raise_bar(walk, dof_);
}

// Computes the outcome of the best, if that has not been done.
void GaussianSubsets::settle(Walk& walk) {
    if (walk.best->outcome.reliable && !walk.settled) {
        walk.best->outcome = exact(walk.x, walk.best->given);
        walk.settled = true;
    }
}

// Finds the correlation that has the log p of the best at other degrees of freedom.
void GaussianSubsets::raise_bar(Walk& walk, double dof) {
    if (!walk.best->outcome.reliable) {
        return;
    }
    const CorrelationRule& rule = test_.rule();
    double r = walk.r;
    double margin = walk.bound;
    if (r > nearly_one) {
        walk.weaker_below = nearly_one;
        walk.weaker_above = 2.0;
        return;
    }
    if (dof != walk.dof) {
        const double statistic = rule.statistic(r, 1.0 - r, walk.dof);
        if (rule.kind == CorrelationKind::fisher_z) {
            r = rule.correlation(statistic, dof);
        } else {
            const double log_p = rule.log_p(statistic, walk.dof);
            double low = statistic;  // fewer degrees of freedom need more
            double high = statistic;
            while (rule.log_p(high, dof) > log_p && high < 1e100) {
                low = high;
                high = 1.25 * high + 1e-3;
            }
            while (high - low > 1e-7 * high) {
                const double middle = 0.5 * (low + high);
                (rule.log_p(middle, dof) > log_p ? low : high) = middle;
            }
            r = rule.correlation(0.5 * (low + high), dof);
        }
        margin = 4.0 * margin + 1e-6 * r;
        if (r > nearly_one) {
            walk.weaker_below = nearly_one;
            walk.weaker_above = 2.0;
            return;
        }
    }
    walk.weaker_below = r - margin;
    walk.weaker_above = r + margin;
}

Outcome GaussianSubsets::exact(std::uint32_t x, std::span<const std::uint32_t> given) {
    if (!projection_ || !std::equal(given.begin(), given.end(), projected_.begin(), projected_.end())) {
        projection_.emplace(test_, question_.target, given);
        projected_.assign(given.begin(), given.end());
    }
    return projection_->outcome(x, scratch_);
}

std::vector<std::uint32_t> GaussianSubsets::given() const {
    std::vector<std::uint32_t> all(question_.fixed.begin(), question_.fixed.end());
    for (const std::size_t member : chosen_) {
        all.push_back(members_[member]);
    }
    return all;
}

// Counts the subsets of a size that visit() would go through.
void GaussianSubsets::skip(const Walk& walk, std::size_t size) {
    const auto others = [&](std::size_t end) { return end - (walk.member < members_.size() && end > 0 ? 1 : 0); };
    std::uint64_t count = choose(others(live_.size()), size);
    if (walk.tried >= 0 && count < most_count) {
        std::size_t known = 0;
        for (const std::size_t member : live_) {
            known += place_[member] < walk.tried && member != walk.member ? 1 : 0;
        }
        count -= choose(known, size);
    }
    tally_.add_skip(question_.fixed.size() + size, count);
}

}  // namespace serape
