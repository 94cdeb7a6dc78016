#include "serape/distinct_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "serape/bits.hpp"
#include "serape/counting/plan.hpp"
#include "serape/kernels.hpp"

namespace serape {
namespace {

constexpr std::size_t most_columns = 128;  // of a table whose rows may be far fewer if each is kept once
constexpr std::size_t block_rows = 64;
constexpr std::size_t most_dense_bits = 20;               // of keys that are counted in a table of all keys
constexpr std::size_t first_look = std::size_t{1} << 14;  // rows after which the number of distinct rows is foretold

// The codes of a row in as few words as hold them: its key.
class Keys {
  public:
    Keys(const PackedTable& table, std::span<const std::uint32_t> columns) : table_(table) {
        for (const std::uint32_t column : columns) {
            const auto bits = static_cast<unsigned>(std::bit_width(table.levels(column) - 1));
            if (words_ == 0 || used_ + bits > 64) {
                ++words_;
                used_ = 0;
            }
            places_.push_back({column, words_ - 1, used_, bits});
            used_ += bits;
            any_planes_ = any_planes_ || table.has_planes(column);
        }
        table.verify(columns);
    }
    std::size_t words() const { return words_; }
    // The number of bits of a key, if it is one word.
    std::size_t bits() const { return words_ == 1 ? used_ : 64; }

    // The keys of up to 64 rows; returns how many there are.
    std::size_t read(std::size_t block, std::uint64_t* keys) const {
        const std::size_t first = block * block_rows;
        const std::size_t rows = std::min(block_rows, table_.rows() - first);
        std::fill_n(keys, rows * words_, std::uint64_t{0});
        read_codes(first, rows, keys);
        if (any_planes_) {
            read_planes(block, rows, keys);
        }
        return rows;
    }
    // The k-th column's code in a key.
    std::uint16_t code(const std::uint64_t* key, std::size_t k) const {
        const Place& place = places_[k];
        return static_cast<std::uint16_t>(key[place.word] >> place.shift & ((std::uint64_t{1} << place.bits) - 1));
    }

  private:
    struct Place {
        std::uint32_t column;
        std::size_t word;
        unsigned shift, bits;
    };
    void read_codes(std::size_t first, std::size_t rows, std::uint64_t* keys) const {
        std::array<std::uint16_t, block_rows> codes;
        for (const Place& place : places_) {
            if (table_.has_planes(place.column)) {
                continue;
            }
            table_.unpack_codes(place.column, first, std::span(codes).first(rows));
            if (words_ == 1) {
                for (std::size_t i = 0; i < rows; ++i) {
                    keys[i] |= std::uint64_t{codes[i]} << place.shift;
                }
                continue;
            }
            for (std::size_t i = 0; i < rows; ++i) {
                keys[i * words_ + place.word] |= std::uint64_t{codes[i]} << place.shift;
            }
        }
    }
    // The bits of the codes, each as a bitset of the rows of a block, are turned into the codes of each row.
    void read_planes(std::size_t block, std::size_t rows, std::uint64_t* keys) const {
        std::array<std::uint64_t, 64> bits;
        auto place = places_.begin();
        for (std::size_t word = 0; word < words_; ++word) {
            bits.fill(0);
            for (; place != places_.end() && place->word == word; ++place) {
                const std::uint32_t levels = table_.has_planes(place->column) ? table_.levels(place->column) : 1;
                for (std::uint32_t level = 1; level < levels; ++level) {
                    const std::uint64_t plane = table_.plane(place->column, level)[block];
                    for (unsigned bit = 0; bit < place->bits; ++bit) {
                        bits[place->shift + bit] |= (level >> bit & 1) != 0 ? plane : 0;
                    }
                }
            }
            transpose64(bits);
            for (std::size_t i = 0; i < rows; ++i) {
                keys[i * words_ + word] |= bits[i];
            }
        }
    }

    const PackedTable& table_;
    std::vector<Place> places_;
    std::size_t words_ = 0;
    unsigned used_ = 0;  // bits of the last word
    bool any_planes_ = false;
};

// Keys with their frequencies.
struct Found {
    std::vector<std::uint64_t> keys;
    std::vector<std::uint32_t> frequencies;
};

// A hash table of keys of some words.
class KeySet {
  public:
    explicit KeySet(std::size_t words) : words_(words) { resize(12); }

