// Scores of families: what their arguments must be, and the methods that all of them have.
#pragma once

#include "cancellation.hpp"
#include "conversions.hpp"
#include "serape/family_score.hpp"

namespace serape {

// A family names its child and each of its parents once.
template <class Table>
void check_family(const Table& table, std::uint32_t child, const std::vector<std::uint32_t>& parents) {
    check(table, parents);
    check_distinct(parents);
    if (std::find(parents.begin(), parents.end(), child) != parents.end()) {
        throw nanobind::value_error(("column " + std::to_string(child) + " cannot be its own parent").c_str());
    }
}

// A candidate is no member of the family.
template <class Table>
void check_addition(const Table& table, std::uint32_t child, std::span<const std::uint32_t> candidates,
                    const std::vector<std::uint32_t>& parents) {
    check(table, child);
    check(table, candidates);
    check_family(table, child, parents);
    for (const std::uint32_t x : candidates) {
        if (x == child || std::find(parents.begin(), parents.end(), x) != parents.end()) {
            throw nanobind::value_error(("candidate " + std::to_string(x) + " is in the family already").c_str());
        }
    }
}

// The methods that every score of families has.
template <class Score>
void bind_families(nanobind::class_<Score>& bound) {
    namespace nb = nanobind;
    bound
        .def(
            "additions_of_many",
            [](const Score& score, const std::vector<std::uint32_t>& children,
               const std::vector<Array<std::uint32_t>>& candidates,
               const std::vector<std::vector<std::uint32_t>>& parents, std::size_t threads, const nb::object& poll) {
                check_one_length(children, candidates, parents);
                std::vector<AdditionQuery> queries;
                std::size_t size = 0;
                for (std::size_t k = 0; k < children.size(); ++k) {
                    check_addition(score.table(), children[k], span(candidates[k]), parents[k]);
                    queries.push_back({children[k], span(candidates[k]), parents[k]});
                    size += candidates[k].size();
                }
                auto out = empty_numpy<double>(size);
                CancellationToken token = cancellation_token(poll);
                run_interruptible(token, [&] {
                    score.additions_of_many(queries, std::min(threads, most_threads), token, out.data());
                });
                return out;
            },
            nb::arg("children"), nb::arg("candidates"), nb::arg("parents"), nb::arg("threads") = 1,
            nb::arg("poll") = nb::none(), "Scores of many children, each with its parents and each of its candidates.")
        .def(
            "families",
            [](const Score& score, std::uint32_t child, const std::vector<std::vector<std::uint32_t>>& sets,
               std::size_t threads, const nb::object& poll) {
                check(score.table(), child);
                for (const std::vector<std::uint32_t>& parents : sets) {
                    check_family(score.table(), child, parents);
                }
                auto out = empty_numpy<double>(sets.size());
                CancellationToken token = cancellation_token(poll);
                run_interruptible(
                    token, [&] { score.families(child, sets, std::min(threads, most_threads), token, out.data()); });
                return out;
            },
            nb::arg("child"), nb::arg("parent_sets"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "Scores of the child with each of several sets of parents.");
}

}  // namespace serape
