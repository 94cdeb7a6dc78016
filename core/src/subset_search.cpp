#include "serape/subset_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "serape/chi_square.hpp"

namespace serape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t most_bytes = std::size_t{64} << 20;  // of nodes kept, for larger subsets and the x to come
constexpr std::size_t few_dof = 16;
constexpr std::uint32_t first_members = 4;  // of a pool, which separate most
// Statistics of the same degrees of freedom that are further apart than this, relatively, are ordered by log p, however
// that is rounded.
constexpr double margin = 1e-9;
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max() - 1;

// A statistic of so many degrees of freedom, or fewer, that has no larger p-value than this: for 2m of them the upper
// tail is e^(−u) (1 + u + … + u^(m−1)/(m−1)!), where u is half of the statistic. Not the smallest, but close.
double statistic_as_rare(double log_p, std::size_t dof) {
    const std::size_t m = (dof + 1) / 2;
    double u = 2.0 * static_cast<double>(m) - 2.0 * log_p;  // large enough
    for (int round = 0; round < 4; ++round) {               // each is nearer, and still large enough
        double nested = 1.0;
        for (std::size_t k = m; k-- > 1;) {
            nested = 1.0 + u / static_cast<double>(k) * nested;
        }
        u = std::log(nested) - log_p;
    }
    return 2.0 * u;
}

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
    std::uint32_t levels;
    std::size_t place;     // of x in live_, or its size
    std::uint32_t member;  // of x in the pool, or beyond it
    std::int64_t tried;
    SubsetAnswer* best;
    bool ranked = false;  // whether best->outcome.log_p is known
    // By few degrees of freedom, the smallest statistic met. It is the best's or not weaker, and the best only gets
    // weaker.
    std::array<double, few_dof> met = [] {
        std::array<double, few_dof> nothing;
        nothing.fill(std::numeric_limits<double>::infinity());
        return nothing;
    }();

    // Whether a statistic is known not to be weaker than the best.
    bool knows(double statistic, std::size_t dof) const {
        return dof < few_dof && (statistic == met[dof] || statistic > met[dof] * (1.0 + margin));
    }
    // Whether a subset whose last member is this has not been tried; the empty one has none (−1).
    bool fresh(std::int64_t last) const { return tried < 0 || last >= tried; }
};

SubsetSearch::SubsetSearch(const ContingencyTest& test, const SubsetQuestion& question,
                           std::span<const std::uint32_t> xs)
    : test_(test), question_(question), kinds_(test.table(), xs), critical_(question.stop_above.value_or(0.0)) {
    for (std::size_t p = 0; p < question.pool.size(); ++p) {
        const std::uint32_t z = question.pool[p];
        const auto fixed = question.fixed;
        if (z != question.target && std::find(fixed.begin(), fixed.end(), z) == fixed.end()) {
            live_.push_back(static_cast<std::uint32_t>(p));
            levels_.push_back(test.table().levels(z));
        }
    }
    std::sort(levels_.begin(), levels_.end());
    least_.push_back(1.0);
    for (const double r : levels_) {
        least_.push_back(least_.back() * r);
    }
}

SubsetSearch::~SubsetSearch() = default;

void SubsetSearch::drop(std::uint32_t z) {
    if (const std::size_t at = live_place(z); at < live_.size()) {
        live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(at));
    }
}

std::size_t SubsetSearch::live_place(std::uint32_t z) {
    // Where the x are the pool, from the last to the first, it is the one before.
    if (const std::size_t before = found_ == 0 ? live_.size() - 1 : found_ - 1;
        before < live_.size() && question_.pool[live_[before]] == z) {
        return found_ = before;
    }
    if (place_.empty()) {
        for (const std::uint32_t p : live_) {
            place_.emplace(question_.pool[p], p);
        }
    }
    const auto known = place_.find(z);
    if (known == place_.end()) {
        return live_.size();
    }
    const auto at = std::lower_bound(live_.begin(), live_.end(), known->second);
    const bool live = at != live_.end() && *at == known->second;
    return live ? found_ = static_cast<std::size_t>(at - live_.begin()) : live_.size();
}

