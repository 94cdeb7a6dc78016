// Outcomes of tests, kept with the table: a search from the side of y asks about x ⊥ y | Z what one from the side of x
// has asked. They are what a test would find again, with the same bits, so it makes no difference what is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "serape/outcome.hpp"

namespace serape {

class KnownOutcomes {
  public:
    // Of x and y in either order, given members in ascending order.
    std::optional<Outcome> find(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given);
    void keep(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given, const Outcome& outcome);
    void clear();

    static constexpr std::size_t max_values = std::size_t{1} << 22;  // 16 MiB; where there is no room, nothing stays

  private:
    static std::u32string key(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given);

    std::mutex changing_;
    std::unordered_map<std::u32string, Outcome> known_;
    std::size_t values_ = 0;
};

}  // namespace serape
