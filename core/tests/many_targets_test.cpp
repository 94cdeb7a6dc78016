// Questions about many targets in one call: on several threads as on one.
#include <cmath>
#include <numeric>
#include <thread>

#include "harness.hpp"
#include "serape/contingency_test.hpp"
#include "serape/growing_pool.hpp"
#include "serape/inter_iapc.hpp"
#include "serape/spouse_search.hpp"

namespace serape::testing {
namespace {

constexpr std::uint32_t columns = 24;

std::vector<std::uint32_t> range(std::uint32_t first, std::uint32_t last) {
    std::vector<std::uint32_t> all(last - first);
    std::iota(all.begin(), all.end(), first);
    return all;
}

void check_same(const FoundSubsets& found, const FoundSubsets& expected) {
    check_equal(found.xs(), expected.xs());
    check_equal(found.indices(), expected.indices());
    check_equal(found.sets().members, expected.sets().members);
}

const Case iapc("many targets: Inter-IAPC", [] {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const RandomTable random(seed, 40 + 10 * seed, columns, 3);
        const ContingencyTest test(random.table, {});
        const CandidateGroups among(random.table, {{range(0, columns), {}}});
        const std::vector<std::uint32_t> targets = range(0, columns);
        CancellationToken token;
        const auto one = inter_iapc(test, among, targets, std::log(0.2), targets, 1, token);
        const auto many = inter_iapc(test, among, targets, std::log(0.2), targets, 4, token);
        for (std::size_t k = 0; k < targets.size(); ++k) {
            check_equal(many[k].rounds.size(), one[k].rounds.size());
            check_equal(many[k].rounds.back().independent, one[k].rounds.back().independent);
            check_same(many[k].separated, one[k].separated);
            check_equal(many[k].weakest.size(), one[k].weakest.size());
            for (std::size_t j = 0; j < one[k].weakest.size(); ++j) {
                check_equal(many[k].weakest[j].x, one[k].weakest[j].x);
                check_equal(many[k].weakest[j].round, one[k].weakest[j].round);
                check_equal(many[k].weakest[j].outcome.log_p, one[k].weakest[j].outcome.log_p);
            }
        }
    }
});

const Case pools("many targets: pools that grow", [] {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const RandomTable random(seed, 300, columns, 4);
        const ContingencyTest test(random.table, {});
        const std::vector<std::uint32_t> targets = range(0, 6), candidates = range(6, columns);
        const std::vector<std::span<const std::uint32_t>> lists(targets.size(), candidates);
        CancellationToken token;
        const GrownPools one = grow_pools(test, targets, lists, std::log(0.2), 3, true, 1, token);
        const GrownPools many = grow_pools(test, targets, lists, std::log(0.2), 3, true, 4, token);
        check_equal(many.pools.ends, one.pools.ends);
        check_equal(many.pools.members, one.pools.members);
        check_equal(many.given.ends, one.given.ends);
        check_equal(many.given.members, one.given.members);
        check_equal(one.log_p.size(), one.pools.members.size());
        check_equal(many.tally.tests, one.tally.tests);
    }
    const RandomTable random(1, 300, columns, 4);
    const std::vector<std::uint32_t> twice{3, 4, 3};
    const std::vector<std::uint32_t> target{0};
    const std::vector<std::span<const std::uint32_t>> lists{twice};
    CancellationToken token;
    check_throws<std::invalid_argument>(
        [&] { grow_pools(ContingencyTest(random.table, {}), target, lists, -3.0, 3, false, 1, token); });
});

const Case spouses("many targets: spouses of candidates in a table of their own", [] {
    const RandomTable random(5, 120, 4200, 3);
    const ContingencyTest test(random.table, {});
    const SpouseQuery query{.target = 0, .children = range(1, 9), .log_alpha = std::log(0.05)};
    std::vector<std::vector<Spouses>> found;
    for (const std::size_t threads : {1, 4}) {
        const CandidateGroups groups(random.table, {{range(9, 2100), {}}, {range(2100, 2600), {9}}});
        CancellationToken token;
        check(!groups.has_own_table());
        found.push_back(find_spouses(test, groups, query, threads, token));
        check(groups.has_own_table());
    }
    for (std::size_t k = 0; k < query.children.size(); ++k) {
        check_equal(found[1][k].dependents, found[0][k].dependents);
        check_same(found[1][k].found, found[0][k].found);
    }
});

}  // namespace
}  // namespace serape::testing
