#include "count_evaluator.hpp"

#include <algorithm>
#include <cmath>

#include "serape/chi_square.hpp"

namespace serape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint32_t first_members = default_costs.first_members;

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

CountEvaluator::CountEvaluator(const ContingencyTest& test, SubsetState& state)
    : test_(test),
      state_(state),
      kinds_(test.table(), state.query.xs),
      critical_(state.query.stop_above.value_or(0.0)),
      target_levels_(test.table().levels(state.query.target)),
      search_(test.table()),
      root_strata_(test.strata_product(state.query.fixed)) {
    pool_changed();
    const SubsetQuery& query = state.query;
    if (test.statistic_.kind() == StatisticKind::g2 && query.fixed.size() + query.largest > 0 &&
        JointCounter::serves(test.table(), query.target)) {
        joint_ = test.table().lend_joint_counter();
        joint_->take(test.table(), query.target);
    }
}

void CountEvaluator::pool_changed() {
    levels_.clear();
    for (const std::uint32_t member : state_.live) {
        levels_.push_back(test_.table().levels(state_.query.pool[member]));
    }
    std::sort(levels_.begin(), levels_.end());
    least_.assign(1, 1.0);
    for (const double r : levels_) {
        least_.push_back(least_.back() * r);
    }
    distinct_.root.reset();  // it does not know the new member
    by_pairs_ = false;
    pairs_.reset();
    pool_.reset();
}

void CountEvaluator::start(std::vector<Walk>& walks) {
    for (Walk& walk : walks) {
        walk.levels = test_.table().levels(walk.x);
    }
    const auto known = [&](const Walk& walk) { return search_.has(walk.x); };
    if (distinct_.root && std::all_of(walks.begin(), walks.end(), known)) {
        ground_ = &distinct_;
        return;
    }
    stand_on_whole();
}

void CountEvaluator::stand_on_whole() {
    ground_ = &whole_;
    if (!whole_.root) {
        stand_on(whole_, test_.table());
        by_pairs_ =
            state_.query.largest > 0 && PairPool::pays(test_.table(), *whole_.root->cells, state_.query.pool, kinds_);
    }
}

// Makes what all threads read, before they begin.
void CountEvaluator::prepare(std::size_t threads) {
    stand_on_whole();
    if (by_pairs_ && state_.query.smallest <= 1) {
        make_pool(threads);
    }
}

void CountEvaluator::make_pool(std::size_t threads) {
    pool_ = std::make_shared<const PairPool>(test_.table(), test_.statistic_, *whole_.root->cells, target_levels_,
                                             state_.query.pool, threads);
}

// Counts in this table from now on, of which nothing is known.
void CountEvaluator::stand_on(Ground& ground, const PackedTable& table) {
    ground_ = &ground;
    std::vector<std::uint32_t> fixed;
    for (const std::uint32_t z : state_.query.fixed) {
        fixed.push_back(column(z));
    }
    ground.table = &table;
    ground.root = std::make_unique<Tree>();
    ground.root->cells.emplace(table, column(state_.query.target), fixed);
    ground.bytes = 0;
}

void CountEvaluator::start_size(const Walks& walks, std::size_t size) {
    if (ground_ == &distinct_ || walks.empty() || !DistinctSearch::may_pay(test_.table())) {
        return;
    }
    const SubsetQuery& query = state_.query;
    std::vector<std::uint32_t> given(query.fixed), xs;
    double levels = 0.0, sets = 0.0, tests = 0.0;
    for (const std::uint32_t member : state_.live) {
        given.push_back(query.pool[member]);
    }
    for (const Walk* walk : walks) {
        const std::size_t others = state_.live.size() - (walk->position < state_.live.size() ? 1 : 0);
        const auto of_x = static_cast<double>(choose(others, size));
        xs.push_back(walk->x);
        levels += walk->levels;
        sets = std::max(sets, of_x);
        tests += of_x;
    }
    distinct_.root.reset();  // it does not know these x
    const double mean = std::pow(least_.back(), 1.0 / static_cast<double>(std::max<std::size_t>(levels_.size(), 1)));
    if (search_.pays({.tests = tests,
                      .levels = levels / static_cast<double>(walks.size()),
                      .cells = target_levels_ * root_strata_ *
                               std::pow(mean, static_cast<double>(std::min(size, state_.live.size()))),
                      .divisions = sets,
                      .divided_by = 1.0},
                     query.target, given, xs)) {
        stand_on(distinct_, search_.table());
    }
}

// The least product of levels that `wanted` members of the pool other than x can have.
double CountEvaluator::least(const Walk& walk, std::size_t wanted) const {
    const bool among = wanted > 0 && walk.position < state_.live.size() && wanted < levels_.size() &&
                       walk.levels <= levels_[wanted - 1];  // then x may count as one of the smallest
    return among ? least_[wanted + 1] / walk.levels : least_[wanted];
}

bool CountEvaluator::may_test(const Walk& walk, const Node& node, std::size_t wanted) const {
    return test_.enough_rows(walk.levels, target_levels_, node.strata * least(walk, wanted));
}

