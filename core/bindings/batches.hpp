// Batches of questions, asked in the same way of every test.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "cancellation.hpp"
#include "conversions.hpp"
#include "serape/answers.hpp"
#include "serape/growing_pool.hpp"
#include "serape/subset_batch.hpp"

namespace serape {

// The arrays in which a batch of answers goes to Python.
struct Batch {
    explicit Batch(std::size_t size)
        : statistic(empty_numpy<double>(size)), dof(empty_numpy<double>(size)), reliable(empty_numpy<bool>(size)) {}
    Answers answers() const { return {statistic.data(), dof.data(), reinterpret_cast<std::uint8_t*>(reliable.data())}; }
    NumPy<double> statistic, dof;
    NumPy<bool> reliable;
};

// Statistic, dof and reliability of many candidates given one set.
template <class Test>
auto screened(const Test& test, std::uint32_t target, const Array<std::uint32_t>& candidates,
              const std::vector<std::uint32_t>& given, std::size_t threads, const nanobind::object& poll) {
    check(test, target);
    check(test, span(candidates));
    check(test, given);
    Batch batch(candidates.size());
    CancellationToken token = cancellation_token(poll);
    run_interruptible(token, [&] {
        test.screen(target, span(candidates), given, std::min(threads, most_threads), token, batch.answers());
    });
    return std::make_tuple(batch.statistic, batch.dof, batch.reliable);
}

// A search through conditioning sets; `table` has the columns.
template <class Test, class Table>
FoundSubsets found_subsets(const Test& test, const Table& table, const SubsetQuery& query, std::size_t threads,
                           const nanobind::object& poll) {
    check(table, query);
    SubsetAnswers found;
    CancellationToken token = cancellation_token(poll);
    run_interruptible(token, [&] { found = test.search_subsets(query, std::min(threads, most_threads), token); });
    return FoundSubsets(query.xs, std::move(found));
}

// Searches through the subsets of a growing pool: the answers, the changes of the pool, and the number of candidates
// that were asked about.
template <class Test, class Table>
auto grown_pool(const Test& test, const Table& table, const SubsetQuery& query, bool examine, std::uint64_t enough,
                const nanobind::object& poll) {
    check(table, query);
    if (!query.fixed.empty()) {
        throw nanobind::value_error("a growing pool has no fixed members");
    }
    std::vector<std::uint32_t> all(query.pool);
    all.insert(all.end(), query.xs.begin(), query.xs.end());
    check_distinct(all);
    GrownPool grown;
    CancellationToken token = cancellation_token(poll);
    run_interruptible(token, [&] { grown = test.grow_pool(query, examine, enough, token); });
    std::vector<std::pair<std::uint32_t, bool>> changes;
    for (const GrownPool::Change& change : grown.changes) {
        changes.emplace_back(change.variable, change.joined);
    }
    return std::make_tuple(FoundSubsets(grown.searched, std::move(grown.found)), std::move(changes), grown.asked);
}

// The pools of many targets, each grown by its candidates: ends and members of the pools, statistics, dof and log p of
// the weakest associations of members with ends and members of their sets, numbers of tests and of skipped ones by
// size.
template <class Test, class Table>
auto grown_pools(const Test& test, const Table& table, const Array<std::uint32_t>& targets,
                 const Array<std::int64_t>& ends, const Array<std::uint32_t>& candidates, double log_alpha,
                 std::optional<std::size_t> max_size, bool weigh, std::size_t threads, const nanobind::object& poll) {
    if (ends.size() != targets.size()) {
        throw nanobind::value_error("arrays must be of one length");
    }
    check(table, span(targets));
    check(table, span(candidates));
    const std::vector<std::span<const std::uint32_t>> lists = lists_of(candidates, ends);
    GrownPools grown;
    CancellationToken token = cancellation_token(poll);
    run_interruptible(token, [&] {
        grown = grow_pools(test, span(targets), lists, log_alpha,
                           max_size.value_or(std::numeric_limits<std::size_t>::max()), weigh,
                           std::min(threads, most_threads), token);
    });
    return std::make_tuple(to_numpy(std::move(grown.pools.ends)), to_numpy(std::move(grown.pools.members)),
                           to_numpy(std::move(grown.statistic)), to_numpy(std::move(grown.dof)),
                           to_numpy(std::move(grown.log_p)), to_numpy(std::move(grown.given.ends)),
                           to_numpy(std::move(grown.given.members)), by_size(grown.tally.tests),
                           by_size(grown.tally.skipped));
}

// Searches through sets of one size for many targets: `xs` and `pools` hold those of one target after another, of which
// `x_ends` and `pool_ends` tell the ends.
template <class Test, class Table>
FoundSubsets found_each(const Test& test, const Table& table, const Array<std::uint32_t>& targets,
                        const Array<std::int64_t>& x_ends, const Array<std::uint32_t>& xs,
                        const Array<std::int64_t>& pool_ends, const Array<std::uint32_t>& pools, SubsetBatch batch,
                        std::size_t threads, const nanobind::object& poll) {
    if (x_ends.size() != targets.size() || pool_ends.size() != targets.size()) {
        throw nanobind::value_error("arrays must be of one length");
    }
    check(table, span(targets));
    check(table, span(xs));
    check(table, span(pools));
    const std::vector<std::span<const std::uint32_t>> asked = lists_of(xs, x_ends), given = lists_of(pools, pool_ends);
    std::size_t first = 0;
    for (std::size_t k = 0; k < targets.size(); ++k) {
        batch.questions.push_back({targets.data()[k], asked[k], given[k], first});
        check_distinct(batch.questions.back().pool);
        first += batch.questions.back().xs.size();
    }
    SubsetAnswers found;
    CancellationToken token = cancellation_token(poll);
    run_interruptible(token, [&] { found = search_each(test, batch, std::min(threads, most_threads), token); });
    return FoundSubsets(span(xs).first(first), std::move(found));
}

}  // namespace serape