void SubsetSearch::operator()(std::span<const std::uint32_t> xs, std::span<const std::int64_t> tried,
                              CancellationToken& token, SubsetAnswer* answers, With with) {
    const PackedTable& table = test_.table();
    const auto fixed = question_.fixed;
    token_ = &token;
    with_ = with;
    std::vector<Walk> all;
    all.reserve(xs.size());
    for (std::size_t k = 0; k < xs.size(); ++k) {
        if (with != With::later) {
            answers[k] = {};
            answers[k].outcome = {nan, nan, nan, false};
        }
        if (xs[k] != question_.target && std::find(fixed.begin(), fixed.end(), xs[k]) == fixed.end()) {
            const std::size_t place = live_place(xs[k]);
            const std::uint32_t member =
                place < live_.size() ? live_[place] : std::numeric_limits<std::uint32_t>::max();
            all.push_back({xs[k], table.levels(xs[k]), place, member, tried[k], &answers[k]});
        }
    }
    if (!root_) {
        root_ = std::make_unique<Node>(Cells(table, question_.target, fixed));
        by_pairs_ = question_.largest > 0 && PairCounter::pays(table, root_->cells, question_.pool, kinds_);
    }
    Walks walks;
    for (Walk& walk : all) {
        walks.push_back(&walk);
    }
    const double strata = test_.strata_product(fixed);
    const std::size_t smallest =
        with == With::later ? std::max<std::size_t>(question_.smallest, 1) : question_.smallest;
    for (std::size_t size = smallest; size <= std::min(question_.largest, live_.size()); ++size) {
        if (size == 1 && by_pairs_) {
            visit_pairs(walks, strata);
        } else {
            visit(walks, *root_, 0, size, strata, none);
        }
        if (walks.empty()) {
            break;
        }
    }
    for (Walk& walk : all) {
        rank(walk);
    }
}

// The least product of levels that `wanted` members of the pool other than x can have.
double SubsetSearch::least(const Walk& walk, std::size_t wanted) const {
    const bool among = wanted > 0 && walk.place < live_.size() && wanted < levels_.size() &&
                       walk.levels <= levels_[wanted - 1];  // then x may count as one of the smallest
    return among ? least_[wanted + 1] / walk.levels : least_[wanted];
}

void SubsetSearch::poll_cancel() {
    if (++looked_ % 32 == 0) {
        token_->check();
    }
}

bool SubsetSearch::tried_with(const Walk& walk, std::uint32_t last) const {
    return last == none || with_ == With::all || (with_ == With::earlier ? last < walk.member : last > walk.member);
}

