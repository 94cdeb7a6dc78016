#include "serape/counting/cells.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "serape/bits.hpp"
#include "serape/kernels.hpp"

namespace serape {
namespace {

// The largest table by key that is worth making for so many rows.
std::uint64_t dense_bound(std::size_t rows) {
    const Costs& costs = kernels().costs;
    return std::max<std::uint64_t>(costs.dense_entries_per_row * rows, costs.dense_entries);
}

// Renumbers keys below `bound` densely, keeping their order; returns how many differ.
std::size_t compact(std::vector<std::uint32_t>& keys, std::uint64_t bound) {
    if (bound <= dense_bound(keys.size())) {
        std::vector<std::uint32_t> rank(bound, 0);
        for (const std::uint32_t key : keys) {
            rank[key] = 1;
        }
        std::uint32_t next = 0;
        for (std::uint32_t& r : rank) {
            const std::uint32_t present = r;
            r = next;
            next += present;
        }
        for (std::uint32_t& key : keys) {
            key = rank[key];
        }
        return next;
    }
    std::vector<std::uint32_t> distinct(keys);
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    for (std::uint32_t& key : keys) {
        key = static_cast<std::uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), key) - distinct.begin());
    }
    return distinct.size();
}

// Adds up how many rows have each key.
void add_rows(const PackedTable& table, std::span<const std::uint32_t> keys, std::uint32_t* __restrict counted) {
    const std::span<const std::uint32_t> frequencies = table.frequencies();
    if (frequencies.empty()) {
        for (const std::uint32_t key : keys) {
            ++counted[key];
        }
        return;
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        counted[keys[i]] += frequencies[i];
    }
}

}  // namespace

Cells::Cells(const PackedTable& table, std::size_t target, std::span<const std::uint32_t> given)
    : table_(table), target_(target), given_(given.begin(), given.end()), words_(table.plane_words()) {
    if (!divide_by_masks(target, given)) {
        divide_by_codes(target, given);
    }
    set_largest();
}

Cells::Cells(Cells& parent, std::uint32_t more, bool thrifty)
    : table_(parent.table_), target_(parent.target_), given_(parent.given_), words_(parent.words_) {
    given_.push_back(more);
    if (parent.size() == 0) {
        complete = false;
        stratum_begin.push_back(0);
        return;
    }
    if (parent.has_masks() && table_.has_planes(more) &&
        parent.size() * table_.levels(more) <= kernels().costs.masks_for(table_.rows())) {
        split_masks(parent, more, thrifty);
    } else if (!parent.complete || !split_codes(parent, more)) {
        divide_by_codes(target_, given_);
    }
    set_largest();
}

void Cells::set_largest() {
    largest =
        count.empty() ? 0 : static_cast<std::size_t>(std::max_element(count.begin(), count.end()) - count.begin());
}

std::size_t Cells::bytes() const {
    return sizeof(*this) + masks_.size() * sizeof(std::uint64_t) + (cell_of_row.size() + rows.size()) * 4 + size() * 16;
}

void Cells::set_cells(std::span<const std::uint32_t> stratum_of_cell) {
    for (std::size_t c = 0; c < count.size(); ++c) {
        if (c == 0 || stratum_of_cell[c] != stratum_of_cell[c - 1]) {
            stratum_begin.push_back(static_cast<std::uint32_t>(c));
            stratum_count.push_back(0);
        }
        stratum_count.back() += count[c];
    }
    stratum_begin.push_back(static_cast<std::uint32_t>(count.size()));
}

// Where target and conditioning set have planes and few combinations: bitsets, by AND.
bool Cells::divide_by_masks(std::size_t target, std::span<const std::uint32_t> given) {
    std::size_t combinations = table_.levels(target);
    if (!table_.has_planes(target)) {
        return false;
    }
    for (const std::uint32_t z : given) {
        combinations *= table_.levels(z);
        if (!table_.has_planes(z) || combinations > kernels().costs.masks_for(table_.rows())) {
            return false;
        }
    }
    const std::size_t rows = table_.rows();
    masks_.resize(combinations * words_);
    std::fill_n(masks_.data(), words_, std::uint64_t{0});
    std::fill_n(masks_.data(), rows / 64, ~std::uint64_t{0});
    if (rows % 64 != 0) {
        masks_[rows / 64] = (std::uint64_t{1} << (rows % 64)) - 1;
    }
    // Split every mask by each variable in turn; the target comes last, so that cells of a stratum are neighbours.
    std::size_t made = 1;
    ScratchVector<std::uint32_t> in_mask(combinations);
    const auto split = [&](std::size_t column) {
        const std::uint32_t levels = table_.levels(column);
        for (std::size_t m = made; m-- > 0;) {  // from the back: a mask's parts land at or behind its own place
            kernels().split_mask(masks_.data() + m * words_, levels, levels > 1 ? table_.plane(column, 1) : nullptr,
                                 words_, masks_.data() + m * levels * words_, in_mask.data() + m * levels);
        }
        made *= levels;
    };
    for (const std::uint32_t z : given) {
        split(z);
    }
    split(target);

    const std::uint32_t t_levels = table_.levels(target);
    ScratchVector<std::uint32_t> stratum_of_cell;
    stratum_of_cell.reserve(made);
    count.reserve(made);
    mask_slot_.reserve(made);
    for (std::size_t m = 0; m < made; ++m) {
        if (in_mask[m] != 0) {
            count.push_back(in_mask[m]);
            mask_slot_.push_back(static_cast<std::uint32_t>(m));
            stratum_of_cell.push_back(static_cast<std::uint32_t>(m / t_levels));
        }
    }
    set_cells(stratum_of_cell);
    return true;
}

