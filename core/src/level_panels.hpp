// Panels of columns of up to eight levels in which columns of as many levels lie side by side, level by level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serape/kernels.hpp"
#include "serape/packed_table.hpp"

namespace serape::pairs {

// Columns with as many levels, of which as many occur, in panels of their own.
struct Kind {
    std::uint32_t levels;  // as declared
    std::uint32_t occurring;
    std::size_t begin, end;  // in the order
    std::size_t first_panel;
    std::size_t width;  // columns of a panel
};

// How many of the levels of a column occur.
std::uint32_t occurring_levels(const PackedTable& table, std::size_t column);

// The columns that vary, those with most levels first.
class LevelPanels {
  public:
    LevelPanels(const PackedTable& table, std::span<const std::uint32_t> columns);

    std::size_t rows() const { return panels_.rows; }
    std::size_t size() const { return order_.size(); }
    const std::vector<std::uint32_t>& order() const { return order_; }
    const std::vector<Kind>& kinds() const { return kinds_; }
    std::size_t kind_of(std::size_t at) const { return kind_of_[at]; }  // by place in the order

    // The sizes of the levels of a column that occur, the largest last, and the rows of all but that: each list is
    // padded to a multiple of 8 with the panels' line of zeros.
    struct Rows {
        std::uint32_t sizes[plane_levels];
        std::size_t begin[plane_levels];  // in `rows`, of all levels but the last, and their end
        std::vector<std::uint32_t> rows;
    };
    void list_rows(std::size_t at, Rows& out) const;

    const Line* panel(std::size_t p) const { return panels_.panel(p); }
    // What the kernel needs to know of the columns of a panel.
    PanelLevels levels_of(const Kind& kind, std::size_t p) const;

  private:
    void sort(std::span<const std::uint32_t> columns);
    void lay_out();

    const PackedTable& table_;
    std::vector<std::uint32_t> order_;  // columns of the table
    std::vector<Kind> kinds_;
    std::vector<std::uint32_t> kind_of_;
    Panels panels_;
    // By panel, level (that without a plane last) and column: its part of the rows, and after those of a panel their
    // inverses.
    LineVector<float> shares_;
    std::vector<std::size_t> shares_begin_;  // by panel
};

}  // namespace serape::pairs