    void add(const std::uint64_t* key, std::uint32_t frequency) {
        std::size_t slot = hash(key) >> shift_;
        for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
            const std::size_t id = slots_[slot] - 1;
            if (std::equal(key, key + words_, found_.keys.data() + id * words_)) {
                found_.frequencies[id] += frequency;
                return;
            }
        }
        found_.keys.insert(found_.keys.end(), key, key + words_);
        found_.frequencies.push_back(frequency);
        slots_[slot] = static_cast<std::uint32_t>(size());
        if (2 * size() > slots_.size()) {
            resize(65 - shift_);
        }
    }
    std::size_t size() const { return found_.frequencies.size(); }
    Found take() { return std::move(found_); }

  private:
    std::uint64_t hash(const std::uint64_t* key) const {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
        std::uint64_t mixed = 0;
        for (std::size_t word = 0; word < words_; ++word) {
            mixed = (mixed ^ key[word]) * odd;
            mixed ^= mixed >> 32;
        }
        return mixed * odd;
    }
    void resize(unsigned bits) {
        shift_ = 64 - bits;
        slots_.assign(std::size_t{1} << bits, 0);
        for (std::size_t id = 0; id < size(); ++id) {
            std::size_t slot = hash(found_.keys.data() + id * words_) >> shift_;
            while (slots_[slot] != 0) {
                slot = (slot + 1) & (slots_.size() - 1);
            }
            slots_[slot] = static_cast<std::uint32_t>(id + 1);
        }
    }

    std::size_t words_;
    unsigned shift_ = 0;
    std::vector<std::uint32_t> slots_;  // one more than the number of a key, or 0
    Found found_;
};

// Whether `all` rows would have more than `most` distinct ones, if these go on growing as from half of `rows` to now.
bool seems_too_many(std::size_t before, std::size_t now, std::size_t rows, std::size_t all, std::size_t most) {
    const double growth = std::log2(static_cast<double>(now) / static_cast<double>(before));
    const double doublings = std::log2(static_cast<double>(all) / static_cast<double>(rows));
    return static_cast<double>(now) * std::exp2(growth * doublings) > static_cast<double>(most);
}

template <class Add>
void for_each_key(const PackedTable& table, const Keys& keys, const Add& add) {
    const std::span<const std::uint32_t> frequencies = table.frequencies();
    std::vector<std::uint64_t> read(block_rows * keys.words());
    for (std::size_t first = 0; first < table.rows(); first += block_rows) {
        const std::size_t rows = keys.read(first / block_rows, read.data());
        for (std::size_t i = 0; i < rows; ++i) {
            add(read.data() + i * keys.words(), frequencies.empty() ? 1 : frequencies[first + i]);
        }
        if (!add.goes_on(first + rows)) {
            return;
        }
    }
}

// A table of all keys.
Found by_table(const PackedTable& table, const Keys& keys) {
    struct Add {
        std::vector<std::uint32_t>& in_key;
        void operator()(const std::uint64_t* key, std::uint32_t frequency) const { in_key[*key] += frequency; }
        static bool goes_on(std::size_t) { return true; }
    };
    std::vector<std::uint32_t> in_key(std::size_t{1} << keys.bits(), 0);
    for_each_key(table, keys, Add{in_key});
    Found found;
    for (std::size_t key = 0; key < in_key.size(); ++key) {
        if (in_key[key] != 0) {
            found.keys.push_back(key);
            found.frequencies.push_back(in_key[key]);
        }
    }
    return found;
}

// A hash table of the keys that occur; empty if they are too many.
Found by_hash(const PackedTable& table, const Keys& keys, std::size_t most) {
    struct Add {
        KeySet& set;
        std::size_t all, most;
        std::size_t& look;
        std::size_t& before;
        bool& enough;
        void operator()(const std::uint64_t* key, std::uint32_t frequency) const { set.add(key, frequency); }
        bool goes_on(std::size_t rows) const {
            if (set.size() > most) {
                enough = false;
            } else if (rows >= look) {
                enough = rows == first_look / 2 || !seems_too_many(before, set.size(), rows, all, most);
                before = set.size();
                look *= 2;
            }
            return enough;
        }
    };
    KeySet set(keys.words());
    std::size_t look = first_look / 2;
    std::size_t before = 1;
    bool enough = true;
    for_each_key(table, keys, Add{set, table.rows(), most, look, before, enough});
    return enough ? set.take() : Found{};
}

}  // namespace

