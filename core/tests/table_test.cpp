// Packed tables and cells.
#include <algorithm>
#include <map>

#include "harness.hpp"
#include "serape/counting/cells.hpp"
#include "serape/kernels.hpp"
#include "serape/packed_table.hpp"

namespace serape::testing {
namespace {

const Case round_trip("packed table: codes come back", [] {
    for (const std::uint32_t levels : {2U, 3U, 8U, 9U, 200U, 300U}) {
        const RandomTable random(levels, 131, 4, levels);
        std::vector<std::uint16_t> codes(131);
        for (std::size_t j = 0; j < 4; ++j) {
            random.table.unpack(j, codes);
            check_equal(codes, random.codes[j]);
            if (random.table.has_planes(j)) {
                for (std::uint32_t level = 1; level < random.table.levels(j); ++level) {
                    check_equal(random.table.total(j, level), std::count(codes.begin(), codes.end(), level));
                }
            }
        }
    }
});

const Case kernels_unpack("packed table: every set of kernels gives the codes", [] {
    for (const std::size_t rows : {1, 63, 64, 200}) {
        const RandomTable random(rows, rows, 12, plane_levels);
        for (const Kernels* const set : available_kernels()) {
            for (std::size_t j = 0; j < 12; ++j) {
                std::vector<std::uint16_t> codes(rows, 77);
                set->unpack_planes(random.table.plane(j, 1), random.table.levels(j), random.table.plane_words(), rows,
                                   codes.data());
                check_equal(codes, random.codes[j]);
            }
        }
    }
});

const Case refused("packed table: codes beyond the levels are refused", [] {
    PackedTable table(3);
    const std::vector<std::uint8_t> codes{0, 1, 2};
    check_throws<std::invalid_argument>([&] { table.append(codes, 2); });
    check_throws<std::invalid_argument>([&] { table.append(std::span(codes).first(2), 3); });
});

const Case layouts("packed table: panels, ones and selections hold the same bits", [] {
    const RandomTable random(5, 77, 9, 4);
    const Panels& panels = random.table.panels();
    for (std::size_t j = 0; j < 9; ++j) {
        for (std::uint32_t level = 1; level < random.table.levels(j); ++level) {
            const std::size_t bit = panels.slot[j] + level - 1;
            for (std::size_t i = 0; i < 77; ++i) {
                const auto* words = reinterpret_cast<const std::uint64_t*>(panels.panel(bit / 512) + i);
                check_equal((words[bit % 512 / 64] >> bit % 64 & 1) != 0, random.codes[j][i] == level);
            }
        }
    }
    const Ones& ones = random.table.ones();
    for (std::size_t j = 0; j < 9; ++j) {
        if (random.table.levels(j) == 2) {
            std::vector<std::uint32_t> rows;
            for (std::uint32_t i = 0; i < 77; ++i) {
                if (random.codes[j][i] == 1) {
                    rows.push_back(i);
                }
            }
            check(std::equal(rows.begin(), rows.end(), ones.rows.begin() + static_cast<std::ptrdiff_t>(ones.start[j]),
                             ones.rows.begin() + static_cast<std::ptrdiff_t>(ones.start[j + 1])));
        }
    }
    const std::vector<std::uint32_t> chosen{7, 2, 2};
    const PackedTable some = random.table.select(chosen);
    std::vector<std::uint16_t> codes(77);
    for (std::size_t k = 0; k < chosen.size(); ++k) {
        some.unpack(k, codes);
        check_equal(codes, random.codes[chosen[k]]);
    }
});

// The sizes of cells by stratum, in the order in which strata and cells occur as keys.
void check_cells(const RandomTable& random, Cells& cells, std::size_t target, const std::vector<std::uint32_t>& given) {
    std::map<std::vector<std::uint16_t>, std::map<std::uint16_t, std::uint32_t>> expected;
    for (std::size_t i = 0; i < random.table.rows(); ++i) {
        std::vector<std::uint16_t> key;
        for (const std::uint32_t z : given) {
            key.push_back(random.codes[z][i]);
        }
        ++expected[key][random.codes[target][i]];
    }
    std::vector<std::vector<std::uint32_t>> sizes, found;
    for (const auto& [key, of_target] : expected) {
        sizes.emplace_back();
        for (const auto& [level, count] : of_target) {
            sizes.back().push_back(count);
        }
        std::sort(sizes.back().begin(), sizes.back().end());
    }
    check_equal(cells.strata(), sizes.size());
    for (std::size_t z = 0; z < cells.strata(); ++z) {
        found.emplace_back(cells.count.begin() + cells.stratum_begin[z],
                           cells.count.begin() + cells.stratum_begin[z + 1]);
        std::uint32_t rows = 0;
        for (const std::uint32_t count : found.back()) {
            rows += count;
        }
        check_equal(cells.stratum_count[z], rows);
        std::sort(found.back().begin(), found.back().end());
    }
    std::sort(sizes.begin(), sizes.end());
    std::sort(found.begin(), found.end());
    check_equal(found, sizes);
    cells.need_cell_of_row();
    std::vector<std::uint32_t> count(cells.size());
    for (const std::uint32_t cell : cells.cell_of_row) {
        ++count[cell];
    }
    check(std::equal(count.begin(), count.end(), cells.count.begin(), cells.count.end()));
}

const Case cells_of_sets("cells: strata and cells of a set, at once and by one more variable", [] {
    for (const std::uint32_t levels : {2U, 4U, 40U}) {
        const RandomTable random(7 * levels, 300, 6, levels);
        std::vector<std::uint32_t> given;
        Cells grown(random.table, 5, given);
        check_cells(random, grown, 5, given);
        for (const std::uint32_t z : {2U, 0U, 3U}) {
            given.push_back(z);
            Cells whole(random.table, 5, given);
            check_cells(random, whole, 5, given);
            Cells parent(random.table, 5, std::span(given).first(given.size() - 1));
            Cells more(parent, z, false);
            check_cells(random, more, 5, given);
        }
    }
});

}  // namespace
}  // namespace serape::testing
