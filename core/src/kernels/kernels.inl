// The kernels, in plain C++ with vector types, compiled once per instruction set. The including file opens a
// namespace of its own; nothing here may be shared between them.

#include "codes.inl"

// A full adder on 512 columns at once: sum and carry of three bits each. Results may take the place of operands.
inline void add(Line& carry, Line& sum, const Line& a, const Line& b, const Line& c) {
#if defined(SERAPE_AVX512)
    const auto x = reinterpret_cast<__m512i>(a);
    const auto y = reinterpret_cast<__m512i>(b);
    const auto z = reinterpret_cast<__m512i>(c);
    carry = reinterpret_cast<Line>(_mm512_ternarylogic_epi64(x, y, z, 0xe8));
    sum = reinterpret_cast<Line>(_mm512_ternarylogic_epi64(x, y, z, 0x96));
#else
    const Line u = a ^ b;
    const Line v = u ^ c;
    carry = (a & b) | (u & c);
    sum = v;
#endif
}

inline std::uint64_t popcount(const std::uint64_t* a, std::size_t words) {
    std::uint64_t total = 0;
#if defined(SERAPE_AVX512)
    __m512i sum = _mm512_setzero_si512();
    for (std::size_t i = 0; i < words; i += line_words) {
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_load_si512(a + i)));
    }
    total = static_cast<std::uint64_t>(_mm512_reduce_add_epi64(sum));
#else
    for (std::size_t i = 0; i < words; ++i) {
        total += static_cast<std::uint64_t>(std::popcount(a[i]));
    }
#endif
    return total;
}

#if defined(SERAPE_AVX512)
// The sums of eight vectors, in their order.
inline __m512i sums_of_eight(const __m512i* a) {
    const auto pairs = [](__m512i x, __m512i y) {
        return _mm512_add_epi64(_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y));
    };
    const auto lanes = [](__m512i x, __m512i y) {
        return _mm512_add_epi64(_mm512_shuffle_i64x2(x, y, 0x88), _mm512_shuffle_i64x2(x, y, 0xdd));
    };
    return lanes(lanes(pairs(a[0], a[1]), pairs(a[2], a[3])), lanes(pairs(a[4], a[5]), pairs(a[6], a[7])));
}
#endif

template <std::size_t count>
inline void and_popcounts_of(const std::uint64_t* plane, const std::uint64_t* const* masks, std::size_t words,
                             std::uint32_t* out) {
#if defined(SERAPE_AVX512)
    __m512i sums[8] = {};
    for (std::size_t i = 0; i < words; i += line_words) {
        const __m512i line = _mm512_load_si512(plane + i);
        SERAPE_UNROLL(8)
        for (std::size_t k = 0; k < count; ++k) {
            const __m512i both = _mm512_and_si512(line, _mm512_load_si512(masks[k] + i));
            sums[k] = _mm512_add_epi64(sums[k], _mm512_popcnt_epi64(both));
        }
    }
    if constexpr (count == 1) {
        out[0] = static_cast<std::uint32_t>(_mm512_reduce_add_epi64(sums[0]));
    } else {
        _mm256_mask_storeu_epi32(out, (1u << count) - 1, _mm512_cvtepi64_epi32(sums_of_eight(sums)));
    }
#else
    for (std::size_t k = 0; k < count; ++k) {
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < words; ++i) {
            total += static_cast<std::uint64_t>(std::popcount(plane[i] & masks[k][i]));
        }
        out[k] = static_cast<std::uint32_t>(total);
    }
#endif
}

void and_popcounts(const std::uint64_t* plane, const std::uint64_t* const* masks, std::size_t count, std::size_t words,
                   std::uint32_t* out) {
    for (; count >= 8; count -= 8, masks += 8, out += 8) {
        and_popcounts_of<8>(plane, masks, words, out);
    }
    switch (count) {
        case 1: and_popcounts_of<1>(plane, masks, words, out); break;
        case 2: and_popcounts_of<2>(plane, masks, words, out); break;
        case 3: and_popcounts_of<3>(plane, masks, words, out); break;
        case 4: and_popcounts_of<4>(plane, masks, words, out); break;
        case 5: and_popcounts_of<5>(plane, masks, words, out); break;
        case 6: and_popcounts_of<6>(plane, masks, words, out); break;
        case 7: and_popcounts_of<7>(plane, masks, words, out); break;
        default: break;
    }
}

// Bits of a line, kept apart until the end where the machine can.
struct BitSum {
#if defined(SERAPE_AVX512)
    __m512i sum = _mm512_setzero_si512();
    void add(const Line& line) {
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(reinterpret_cast<const __m512i&>(line)));
    }
    std::uint32_t total() const { return static_cast<std::uint32_t>(_mm512_reduce_add_epi64(sum)); }
#else
    std::uint64_t sum = 0;
    void add(const Line& line) {
        for (std::size_t k = 0; k < line_words; ++k) {
            sum += static_cast<std::uint64_t>(std::popcount(std::uint64_t{line[k]}));
        }
    }
    std::uint32_t total() const { return static_cast<std::uint32_t>(sum); }