// Goes through the subsets that add `wanted` members, from place `from` on, to those chosen, of which `last` is the
// last in the pool. Who is separated leaves the walks.
void SubsetSearch::visit(Walks& walks, Node& node, std::size_t from, std::size_t wanted, double strata,
                         std::uint32_t last) {
    const PackedTable& table = test_.table();
    const std::uint32_t t_levels = table.levels(question_.target);
    const std::int64_t last_place = last == none ? -1 : static_cast<std::int64_t>(last);
    const bool too_many = question_.fixed.size() + chosen_.size() + wanted > question_.most;
    const auto may = [&](const Walk& walk) {
        return !too_many && test_.enough_rows(walk.levels, t_levels, strata * least(walk, wanted));
    };
    poll_cancel();
    if (wanted == 0) {
        std::erase_if(walks, [&](Walk* walk) {
            if (walk->member == last || !walk->fresh(last_place) || !tried_with(*walk, last)) {
                return false;
            }
            if (!may(*walk)) {
                skip(*walk, from, 0, true);
                return false;
            }
            return examine(*walk, node, strata);
        });
        return;
    }
    Walks going;  // those for whom there may be something to find
    std::uint32_t first_new = std::numeric_limits<std::uint32_t>::max();
    for (Walk* walk : walks) {
        if (std::find(chosen_.begin(), chosen_.end(), walk->member) != chosen_.end()) {
            continue;
        }
        if (may(*walk)) {
            going.push_back(walk);
            first_new = walk->fresh(last_place) ? 0 : std::min(first_new, static_cast<std::uint32_t>(walk->tried));
        } else {
            skip(*walk, from, wanted, walk->fresh(last_place));
        }
    }
    if (going.empty()) {
        return;
    }
    if (wanted == 1 && first_new > 0) {  // the last one to choose has to be new for somebody
        const auto at = std::lower_bound(live_.begin() + static_cast<std::ptrdiff_t>(from), live_.end(), first_new);
        from = static_cast<std::size_t>(at - live_.begin());
    }
    const std::size_t before = going.size();
    for (std::size_t k = from; k + wanted <= live_.size() && !going.empty(); ++k) {
        const std::uint32_t member = live_[k];
        if (going.size() == 1 && going[0]->member == member) {
            continue;
        }
        const double more_strata = strata * table.levels(question_.pool[member]);
        std::unique_ptr<Node> temporary;
        chosen_.push_back(member);
        // A node is worth making if somebody can be tested there.
        const bool worth = wanted > 1 || std::any_of(going.begin(), going.end(), [&](const Walk* walk) {
                               return test_.enough_rows(walk->levels, t_levels, more_strata);
                           });
        Node& next = worth ? child(node, member, wanted > 1 || one_by_one(), temporary) : node;
        visit(going, next, k + 1, wanted - 1, more_strata, member);
        chosen_.pop_back();
    }
    if (going.size() < before) {
        std::erase_if(walks, [](const Walk* walk) { return walk->best->separated; });
    }
}

// As visit() from the root with one member wanted. Mostly one of the first members separates an x: these are tried on
// one x after another, as there; the others on each x by itself, for which its rows have to be listed.
void SubsetSearch::visit_pairs(Walks& walks, double strata) {
    const PackedTable& table = test_.table();
    Walks going;
    for (Walk* walk : walks) {
        may_pair(*walk, strata) ? going.push_back(walk) : skip(*walk, 0, 1, walk->tried < 0);
    }
    if (!going.empty() && !pairs_) {
        pairs_.emplace(table, test_.statistic_, root_->cells, table.levels(question_.target), question_.pool);
    }
    // In the order of the pool, from either end, its panels are counted once for each member.
    const auto later = [](const Walk* a, const Walk* b) { return a->member > b->member; };
    if (!std::is_sorted(going.begin(), going.end(), later)) {
        std::stable_sort(going.begin(), going.end(), later);
    }
    for (std::size_t k = 0; k < live_.size() && live_[k] < first_members; ++k) {
        const std::uint32_t member = live_[k];
        const double more_strata = strata * table.levels(question_.pool[member]);
        std::unique_ptr<Node> temporary;
        Node* node = nullptr;
        bool taken = false;
        chosen_.assign(1, member);
        std::erase_if(going, [&](Walk* walk) {
            if (member == walk->member || !walk->fresh(member) || !tried_with(*walk, member)) {
                return false;
            }
            if (!may_pair(*walk, more_strata)) {
                tally_.add_skip(question_.fixed.size() + 1);
                return false;
            }
            if (!taken) {
                pairs_->take(question_.pool[member]);
                taken = true;
            }
            if (walk->member < question_.pool.size() && pairs_->turns(walk->member)) {
                return judge(*walk, pairs_->turned(walk->member), more_strata);
            }
            node = node != nullptr ? node : &child(*root_, member, true, temporary);
            return examine(*walk, *node, more_strata);
        });
    }
    chosen_.clear();
    for (std::size_t k = 0; k < going.size(); ++k) {
        pairs_->expect(going[std::min(k + 4, going.size() - 1)]->x, going[std::min(k + 8, going.size() - 1)]->x);
        pair_up(*going[k], strata);
    }
    std::erase_if(walks, [](const Walk* walk) { return walk->best->separated; });
}

