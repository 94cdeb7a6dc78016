#include "serape/subset_driver.hpp"

#include <bit>
#include <utility>

namespace serape {

void MemberIndex::reserve(std::size_t size) {
    entries_.resize(std::bit_ceil(std::max<std::size_t>(64, 2 * size)));
}

void MemberIndex::add(std::uint32_t variable, std::uint32_t member) {
    if (2 * (size_ + 1) > entries_.size()) {
        const std::vector<Entry> before =
            std::exchange(entries_, std::vector<Entry>(std::max<std::size_t>(64, 2 * entries_.size())));
        size_ = 0;
        for (const Entry& entry : before) {
            if (entry.member != none) {
                add(entry.variable, entry.member);
            }
        }
    }
    Entry& entry = entries_[place(variable)];
    if (entry.member == none) {
        entry = {variable, member};
        ++size_;
    }
}

std::uint32_t MemberIndex::find(std::uint32_t variable) const {
    return entries_.empty() ? none : entries_[place(variable)].member;
}

std::size_t MemberIndex::place(std::uint32_t variable) const {
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = (variable * std::uint64_t{0x9e3779b97f4a7c15} >> 32) & mask;
    while (entries_[at].member != none && entries_[at].variable != variable) {
        at = (at + 1) & mask;
    }
    return at;
}

SubsetState::SubsetState(const SubsetQuery& asked) : query(asked) {
    for (std::size_t member = 0; member < query.pool.size(); ++member) {
        if (admits(query.pool[member])) {
            live.push_back(static_cast<std::uint32_t>(member));
        }
    }
}

bool SubsetState::admits(std::uint32_t x) const {
    return x != query.target && std::find(query.fixed.begin(), query.fixed.end(), x) == query.fixed.end();
}

void SubsetState::drop(std::uint32_t variable) {
    if (const std::size_t at = position(variable); at < live.size()) {
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    }
}

void SubsetState::join() {
    const auto member = static_cast<std::uint32_t>(query.pool.size() - 1);
    live.push_back(member);
    if (!index_.empty()) {
        index_.add(query.pool[member], member);
    }
}

std::size_t SubsetState::position(std::uint32_t variable) {
    // Where the x are the pool, from the last to the first, it is the one before.
    if (const std::size_t before = found_ == 0 ? live.size() - 1 : found_ - 1;
        before < live.size() && query.pool[live[before]] == variable) {
        return found_ = before;
    }
    if (index_.empty()) {
        index_.reserve(live.size());
        for (const std::uint32_t member : live) {
            index_.add(query.pool[member], member);
        }
    }
    const std::uint32_t known = index_.find(variable);
    if (known == MemberIndex::none) {
        return live.size();
    }
    const auto at = std::lower_bound(live.begin(), live.end(), known);
    const bool lives = at != live.end() && *at == known;
    return lives ? found_ = static_cast<std::size_t>(at - live.begin()) : live.size();
}

std::vector<std::uint32_t> SubsetState::given() const {
    std::vector<std::uint32_t> all(query.fixed);
    for (const std::uint32_t member : chosen) {
        all.push_back(query.pool[member]);
    }
    return all;
}

void SubsetState::skip(const SubsetWalk& walk, std::size_t from, std::size_t wanted) {
    from = members == Members::after ? std::max(from, walk.position + 1) : from;
    const auto others = [&](std::size_t end) {
        end = members == Members::before ? std::min(end, walk.position) : end;
        return end <= from ? 0 : end - from - (walk.position >= from && walk.position < end ? 1 : 0);
    };
    std::uint64_t count = choose(others(live.size()), wanted);
    if (!walk.fresh(last()) && count < most_count) {
        const auto first_new = std::lower_bound(live.begin(), live.end(), walk.n_exhausted) - live.begin();
        count -= choose(others(static_cast<std::size_t>(first_new)), wanted);
    }
    tally.add_skip(set_size() + wanted, count);
}

void SubsetState::skip_sizes(const SubsetWalk& walk, std::size_t smallest, std::size_t largest) {
    constexpr std::size_t countable = 62;
    if (live.size() > countable && largest - smallest > countable) {
        tally.add_skip(set_size() + smallest, most_count);
        return;
    }
    for (std::size_t size = smallest; size <= largest; ++size) {
        skip(walk, 0, size);
    }
}

}  // namespace serape