#endif
};

template <std::uint32_t levels>
void split_by(const std::uint64_t* mask, const std::uint64_t* planes, std::size_t words, std::uint64_t* out,
              std::uint32_t* counts) {
    BitSum sums[levels];
    for (std::size_t i = 0; i < words; i += line_words) {
        const Line whole = *reinterpret_cast<const Line*>(mask + i);
        Line taken = {};
        for (std::uint32_t level = 1; level < levels; ++level) {
            const Line part = *reinterpret_cast<const Line*>(planes + (level - 1) * words + i);
            const Line both = whole & part;
            *reinterpret_cast<Line*>(out + level * words + i) = both;
            sums[level].add(both);
            taken |= part;
        }
        const Line rest = whole & ~taken;
        *reinterpret_cast<Line*>(out + i) = rest;
        sums[0].add(rest);
    }
    for (std::uint32_t level = 0; level < levels; ++level) {
        counts[level] = sums[level].total();
    }
}

void split_mask(const std::uint64_t* mask, std::uint32_t levels, const std::uint64_t* planes, std::size_t words,
                std::uint64_t* out, std::uint32_t* counts) {
    switch (levels) {
        case 2: split_by<2>(mask, planes, words, out, counts); return;
        case 3: split_by<3>(mask, planes, words, out, counts); return;
        case 4: split_by<4>(mask, planes, words, out, counts); return;
        default: break;
    }
    for (std::size_t i = 0; i < words; i += line_words) {
        const Line whole = *reinterpret_cast<const Line*>(mask + i);
        Line taken = {};
        for (std::uint32_t level = 1; level < levels; ++level) {
            const Line part = *reinterpret_cast<const Line*>(planes + (level - 1) * words + i);
            *reinterpret_cast<Line*>(out + level * words + i) = whole & part;
            taken |= part;
        }
        *reinterpret_cast<Line*>(out + i) = whole & ~taken;
    }
    for (std::uint32_t level = 0; level < levels; ++level) {
        counts[level] = static_cast<std::uint32_t>(popcount(out + level * words, words));
    }
}

bool ascending(const std::uint32_t* numbers, std::size_t count) {
    constexpr std::size_t piece = 1024;  // looked at all at once, as vectors
    for (std::size_t begin = 1; begin < count; begin += piece) {
        const std::size_t end = begin + piece < count ? begin + piece : count;
        std::uint32_t wrong = 0;
        for (std::size_t k = begin; k < end; ++k) {
            wrong |= static_cast<std::uint32_t>(numbers[k - 1] >= numbers[k]);
        }
        if (wrong != 0) {
            return false;
        }
    }
    return true;
}

#if !defined(SERAPE_AVX512)
// All bits of a lane where two vectors are equal, none elsewhere.
template <class Vector>
inline Vector where_equal(const Vector& a, const Vector& b) {
#if SERAPE_EXTENSIONS
    return reinterpret_cast<Vector>(a == b);
#else
    return Vector::each(a, b, [](auto x, auto y) { return x == y ? -1 : 0; });
#endif
}
#endif

// Writes the 512 numbers whose binary digits are in `digits`.
inline void read_digits(const Line* digits, unsigned count, std::uint16_t* out) {
#if defined(SERAPE_AVX512)
    for (std::size_t group = 0; group < line_bits / 32; ++group) {
        __m512i number = _mm512_setzero_si512();
        for (unsigned k = 0; k < count; ++k) {
            const __mmask32 mask = reinterpret_cast<const std::uint32_t*>(digits + k)[group];
            number = _mm512_or_si512(number, _mm512_maskz_set1_epi16(mask, static_cast<short>(1u << k)));
        }
        _mm512_store_si512(out + group * 32, number);
    }
#else
    using Numbers = SERAPE_VECTOR(std::uint16_t, 16);
    constexpr Numbers bit = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    for (std::size_t group = 0; group < line_bits / 16; ++group) {
        Numbers number = {};
        for (unsigned k = 0; k < count; ++k) {
            const std::uint16_t sixteen = static_cast<std::uint16_t>(digits[k][group / 4] >> (16 * (group % 4)));
            const Numbers spread = Numbers{} + sixteen;
            const Numbers set = where_equal(spread & bit, bit);
            const auto weight = static_cast<std::uint16_t>(1u << k);
            number |= set & (Numbers{} + weight);
        }
        *reinterpret_cast<Numbers*>(out + group * 16) = number;
    }
#endif
}

