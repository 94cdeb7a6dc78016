// Searches through the subsets of a pool that grows: the candidates are searched one after another, and each that no
// subset separates joins the pool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "serape/answers.hpp"
#include "serape/subset_driver.hpp"

namespace serape {

// Searches the candidates, `query.xs`, in turn; none may be in the pool. With `examine`, each older member is searched
// after a candidate has joined, given the subsets that contain the new member, and leaves the pool if one separates it.
// Subsets of the first pool are not known to be tested for candidates, but for the empty one if `n_exhausted` is 0.
// After `enough` tests the rest of the candidates is left for another call.
template <class Evaluator, class Test>
GrownPool grow_pool(const Test& test, SubsetQuery query, bool examine, std::uint64_t enough, CancellationToken& token) {
    query.shrinking = true;
    const std::vector<std::uint32_t> candidates = query.xs;
    query.xs.insert(query.xs.end(), query.pool.begin(), query.pool.end());  // which are searched, too
    const std::int64_t n_exhausted = query.n_exhausted.empty() ? -1 : query.n_exhausted[0];
    SubsetDriver<Evaluator> driver(test, query);
    GrownPool grown;
    const auto separates = [&](std::uint32_t x, std::int64_t exhausted) {
        SubsetAnswer& answer = grown.found.answers.emplace_back();
        grown.searched.push_back(x);
        driver({&x, 1}, {&exhausted, 1}, token, &answer);
        return answer.separated;
    };
    for (const std::uint32_t x : candidates) {
        if (grown.asked > 0 && driver.tally().performed() >= enough) {
            break;
        }
        ++grown.asked;
        const std::vector<std::uint32_t> members = driver.members();
        const bool known = members.empty() && n_exhausted == 0;  // there is no subset left to test
        if (!known && separates(x, n_exhausted)) {
            continue;
        }
        const auto newest = static_cast<std::int64_t>(query.pool.size());
        query.pool.push_back(x);
        driver.join();
        grown.changes.push_back({x, true});
        for (std::size_t k = 0; examine && k < members.size(); ++k) {
            if (separates(members[k], newest)) {
                driver.leave(members[k]);
                grown.changes.push_back({members[k], false});
            }
        }
    }
    grown.found.tally = driver.tally();
    return grown;
}

// The pools of many targets.
struct GrownPools {
    FlatSets pools;
    // By member, if they are asked for, the weakest association that any subset left: not a number if none was
    // searched.
    std::vector<double> statistic, dof, log_p;
    FlatSets given;
    Tally tally;
};

// Returns the answer that shows the weakest association of x, the first of several; null if none does.
inline const SubsetAnswer* weakest_of(const GrownPool& grown, std::uint32_t x, double log_alpha) {
    const SubsetAnswer* weakest = nullptr;
    for (std::size_t k = 0; k < grown.searched.size(); ++k) {
        const SubsetAnswer& answer = grown.found.answers[k];
        if (grown.searched[k] != x || !answer.outcome.reliable || answer.outcome.log_p > log_alpha) {
            continue;
        }
        if (weakest == nullptr || answer.outcome.log_p > weakest->outcome.log_p) {
            weakest = &answer;
        }
    }
    return weakest;
}

// Grows the pool of each target, empty at first, by its candidates in turn, with `examine`. The candidates are known to
// depend on the target given nothing. With `weigh`, the weakest association of each member is returned, too. Throws
// std::invalid_argument if a candidate is named twice.
template <class Test>
GrownPools grow_pools(const Test& test, std::span<const std::uint32_t> targets,
                      std::span<const std::span<const std::uint32_t>> candidates, double log_alpha,
                      std::size_t max_size, bool weigh, std::size_t threads, CancellationToken& token) {
    constexpr std::size_t grain = 4;
    threads = std::max<std::size_t>(threads, 1);
    std::vector<std::vector<std::uint32_t>> pools(targets.size());
    std::vector<std::vector<SubsetAnswer>> weakest(weigh ? targets.size() : 0);
    std::vector<Tally> tallies(threads);
    parallel_for(targets.size(), grain, threads, token, [&](std::size_t k, std::size_t end, std::size_t worker) {
        for (; k < end; ++k) {
            SubsetQuery query{.xs = {candidates[k].begin(), candidates[k].end()}, .target = targets[k], .pool = {}};
            if (named_twice(query.xs)) {
                throw std::invalid_argument("a candidate is named twice");
            }
            query.largest = query.xs.size();
            query.max_size = max_size;
            query.n_exhausted = {0};
            query.stop_above = log_alpha;
            const GrownPool grown = test.grow_pool(query, true, std::numeric_limits<std::uint64_t>::max(), token);
            for (const auto& [variable, joined] : grown.changes) {
                joined ? pools[k].push_back(variable) : void(std::erase(pools[k], variable));
            }
            for (const std::uint32_t x : weigh ? pools[k] : std::vector<std::uint32_t>{}) {
                constexpr double none = std::numeric_limits<double>::quiet_NaN();
                const SubsetAnswer* found = weakest_of(grown, x, log_alpha);
                weakest[k].push_back(found != nullptr ? *found : SubsetAnswer{.outcome = {none, none, none, false}});
            }
            tallies[worker].merge(grown.found.tally);
        }
    });
    GrownPools all;
    for (const std::vector<SubsetAnswer>& of_pool : weakest) {
        for (const SubsetAnswer& answer : of_pool) {
            all.statistic.push_back(answer.outcome.statistic);
            all.dof.push_back(answer.outcome.dof);
            all.log_p.push_back(answer.outcome.log_p);
            all.given.add(answer.given);
        }
    }
    for (const std::vector<std::uint32_t>& pool : pools) {
        all.pools.add(pool);
    }
    for (const Tally& tally : tallies) {
        all.tally.merge(tally);
    }
    return all;
}

}  // namespace serape
