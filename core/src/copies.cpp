#include "serape/copies.hpp"

#include <bit>
#include <span>

namespace serape {
namespace {

std::uint64_t mix(std::uint64_t x) {  // the finaliser of splitmix64
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9;
    x ^= x >> 27;
    x *= 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

// The hash of a column: a sum over the levels that occur of the hashes of their rows, so that names do not matter.
class Hasher {
  public:
    explicit Hasher(const PackedTable& table) : table_(table), codes_(table.rows()) {
        const std::size_t words = table.plane_words();
        key_.resize(words);
        for (std::size_t w = 0; w < words; ++w) {
            key_[w] = mix(w + 1) | 1;
        }
        for (std::size_t i = 0; i < table.rows(); i += 64) {
            const std::size_t left = table.rows() - i;
            whole_ += (left < 64 ? (std::uint64_t{1} << left) - 1 : ~std::uint64_t{0}) * key_[i / 64];
        }
    }

    std::uint64_t operator()(std::size_t column) {
        return table_.has_planes(column) ? by_planes(column) : by_codes(column);
    }

    // Whether two columns divide the rows alike.
    bool same(std::size_t a, std::size_t b) {
        if (table_.has_planes(a) && table_.has_planes(b) && table_.levels(a) == 2 && table_.levels(b) == 2) {
            return same_or_opposite(table_.plane(a, 1), table_.plane(b, 1));
        }
        codes_.resize(table_.rows());
        others_.resize(table_.rows());
        table_.unpack(a, codes_);
        table_.unpack(b, others_);
        constexpr std::uint32_t none = max_levels;
        to_.assign(table_.levels(a), none);
        from_.assign(table_.levels(b), none);
        for (std::size_t i = 0; i < codes_.size(); ++i) {
            std::uint32_t& to = to_[codes_[i]];
            std::uint32_t& from = from_[others_[i]];
            if (to == none && from == none) {
                to = others_[i];
                from = codes_[i];
            } else if (to != others_[i] || from != codes_[i]) {
                return false;
            }
        }
        return true;
    }

  private:
    bool same_or_opposite(const std::uint64_t* a, const std::uint64_t* b) const {
        const std::size_t words = table_.rows() / 64;
        const std::uint64_t flip = (a[0] ^ b[0]) & 1 ? ~std::uint64_t{0} : 0;
        for (std::size_t w = 0; w < words; ++w) {
            if ((a[w] ^ b[w]) != flip) {
                return false;
            }
        }
        const std::size_t left = table_.rows() % 64;
        return left == 0 || ((a[words] ^ b[words] ^ flip) << (64 - left)) == 0;
    }
    std::uint64_t by_planes(std::size_t column) {
        const std::size_t words = (table_.rows() + 63) / 64;
        const std::uint32_t levels = table_.levels(column);
        std::uint64_t sum = 0;
        std::uint64_t all = 0;
        for (std::uint32_t level = 1; level < levels; ++level) {
            const std::uint64_t* plane = table_.plane(column, level);
            std::uint64_t hash = 0;
            for (std::size_t w = 0; w < words; ++w) {
                hash += plane[w] * key_[w];
            }
            all += hash;
            sum += table_.total(column, level) == 0 ? 0 : mix(hash);
        }
        // Rows are in one plane at most, so their words, and with them their hashes, add up: level 0 is what is left.
        return sum + (all == whole_ ? 0 : mix(whole_ - all));
    }
    std::uint64_t by_codes(std::size_t column) {
        codes_.resize(table_.rows());
        table_.unpack(column, codes_);
        sums_.assign(table_.levels(column), 0);
        for (std::size_t i = 0; i < codes_.size(); ++i) {
            sums_[codes_[i]] += (std::uint64_t{1} << (i % 64)) * key_[i / 64];
        }
        std::uint64_t sum = 0;
        for (const std::uint64_t hash : sums_) {
            sum += hash == 0 ? 0 : mix(hash);
        }
        return sum;
    }

    const PackedTable& table_;
    std::vector<std::uint64_t> key_, sums_;
    std::uint64_t whole_ = 0;  // the hash of all rows
    std::vector<std::uint16_t> codes_, others_;
    std::vector<std::uint32_t> to_, from_;
};

}  // namespace

std::vector<std::uint32_t> first_copies(const PackedTable& table, CancellationToken& token) {
    table.verify_all();
    Hasher hasher(table);
    const std::size_t columns = table.columns();
    std::vector<std::uint32_t> first(columns);
    std::vector<std::uint64_t> hashes(columns);
    // A hash table of columns unlike each other, at most half full; from its own slot on, a column is before the first
    // empty one.
    constexpr std::uint32_t empty = 0xffffffff;
    std::vector<std::uint32_t> known(std::bit_ceil(2 * columns + 1), empty);
    for (std::uint32_t column = 0; column < columns; ++column) {
        hashes[column] = hasher(column);
        std::size_t slot = hashes[column] & (known.size() - 1);
        while (known[slot] != empty && !(hashes[known[slot]] == hashes[column] && hasher.same(known[slot], column))) {
            slot = (slot + 1) & (known.size() - 1);
        }
        if (known[slot] == empty) {
            known[slot] = column;
        }
        first[column] = known[slot];
        if (column % 256 == 255) {
            token.check();
        }
    }
    return first;
}

std::vector<std::uint64_t> column_hashes(const PackedTable& table, CancellationToken& token) {
    table.verify_all();
    Hasher hasher(table);
    std::vector<std::uint64_t> hashes(table.columns());
    for (std::size_t column = 0; column < hashes.size(); ++column) {
        hashes[column] = hasher(column);
        if (column % 256 == 255) {
            token.check();
        }
    }
    return hashes;
}

}  // namespace serape