// Every cell's bitset is divided by the levels of the column, where the target varies.
void Cells::split_masks(const Cells& parent, std::size_t column, bool thrifty) {
    const std::uint32_t levels = table_.levels(column);
    const std::uint64_t* planes = levels > 1 ? table_.plane(column, 1) : nullptr;
    complete = parent.complete;
    std::size_t varying = 0;  // cells of the parent in whose stratum the target varies
    for (std::size_t z = 0; z < parent.strata(); ++z) {
        const std::size_t cells = parent.stratum_begin[z + 1] - parent.stratum_begin[z];
        varying += cells > 1 || !thrifty ? cells : 0;
    }
    masks_.resize(varying * levels * words_);
    count.reserve(varying * levels);
    mask_slot_.reserve(varying * levels);
    stratum_begin.reserve(varying * levels + 1);
    stratum_count.reserve(varying * levels);
    ScratchVector<std::uint32_t> in_mask(varying * levels);
    std::size_t slot = 0;
    for (std::size_t z = 0; z < parent.strata(); ++z) {
        const std::size_t begin = parent.stratum_begin[z];
        const std::size_t cells = parent.stratum_begin[z + 1] - begin;
        if (cells == 1 && thrifty) {
            complete = false;
            continue;
        }
        for (std::size_t c = 0; c < cells; ++c) {
            kernels().split_mask(parent.mask(begin + c), levels, planes, words_,
                                 masks_.data() + (slot + c * levels) * words_, in_mask.data() + slot + c * levels);
        }
        for (std::uint32_t level = 0; level < levels; ++level) {
            std::uint32_t in_stratum = 0;
            const std::size_t first = count.size();
            for (std::size_t c = 0; c < cells; ++c) {
                const std::size_t part = slot + c * levels + level;
                if (in_mask[part] != 0) {
                    count.push_back(in_mask[part]);
                    mask_slot_.push_back(static_cast<std::uint32_t>(part));
                    in_stratum += in_mask[part];
                }
            }
            if (in_stratum != 0) {
                stratum_begin.push_back(static_cast<std::uint32_t>(first));
                stratum_count.push_back(in_stratum);
            }
        }
        slot += cells * levels;
    }
    stratum_begin.push_back(static_cast<std::uint32_t>(count.size()));
}

// Every row's cell is refined by its code; false if the table of all refinements would be much larger than the rows.
bool Cells::split_codes(Cells& parent, std::size_t column) {
    const std::size_t rows = table_.rows();
    const std::uint64_t levels = table_.levels(column);
    const std::uint64_t t_levels = table_.levels(target_);
    const std::uint64_t bound = parent.strata() * levels * t_levels;
    if (bound > dense_bound(rows)) {
        return false;
    }
    parent.need_cell_of_row();
    std::vector<std::uint32_t> base(parent.size());  // where a parent's cell is refined to, at code 0
    for (std::size_t z = 0; z < parent.strata(); ++z) {
        for (std::size_t c = parent.stratum_begin[z]; c < parent.stratum_begin[z + 1]; ++c) {
            base[c] = static_cast<std::uint32_t>(z * levels * t_levels + (c - parent.stratum_begin[z]));
        }
    }
    std::vector<std::uint16_t> codes(rows);
    table_.unpack(column, codes);
    cell_of_row.resize(rows);
    std::vector<std::uint32_t> in_key(bound, 0);
    for (std::size_t i = 0; i < rows; ++i) {
        cell_of_row[i] = base[parent.cell_of_row[i]] + codes[i] * static_cast<std::uint32_t>(t_levels);
    }
    add_rows(table_, cell_of_row, in_key.data());
    std::vector<std::uint32_t> stratum_of_cell;
    for (std::size_t key = 0; key < bound; ++key) {
        if (in_key[key] != 0) {
            stratum_of_cell.push_back(static_cast<std::uint32_t>(key / t_levels));
            count.push_back(in_key[key]);
            in_key[key] = static_cast<std::uint32_t>(count.size() - 1);
        }
    }
    for (std::uint32_t& cell : cell_of_row) {
        cell = in_key[cell];
    }
    set_cells(stratum_of_cell);
    return true;
}

