#include "serape/packed_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string>

#include "serape/bits.hpp"
#include "serape/counting/joint_counter.hpp"
#include "serape/kernels.hpp"
#include "serape/parallel.hpp"

namespace serape {
namespace {

constexpr std::size_t columns_a_piece = 512;  // copied by one thread at a time

void check_code(std::size_t code, std::uint32_t levels, std::size_t row) {
    if (code >= levels) {
        throw std::invalid_argument("code " + std::to_string(code) + " in row " + std::to_string(row) +
                                    " of a column of " + std::to_string(levels) + " levels");
    }
}

}  // namespace

PackedTable::PackedTable(std::size_t rows)
    : rows_(rows),
      rows_counted_(rows),
      words_((rows + line_bits - 1) / line_bits * line_words),
      derived_(std::make_unique<Derived>()) {
    if (rows == 0 || rows > max_rows) {
        throw std::invalid_argument("a table has 1 to " + std::to_string(max_rows) + " rows");
    }
}

std::size_t PackedTable::bytes() const {
    std::unique_lock lock(derived_->mutex);
    std::size_t total = planes_view_.size_bytes() + narrow_view_.size() + wide_view_.size_bytes() +
                        totals_view_.size_bytes() + columns_.size() * sizeof(Column) +
                        frequencies_.size() * sizeof(std::uint32_t);
    if (derived_->panels) {
        const Panels& p = *derived_->panels;
        total += p.lines.size() * sizeof(Line) + (p.slot.size() + p.totals.size() + p.first_column.size()) * 4;
    }
    total += derived_->joint_counters.bytes();
    if (derived_->ones) {
        total += derived_->ones->start.size() * sizeof(std::size_t) + derived_->ones->rows.size() * 4;
    }
    lock.unlock();  // making the distinct rows takes the locks in the other order
    const std::lock_guard distinct_lock(derived_->distinct_mutex);
    return total + (derived_->distinct ? derived_->distinct->bytes() : 0);
}

void PackedTable::view_own() {
    planes_view_ = planes_;
    totals_view_ = totals_;
    narrow_view_ = narrow_;
    wide_view_ = wide_;
}

void PackedTable::start_column(std::uint32_t levels, bool clear) {
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
        const std::size_t size = planes_.size() + (levels - 1) * words_;
        clear ? planes_.resize(size, 0) : planes_.resize(size);
    }
    view_own();
    derived_->panels.reset();
    derived_->ones.reset();
    derived_->distinct.reset();
    derived_->distinct_tried = false;
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
    if (!has_planes(column)) {
        unpack_codes(column, 0, out.first(rows_));
    } else {
        const std::uint32_t levels = columns_[column].levels;
        kernels().unpack_planes(levels > 1 ? plane(column, 1) : nullptr, levels, words_, rows_, out.data());
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

PackedTable PackedTable::select(std::span<const std::uint32_t> columns, std::size_t threads) const {
    verify(columns);
    PackedTable selected(rows_);
    std::size_t planes = 0;
    for (const std::uint32_t column : columns) {
        planes += has_planes(column) ? levels(column) - 1 : 0;
    }
    selected.reserve_planes(planes);
    for (const std::uint32_t column : columns) {
        const auto [levels, index] = columns_[column];
        selected.start_column(levels, false);
        if (levels <= plane_levels) {
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
    CancellationToken token;
    parallel_for(columns.size(), columns_a_piece, threads, token, [&](std::size_t k, std::size_t end, std::size_t) {
        for (; k < end; ++k) {
            if (const auto [levels, index] = columns_[columns[k]]; levels <= plane_levels) {
                std::copy_n(planes_view_.data() + index * words_, (levels - 1) * words_,
                            selected.planes_.data() + selected.columns_[k].index * words_);
            }
        }
    });
    return selected;
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

std::shared_ptr<const LogTable> PackedTable::shared_log_table() const {
    const std::lock_guard lock(derived_->mutex);
    if (!derived_->log_table) {
        derived_->log_table = std::make_shared<const LogTable>(rows_);
    }
    return derived_->log_table;
}

}  // namespace serape
