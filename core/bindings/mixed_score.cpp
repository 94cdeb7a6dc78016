// Conditional Gaussian scores.
#include "serape/mixed_score.hpp"

#include "bindings.hpp"
#include "conversions.hpp"

namespace nb = nanobind;

namespace serape {

void bind_mixed_score(nb::module_& m) {
    nb::class_<MixedScore, NetworkScore>(m, "MixedScore", "Conditional Gaussian scores of families.")
        .def(
            "__init__",
            [](MixedScore* self, const GaussianTest& numbers, const std::vector<double>& log_variance, double cost) {
                if (log_variance.size() != numbers.columns()) {
                    throw nb::value_error("there must be a variance for every column");
                }
                new (self) MixedScore(numbers, log_variance, cost);
            },
            nb::arg("numbers"), nb::arg("log_variance"), nb::arg("cost") = 0.0, nb::keep_alive<1, 2>())
        .def(
            "add_category",
            [](MixedScore& score, const Array<std::uint16_t>& codes, std::uint32_t levels) {
                score.add_category(span(codes), levels);
            },
            nb::arg("codes"), nb::arg("levels"), "Adds a category as the next variable.")
        .def("add_number", &MixedScore::add_number, "Adds the next of the numbers as the next variable.")
        .def_prop_ro("unit", &MixedScore::unit, "All scores are multiples of it.");
}

}  // namespace serape
