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

}  // namespace serape