// 512 binary counters side by side. digits[k] holds their k-th digits; returns how many digits there are. Eight lines
// at a time go through a tree of adders; the carry of weight 8 waits at its digit until a second one comes, as in
// counting by twos.
inline unsigned add_up(const Line* lines, const std::uint32_t* rows, std::size_t count, const Line* ahead,
                       Line* digits) {
    // Zero are as many as there will be, and one to carry into.
    const unsigned enough = std::min<unsigned>(16, static_cast<unsigned>(std::bit_width(count)) + 2);
    for (unsigned k = 0; k < enough; ++k) {
        digits[k] = Line{};
    }
    Line waiting[16];
    Line ones = {};
    Line twos = {};
    Line fours = {};
    std::uint32_t block = 0;
    constexpr std::size_t far = 48;  // lines fetched so much ahead of their use
    for (std::size_t i = 0; i < count; i += 8, ++block) {
        const std::uint32_t* r = rows + i;
        if (ahead != nullptr) {
            for (unsigned k = 0; k < 8; ++k) {
                prefetch<2>(ahead + r[k]);
            }
        } else if (i + far < count) {
            for (unsigned k = 0; k < 8; ++k) {
                prefetch(lines + r[far + k]);
            }
        }
        Line two_a, two_b, four_a, four_b, eight;
        add(two_a, ones, ones, lines[r[0]], lines[r[1]]);
        add(two_b, ones, ones, lines[r[2]], lines[r[3]]);
        add(four_a, twos, twos, two_a, two_b);
        add(two_a, ones, ones, lines[r[4]], lines[r[5]]);
        add(two_b, ones, ones, lines[r[6]], lines[r[7]]);
        add(four_b, twos, twos, two_a, two_b);
        add(eight, fours, fours, four_a, four_b);
        unsigned k = 3;
        for (std::uint32_t b = block; (b & 1) != 0; b >>= 1, ++k) {
            add(eight, digits[k], digits[k], waiting[k], eight);
        }
        waiting[k] = eight;
    }
    digits[0] = ones;
    digits[1] = twos;
    digits[2] = fours;
    unsigned used = 3;
    Line carry = {};
    for (std::uint32_t b = block; b != 0; b >>= 1, ++used) {
        if ((b & 1) != 0) {
            add(carry, digits[used], digits[used], waiting[used], carry);
        } else {
            const Line next = digits[used] & carry;
            digits[used] ^= carry;
            carry = next;
        }
    }
    if (used < 16) {
        digits[used++] = carry;
    }
    return std::min(used, static_cast<unsigned>(std::bit_width(count)));
}

void count_bits(const Line* lines, const std::uint32_t* rows, std::size_t count, const Line* ahead,
                std::uint16_t* out) {
    Line digits[16];
    const unsigned used = add_up(lines, rows, count, ahead, digits);
    read_digits(digits, used, out);
}

inline bool any(const Line& line) {
#if defined(SERAPE_AVX512)
    const auto bits = reinterpret_cast<__m512i>(line);
    return _mm512_test_epi64_mask(bits, bits) != 0;
#else
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < line_words; ++i) {
        all |= line[i];
    }
    return all != 0;
#endif
}

// Which of the numbers whose binary digits are given are at least `limit`.
inline Line at_least(const Line* digits, unsigned count, std::uint32_t limit) {
    if (limit >> count != 0) {
        return Line{};
    }
    Line out = ~Line{};
    for (unsigned k = 0; k < count; ++k) {
        out = (limit >> k & 1) != 0 ? out & digits[k] : out | digits[k];
    }
    return out;
}

void judge_bits(const Line* lines, const std::uint32_t* rows, std::size_t count, Part* parts, std::size_t part_count) {
    Line digits[16];
    const unsigned used = add_up(lines, rows, count, nullptr, digits);
    for (Part* part = parts; part != parts + part_count; ++part) {
        Line high = at_least(digits, used, part->from) & part->bits;
        Line low = part->below == 0 ? Line{} : part->bits & ~at_least(digits, used, part->below);
        part->hits = high | low;
        part->outside =
            static_cast<std::uint32_t>(popcount(reinterpret_cast<const std::uint64_t*>(&part->hits), line_words));
        part->largest = 0;
        if (any(high)) {
            for (unsigned k = used; k-- > 0;) {
                if (const Line with = high & digits[k]; any(with)) {
                    high = with;
                    part->largest |= 1u << k;
                }
            }
        }
        part->smallest = ~0u;
        if (any(low)) {
            part->smallest = 0;
            for (unsigned k = used; k-- > 0;) {
                if (const Line without = low & ~digits[k]; any(without)) {
                    low = without;
                } else {
                    part->smallest |= 1u << k;
                }
            }
        }
    }
}

#include "bounds.inl"

void to_statistics(const std::int64_t* sums, std::size_t count, double unit, double* out) {
    for (std::size_t i = 0; i < count; ++i) {
        const double value = unit * static_cast<double>(sums[i]);
        out[i] = value > 0.0 ? value : 0.0;
    }
}

#include "columns.inl"
#include "panels.inl"
#include "unpack.inl"

constexpr Kernels make(std::string_view name, const KernelCosts& costs) {
    return {name,
            and_popcounts,
            split_mask,
            unpack_planes,
            ascending,
            count_bits,
            judge_bits,
            bound_g2,
            combine_codes,
            count_codes,
            adjusted_dof,
            to_statistics,
            dots,
            dots_of_two,
            subtract,
            explained,
            panel_products,
            panel_subtract,
            panel_cell_sums,
            panel_run_sums,
            panel_subtract_means,
            panel_add_squares,
            next_polynomial,
            multiply,
            costs_of(costs)};
}