void Cells::divide_by_codes(std::size_t target, std::span<const std::uint32_t> given) {
    const std::size_t rows = table_.rows();
    std::vector<std::uint32_t> keys(rows, 0);
    std::vector<std::uint16_t> codes(rows);
    std::uint64_t bound = 1;
    const auto combine = [&](std::size_t column) {
        const int bits = std::bit_width(table_.levels(column) - 1);  // shifting is cheaper than multiplying
        table_.unpack(column, codes);
        if (bound << bits > std::uint64_t{1} << 32) {
            bound = std::bit_ceil(compact(keys, bound));
        }
        if (bound << bits > std::uint64_t{1} << 32) {  // very many rows and levels
            std::vector<std::uint64_t> wide(rows);
            for (std::size_t i = 0; i < rows; ++i) {
                wide[i] = std::uint64_t{keys[i]} << bits | codes[i];
            }
            std::vector<std::uint64_t> distinct(wide);
            std::sort(distinct.begin(), distinct.end());
            distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
            for (std::size_t i = 0; i < rows; ++i) {
                const auto place = std::lower_bound(distinct.begin(), distinct.end(), wide[i]);
                keys[i] = static_cast<std::uint32_t>(place - distinct.begin());
            }
            bound = std::bit_ceil(distinct.size());
            return;
        }
        std::uint32_t* __restrict key = keys.data();
        const std::uint16_t* __restrict code = codes.data();
        for (std::size_t i = 0; i < rows; ++i) {
            key[i] = key[i] << bits | code[i];
        }
        bound <<= bits;
    };
    for (const std::uint32_t z : given) {
        combine(z);
    }
    bound = std::bit_ceil(compact(keys, bound));
    std::vector<std::uint32_t> stratum_of_row(keys.begin(), keys.end());
    combine(target);
    const std::size_t cells = compact(keys, bound);

    count.assign(cells, 0);
    cell_of_row = std::move(keys);
    std::vector<std::uint32_t> stratum_of_cell(cells);
    add_rows(table_, cell_of_row, count.data());
    for (std::size_t i = 0; i < rows; ++i) {
        stratum_of_cell[cell_of_row[i]] = stratum_of_row[i];
    }
    set_cells(stratum_of_cell);
}

void Cells::need_masks() {
    if (has_masks()) {
        return;
    }
    masks_.assign(size() * words_, 0);
    for (std::size_t i = 0; i < cell_of_row.size(); ++i) {
        masks_[cell_of_row[i] * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
    }
    mask_slot_.resize(size());
    for (std::size_t c = 0; c < size(); ++c) {
        mask_slot_[c] = static_cast<std::uint32_t>(c);
    }
}

void Cells::need_cell_of_row() {
    if (!cell_of_row.empty()) {
        return;
    }
    cell_of_row.resize(table_.rows());
    for (std::size_t c = 0; c < size(); ++c) {
        for_each_one(mask(c), 0, words_, [&](std::uint32_t row) { cell_of_row[row] = static_cast<std::uint32_t>(c); });
    }
}

void Cells::need_rows() {
    if (!rows_begin.empty()) {
        return;
    }
    rows_begin.resize(size() + 1);
    if (table_.frequencies().empty()) {
        std::copy(count.begin(), count.end(), rows_begin.begin() + 1);
    } else {  // a row stands for several, but is listed once
        for (const std::uint32_t cell : cell_of_row) {
            ++rows_begin[cell + 1];
        }
    }
    std::partial_sum(rows_begin.begin(), rows_begin.end(), rows_begin.begin());
    rows.resize(rows_begin.back());
    if (cell_of_row.empty()) {
        for (std::size_t c = 0; c < size(); ++c) {
            std::uint32_t* out = rows.data() + rows_begin[c];
            for_each_one(mask(c), 0, words_, [&](std::uint32_t row) { *out++ = row; });
        }
        return;
    }
    std::vector<std::uint32_t> next(rows_begin.begin(), rows_begin.end() - 1);
    for (std::size_t i = 0; i < cell_of_row.size(); ++i) {
        rows[next[cell_of_row[i]]++] = static_cast<std::uint32_t>(i);
    }
}

}  // namespace serape
