#include "serape/subset_search.hpp"

#include <algorithm>
#include <cmath>

#include "serape/chi_square.hpp"

namespace serape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// Nodes are kept up to so many bytes: for the other x, or, if there is one only, for its larger subsets.
constexpr std::size_t most_bytes = std::size_t{64} << 20;
constexpr std::size_t most_bytes_for_one = std::size_t{1} << 20;

}  // namespace

struct SubsetSearch::Node {
    explicit Node(Cells made) : cells(std::move(made)) {}
    Cells cells;
    std::optional<CountingPlan> plan;
    std::vector<std::unique_ptr<Node>> children;  // by place in the pool
};

// The way through the subsets for one x.
struct SubsetSearch::Walk {
    std::uint32_t x;
    std::size_t place;  // of x in live_, or its size
    std::int64_t tried;
    Control& control;
    std::vector<std::uint32_t> chosen{};  // places in the pool
    SubsetAnswer best{};
    bool ranked = false;  // whether best.outcome.log_p is known
};

SubsetSearch::SubsetSearch(const ContingencyTest& test, const SubsetQuestion& question,
                           std::span<const std::uint32_t> xs)
    : test_(test), question_(question), kinds_(test.table(), xs), critical_(question.stop_above.value_or(0.0)) {
    std::vector<double> levels;
    for (std::size_t p = 0; p < question.pool.size(); ++p) {
        const std::uint32_t z = question.pool[p];
        const auto fixed = question.fixed;
        if (z != question.target && std::find(fixed.begin(), fixed.end(), z) == fixed.end()) {
            place_.emplace(z, static_cast<std::uint32_t>(p));
            live_.push_back(static_cast<std::uint32_t>(p));
            levels.push_back(test.table().levels(z));
        }
    }
    std::sort(levels.begin(), levels.end());
    least_.push_back(1.0);
    for (const double r : levels) {
        least_.push_back(least_.back() * r);
    }
}

SubsetSearch::~SubsetSearch() = default;

void SubsetSearch::drop(std::uint32_t z) {
    if (const std::size_t at = live_place(z); at < live_.size()) {
        live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(at));
    }
}

std::size_t SubsetSearch::live_place(std::uint32_t z) const {
    const auto known = place_.find(z);
    if (known == place_.end()) {
        return live_.size();
    }
    const auto at = std::lower_bound(live_.begin(), live_.end(), known->second);
    return at != live_.end() && *at == known->second ? static_cast<std::size_t>(at - live_.begin()) : live_.size();
}

SubsetAnswer SubsetSearch::operator()(std::uint32_t x, std::int64_t tried, Control& control) {
    Walk walk{x, live_place(x), tried, control};
    walk.best.outcome = {nan, nan, nan, false};
    const bool valid =
        x != question_.target && std::find(question_.fixed.begin(), question_.fixed.end(), x) == question_.fixed.end();
    if (!valid) {
        return walk.best;
    }
    if (!root_) {
        root_ = std::make_unique<Node>(Cells(test_.table(), question_.target, question_.fixed));
    }
    const double strata = test_.strata_product(question_.fixed);
    const std::size_t members = live_.size() - (walk.place < live_.size() ? 1 : 0);
    for (std::size_t size = question_.smallest; size <= std::min(question_.largest, members); ++size) {
        if (visit(walk, *root_, 0, size, strata, tried < 0)) {
            break;
        }
    }
    Outcome& outcome = walk.best.outcome;
    if (outcome.reliable && !walk.ranked) {
        outcome.log_p = chi_square_log_sf(outcome.statistic, outcome.dof);
    }
    return walk.best;
}

