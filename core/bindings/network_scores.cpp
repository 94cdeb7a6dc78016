// Decomposable scores of networks: what all of them answer.
#include "network_scores.hpp"

#include "bindings.hpp"
#include "caller_score.hpp"
#include "cancellation.hpp"

namespace nb = nanobind;

namespace serape {
namespace {

using List = std::vector<std::uint32_t>;

}  // namespace

void check_family(const NetworkScore& score, std::uint32_t child, std::span<const std::uint32_t> parents) {
    check(score, {&child, 1});
    check(score, parents);
    check_distinct(parents);
    if (std::find(parents.begin(), parents.end(), child) != parents.end()) {
        throw nb::value_error(("column " + std::to_string(child) + " cannot be its own parent").c_str());
    }
}

void check_addition(const NetworkScore& score, const AdditionQuery& query) {
    check_family(score, query.child, query.parents);
    check(score, query.candidates);
    for (const std::uint32_t x : query.candidates) {
        if (x == query.child || std::find(query.parents.begin(), query.parents.end(), x) != query.parents.end()) {
            throw nb::value_error(("candidate " + std::to_string(x) + " is in the family already").c_str());
        }
    }
}

void bind_network_score(nb::module_& m) {
    nb::class_<NetworkScore>(m, "NetworkScore", "A decomposable score of Bayesian networks.")
        .def(
            "additions_of_many",
            [](const NetworkScore& score, const List& children, const std::vector<Array<std::uint32_t>>& candidates,
               const std::vector<List>& parents, std::size_t threads, const nb::object& poll) {
                check_one_length(children, candidates, parents);
                std::vector<AdditionQuery> queries;
                std::size_t size = 0;
                for (std::size_t k = 0; k < children.size(); ++k) {
                    queries.push_back({children[k], span(candidates[k]), parents[k]});
                    check_addition(score, queries.back());
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
            [](const NetworkScore& score, std::uint32_t child, const std::vector<List>& sets, std::size_t threads,
               const nb::object& poll) {
                check(score, {&child, 1});
                for (const List& parents : sets) {
                    check_family(score, child, parents);
                }
                auto out = empty_numpy<double>(sets.size());
                CancellationToken token = cancellation_token(poll);
                run_interruptible(
                    token, [&] { score.families(child, sets, std::min(threads, most_threads), token, out.data()); });
                return out;
            },
            nb::arg("child"), nb::arg("parent_sets"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "Scores of the child with each of several sets of parents.")
        .def(
            "removals",
            [](const NetworkScore& score, std::uint32_t child, const List& parents) {
                check_family(score, child, parents);
                auto out = empty_numpy<double>(parents.size());
                CancellationToken token = cancellation_token(nb::none());
                run_interruptible(token, [&] { score.removals(child, parents, token, out.data()); });
                return out;
            },
            nb::arg("child"), nb::arg("parents"), "By parent, the score of the child without that one.")
        .def(
            "raising",
            [](const NetworkScore& score, std::uint32_t child, const Array<std::uint32_t>& candidates,
               const List& parents, double least, std::size_t threads) {
                const AdditionQuery query{child, span(candidates), parents};
                check_addition(score, query);
                std::vector<Addition> found;
                double own = 0.0;
                CancellationToken token = cancellation_token(nb::none());
                run_interruptible(
                    token, [&] { own = score.raising(query, least, std::min(threads, most_threads), token, found); });
                List xs;
                std::vector<double> scores;
                for (const Addition& addition : found) {
                    xs.push_back(addition.variable);
                    scores.push_back(addition.score);
                }
                return std::make_tuple(own, to_numpy(std::move(xs)), to_numpy(std::move(scores)));
            },
            nb::arg("child"), nb::arg("candidates"), nb::arg("parents"), nb::arg("least"), nb::arg("threads") = 1,
            "The score of the family, the candidates that raise it by more than `least`, and the scores with them.");
    nb::class_<PermutedScore, NetworkScore>(m, "PermutedScore", "A score with its variables in another order.")
        .def(
            "__init__",
            [](PermutedScore* self, const NetworkScore& score, const List& order) {
                check(score, order);
                check_distinct(order);
                if (order.size() != score.columns()) {
                    throw nb::value_error("an order has every variable once");
                }
                new (self) PermutedScore(score, order);
            },
            nb::arg("score"), nb::arg("order"), nb::keep_alive<1, 2>());
    nb::class_<CallerScore, NetworkScore>(m, "CallerScore", "A score written in Python: a serape.Score.")
        .def(nb::init<nb::object, std::size_t>(), nb::arg("score"), nb::arg("variables"));
}

}  // namespace serape
