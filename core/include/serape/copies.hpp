// Columns that are copies of each other: they divide the rows alike, whatever their levels are called.
#pragma once

#include <cstdint>
#include <vector>

#include "serape/packed_table.hpp"
#include "serape/parallel.hpp"

namespace serape {

// For every column, the first that it is a copy of (itself, if there is none before it).
std::vector<std::uint32_t> first_copies(const PackedTable& table, CancellationToken& token);

// A hash of every column: the same for copies, also in different tables of the same rows.
std::vector<std::uint64_t> column_hashes(const PackedTable& table, CancellationToken& token);

}  // namespace serape