// Goes through the subsets that add `wanted` members, from place `from` on, to those chosen; true if one separates.
// `fresh` tells whether what is chosen is new already.
bool SubsetSearch::visit(Walk& walk, Node& node, std::size_t from, std::size_t wanted, double strata, bool fresh) {
    const PackedTable& table = test_.table();
    if (question_.fixed.size() + walk.chosen.size() + wanted > question_.most ||
        !test_.enough_rows(table.levels(walk.x), table.levels(question_.target), strata * least_[wanted])) {
        pass_over(walk, from, wanted, fresh);
        return false;
    }
    if (wanted == 0) {
        return fresh && examine(walk, node, strata);
    }
    if (wanted == 1 && !fresh) {  // the last one to choose has to be new
        const auto first_new = std::lower_bound(live_.begin() + static_cast<std::ptrdiff_t>(from), live_.end(),
                                                static_cast<std::uint32_t>(walk.tried));
        from = static_cast<std::size_t>(first_new - live_.begin());
    }
    for (std::size_t k = from; k + wanted <= live_.size(); ++k) {
        if (k == walk.place) {
            continue;
        }
        const std::uint32_t member = live_[k];
        const double more_strata = strata * table.levels(question_.pool[member]);
        const bool now_fresh = fresh || static_cast<std::int64_t>(member) >= walk.tried;
        walk.chosen.push_back(member);
        bool stop = false;
        if (wanted == 1 && !test_.enough_rows(table.levels(walk.x), table.levels(question_.target), more_strata)) {
            pass_over(walk, k + 1, 0, now_fresh);
        } else {
            std::unique_ptr<Node> temporary;
            stop = visit(walk, child(node, member, temporary), k + 1, wanted - 1, more_strata, now_fresh);
        }
        walk.chosen.pop_back();
        if (stop) {
            return true;
        }
    }
    return false;
}

SubsetSearch::Node& SubsetSearch::child(Node& parent, std::size_t member, std::unique_ptr<Node>& temporary) {
    if (!parent.children.empty() && parent.children[member]) {
        return *parent.children[member];
    }
    temporary = std::make_unique<Node>(Cells(parent.cells, question_.pool[member]));
    if (bytes_ > (kinds_.count == 1 ? most_bytes_for_one : most_bytes)) {
        return *temporary;
    }
    if (parent.children.empty()) {
        parent.children.resize(question_.pool.size());
        bytes_ += question_.pool.size() * sizeof(void*);
    }
    bytes_ += sizeof(Node) + temporary->cells.bytes();
    parent.children[member] = std::move(temporary);
    return *parent.children[member];
}

bool SubsetSearch::examine(Walk& walk, Node& node, double strata) {
    walk.control.check();
    const PackedTable& table = test_.table();
    const std::uint32_t x_levels = table.levels(walk.x);
    const std::uint32_t t_levels = table.levels(question_.target);
    if (!node.plan) {
        node.plan.emplace(table, test_.statistic_, node.cells, t_levels, kinds_);
    }
    if (!counter_) {
        counter_.emplace(*node.plan);
    }
    counter_->use(*node.plan);
    const Sum sum = (*counter_)(walk.x);
    const double dof = test_.rules_.dof == DofRule::adjusted ? static_cast<double>(sum.dof)
                                                             : (x_levels - 1.0) * (t_levels - 1.0) * strata;
    const std::size_t size = question_.fixed.size() + walk.chosen.size();
    if (!(dof > 0.0)) {
        tally_.add_skip(size);
        return false;
    }
    tally_.add_test(size);
    const double statistic = test_.statistic_.value(sum.value, test_.statistic_.scale(x_levels, t_levels));
    Outcome& best = walk.best.outcome;
    const bool separates = question_.stop_above && critical_.log_p_above(statistic, dof);
    bool weaker = separates || !best.reliable;
    double log_p = nan;
    if (!weaker && dof == best.dof) {
        weaker = statistic < best.statistic;
    } else if (!weaker) {
        if (!walk.ranked) {
            best.log_p = chi_square_log_sf(best.statistic, best.dof);
            walk.ranked = true;
        }
        log_p = chi_square_log_sf(statistic, dof);
        weaker = log_p > best.log_p || (log_p == best.log_p && statistic < best.statistic);
    }
    if (weaker) {
        best = {statistic, dof, log_p, true};
        walk.ranked = !std::isnan(log_p);
        walk.best.separated = separates;
        walk.best.given.assign(question_.fixed.begin(), question_.fixed.end());
        for (const std::uint32_t member : walk.chosen) {
            walk.best.given.push_back(question_.pool[member]);
        }
    }
    return separates;
}

// Counts the subsets that visit() would go through.
void SubsetSearch::pass_over(const Walk& walk, std::size_t from, std::size_t wanted, bool fresh) {
    const auto left = [&](std::size_t end) {
        return end <= from ? 0 : end - from - (walk.place >= from && walk.place < end ? 1 : 0);
    };
    std::uint64_t count = choose(left(live_.size()), wanted);
    if (!fresh) {
        const auto first_new =
            std::lower_bound(live_.begin(), live_.end(), static_cast<std::uint32_t>(walk.tried)) - live_.begin();
        count -= choose(left(static_cast<std::size_t>(first_new)), wanted);
    }
    tally_.add_skip(question_.fixed.size() + walk.chosen.size() + wanted, count);
}

}  // namespace serape
