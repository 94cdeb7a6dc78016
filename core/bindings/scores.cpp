// Scores of families.
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "cancellation.hpp"
#include "conversions.hpp"
#include "counting_strategy.hpp"
#include "rules.hpp"
#include "serape/family_score.hpp"

namespace nb = nanobind;

namespace serape {

namespace {

// A family names its child and each of its parents once.
void check_family(const PackedTable& table, std::uint32_t child, const std::vector<std::uint32_t>& parents) {
    check(table, parents);
    check_distinct(parents);
    if (std::find(parents.begin(), parents.end(), child) != parents.end()) {
        throw nb::value_error(("column " + std::to_string(child) + " cannot be its own parent").c_str());
    }
}

// A candidate is no member of the family.
void check_addition(const PackedTable& table, std::uint32_t child, std::span<const std::uint32_t> candidates,
                    const std::vector<std::uint32_t>& parents) {
    check(table, child);
    check(table, candidates);
    check_family(table, child, parents);
    for (const std::uint32_t x : candidates) {
        if (x == child || std::find(parents.begin(), parents.end(), x) != parents.end()) {
            throw nb::value_error(("candidate " + std::to_string(x) + " is in the family already").c_str());
        }
    }
}

}  // namespace

void bind_score(nb::module_& m) {
    nb::class_<FamilyScore>(m, "FamilyScore", "Scores of Bayesian-network families on a packed table.")
        .def(
            "__init__",
            [](FamilyScore* self, const PackedTable& table, const std::string& kind, double ess) {
                new (self) FamilyScore(table, parse_score(kind, ess), ess);
            },
            nb::arg("table"), nb::arg("kind"), nb::arg("ess") = 1.0, nb::keep_alive<1, 2>())
        .def(
            "additions",
            [](const FamilyScore& score, std::uint32_t child, const Array<std::uint32_t>& candidates,
               const std::vector<std::uint32_t>& parents, std::size_t threads, const nb::object& poll,
               const std::string& strategy) {
                check_addition(score.table(), child, span(candidates), parents);
                const CountingStrategy parsed = parse_strategy(strategy);
                auto out = empty_numpy<double>(candidates.size());
                CancellationToken token = cancellation_token(poll);
                run_interruptible(token, [&] {
                    score.additions(child, span(candidates), parents, std::min(threads, most_threads), token,
                                    out.data(), parsed);
                });
                return out;
            },
            nb::arg("child"), nb::arg("candidates"), nb::arg("parents"), nb::arg("threads") = 1,
            nb::arg("poll") = nb::none(), nb::arg("strategy") = "automatic",
            "Scores of the child with the parents and each of many candidates.")
        .def(
            "additions_of_many",
            [](const FamilyScore& score, const std::vector<std::uint32_t>& children,
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
            [](const FamilyScore& score, std::uint32_t child, const std::vector<std::vector<std::uint32_t>>& sets,
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
