// Scores of Gaussian families.
#include "serape/gaussian_score.hpp"

#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "conversions.hpp"

namespace nb = nanobind;

namespace serape {

void bind_gaussian_score(nb::module_& m) {
    nb::class_<GaussianScore, NetworkScore>(m, "GaussianScore", "Scores of linear Gaussian families.")
        .def(
            "__init__",
            [](GaussianScore* self, const GaussianTest& columns, const std::string& kind,
               const std::vector<double>& log_variance, double cost) {
                if (log_variance.size() != columns.columns()) {
                    throw nb::value_error("there must be a variance for every column");
                }
                const auto parsed =
                    parse<GaussianScoreKind>(kind, {{"bic", GaussianScoreKind::bic}, {"bge", GaussianScoreKind::bge}});
                new (self) GaussianScore(columns, parsed, log_variance, cost);
            },
            nb::arg("columns"), nb::arg("kind"), nb::arg("log_variance"), nb::arg("cost") = 0.0, nb::keep_alive<1, 2>(),
            "Of the columns of a test of partial correlations, all of which must have been appended.")
        .def_prop_ro("unit", &GaussianScore::unit, "All scores are multiples of it.");
}

}  // namespace serape