// Whether x may be tried with one member of the pool, if there are so many strata then.
bool SubsetSearch::may_pair(const Walk& walk, double strata) const {
    return question_.fixed.size() + 1 <= question_.most &&
           test_.enough_rows(walk.levels, test_.table().levels(question_.target), strata);
}

double SubsetSearch::full_dof(const Walk& walk, double strata) const {
    return (walk.levels - 1.0) * (test_.table().levels(question_.target) - 1.0) * strata;
}

// Tries x with the members after the first ones.
void SubsetSearch::pair_up(Walk& walk, double strata) {
    token_->check();
    const std::size_t size = question_.fixed.size() + 1;
    const bool adjusted = test_.rules_.dof == DofRule::adjusted;
    bool allowed[plane_levels + 1];  // by levels of the member
    std::size_t few[plane_levels + 1];
    for (std::uint32_t levels = 1; levels <= plane_levels; ++levels) {
        allowed[levels] = may_pair(walk, strata * levels);
        few[levels] = static_cast<std::size_t>(std::min<double>(full_dof(walk, strata * levels), few_dof));
    }
    const std::int64_t first =
        std::max({std::int64_t{first_members}, walk.tried, with_ == With::later ? std::int64_t{walk.member} + 1 : 0});
    const std::uint32_t last = with_ == With::earlier ? walk.member : std::numeric_limits<std::uint32_t>::max();
    auto at = std::lower_bound(live_.begin(), live_.end(), first);
    const auto end = std::lower_bound(at, live_.end(), last);
    if (at == end) {
        return;
    }
    std::array<std::int64_t, few_dof>
        irrelevant_from;  // by few degrees of freedom, a sum from which on a test changes nothing
    irrelevant_from.fill(std::numeric_limits<std::int64_t>::max());
    std::int64_t irrelevant_for_any =
        std::numeric_limits<std::int64_t>::max();  // the same, with a binary member, for any dof
    Outcome known{nan, nan, nan, false};           // the weakest association that is based on
    std::uint64_t tests = 0;
    bool separated = false;
    pairs_->take(walk.x);
    for (; at != end && !separated; ++at) {
        const std::uint32_t member = *at;
        if (member == walk.member) {
            continue;
        }
        const std::uint32_t levels = pairs_->levels(member);
        if (!allowed[levels]) {
            tally_.add_skip(size);
            continue;
        }
        if (pairs_->at_least(member) >= irrelevant_for_any) {
            ++tests;
            continue;
        }
        const Sum sum = (*pairs_)(member);
        const std::size_t dof = adjusted ? static_cast<std::size_t>(sum.dof) : few[levels];
        if (dof < few_dof && sum.value >= irrelevant_from[dof]) {
            ++tests;
            continue;
        }
        chosen_.assign(1, member);
        separated = judge(walk, sum, strata * levels);
        if (0 < dof && dof < few_dof) {
            const double significant = question_.stop_above ? critical_.surely_not_above(dof) : 0.0;
            irrelevant_from[dof] = test_.statistic_.reaching(std::max(significant, walk.met[dof] * (1.0 + margin)));
        }
        if (const Outcome& best = walk.best->outcome; best.statistic != known.statistic || best.dof != known.dof) {
            known = best;
            irrelevant_for_any = irrelevant_for_any_dof(walk, adjusted ? std::min(few[2], pairs_->most_dof()) : few[2]);
        }
    }
    chosen_.clear();
    tally_.add_test(size, tests);
}

// A sum from which on a test changes nothing if it has at most so many degrees of freedom.
std::int64_t SubsetSearch::irrelevant_for_any_dof(Walk& walk, std::size_t most_dof) {
    Outcome& best = walk.best->outcome;
    if (most_dof == 0 || most_dof >= few_dof || !best.reliable) {
        return std::numeric_limits<std::int64_t>::max();
    }
    rank(walk);
    const double significant = question_.stop_above ? critical_.surely_not_above(most_dof) : 0.0;
    const double as_strong =
        best.dof == static_cast<double>(most_dof) ? best.statistic : statistic_as_rare(best.log_p, most_dof);
    return test_.statistic_.reaching(std::max(significant, as_strong * (1.0 + margin)));
}

