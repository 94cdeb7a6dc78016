#include "serape/packed_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>

#include "serape/bits.hpp"
#include "serape/counting/joint_counter.hpp"

namespace serape {
namespace {

// The four bits of a number from 0 to 15, the lowest first, as four numbers of 16 bits in memory.
constexpr std::array<std::uint64_t, 16> spread = [] {
    std::array<std::uint64_t, 16> made{};
    for (unsigned bits = 0; bits < 16; ++bits) {
        for (unsigned k = 0; k < 4; ++k) {
            const unsigned place = std::endian::native == std::endian::little ? k : 3 - k;
            made[bits] |= std::uint64_t{bits >> k & 1} << (16 * place);
        }
    }
    return made;
}();

constexpr std::size_t most_ones_a_word = 64;  // of 64 columns, to be written one by one

void check_code(std::size_t code, std::uint32_t levels, std::size_t row) {
    if (code >= levels) {
        throw std::invalid_argument("code " + std::to_string(code) + " in row " + std::to_string(row) +
                                    " of a column of " + std::to_string(levels) + " levels");
    }
}

}  // namespace

PackedTable::PackedTable(std::size_t rows)
    : rows_(rows), words_((rows + line_bits - 1) / line_bits * line_words), derived_(std::make_unique<Derived>()) {
    if (rows == 0 || rows > max_rows) {
        throw std::invalid_argument("a table has 1 to " + std::to_string(max_rows) + " rows");
    }
}

std::size_t PackedTable::bytes() const {
    const std::lock_guard lock(derived_->mutex);
    std::size_t total = planes_view_.size_bytes() + narrow_view_.size() + wide_view_.size_bytes() +
                        totals_view_.size_bytes() + columns_.size() * sizeof(Column);
    if (derived_->panels) {
        const Panels& p = *derived_->panels;
        total += p.lines.size() * sizeof(Line) + (p.slot.size() + p.totals.size() + p.first_column.size()) * 4;
    }
    for (const auto& counter : derived_->joint_counters) {
        total += counter->bytes();
    }
    if (derived_->ones) {
        total += derived_->ones->start.size() * sizeof(std::size_t) + derived_->ones->rows.size() * 4;
    }
    return total;
}

void PackedTable::view_own() {
    planes_view_ = planes_;
    totals_view_ = totals_;
    narrow_view_ = narrow_;
    wide_view_ = wide_;
}

void PackedTable::start_column(std::uint32_t levels) {
    if (borrowed_) {
        throw std::invalid_argument("nothing can be appended to stored columns");
    }
    if (levels == 0 || levels > max_levels) {
        throw std::invalid_argument("a column has 1 to " + std::to_string(max_levels) + " levels");
    }
    const std::size_t index = levels <= plane_levels ? planes_.size() / words_
                              : levels <= 256        ? narrow_.size() / rows_
                                                     : wide_.size() / rows_;
    if (index > max_planes) {
        throw std::invalid_argument("too many columns");
    }
    columns_.push_back({levels, static_cast<std::uint32_t>(index)});
    if (levels <= plane_levels) {
        planes_.resize(planes_.size() + (levels - 1) * words_, 0);
    }
    view_own();
    derived_->panels.reset();
    derived_->ones.reset();
}

void PackedTable::append(std::span<const std::uint8_t> codes, std::uint32_t levels) {
    if (codes.size() != rows_) {
        throw std::invalid_argument("a column has as many codes as the table has rows");
    }
    for (std::size_t i = 0; i < rows_; ++i) {
        check_code(codes[i], levels, i);
    }
    start_column(levels);
    if (levels <= plane_levels) {
        std::uint64_t* planes = planes_.data() + columns_.back().index * words_;
        for (std::size_t i = 0; i < rows_; ++i) {
            if (codes[i] != 0) {
                planes[(codes[i] - 1) * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
            }
        }
        count_planes(columns_.size() - 1);
    } else if (levels <= 256) {
        narrow_.insert(narrow_.end(), codes.begin(), codes.end());
    } else {
        wide_.insert(wide_.end(), codes.begin(), codes.end());
    }
    view_own();
}

void PackedTable::append(std::span<const std::uint16_t> codes, std::uint32_t levels) {
    if (codes.size() != rows_) {
        throw std::invalid_argument("a column has as many codes as the table has rows");
    }
    for (std::size_t i = 0; i < rows_; ++i) {
        check_code(codes[i], levels, i);
    }
    if (levels <= 256) {
        const std::vector<std::uint8_t> narrow(codes.begin(), codes.end());
        append(std::span<const std::uint8_t>(narrow), levels);
        return;
    }
    start_column(levels);
    wide_.insert(wide_.end(), codes.begin(), codes.end());
    view_own();
}

void PackedTable::append_block(const std::uint8_t* data, std::size_t stride, std::span<const std::uint32_t> levels) {
    // Binary columns, 64 at a time, are transposed in registers; all others go one by one.
    const std::size_t columns = levels.size();
    std::vector<std::uint8_t> codes(rows_);
    for (std::size_t first = 0; first < columns;) {
        std::size_t width = 0;
        while (width < 64 && first + width < columns && levels[first + width] == 2) {
            ++width;
        }
        if (width == 0) {
            for (std::size_t i = 0; i < rows_; ++i) {
                codes[i] = data[i * stride + first];
            }
            append(std::span<const std::uint8_t>(codes), levels[first]);
            ++first;
            continue;
        }
        const std::size_t base = planes_.size();
        for (std::size_t j = 0; j < width; ++j) {
            start_column(2);
        }
        std::array<std::uint64_t, 64> bits{};
        for (std::size_t word = 0; word * 64 < rows_; ++word) {
            const std::size_t rows = std::min<std::size_t>(64, rows_ - word * 64);
            bits.fill(0);
            for (std::size_t i = 0; i < rows; ++i) {
                const std::uint8_t* row = data + (word * 64 + i) * stride + first;
                std::uint64_t packed = 0;
                std::uint8_t seen = 0;
                for (std::size_t j = 0; j < width; ++j) {
                    seen |= row[j];
                    packed |= std::uint64_t{row[j]} << j;
                }
                if (seen > 1) {
                    throw std::invalid_argument("a code above 1 in a column of 2 levels");
                }
                bits[i] = packed;
            }
            transpose64(bits);
            for (std::size_t j = 0; j < width; ++j) {
                planes_[base + j * words_ + word] = bits[j];
            }
        }
        for (std::size_t j = 0; j < width; ++j) {
            count_planes(columns_.size() - width + j);
        }
        first += width;
    }
}

void PackedTable::append_ones(std::span<const std::int64_t> ones) {
    for (const std::int64_t row : ones) {
        if (row < 0 || static_cast<std::size_t>(row) >= rows_) {
            throw std::invalid_argument("row number " + std::to_string(row) + " outside the table");
        }
    }
    start_column(2);
    std::uint64_t* plane = planes_.data() + columns_.back().index * words_;
    for (const std::int64_t row : ones) {
        plane[row / 64] |= std::uint64_t{1} << (row % 64);
    }
    count_planes(columns_.size() - 1);
}

void PackedTable::append_plane(const std::uint64_t* plane) {
    start_column(2);
    std::copy_n(plane, words_, planes_.data() + columns_.back().index * words_);
    count_planes(columns_.size() - 1);
}

void PackedTable::unpack(std::size_t column, std::span<std::uint16_t> out) const {
    verify(column);
    const Column& c = columns_[column];
    if (c.levels > 256) {
        std::copy_n(wide_view_.data() + c.index * rows_, rows_, out.data());
    } else if (c.levels > plane_levels) {
        std::copy_n(narrow_view_.data() + c.index * rows_, rows_, out.data());
    } else {
        // Four rows at a time: four bits become four numbers of 16 bits.
        const std::uint32_t levels = c.levels;
        const std::uint64_t* planes[plane_levels] = {};
        for (std::uint32_t level = 1; level < levels; ++level) {
            planes[level] = plane(column, level);
        }
        std::uint16_t* __restrict codes = out.data();
        const std::size_t whole = rows_ / 64;
        for (std::size_t word = 0; word < whole; ++word) {
            std::uint64_t fours[16] = {};
            for (std::uint32_t level = 1; level < levels; ++level) {
                const std::uint64_t bits = planes[level][word];
                for (unsigned part = 0; part < 16; ++part) {
                    fours[part] += spread[bits >> (4 * part) & 15] * level;
                }
            }
            std::memcpy(codes + word * 64, fours, sizeof fours);
        }
        for (std::size_t i = whole * 64; i < rows_; ++i) {
            codes[i] = 0;
            for (std::uint32_t level = 1; level < levels; ++level) {
                codes[i] = static_cast<std::uint16_t>(codes[i] + level * (planes[level][i / 64] >> (i % 64) & 1));
            }
        }
    }
}

void PackedTable::count_planes(std::size_t column) {
    for (std::uint32_t level = 1; level < levels(column); ++level) {
        const std::uint64_t* bits = plane(column, level);
        std::uint32_t total = 0;
        for (std::size_t word = 0; word < words_; ++word) {
            total += static_cast<std::uint32_t>(std::popcount(bits[word]));
        }
        totals_.push_back(total);
        ones_ += levels(column) == 2 ? total : 0;
    }
    totals_view_ = totals_;
}

PackedTable PackedTable::select(std::span<const std::uint32_t> columns) const {
    verify(columns);
    PackedTable selected(rows_);
    std::size_t planes = 0;
    for (const std::uint32_t column : columns) {
        planes += has_planes(column) ? levels(column) - 1 : 0;
    }
    selected.reserve_planes(planes);
    for (const std::uint32_t column : columns) {
        const auto [levels, index] = columns_[column];
        selected.start_column(levels);
        if (levels <= plane_levels) {
            const auto from = planes_view_.subspan(index * words_, (levels - 1) * words_);
            std::copy(from.begin(), from.end(), selected.planes_.end() - static_cast<std::ptrdiff_t>(from.size()));
            const auto totals = totals_view_.subspan(index, levels - 1);
            selected.totals_.insert(selected.totals_.end(), totals.begin(), totals.end());
            selected.ones_ += levels == 2 ? totals[0] : 0;
        } else if (levels <= 256) {
            const auto from = narrow_view_.subspan(index * rows_, rows_);
            selected.narrow_.insert(selected.narrow_.end(), from.begin(), from.end());
        } else {
            const auto from = wide_view_.subspan(index * rows_, rows_);
            selected.wide_.insert(selected.wide_.end(), from.begin(), from.end());
        }
    }
    selected.view_own();
    return selected;
}

const Panels& PackedTable::panels() const {
    const std::lock_guard lock(derived_->mutex);
    if (!derived_->panels) {
        verify_all();
        std::vector<std::uint32_t> all(columns());
        std::iota(all.begin(), all.end(), 0u);
        derived_->panels = std::make_unique<Panels>(panels(all));
    }
    return *derived_->panels;
}

Panels PackedTable::panels(std::span<const std::uint32_t> columns) const {
    constexpr std::size_t most_words_ahead = 64;  // of a column
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
    source.resize(made.count * line_bits, nullptr);
    made.totals.resize(source.size(), 0);
    made.lines.resize(made.count * (rows_ + 1));

    std::array<std::uint64_t, 64> block{};
    for (std::size_t p = 0; p < made.count; ++p) {
        Line* lines = made.lines.data() + p * (rows_ + 1);
        for (std::size_t group = 0; group < line_words; ++group) {
            const std::uint64_t* const* from = source.data() + p * line_bits + group * 64;
            if (from + 64 < source.data() + source.size()) {  // the next columns, which may be all over the memory
                for (std::size_t j = 64; j < 128 && from[j] != nullptr; ++j) {
                    for (std::size_t word = 0; word < std::min(words_, most_words_ahead); word += line_words) {
                        __builtin_prefetch(from[j] + word);
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
    return made;
}

const Ones& PackedTable::ones() const {
    const std::lock_guard lock(derived_->mutex);
    if (derived_->ones) {
        return *derived_->ones;
    }
    verify_all();
    auto made = std::make_unique<Ones>();
    made->start.reserve(columns() + 1);
    for (std::size_t column = 0; column < columns(); ++column) {
        made->start.push_back(made->rows.size());
        if (levels(column) != 2) {
            continue;
        }
        for_each_one(plane(column, 1), 0, words_, [&](std::uint32_t row) { made->rows.push_back(row); });
    }
    made->start.push_back(made->rows.size());
    derived_->ones = std::move(made);
    return *derived_->ones;
}

const LogTable& PackedTable::log_table() const {
    const std::lock_guard lock(derived_->mutex);
    if (!derived_->log_table) {
        derived_->log_table = std::make_unique<LogTable>(rows_);
    }
    return *derived_->log_table;
}

}  // namespace serape
