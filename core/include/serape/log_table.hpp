// n ln n in fixed point, the building block of G².
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "serape/wide.hpp"

namespace serape {

// f(n) = n ln n, as an integer multiple of 2^−shift.
class LogTable {
  public:
    explicit LogTable(std::size_t rows);
    std::int64_t operator()(std::uint32_t n) const { return n < table_.size() ? table_[n] : slow(n); }
    const std::int64_t* data() const { return table_.data(); }
    bool covers(std::size_t n) const { return n < table_.size(); }
    double unit() const { return unit_; }  // what one is worth

  private:
    std::int64_t slow(std::uint32_t n) const;
    double unit_ = 0.0;
    int shift_ = 0;
    std::vector<std::int64_t> table_;  // counts up to a million; larger ones are few, and computed
    std::vector<Wide> logs_;           // for that: ln n of the upper half of the table, if there are so many rows
};

}  // namespace serape