// Computes the log p of x's weakest association, unless it is known.
void SubsetSearch::rank(Walk& walk) {
    if (Outcome& best = walk.best->outcome; best.reliable && !walk.ranked) {
        best.log_p = chi_square_log_sf(best.statistic, best.dof);
        walk.ranked = true;
    }
}

SubsetSearch::Node& SubsetSearch::child(Node& parent, std::size_t member, bool keep, std::unique_ptr<Node>& temporary) {
    if (!parent.children.empty() && parent.children[member]) {
        return *parent.children[member];
    }
    temporary = std::make_unique<Node>(Cells(parent.cells, question_.pool[member], kinds_.all_have_planes));
    if (!keep || bytes_ > most_bytes) {
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

// Tests one x; true if it is separated.
bool SubsetSearch::examine(Walk& walk, Node& node, double strata) {
    if (!node.plan) {
        const PackedTable& table = test_.table();
        node.plan.emplace(table, test_.statistic_, node.cells, table.levels(question_.target), kinds_);
    }
    if (!counter_) {
        counter_.emplace(*node.plan);
    }
    counter_->use(*node.plan);
    return judge(walk, (*counter_)(walk.x), strata);
}

// What x's sum in the subset at hand says; true if it is separated. The weakest association is remembered.
bool SubsetSearch::judge(Walk& walk, const Sum& sum, double strata) {
    poll_cancel();
    const std::uint32_t t_levels = test_.table().levels(question_.target);
    const double dof = test_.rules_.dof == DofRule::adjusted ? static_cast<double>(sum.dof) : full_dof(walk, strata);
    const std::size_t size = question_.fixed.size() + chosen_.size();
    if (!(dof > 0.0)) {
        tally_.add_skip(size);
        return false;
    }
    tally_.add_test(size);
    const double statistic = test_.statistic_.value(sum.value, test_.statistic_.scale(walk.levels, t_levels));
    Outcome& best = walk.best->outcome;
    const bool separates = question_.stop_above && critical_.log_p_above(statistic, dof);
    bool weaker = separates || !best.reliable;
    double log_p = nan;
    const auto few = static_cast<std::size_t>(std::min<double>(dof, few_dof));
    if (!weaker && dof == best.dof) {
        weaker = statistic < best.statistic;
    } else if (!weaker && !walk.knows(statistic, few)) {
        rank(walk);
        log_p = chi_square_log_sf(statistic, dof);
        weaker = log_p > best.log_p || (log_p == best.log_p && statistic < best.statistic);
    }
    if (few < few_dof) {
        walk.met[few] = std::min(walk.met[few], statistic);
    }
    if (weaker) {
        best = {statistic, dof, log_p, true};
        walk.ranked = !std::isnan(log_p);
        walk.best->separated = separates;
        walk.best->given.assign(question_.fixed.begin(), question_.fixed.end());
        for (const std::uint32_t member : chosen_) {
            walk.best->given.push_back(question_.pool[member]);
        }
    }
    return separates;
}

// Counts the subsets that visit() would go through.
void SubsetSearch::skip(const Walk& walk, std::size_t from, std::size_t wanted, bool fresh) {
    from = with_ == With::later ? std::max(from, walk.place + 1) : from;
    const auto left = [&](std::size_t end) {
        end = with_ == With::earlier ? std::min(end, walk.place) : end;
        return end <= from ? 0 : end - from - (walk.place >= from && walk.place < end ? 1 : 0);
    };
    std::uint64_t count = choose(left(live_.size()), wanted);
    if (!fresh && count < most_count) {
        const auto first_new =
            std::lower_bound(live_.begin(), live_.end(), static_cast<std::uint32_t>(walk.tried)) - live_.begin();
        count -= choose(left(static_cast<std::size_t>(first_new)), wanted);
    }
    tally_.add_skip(question_.fixed.size() + chosen_.size() + wanted, count);
}

}  // namespace serape
