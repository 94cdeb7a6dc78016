#include "known_outcomes.hpp"

#include <algorithm>

namespace serape {

std::optional<Outcome> KnownOutcomes::find(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given) {
    const std::u32string asked = key(x, y, given);
    const std::lock_guard lock(changing_);
    const auto at = known_.find(asked);
    return at == known_.end() ? std::nullopt : std::optional(at->second);
}

void KnownOutcomes::keep(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given,
                         const Outcome& outcome) {
    constexpr std::size_t own = 32;  // what an entry takes beside its key, in values
    std::u32string asked = key(x, y, given);
    const std::size_t more = asked.size() + own;
    const std::lock_guard lock(changing_);
    if (values_ + more > max_values) {
        known_.clear();
        values_ = 0;
    }
    values_ += known_.try_emplace(std::move(asked), outcome).second ? more : 0;
}

void KnownOutcomes::clear() {
    const std::lock_guard lock(changing_);
    known_.clear();
    values_ = 0;
}

std::u32string KnownOutcomes::key(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given) {
    std::u32string made{static_cast<char32_t>(std::min(x, y)), static_cast<char32_t>(std::max(x, y))};
    made.append(given.begin(), given.end());
    return made;
}

}  // namespace serape
