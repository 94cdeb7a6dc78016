// Batches of questions, asked in the same way of every test.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "cancellation.hpp"
#include "conversions.hpp"
#include "serape/answers.hpp"
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

// Searches through sets of one size for many targets: `xs` and `pools` hold those of one target after another, of which
// `x_ends` and `pool_ends` tell the ends.
template <class Test, class Table>
FoundSubsets found_each(const Test& test, const Table& table, const Array<std::uint32_t>& targets,
                        const Array<std::int64_t>& x_ends, const Array<std::uint32_t>& xs,
                        const Array<std::int64_t>& pool_ends, const Array<std::uint32_t>& pools, SubsetBatch batch,
                        std::size_t threads, const nanobind::object& poll) {
    const auto part = [](const Array<std::uint32_t>& all, const Array<std::int64_t>& ends, std::size_t k) {
        const std::int64_t begin = k == 0 ? 0 : ends.data()[k - 1], end = ends.data()[k];
        if (begin < 0 || end < begin || static_cast<std::size_t>(end) > all.size()) {
            throw nanobind::value_error("ends must ascend within the arrays");
        }
        return span(all).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    };
    if (x_ends.size() != targets.size() || pool_ends.size() != targets.size()) {
        throw nanobind::value_error("arrays must be of one length");
    }
    check(table, span(targets));
    check(table, span(xs));
    check(table, span(pools));
    std::size_t first = 0;
    for (std::size_t k = 0; k < targets.size(); ++k) {
        batch.questions.push_back({targets.data()[k], part(xs, x_ends, k), part(pools, pool_ends, k), first});
        check_distinct(batch.questions.back().pool);
        first += batch.questions.back().xs.size();
    }
    SubsetAnswers found;
    CancellationToken token = cancellation_token(poll);
    run_interruptible(token, [&] { found = search_each(test, batch, std::min(threads, most_threads), token); });
    return FoundSubsets(span(xs).first(first), std::move(found));
}

}  // namespace serape
