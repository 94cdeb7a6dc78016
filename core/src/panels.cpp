// Row panels of a table's planes.
#include <algorithm>
#include <array>
#include <numeric>

#include "serape/bits.hpp"
#include "serape/compiler.hpp"
#include "serape/packed_table.hpp"
#include "serape/parallel.hpp"

namespace serape {
namespace {

constexpr std::size_t most_ones_a_word = 64;  // of 64 columns, to be written one by one

}  // namespace

const Panels& PackedTable::panels(std::size_t threads) const {
    const std::lock_guard lock(derived_->mutex);
    if (!derived_->panels) {
        verify_all();
        std::vector<std::uint32_t> all(columns());
        std::iota(all.begin(), all.end(), 0u);
        derived_->panels = std::make_unique<Panels>(panels(all, threads));
    }
    return *derived_->panels;
}

Panels PackedTable::panels(std::span<const std::uint32_t> columns, std::size_t threads) const {
    verify(columns);
    Panels made;
    made.rows = rows_;
    made.slot.assign(columns.size(), Panels::absent);
    // A column's bits never straddle two panels.
    std::vector<const std::uint64_t*> source;
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const std::uint32_t bits = levels(columns[k]) - 1;
        if (!has_planes(columns[k]) || bits == 0) {
            continue;
        }
        if (source.size() % line_bits + bits > line_bits) {
            source.resize((source.size() / line_bits + 1) * line_bits, nullptr);
            made.totals.resize(source.size(), 0);
        }
        if (source.size() % line_bits == 0) {
            made.first_column.push_back(source.empty() ? 0 : static_cast<std::uint32_t>(k));
        }
        made.slot[k] = static_cast<std::uint32_t>(source.size());
        for (std::uint32_t level = 1; level <= bits; ++level) {
            source.push_back(plane(columns[k], level));
            made.totals.push_back(total(columns[k], level));
        }
    }
    made.count = (source.size() + line_bits - 1) / line_bits;
    made.first_column.push_back(static_cast<std::uint32_t>(columns.size()));
    for (std::size_t p = 0; p < made.count; ++p) {
        const auto begin = made.slot.begin() + made.first_column[p];
        const auto end = made.slot.begin() + made.first_column[p + 1];
        auto next = static_cast<std::uint32_t>(p * line_bits);
        made.binary.push_back(std::all_of(begin, end, [&](std::uint32_t slot) { return slot == next++; }) &&
                              levels(columns[made.first_column[p + 1] - 1]) == 2);
    }
    made.totals.resize(made.count * line_bits, 0);
    fill(made, std::move(source), threads);
    return made;
}

Panels PackedTable::panels(std::span<const std::uint64_t* const> planes, std::vector<std::uint32_t> totals) const {
    Panels made;
    made.rows = rows_;
    made.count = (planes.size() + line_bits - 1) / line_bits;
    made.totals = std::move(totals);
    made.totals.resize(made.count * line_bits, 0);
    fill(made, {planes.begin(), planes.end()}, 1);
    return made;
}

void PackedTable::fill(Panels& made, std::vector<const std::uint64_t*> source, std::size_t threads) const {
    source.resize(made.count * line_bits, nullptr);
    made.lines.resize(made.count * (rows_ + 1));
    CancellationToken token;
    parallel_for(made.count, 1, threads, token,
                 [&](std::size_t p, std::size_t, std::size_t) { fill_panel(made, p, source); });
}

void PackedTable::fill_panel(Panels& made, std::size_t p, const std::vector<const std::uint64_t*>& source) const {
    constexpr std::size_t most_words_ahead = 64;  // of a column
    std::array<std::uint64_t, 64> block{};
    Line* lines = made.lines.data() + p * (rows_ + 1);
    std::fill_n(lines, rows_ + 1, Line{});
    for (std::size_t group = 0; group < line_words; ++group) {
        const std::uint64_t* const* from = source.data() + p * line_bits + group * 64;
        if (from + 64 < source.data() + source.size()) {  // the next columns, which may be all over the memory
            for (std::size_t j = 64; j < 128 && from[j] != nullptr; ++j) {
                for (std::size_t word = 0; word < std::min(words_, most_words_ahead); word += line_words) {
                    prefetch(from[j] + word);
                }
            }
        }
        const auto totals = made.totals.begin() + static_cast<std::ptrdiff_t>(p * line_bits + group * 64);
        const std::size_t ones = std::accumulate(totals, totals + 64, std::size_t{0});
        if (ones < words_ * most_ones_a_word) {
            for (std::size_t j = 0; j < 64; ++j) {
                for_each_one(from[j], 0, from[j] == nullptr ? 0 : words_,
                             [&](std::uint32_t row) { lines[row][group] |= std::uint64_t{1} << j; });
            }
            continue;
        }
        for (std::size_t word = 0; word * 64 < rows_; ++word) {
            for (std::size_t j = 0; j < 64; ++j) {
                block[j] = from[j] == nullptr ? 0 : from[j][word];
            }
            transpose64(block);
            const std::size_t rows = std::min<std::size_t>(64, rows_ - word * 64);
            for (std::size_t i = 0; i < rows; ++i) {
                lines[word * 64 + i][group] = block[i];
            }
        }
    }
}

}  // namespace serape
