// Tables whose columns lie in memory of somebody else, and the checks that make this safe.
#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "serape/checksum.hpp"
#include "serape/packed_table.hpp"

namespace serape {

struct PackedTable::Borrowed {
    StoredColumns stored;
    std::unique_ptr<std::atomic<bool>[]> verified;  // by column
    std::atomic<bool> all_verified{false};
};

PackedTable PackedTable::borrow(std::size_t rows, StoredColumns stored) {
    PackedTable table(rows);
    table.columns_.reserve(stored.levels.size());
    std::size_t planes = 0, narrow = 0, wide = 0;
    for (const std::uint32_t levels : stored.levels) {
        if (levels == 0 || levels > max_levels) {
            throw DamagedColumns(stored.name + " is damaged: a column has " + std::to_string(levels) + " levels");
        }
        std::size_t& index = levels <= plane_levels ? planes : levels <= 256 ? narrow : wide;
        if (levels == 2 && index < stored.totals.size()) {
            table.ones_ += stored.totals[index];
        }
        table.columns_.push_back({levels, static_cast<std::uint32_t>(index)});
        index += levels <= plane_levels ? levels - 1 : 1;
    }
    if (planes > max_planes || stored.planes.size() != planes * table.words_ || stored.narrow.size() != narrow * rows ||
        stored.wide.size() != wide * rows || stored.totals.size() != planes ||
        (!stored.trusted && stored.checksums.size() != stored.levels.size())) {
        throw DamagedColumns(stored.name + " is damaged: its parts are not of the sizes that its columns need");
    }
    table.planes_view_ = stored.planes;
    if (reinterpret_cast<std::uintptr_t>(stored.planes.data()) % sizeof(Line) != 0) {  // counting reads whole lines
        table.planes_.assign(stored.planes.begin(), stored.planes.end());
        table.planes_view_ = table.planes_;
    }
    table.narrow_view_ = stored.narrow;
    table.wide_view_ = stored.wide;
    table.totals_view_ = stored.totals;
    table.borrowed_ = std::make_shared<Borrowed>();
    table.borrowed_->verified = std::make_unique<std::atomic<bool>[]>(stored.levels.size());
    table.borrowed_->all_verified = stored.trusted;
    table.borrowed_->stored = std::move(stored);
    return table;
}

void PackedTable::verify_stored(std::size_t column) const {
    if (borrowed_->all_verified.load(std::memory_order_acquire) ||
        borrowed_->verified[column].load(std::memory_order_acquire)) {
        return;
    }
    const char* wrong = nullptr;
    if (checksum_of(column) != borrowed_->stored.checksums[column]) {
        wrong = "does not match its checksum";
    } else if (!codes_are_valid(column)) {
        wrong = "holds codes that it has no levels for";
    }
    if (wrong != nullptr) {
        throw DamagedColumns(borrowed_->stored.name + " is damaged: the column at position " + std::to_string(column) +
                             " " + wrong + "; pack the data again");
    }
    borrowed_->verified[column].store(true, std::memory_order_release);
}

void PackedTable::verify(std::span<const std::uint32_t> columns) const {
    if (borrowed_ && !borrowed_->all_verified.load(std::memory_order_acquire)) {
        for (const std::uint32_t column : columns) {
            verify_stored(column);
        }
    }
}

void PackedTable::verify_all() const {
    if (borrowed_ && !borrowed_->all_verified.load(std::memory_order_acquire)) {
        for (std::size_t column = 0; column < columns(); ++column) {
            verify_stored(column);
        }
        borrowed_->all_verified.store(true, std::memory_order_release);
    }
}

std::uint64_t PackedTable::checksum_of(std::size_t column) const {
    const auto [levels, index] = columns_[column];
    if (levels <= plane_levels) {
        return checksum(planes_view_.data() + index * words_, (levels - 1) * words_ * sizeof(std::uint64_t));
    }
    return levels <= 256 ? checksum(narrow_view_.data() + index * rows_, rows_)
                         : checksum(wide_view_.data() + index * rows_, rows_ * sizeof(std::uint16_t));
}

bool PackedTable::codes_are_valid(std::size_t column) const {
    const auto [levels, index] = columns_[column];
    const auto is_code = [levels = levels](std::uint32_t code) { return code < levels; };
    if (levels > 256) {
        const auto codes = wide_view_.subspan(index * rows_, rows_);
        return std::all_of(codes.begin(), codes.end(), is_code);
    }
    if (levels > plane_levels) {
        const auto codes = narrow_view_.subspan(index * rows_, rows_);
        return std::all_of(codes.begin(), codes.end(), is_code);
    }
    // A row is in one plane at most, and there are no rows behind the last.
    std::size_t ones[plane_levels] = {};
    for (std::size_t word = 0; word < words_; ++word) {
        std::uint64_t taken = 0, twice = 0;
        for (std::uint32_t level = 1; level < levels; ++level) {
            const std::uint64_t bits = plane(column, level)[word];
            twice |= taken & bits;
            taken |= bits;
            ones[level] += static_cast<std::size_t>(std::popcount(bits));
        }
        const std::size_t left = rows_ > word * 64 ? rows_ - word * 64 : 0;
        const std::uint64_t beyond = left >= 64 ? 0 : ~std::uint64_t{0} << left;
        if (twice != 0 || (taken & beyond) != 0) {
            return false;
        }
    }
    for (std::uint32_t level = 1; level < levels; ++level) {
        if (ones[level] != total(column, level)) {
            return false;
        }
    }
    return true;
}

}  // namespace serape
