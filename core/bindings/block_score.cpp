// Scores of blocks of scores.
#include "serape/block_score.hpp"

#include "bindings.hpp"
#include "conversions.hpp"

namespace nb = nanobind;

namespace serape {

void bind_block_score(nb::module_& m) {
    nb::class_<BlockScore, NetworkScore>(m, "BlockScore", "Scores of families whose columns are blocks of scores.")
        .def(
            "__init__",
            [](BlockScore* self, const Array<double>& gram, const std::vector<std::uint32_t>& begins, double rows,
               double cost_of_product, double cost_of_parent) {
                if (begins.empty() || begins.front() != 0 || !std::is_sorted(begins.begin(), begins.end()) ||
                    gram.size() != static_cast<std::size_t>(begins.back()) * begins.back()) {
                    throw nb::value_error("blocks must follow one another, and the matrix must have their scores");
                }
                if (!(rows > 0.0) || !(cost_of_product >= 0.0) || !(cost_of_parent >= 0.0)) {
                    throw nb::value_error("there must be rows, and costs must not be negative");
                }
                new (self) BlockScore(span(gram), begins, rows, cost_of_product, cost_of_parent);
            },
            nb::arg("gram"), nb::arg("begins"), nb::arg("rows"), nb::arg("cost_of_product"), nb::arg("cost_of_parent"),
            nb::keep_alive<1, 2>(), "Of the flattened Gram matrix of the scores of all columns.")
        .def_prop_ro("unit", &BlockScore::unit, "All scores are multiples of it.");
}

}  // namespace serape
