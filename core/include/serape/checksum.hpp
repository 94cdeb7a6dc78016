// The checksum of packed files. docs/packed.md describes it, so it never changes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace serape {

// Reads words in the order of this machine's bytes; packed files are little-endian.
std::uint64_t checksum(const void* memory, std::size_t bytes);

}  // namespace serape
