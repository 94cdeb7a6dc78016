// Packed tables.
#include "bindings.hpp"
#include "cancellation.hpp"
#include "conversions.hpp"
#include "serape/copies.hpp"
#include "serape/packed_table.hpp"

namespace nb = nanobind;

namespace serape {

void bind_table(nb::module_& m) {
    nb::class_<PackedTable>(m, "PackedTable", "Discrete columns, packed for counting.")
        .def(nb::init<std::size_t>(), nb::arg("rows"))
        .def_prop_ro("rows", &PackedTable::rows)
        .def_prop_ro("columns", &PackedTable::columns)
        .def_prop_ro("nbytes", &PackedTable::bytes, "Bytes held, derived layouts included.")
        .def("reserve_planes", &PackedTable::reserve_planes, nb::arg("planes"))
        .def(
            "append",
            [](PackedTable& table, const Array<std::uint8_t>& codes, std::uint32_t levels) {
                table.append(span(codes), levels);
            },
            nb::arg("codes"), nb::arg("levels"))
        .def(
            "append",
            [](PackedTable& table, const Array<std::uint16_t>& codes, std::uint32_t levels) {
                table.append(span(codes), levels);
            },
            nb::arg("codes"), nb::arg("levels"))
        .def(
            "append_block",
            [](PackedTable& table, const nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::device::cpu>& codes,
               const Array<std::uint32_t>& levels) {
                if (codes.shape(0) != table.rows() || codes.shape(1) != levels.size() ||
                    (codes.shape(1) > 1 && codes.stride(1) != 1)) {
                    throw nb::value_error("codes must be rows × columns, row by row");
                }
                const nb::gil_scoped_release release;
                table.append_block(codes.data(), static_cast<std::size_t>(codes.stride(0)), span(levels));
            },
            nb::arg("codes"), nb::arg("levels"))
        .def(
            "append_ones", [](PackedTable& table, const Array<std::int64_t>& ones) { table.append_ones(span(ones)); },
            nb::arg("ones"))
        .def(
            "levels",
            [](const PackedTable& table, std::size_t column) {
                check(table, column);
                return table.levels(column);
            },
            nb::arg("column"))
        .def(
            "first_copies",
            [](const PackedTable& table) {
                CancellationToken token = cancellation_token(nb::none());
                std::vector<std::uint32_t> first;
                run_interruptible(token, [&] { first = first_copies(table, token); });
                return to_numpy(std::move(first));
            },
            "For every column, the first that divides the rows alike.")
        .def(
            "codes",
            [](const PackedTable& table, std::size_t column) {
                check(table, column);
                std::vector<std::uint16_t> codes(table.rows());
                table.unpack(column, codes);
                return to_numpy(std::move(codes));
            },
            nb::arg("column"));
}

}  // namespace serape