CountEvaluator::Node CountEvaluator::leaf(const Node& node, std::uint32_t member, const Walks& walks) {
    const double strata = node.strata * test_.table().levels(state_.query.pool[member]);
    const bool worth = std::any_of(walks.begin(), walks.end(), [&](const Walk* walk) {
        return test_.enough_rows(walk->levels, target_levels_, strata);
    });
    // Cells are worth making if one of the x can be tested there.
    if (!worth) {
        return {node.tree, strata};
    }
    Node made = extended(node, member, state_.query.one_by_one());
    made.sharing = static_cast<double>(walks.size());
    return made;
}

// Mostly one of the first members separates an x: these are tried on one x after another, as the driver does; the
// others on each x by itself, for which its rows have to be listed.
bool CountEvaluator::visit_singles(Walks& walks) {
    if (!by_pairs_ || ground_ != &whole_) {
        return false;
    }
    const PackedTable& table = test_.table();
    const SubsetQuery& query = state_.query;
    const std::vector<std::uint32_t>& live = state_.live;
    Walks going;
    for (Walk* walk : walks) {
        may_pair(*walk, root_strata_) ? going.push_back(walk) : state_.skip(*walk, 0, 1);
    }
    if (!going.empty() && !pairs_) {
        if (!pool_) {
            make_pool(1);
        }
        pairs_.emplace(*pool_);
    }
    // In the order of the pool, from either end, its panels are counted once for each member.
    const auto later = [](const Walk* a, const Walk* b) { return a->member > b->member; };
    if (!std::is_sorted(going.begin(), going.end(), later)) {
        std::stable_sort(going.begin(), going.end(), later);
    }
    for (std::size_t k = 0; k < live.size() && live[k] < first_members; ++k) {
        const std::uint32_t member = live[k];
        const double strata = root_strata_ * table.levels(query.pool[member]);
        std::optional<Node> node;
        bool taken = false;
        state_.chosen.assign(1, member);
        std::erase_if(going, [&](Walk* walk) {
            if (member == walk->member || !walk->fresh(member) || !state_.tries(*walk, member)) {
                return false;
            }
            if (!may_pair(*walk, strata)) {
                state_.tally.add_skip(state_.set_size());
                return false;
            }
            if (!taken) {
                pairs_->take(query.pool[member]);
                taken = true;
            }
            if (walk->member < query.pool.size() && pairs_->turns(walk->member)) {
                return judge(*walk, pairs_->turned(walk->member), strata);
            }
            if (!node) {
                node = extended(root(), member, true);
            }
            return examine(*walk, *node);
        });
    }
    state_.chosen.clear();
    for (std::size_t k = 0; k < going.size(); ++k) {
        pairs_->expect(going[std::min(k + 4, going.size() - 1)]->x, going[std::min(k + 8, going.size() - 1)]->x);
        test_with_later(*going[k]);
    }
    std::erase_if(walks, [](const Walk* walk) { return walk->best->separated; });
    return true;
}

// Whether x may be tried with one member of the pool, if there are so many strata then.
bool CountEvaluator::may_pair(const Walk& walk, double strata) const {
    return state_.query.fixed.size() + 1 <= state_.query.max_size &&
           test_.enough_rows(walk.levels, target_levels_, strata);
}

double CountEvaluator::full_dof(const Walk& walk, double strata) const {
    return (walk.levels - 1.0) * (target_levels_ - 1.0) * strata;
}

// Tries x with the members after the first ones.
void CountEvaluator::test_with_later(Walk& walk) {
    state_.token->check();
    const SubsetQuery& query = state_.query;
    const std::vector<std::uint32_t>& live = state_.live;
    const double strata = root_strata_;
    const std::size_t size = query.fixed.size() + 1;
    const bool adjusted = test_.rules_.dof == DofRule::adjusted;
    bool allowed[plane_levels + 1];  // by levels of the member
    std::size_t few[plane_levels + 1];
    for (std::uint32_t levels = 1; levels <= plane_levels; ++levels) {
        allowed[levels] = may_pair(walk, strata * levels);
        few[levels] = static_cast<std::size_t>(std::min<double>(full_dof(walk, strata * levels), few_dof));
    }
    const std::int64_t first = std::max({std::int64_t{first_members}, walk.n_exhausted,
                                         state_.members == Members::after ? std::int64_t{walk.member} + 1 : 0});
    const std::uint32_t last =
        state_.members == Members::before ? walk.member : std::numeric_limits<std::uint32_t>::max();
    auto at = std::lower_bound(live.begin(), live.end(), first);
    const auto end = std::lower_bound(at, live.end(), last);
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
            state_.tally.add_skip(size);
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
        state_.chosen.assign(1, member);
        separated = judge(walk, sum, strata * levels);
        if (0 < dof && dof < few_dof) {
            const double significant = state_.query.stop_above ? critical_.surely_not_above(dof) : 0.0;
            irrelevant_from[dof] =
                test_.statistic_.reaching(std::max(significant, walk.met[dof] * (1.0 + Walk::margin)));
        }
        if (const Outcome& best = walk.best->outcome; best.statistic != known.statistic || best.dof != known.dof) {
            known = best;
            irrelevant_for_any = irrelevant_for_any_dof(walk, adjusted ? std::min(few[2], pairs_->most_dof()) : few[2]);
        }
    }
    state_.chosen.clear();
    state_.tally.add_test(size, tests);
}

