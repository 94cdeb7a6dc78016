#include "serape/checksum.hpp"

#include <array>
#include <cstring>

namespace serape {
namespace {

constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;  // odd: 2^64 divided by the golden ratio
constexpr std::size_t lanes = 8;
constexpr std::size_t block = lanes * sizeof(std::uint64_t);

// Each step can be undone, so words that differ in one place always give different lanes.
std::uint64_t step(std::uint64_t state, std::uint64_t word) {
    state = (state ^ word) * factor;
    return state ^ (state >> 32);
}

void take(std::array<std::uint64_t, lanes>& state, const unsigned char* from) {
    std::array<std::uint64_t, lanes> words;
    std::memcpy(words.data(), from, block);
    for (std::size_t k = 0; k < lanes; ++k) {
        state[k] = step(state[k], words[k]);
    }
}

}  // namespace

std::uint64_t checksum(const void* memory, std::size_t bytes) {
    const auto* from = static_cast<const unsigned char*>(memory);
    std::array<std::uint64_t, lanes> state;
    for (std::size_t k = 0; k < lanes; ++k) {
        state[k] = k + 1;
    }
    std::size_t done = 0;
    for (; done + block <= bytes; done += block) {
        take(state, from + done);
    }
    if (done < bytes) {
        std::array<unsigned char, block> rest{};
        std::memcpy(rest.data(), from + done, bytes - done);
        take(state, rest.data());
    }
    std::uint64_t sum = bytes;
    for (const std::uint64_t lane : state) {
        sum = step(sum, lane);
    }
    return sum;
}

}  // namespace serape
