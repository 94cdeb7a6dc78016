#include "serape/counting/joint_counter.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "serape/kernels.hpp"

namespace serape {
namespace {

constexpr std::size_t max_rows_counted = 65'535;  // in 16 bits
constexpr std::size_t max_cells = 65'536;         // numbered in 16 bits
constexpr std::uint32_t max_code_levels = 256;    // of a column, in a byte
constexpr std::uint32_t max_target_levels = 32;   // a bit each
constexpr std::size_t first_entries = 1024;       // of the hash table: powers of two
constexpr std::size_t max_entries = std::size_t{1} << 19;

std::size_t hash(const std::array<std::uint16_t, 8>& key) {
    std::uint64_t first = 0, second = 0;
    for (std::size_t k = 0; k < 4; ++k) {
        first = first << 16 | key[k];
        second = second << 16 | key[k + 4];
    }
    const std::uint64_t mixed = (first ^ std::rotl(second * 0x9e3779b97f4a7c15u, 29)) * 0xbf58476d1ce4e5b9u;
    return mixed ^ mixed >> 32;
}

// Where this thread looks first for a counter.
std::size_t own_slot() {
    static std::atomic<std::size_t> threads{0};
    thread_local const std::size_t own = threads++;
    return own;
}

}  // namespace

CounterStore::~CounterStore() {
    while (take()) {
    }
}

std::unique_ptr<JointCounter> CounterStore::take() {
    for (std::size_t k = 0; k < slots; ++k) {
        std::atomic<JointCounter*>& slot = slots_[(own_slot() + k) % slots].counter;
        if (slot.load(std::memory_order_relaxed) != nullptr) {
            if (JointCounter* const there = slot.exchange(nullptr, std::memory_order_acquire)) {
                return std::unique_ptr<JointCounter>(there);
            }
        }
    }
    return nullptr;
}

void CounterStore::put(std::unique_ptr<JointCounter> counter) {
    for (std::size_t k = 0; k < slots; ++k) {
        JointCounter* nothing = nullptr;
        if (slots_[(own_slot() + k) % slots].counter.compare_exchange_strong(nothing, counter.get(),
                                                                             std::memory_order_release)) {
            counter.release();  // NOLINT: the slot has it
            return;
        }
    }
}

std::size_t CounterStore::bytes() {
    std::vector<std::unique_ptr<JointCounter>> all;
    std::size_t sum = 0;
    while (std::unique_ptr<JointCounter> counter = take()) {
        sum += counter->bytes();
        all.push_back(std::move(counter));
    }
    for (std::unique_ptr<JointCounter>& counter : all) {
        put(std::move(counter));
    }
    return sum;
}

std::unique_ptr<JointCounter> PackedTable::lend_joint_counter() const {
    std::unique_ptr<JointCounter> lent = derived_->joint_counters.take();
    return lent ? std::move(lent) : std::make_unique<JointCounter>();
}

void PackedTable::take_back(std::unique_ptr<JointCounter> counter) const {
    derived_->joint_counters.put(std::move(counter));
}

bool JointCounter::serves(const PackedTable& table, std::uint32_t target) {
    const std::uint32_t levels = table.levels(target);
    return table.rows() <= max_rows_counted && levels >= 2 && levels <= max_target_levels;
}

std::size_t JointCounter::bytes() const {
    const std::size_t rows = table_ != nullptr ? table_->rows() : 0;
    return columns_.size() * (rows + sizeof(Column)) + entries_.size() * sizeof(Entry) +
           (number_of_.size() + indices_.size() * rows) * sizeof(std::uint16_t);
}

void JointCounter::forget() {
    number_of_.clear();
    path_.clear();
    columns_.clear();
    columns_.push_back({1, std::vector<std::uint8_t>(table_->rows(), 0)});
    entries_.assign(first_entries, {});
    used_ = 0;
    number_of_.assign(table_->columns(), 0);
}

void JointCounter::take(const PackedTable& table, std::uint32_t target) {
    table_ = &table;
    if (number_of_.size() != table.columns() || bytes() > kernels().costs.max_joint_bytes) {
        forget();
    }
    target_ = number(target);
}

// The number of a column; 0 if it cannot be counted, or no more columns are to be kept.
std::uint16_t JointCounter::number(std::uint32_t column) {
    std::uint16_t& number = number_of_[column];
    if (number == 0 && table_->levels(column) <= max_code_levels && columns_.size() < unknown &&
        bytes() <= 2 * kernels().costs.max_joint_bytes) {
        std::vector<std::uint16_t> codes(table_->rows());
        table_->unpack(column, codes);
        columns_.push_back({table_->levels(column), std::vector<std::uint8_t>(codes.begin(), codes.end())});
        number = static_cast<std::uint16_t>(columns_.size() - 1);
    }
    return number;
}

// Cells of the members and the target, or more than can be numbered.
std::size_t JointCounter::cells_of(Numbers members) const {
    std::size_t cells = columns_[target_].levels;
    for (const std::uint16_t member : members) {
        cells = std::min(cells * columns_[member].levels, max_cells + 1);
    }
    return cells;
}

JointCounter::Key JointCounter::key_of(Numbers members) const {
    Key key{target_};
    std::copy(members.begin(), members.end(), key.begin() + 1);
    std::sort(key.begin() + 1, key.begin() + 1 + static_cast<std::ptrdiff_t>(members.size()));
    return key;
}

std::size_t JointCounter::place_of(const Key& key, std::uint16_t member) {
    return static_cast<std::size_t>(std::find(key.begin() + 1, key.end(), member) - key.begin()) - 1;
}

// Where a key is, or would be.
std::size_t JointCounter::slot(const std::vector<Entry>& entries, const Key& key) {
    const std::size_t mask = entries.size() - 1;
    std::size_t at = hash(key) & mask;
    while (entries[at].key[0] != 0 && entries[at].key != key) {
        at = (at + 1) & mask;
    }
    return at;
}

const JointCounter::Entry* JointCounter::find(const Key& key) const {
    const Entry& entry = entries_[slot(entries_, key)];
    return entry.key[0] != 0 ? &entry : nullptr;
}

// If there are too many sets, all others are forgotten.
const JointCounter::Entry& JointCounter::remember(const Entry& entry) {
    if (2 * (used_ + 1) > entries_.size()) {
        const bool full = entries_.size() >= max_entries;
        std::vector<Entry> larger(full ? first_entries : 2 * entries_.size());
        for (const Entry& known : entries_) {
            if (known.key[0] != 0 && !full) {
                larger[slot(larger, known.key)] = known;
            }
        }
        entries_.swap(larger);
        used_ = full ? 0 : used_;
    }
    Entry& at = entries_[slot(entries_, entry.key)];
    const auto before = std::exchange(at, entry);
    used_ += before.key[0] == 0;
    for (std::size_t k = 0; k < max_members && before.key[0] != 0; ++k) {
        at.dof[k] = std::min(at.dof[k], before.dof[k]);  // what is known is the same, and below `unknown`
    }
    return at;
}

std::optional<Sum> JointCounter::operator()(std::uint32_t x, std::span<const std::uint32_t> given, bool ask_all) {
    const std::size_t size = given.size() + 1;
    if (size > max_members || target_ == 0) {
        return std::nullopt;
    }
    std::array<std::uint16_t, max_members> numbers;
    for (std::size_t k = 0; k < size; ++k) {
        numbers[k] = number(k + 1 < size ? given[k] : x);
        if (numbers[k] == 0) {
            return std::nullopt;
        }
    }
    const Numbers members(numbers.data(), size);
    if (cells_of(members) > max_cells) {
        return std::nullopt;
    }
    const Key key = key_of(members);
    const std::size_t place = place_of(key, members.back());
    const Entry* entry = find(key);
    if (entry == nullptr || entry->dof[place] == unknown) {
        entry = &counted(key, members, ask_all ? 0 : size - 1);
    }
    Sum sum{entry->with_target - entry->without, entry->dof[place]};
    const Numbers rest = members.first(size - 1);
    const Key key_of_rest = key_of(rest);
    const Entry* lower = find(key_of_rest);
    if (lower == nullptr) {
        lower = &counted(key_of_rest, rest, rest.size());
    }
    sum.value -= lower->with_target - lower->without;
    return sum;
}

// Counts a set, and the degrees of freedom of its members from the first one on.
const JointCounter::Entry& JointCounter::counted(const Key& key, Numbers members, std::size_t first_of_dof) {
    count_table(members);
    Entry entry{key};
    entry.dof.fill(unknown);
    add_up(entry);
    add_dof(entry, members, first_of_dof);
    return remember(entry);
}

// The combined codes of the members; those of the path so far that they begin with are at hand.
const std::uint16_t* JointCounter::combined(Numbers members) {
    const std::size_t rows = table_->rows();
    const auto shared = std::mismatch(members.begin(), members.end(), path_.begin(), path_.end()).second;
    path_.erase(shared, path_.end());
    if (indices_.size() < members.size() + 1) {
        indices_.resize(members.size() + 1, std::vector<std::uint16_t>(rows, 0));
    }
    for (std::size_t k = path_.size(); k < members.size(); ++k) {
        const auto& [levels, codes] = columns_[members[k]];
        kernels().combine_codes(indices_[k].data(), codes.data(), levels, rows, indices_[k + 1].data());
        path_.push_back(members[k]);
    }
    return indices_[members.size()].data();
}

void JointCounter::count_table(Numbers members) {
    const Column& target = columns_[target_];
    const Column& last = columns_[members.empty() ? 0 : members.back()];
    const std::uint16_t* const before = combined(members.first(members.size() - (members.empty() ? 0 : 1)));
    counts_.resize(cells_of(members));
    kernels().count_codes(before, last.codes.data(), last.levels, target.codes.data(), target.levels, table_->rows(),
                          counts_.size(), counts_.data());
}

void JointCounter::add_up(Entry& entry) {
    const std::uint32_t levels = columns_[target_].levels;
    const std::size_t cells = counts_.size() / levels;
    present_.resize(cells);
    const std::int64_t* const log = table_->log_table().data();
    const std::uint16_t* count = counts_.data();
    for (std::size_t cell = 0; cell < cells; ++cell, count += levels) {
        std::uint32_t all = 0, met = 0;
        for (std::uint32_t level = 0; level < levels; ++level) {
            const std::uint32_t n = count[level];
            all += n;
            met |= static_cast<std::uint32_t>(n != 0) << level;
            entry.with_target += log[n];
        }
        present_[cell] = met;
        entry.without += log[all];
    }
}

void JointCounter::add_dof(Entry& entry, Numbers members, std::size_t first) {
    std::size_t outer = 1;
    std::size_t inner = present_.size();
    for (std::size_t k = 0; k < members.size(); ++k) {
        const std::uint32_t levels = columns_[members[k]].levels;
        inner /= levels;
        if (k >= first) {
            entry.dof[place_of(entry.key, members[k])] =
                static_cast<std::uint16_t>(kernels().adjusted_dof(present_.data(), outer, levels, inner));
        }
        outer *= levels;
    }
}

}  // namespace serape
