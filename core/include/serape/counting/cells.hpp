// The cells of a target within the strata of a conditioning set.
//
// A question "is X ⊥ T | Z?" for many X divides the rows once into strata (the combinations of Z that occur) and,
// within each, into cells (the levels of T that occur there). Only what occurs is kept, so memory is bounded by the
// rows whatever the product of the levels. Cells are numbered stratum by stratum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serape/aligned.hpp"
#include "serape/packed_table.hpp"
#include "serape/scratch.hpp"

namespace serape {

class Cells {
  public:
    Cells(const PackedTable& table, std::size_t target, std::span<const std::uint32_t> given);
    // The cells of another division, divided further by one more conditioning variable. Shares the work done for them.
    // Strata in which the target does not vary tell nothing, nor do their parts: if `thrifty`, they are left out where
    // there are bitsets, and only candidates with planes can be counted.
    Cells(Cells& parent, std::uint32_t more, bool thrifty);

    std::size_t size() const { return count.size(); }
    std::size_t strata() const { return stratum_count.size(); }
    std::size_t bytes() const;  // roughly

    ScratchVector<std::uint32_t> count;          // rows by cell
    ScratchVector<std::uint32_t> stratum_count;  // rows by stratum
    ScratchVector<std::uint32_t> stratum_begin;  // first cell by stratum, one more than strata
    std::size_t largest = 0;                     // the cell of most rows
    bool complete = true;                        // whether every row is in a cell

    // Each of the following is made on first call; make them before sharing the object between threads.
    void need_masks();        // masks(): by cell a bitset of its rows
    void need_cell_of_row();  // cell_of_row
    void need_rows();         // rows_begin, rows: row numbers by cell

    bool has_masks() const { return !masks_.empty(); }
    const std::uint64_t* mask(std::size_t cell) const { return masks_.data() + mask_slot_[cell] * words_; }
    std::vector<std::uint32_t> cell_of_row;
    std::vector<std::uint32_t> rows_begin;
    std::vector<std::uint32_t> rows;

  private:
    bool divide_by_masks(std::size_t target, std::span<const std::uint32_t> given);
    void divide_by_codes(std::size_t target, std::span<const std::uint32_t> given);
    void split_masks(const Cells& parent, std::size_t column, bool thrifty);
    bool split_codes(Cells& parent, std::size_t column);
    void set_cells(std::span<const std::uint32_t> stratum_of_cell);
    void set_largest();

    const PackedTable& table_;
    std::size_t target_;
    ScratchVector<std::uint32_t> given_;
    std::size_t words_;
    ScratchVector<std::uint64_t> masks_;
    ScratchVector<std::uint32_t> mask_slot_;
};

}  // namespace serape
