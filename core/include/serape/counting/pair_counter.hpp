// Counts one x together with each member of a pool: the way for many conditioning sets that differ in one variable.
//
// The cells of a division are divided further by a member z of the pool. What x has in their parts follows from what x
// has in the cells and from x and z together, so only rows in which x is above level 0 are read, for 512 bits of the
// pool at once. Gives the same sums, to the bit, as CandidateCounter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "serape/compiler.hpp"
#include "serape/counting/candidate_counter.hpp"
#include "serape/counting/cells.hpp"
#include "serape/packed_table.hpp"
#include "serape/statistic.hpp"

namespace serape {

class PairPool {  // a pool in the cells; threads share it
  public:
    PairPool(const PackedTable& table, const Statistic& statistic, const Cells& cells, std::uint32_t target_levels,
             std::span<const std::uint32_t> pool, std::size_t threads);

    // Whether these can be counted, and are so many that it pays.
    static bool pays(const PackedTable& table, const Cells& cells, std::span<const std::uint32_t> pool,
                     const CandidateKinds& xs);

  private:
    friend class PairCounter;
    std::int64_t in_strata(const std::uint32_t* counts) const;

    const PackedTable& table_;
    const Statistic& statistic_;
    Cells cells_;
    std::uint32_t target_levels_;
    std::vector<std::uint8_t> levels_of_;  // the members of the pool
    Panels panels_;
    const Ones* ones_;                    // if they are few
    bool simple_;                         // whether binary variables have a way of their own
    bool pairs_;                          // whether every stratum has two cells
    std::vector<std::uint32_t> in_cell_;  // [bit of the pool, over all panels][cell]: rows
    std::vector<std::int64_t> constant_;  // by member, if binary: what its strata add to every sum
    std::int64_t rounding_ = 0;           // more than the terms of a sum can be off by together
};

class PairCounter {  // one per thread
  public:
    explicit PairCounter(const PairPool& pool) : pool_(pool) {}

    std::uint32_t levels(std::size_t member) const { return pool_.levels_of_[member]; }
    void take(std::uint32_t x);  // the column that is counted from now on
    // Who will be taken soon, and later: what is known of them is all over the memory, and fetched ahead.
    void expect(std::uint32_t soon, std::uint32_t later) const {
        if (pool_.ones_ != nullptr) {
            prefetch(pool_.ones_->rows.data() + pool_.ones_->start[soon]);
            prefetch(&pool_.ones_->start[later]);
        }
    }
    // Less than what operator() would give for a member, if both are binary and the statistic is G², and the least
    // number there is otherwise. By the chain rule, what x tells of the target given z is at least what x tells without
    // z, less what z tells: I(x; t | z) = I(x, z; t) − I(z; t) ≥ I(x; t) − I(z; t).
    std::int64_t at_least(std::size_t member) const {
        return turns(member) ? alone_ + pool_.constant_[member] - pool_.rounding_
                             : std::numeric_limits<std::int64_t>::min();
    }
    // The most degrees of freedom that occur with a binary member: a stratum that has some becomes two.
    std::size_t most_dof() const { return 2 * alone_dof_; }
    // x in the cells divided by this member of the pool.
    Sum operator()(std::size_t member) {
        const std::size_t slot = counted_slot(member);
        const std::uint32_t* of_member = pool_.in_cell_.data() + slot * pool_.cells_.size();
        const std::uint32_t levels = pool_.levels_of_[member];
        if (!pool_.simple_ || levels_ != 2 || levels != 2) {
            return any(slot % line_bits, of_member, levels);
        }
        return binary(slot % line_bits, of_x_.data(), of_member, pool_.constant_[member]);
    }
    // Whether the other way round can be counted too: this member of the pool in the cells divided by x.
    bool turns(std::size_t member) const { return pool_.simple_ && levels_ == 2 && pool_.levels_of_[member] == 2; }
    Sum turned(std::size_t member) {
        const std::size_t slot = counted_slot(member);
        return binary(slot % line_bits, pool_.in_cell_.data() + slot * pool_.cells_.size(), of_x_.data(), -alone_);
    }

