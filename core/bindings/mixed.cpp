// The conditional Gaussian test.
#include "bindings.hpp"
#include "conversions.hpp"
#include "serape/mixed_test.hpp"

namespace nb = nanobind;

namespace serape {

void bind_mixed(nb::module_& m) {
    nb::class_<MixedTest>(m, "MixedTest", "The conditional Gaussian likelihood-ratio test.")
        .def(
            "__init__",
            [](MixedTest* self, const PackedTable& table, const std::vector<std::uint32_t>& continuous, double minimum,
               std::size_t most_bytes) {
                check(table, continuous);
                std::vector<std::uint8_t> kinds(table.columns());
                for (const std::uint32_t column : continuous) {
                    kinds[column] = 1;
                }
                new (self) MixedTest(table, std::move(kinds), minimum, most_bytes);
            },
            nb::arg("table"), nb::arg("continuous"), nb::arg("minimum"), nb::arg("most_bytes"), nb::keep_alive<1, 2>())
        .def_prop_ro("nbytes", &MixedTest::bytes, "Bytes taken by what is remembered between questions.")
        .def(
            "set_values",
            [](MixedTest& test, std::uint32_t column, const Array<double>& values) {
                if (column >= test.columns() || !test.continuous(column) || values.size() != test.rows()) {
                    throw nb::value_error("values of a continuous column, one a row");
                }
                check_numbers(span(values));
                test.set_values(column, span(values));
            },
            nb::arg("column"), nb::arg("values"))
        .def(
            "test",
            [](MixedTest& test, std::uint32_t x, std::uint32_t y, const std::vector<std::uint32_t>& given,
               bool thorough, bool remember) {
                const MixedOutcome out = test.test(x, y, given, thorough, remember);
                return std::make_tuple(out.statistic, out.dof, out.rows, out.reliable);
            },
            nb::arg("x"), nb::arg("y"), nb::arg("given"), nb::arg("thorough") = true, nb::arg("remember") = true,
            "Statistic, dof, rows that take part and reliability.");
}

}  // namespace serape
