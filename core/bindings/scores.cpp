// Scores of families.
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "cancellation.hpp"
#include "conversions.hpp"
#include "counting_strategy.hpp"
#include "network_scores.hpp"
#include "rules.hpp"
#include "serape/family_score.hpp"

namespace nb = nanobind;

namespace serape {

void bind_score(nb::module_& m) {
    nb::class_<FamilyScore, NetworkScore>(m, "FamilyScore", "Scores of Bayesian-network families on a packed table.")
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
                check_addition(score, {child, span(candidates), parents});
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
            "Scores of the child with the parents and each of many candidates.");
}

}  // namespace serape
