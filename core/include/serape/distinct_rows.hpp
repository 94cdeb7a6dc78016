// The distinct rows of some columns, each with its frequency.
//
// Tall tables of few columns have far fewer distinct rows than rows. Counts are sums over rows, so they can be made of
// the distinct rows and their frequencies: the same integers, by less reading. A table of distinct rows takes one byte
// a row and column (two for more than 256 levels) and four bytes a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "serape/packed_table.hpp"

namespace serape {

// A table of the distinct rows of some columns, which are its columns in the order given. Nothing if there are more
// than `most`, or seem to be going to be, judged by the first rows. The table may be one of distinct rows itself.
std::optional<PackedTable> distinct_rows(const PackedTable& table, std::span<const std::uint32_t> columns,
                                         std::size_t most);

// The number of bits of the codes of a row.
std::size_t key_bits(const PackedTable& table, std::span<const std::uint32_t> columns);

}  // namespace serape