// A sum from which on a test changes nothing if it has at most so many degrees of freedom.
std::int64_t CountEvaluator::irrelevant_for_any_dof(Walk& walk, std::size_t most_dof) {
    Outcome& best = walk.best->outcome;
    if (most_dof == 0 || most_dof >= few_dof || !best.reliable) {
        return std::numeric_limits<std::int64_t>::max();
    }
    rank(walk);
    const double significant = state_.query.stop_above ? critical_.surely_not_above(most_dof) : 0.0;
    const double as_strong =
        best.dof == static_cast<double>(most_dof) ? best.statistic : statistic_as_rare(best.log_p, most_dof);
    return test_.statistic_.reaching(std::max(significant, as_strong * (1.0 + Walk::margin)));
}

// Computes the log p of x's weakest association, unless it is known.
void CountEvaluator::rank(Walk& walk) {
    if (Outcome& best = walk.best->outcome; best.reliable && !walk.ranked) {
        best.log_p = chi_square_log_sf(best.statistic, best.dof);
        walk.ranked = true;
    }
}

CountEvaluator::Node CountEvaluator::extended(const Node& node, std::uint32_t member, bool keep) {
    const SubsetQuery& query = state_.query;
    Tree& parent = *node.tree;
    const double strata = node.strata * test_.table().levels(query.pool[member]);
    if (member < parent.children.size() && parent.children[member]) {
        return {parent.children[member].get(), strata};
    }
    auto made = std::make_unique<Tree>();
    made->parent = &parent;
    made->member = member;
    Tree* const tree = made.get();
    if (!keep || ground_->bytes > default_costs.max_kept_bytes) {
        return {tree, strata, std::move(made)};
    }
    if (member >= parent.children.size()) {
        ground_->bytes += (query.pool.size() - parent.children.size()) * sizeof(void*);
        parent.children.resize(query.pool.size());
    }
    ground_->bytes += sizeof(Tree);
    tree->kept = true;
    parent.children[member] = std::move(made);
    return {tree, strata};
}

Cells& CountEvaluator::cells_of(Tree& tree) {
    if (!tree.cells) {
        tree.cells.emplace(cells_of(*tree.parent), column(state_.query.pool[tree.member]), kinds_.all_have_planes());
        ground_->bytes += tree.kept ? tree.cells->bytes() : 0;
    }
    return *tree.cells;
}

bool CountEvaluator::examine(Walk& walk, const Node& node) {
    Tree& tree = *node.tree;
    if (joint_ && ground_ == &whole_ && !tree.plan && state_.set_size() > 0) {
        const bool one_by_one = state_.query.one_by_one();
        const JointShape shape{test_.table().rows(), node.strata * target_levels_, walk.levels, node.sharing,
                               one_by_one,           kinds_.all_have_planes()};
        const bool is_member = walk.position < state_.live.size();  // then the others are examined as well
        if (joint_pays(shape, kernels().costs)) {
            if (const auto sum = (*joint_)(walk.x, given(), one_by_one || is_member)) {
                return judge(walk, *sum, node.strata);
            }
        }
    }
    if (!tree.plan) {
        tree.plan.emplace(*ground_->table, test_.statistic_, cells_of(tree), target_levels_, kinds_);
    }
    return judge(walk, (*tree.plan)(counter_, column(walk.x)), node.strata);
}

std::span<const std::uint32_t> CountEvaluator::given() {
    given_.assign(state_.query.fixed.begin(), state_.query.fixed.end());
    for (const std::uint32_t member : state_.chosen) {
        given_.push_back(state_.query.pool[member]);
    }
    return given_;
}

// What x's sum in the subset at hand says; true if it is separated. The weakest association is remembered.
bool CountEvaluator::judge(Walk& walk, const Sum& sum, double strata) {
    state_.poll_cancel<poll_every>();
    const double dof = test_.rules_.dof == DofRule::adjusted ? static_cast<double>(sum.dof) : full_dof(walk, strata);
    const std::size_t size = state_.set_size();
    if (!(dof > 0.0)) {
        state_.tally.add_skip(size);
        return false;
    }
    state_.tally.add_test(size);
    const double statistic = test_.statistic_.value(sum.value, test_.statistic_.scale(walk.levels, target_levels_));
    Outcome& best = walk.best->outcome;
    const bool separates = state_.query.stop_above && critical_.log_p_above(statistic, dof);
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
        walk.best->given = state_.given();
    }
    return separates;
}

}  // namespace serape