std::size_t key_bits(const PackedTable& table, std::span<const std::uint32_t> columns) {
    std::size_t bits = 0;
    for (const std::uint32_t column : columns) {
        bits += static_cast<std::size_t>(std::bit_width(table.levels(column) - 1));
    }
    return bits;
}

std::optional<PackedTable> distinct_rows(const PackedTable& table, std::span<const std::uint32_t> columns,
                                         std::size_t most) {
    const Keys keys(table, columns);
    const bool dense = keys.bits() <= most_dense_bits && std::size_t{1} << keys.bits() <= 4 * table.rows();
    Found found = dense ? by_table(table, keys) : by_hash(table, keys, most);
    if (found.frequencies.empty() || found.frequencies.size() > most) {
        return {};
    }
    const std::size_t rows = found.frequencies.size();
    PackedTable made = PackedTable::of_distinct_rows(std::move(found.frequencies), table.shared_log_table());
    std::vector<std::uint16_t> codes(rows);
    for (std::size_t k = 0; k < columns.size(); ++k) {
        for (std::size_t i = 0; i < rows; ++i) {
            codes[i] = keys.code(found.keys.data() + i * keys.words(), k);
        }
        made.append_codes(codes, table.levels(columns[k]));
    }
    return made;
}

const PackedTable* PackedTable::distinct(double nanoseconds) const {
    const Costs& costs = kernels().costs;
    if (rows_ < costs.min_rows_for_distinct || !frequencies_.empty() || columns() > most_columns) {
        return nullptr;
    }
    const std::lock_guard lock(derived_->distinct_mutex);
    if (!derived_->distinct_tried) {
        std::vector<std::uint32_t> all(columns());
        std::iota(all.begin(), all.end(), 0u);
        derived_->distinct_due += nanoseconds;
        if (derived_->distinct_due < costs.distinct_whole_row * static_cast<double>(rows_)) {
            return nullptr;
        }
        derived_->distinct_tried = true;
        const std::size_t own = planes_view_.size_bytes() + narrow_view_.size() + wide_view_.size_bytes();
        const std::size_t each = columns() + wide_view_.size() / rows_ + sizeof(std::uint32_t);
        const std::size_t most = std::min(rows_ / costs.rows_per_distinct, costs.distinct_bytes * own / each);
        try {
            if (std::optional<PackedTable> made = distinct_rows(*this, all, most)) {
                derived_->distinct = std::make_unique<const PackedTable>(std::move(*made));
            }
        } catch (const DamagedColumns&) {  // of a column that the question may have nothing to do with
        }
    }
    return derived_->distinct.get();
}

PackedTable PackedTable::of_distinct_rows(std::vector<std::uint32_t> frequencies,
                                          std::shared_ptr<const LogTable> log_table) {
    PackedTable made(frequencies.size());
    made.rows_counted_ = std::accumulate(frequencies.begin(), frequencies.end(), std::size_t{0});
    made.frequencies_ = std::move(frequencies);
    made.derived_->log_table = std::move(log_table);
    return made;
}

void PackedTable::append_codes(std::span<const std::uint16_t> codes, std::uint32_t levels) {
    const std::size_t index = levels <= 256 ? narrow_.size() / rows_ : wide_.size() / rows_;
    columns_.push_back({levels, static_cast<std::uint32_t>(index)});
    if (levels <= 256) {
        narrow_.reserve(narrow_.size() + rows_);
        for (const std::uint16_t code : codes) {
            narrow_.push_back(static_cast<std::uint8_t>(code));
        }
    } else {
        wide_.insert(wide_.end(), codes.begin(), codes.end());
    }
    view_own();
}

void PackedTable::unpack_codes(std::size_t column, std::size_t first, std::span<std::uint16_t> out) const {
    const Column& c = columns_[column];
    if (c.levels > 256) {
        std::copy_n(wide_view_.data() + c.index * rows_ + first, out.size(), out.data());
    } else {
        std::copy_n(narrow_view_.data() + c.index * rows_ + first, out.size(), out.data());
    }
}

}  // namespace serape