  private:
    static constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();
    struct Listed {
        std::uint32_t row, list;
    };
    friend class PairPool;
    void list_cells();
    void count_cells(std::size_t panel, std::uint32_t* out);
    void make_lists();
    void count(std::size_t panel);
    std::size_t counted_slot(std::size_t member) {  // whose panel has been counted
        const std::size_t slot = pool_.panels_.slot[member];
        if (slot / line_bits != counted_) {
            count(slot / line_bits);
        }
        return slot;
    }
    Sum binary(std::size_t bit, const std::uint32_t* of_x, const std::uint32_t* of_z, std::int64_t constant) const {
        return pool_.pairs_ ? binary_in<true>(bit, of_x, of_z, constant) : binary_in<false>(bit, of_x, of_z, constant);
    }
    template <bool pairs>
    Sum binary_in(std::size_t bit, const std::uint32_t* of_x, const std::uint32_t* of_z, std::int64_t constant) const;
    Sum any(std::size_t bit, const std::uint32_t* of_member, std::uint32_t member_levels);

    const PairPool& pool_;
    std::int64_t alone_ = 0;                   // of x, if binary: what such a constant lacks
    std::size_t alone_dof_ = 0;                // of x, if binary, in the cells as they are
    std::uint32_t levels_ = 0;                 // of x
    std::vector<std::uint32_t> of_x_;          // [level − 1][cell]: rows
    std::vector<Listed> listed_;               // rows of x, and the list they go to
    std::vector<std::uint32_t> rows_;          // the same by level and cell, each list padded to a multiple of 8
    std::vector<std::uint32_t> begin_;         // of the lists, one more than there are
    std::size_t counted_ = nothing;            // the panel that has been counted
    LineVector<std::uint16_t> counts_;         // [level − 1][cell][bit]: rows that x and the pool's bit share
    std::vector<std::uint32_t> part_, sizes_;  // of one stratum
};

// G² of binary variables: of_x and of_z are their rows in each cell, the constant is what z's strata add.
template <bool pairs>
inline Sum PairCounter::binary_in(std::size_t bit, const std::uint32_t* of_x, const std::uint32_t* of_z,
                                  std::int64_t constant) const {
    const std::int64_t* const log = pool_.statistic_.log().data();
    const std::uint16_t* both = counts_.data() + bit;
    const std::size_t strata = pool_.cells_.strata();
    const std::uint32_t* const begin = pool_.cells_.stratum_begin.data();
    const std::uint32_t* const size = pool_.cells_.count.data();
    std::int64_t value = constant;
    std::int64_t dof = 0;
    for (std::size_t z = 0; z < strata; ++z) {
        // By level of z: rows in the stratum and those of x among them, and cells that occur.
        std::uint32_t n_0 = 0, n_1 = 0, x_0 = 0, x_1 = 0, met_0 = 0, met_1 = 0;
        const std::size_t first = pairs ? 2 * z : begin[z];
        const std::size_t last = pairs ? 2 * z + 2 : begin[z + 1];
        SERAPE_UNROLL(2)
        for (std::size_t c = first; c < last; ++c) {
            const std::uint32_t in_1 = of_z[c];
            const std::uint32_t in_0 = size[c] - in_1;
            const std::uint32_t a_1 = both[c * line_bits];
            const std::uint32_t a_0 = of_x[c] - a_1;
            value += log[a_1] + log[in_1 - a_1] + log[a_0] + log[in_0 - a_0];
            n_0 += in_0;
            n_1 += in_1;
            x_0 += a_0;
            x_1 += a_1;
            met_0 += in_0 != 0;
            met_1 += in_1 != 0;
        }
        value -= log[x_1] + log[n_1 - x_1] + log[x_0] + log[n_0 - x_0];
        dof += x_0 != 0 && x_0 != n_0 ? met_0 - 1 : 0;
        dof += x_1 != 0 && x_1 != n_1 ? met_1 - 1 : 0;
    }
    return {value, dof};
}

}  // namespace serape
