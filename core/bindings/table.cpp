// Packed tables.
#include <nanobind/stl/string.h>

#include <limits>
#include <memory>
#include <tuple>

#include "bindings.hpp"
#include "cancellation.hpp"
#include "conversions.hpp"
#include "serape/checksum.hpp"
#include "serape/copies.hpp"
#include "serape/packed_table.hpp"

namespace nb = nanobind;

namespace serape {
namespace {

PackedTable borrow(std::size_t rows, const std::string& name, const Array<std::uint32_t>& levels,
                   const Array<std::uint32_t>& totals, const Array<std::uint64_t>& checksums,
                   const Array<std::uint64_t>& planes, const Array<std::uint8_t>& narrow,
                   const Array<std::uint16_t>& wide, bool trusted) {
    using Kept = std::tuple<Array<std::uint32_t>, Array<std::uint32_t>, Array<std::uint64_t>, Array<std::uint64_t>,
                            Array<std::uint8_t>, Array<std::uint16_t>>;
    const std::shared_ptr<const void> owner(new Kept(levels, totals, checksums, planes, narrow, wide),
                                            [](const void* kept) {
                                                const nb::gil_scoped_acquire gil;
                                                delete static_cast<const Kept*>(kept);
                                            });
    return PackedTable::borrow(rows, {span(levels), span(totals), span(checksums), span(planes), span(narrow),
                                      span(wide), name, trusted, owner});
}

// Damaged columns are an error about data, like those that Python raises.
void raise_data_error(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const DamagedColumns& damaged) {
        PyErr_SetString(nb::module_::import_("serape.errors").attr("DataError").ptr(), damaged.what());
    }
}

}  // namespace

void bind_table(nb::module_& m) {
    nb::register_exception_translator(raise_data_error);
    m.def(
        "checksum", [](const Array<std::uint8_t>& bytes) { return checksum(bytes.data(), bytes.size()); },
        nb::arg("bytes"), "The checksum of packed files.");
    nb::class_<PackedTable>(m, "PackedTable", "Discrete columns, packed for counting.")
        .def_static(
            "borrow", &borrow, nb::arg("rows"), nb::arg("name"), nb::arg("levels"), nb::arg("totals"),
            nb::arg("checksums"), nb::arg("planes"), nb::arg("narrow"), nb::arg("wide"), nb::arg("trusted") = false,
            "A table that uses columns in place, in arrays that it keeps; each is verified on first use, unless "
            "they are trusted.")
        .def(nb::init<std::size_t>(), nb::arg("rows"))
        .def_prop_ro("rows", &PackedTable::rows)
        .def_prop_ro("columns", &PackedTable::columns)
        .def(
            "counted_rows",
            [](const PackedTable& table) {
                const PackedTable* const distinct = table.distinct(std::numeric_limits<double>::infinity());
                return distinct != nullptr ? distinct->rows() : table.rows();
            },
            "The number of rows that are read to count all: that of the distinct rows, which are made now, if they "
            "are few.")
        .def_prop_ro("nbytes", &PackedTable::bytes, "Bytes held, derived layouts included.")
        .def_prop_ro("planes", [](nb::handle_t<PackedTable> t) { return view(nb::cast<PackedTable&>(t).planes(), t); })
        .def_prop_ro("narrow", [](nb::handle_t<PackedTable> t) { return view(nb::cast<PackedTable&>(t).narrow(), t); })
        .def_prop_ro("wide", [](nb::handle_t<PackedTable> t) { return view(nb::cast<PackedTable&>(t).wide(), t); })
        .def_prop_ro("totals", [](nb::handle_t<PackedTable> t) { return view(nb::cast<PackedTable&>(t).totals(), t); })
        .def(
            "checksums",
            [](const PackedTable& table) {
                std::vector<std::uint64_t> sums(table.columns());
                for (std::size_t column = 0; column < sums.size(); ++column) {
                    sums[column] = table.checksum_of(column);
                }
                return to_numpy(std::move(sums));
            },
            "By column, the checksum of its planes or codes.")
        .def(
            "all_levels",
            [](const PackedTable& table) {
                std::vector<std::uint32_t> levels(table.columns());
                for (std::size_t column = 0; column < levels.size(); ++column) {
                    levels[column] = table.levels(column);
                }
                return to_numpy(std::move(levels));
            },
            "By column, its number of levels.")
        .def(
            "verify", [](const PackedTable& table, std::size_t column) { check(table, column); }, nb::arg("column"),
            "Refuse a column whose stored content is wrong.")
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
                check_range(table, column);
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
            "column_hashes",
            [](const PackedTable& table) {
                CancellationToken token = cancellation_token(nb::none());
                std::vector<std::uint64_t> hashes;
                run_interruptible(token, [&] { hashes = column_hashes(table, token); });
                return to_numpy(std::move(hashes));
            },
            "A hash of every column, the same for columns that divide the rows alike, also in other tables.")
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
