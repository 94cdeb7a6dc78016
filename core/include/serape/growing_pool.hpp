// Searches through the subsets of a pool that grows: the candidates are searched one after another, and each that no
// subset separates joins the pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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

}  // namespace serape
