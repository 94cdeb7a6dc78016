// A bound of G² for many pairs of columns side by side; a part of kernels.inl.

using Sixteen = SERAPE_VECTOR(float, 16);

// Bit k is set if number k is not below the limit.
inline std::uint16_t not_below(const Sixteen& numbers, float limit) {
#if defined(SERAPE_AVX512)
    return _mm512_cmp_ps_mask(reinterpret_cast<__m512>(numbers), _mm512_set1_ps(limit), _CMP_NLT_UQ);
#else
    std::uint16_t bits = 0;
    for (unsigned k = 0; k < 16; ++k) {
        bits = static_cast<std::uint16_t>(bits | static_cast<unsigned>(!(numbers[k] < limit)) << k);
    }
    return bits;
#endif
}

// Sixteen counts as numbers.
#if SERAPE_EXTENSIONS
inline Sixteen to_floats(const std::uint16_t* counts) {
    using Counts = std::uint16_t __attribute__((vector_size(32), aligned(2)));
    return __builtin_convertvector(*reinterpret_cast<const Counts*>(counts), Sixteen);
}

inline Sixteen to_floats(const std::uint32_t* counts) {
    using Counts = std::uint32_t __attribute__((vector_size(64), aligned(4)));
    return __builtin_convertvector(*reinterpret_cast<const Counts*>(counts), Sixteen);
}
#else
template <class Count>
inline Sixteen to_floats(const Count* counts) {
    Sixteen out;
    for (unsigned k = 0; k < 16; ++k) {
        out[k] = static_cast<float>(counts[k]);
    }
    return out;
}
#endif

// The numbers below 0, and 0 for the others.
inline Sixteen negative_part(const Sixteen& numbers) {
#if SERAPE_EXTENSIONS
    return numbers < 0.0F ? numbers : Sixteen{};
#else
    return Sixteen::each(numbers, numbers, [](float x, float) { return x < 0.0F ? x : 0.0F; });
#endif
}

// What the cells of a level of the target add to the bounds of sixteen columns, and the next level.
struct CellBounds {
    Sixteen sum = {};
    void add(const Sixteen& count, float size, float inverse, const float* share, const float* inverse_share) {
        const Sixteen beyond = count - size * *reinterpret_cast<const Sixteen*>(share);
        const Sixteen ratio = beyond * (inverse * *reinterpret_cast<const Sixteen*>(inverse_share));
        const Sixteen square = beyond * ratio;
        sum += square - square * negative_part(ratio);
    }
};

template <std::uint32_t levels>
void bound_g2_of(const PanelLevels& panel, const LevelCounts& target, float limit, std::uint16_t* out) {
    float sizes[plane_levels], inverses[plane_levels];
    for (std::uint32_t t = 0; t < target.levels; ++t) {
        sizes[t] = static_cast<float>(target.sizes[t]);
        inverses[t] = 1.0F / sizes[t];
    }
    const std::size_t width = panel.width;
    for (std::size_t k = 0; k < width; k += 16) {
        Sixteen left[levels];  // of each level, the rows in the levels of the target to come
        for (std::uint32_t l = 0; l + 1 < levels; ++l) {
            left[l] = to_floats(panel.totals + l * width + k);
        }
        CellBounds bounds;
        for (std::uint32_t t = 0; t < target.levels; ++t) {
            const bool last = t + 1 == target.levels;
            Sixteen rest = Sixteen{} + sizes[t];
            for (std::uint32_t l = 0; l + 1 < levels; ++l) {
                Sixteen count = left[l];
                if (!last) {
                    const std::uint16_t* counts = target.counts + t * line_bits + l * width + k;
                    count = to_floats(counts);
                    left[l] -= count;
                }
                rest -= count;
                bounds.add(count, sizes[t], inverses[t], panel.shares + l * width + k,
                           panel.inverse_shares + l * width + k);
            }
            bounds.add(rest, sizes[t], inverses[t], panel.shares + (levels - 1) * width + k,
                       panel.inverse_shares + (levels - 1) * width + k);
        }
        out[k / 16] = not_below(bounds.sum, limit);
    }
}

void bound_g2(const PanelLevels& panel, const LevelCounts& target, float limit, std::uint16_t* out) {
    switch (panel.levels) {
        case 2: bound_g2_of<2>(panel, target, limit, out); break;
        case 3: bound_g2_of<3>(panel, target, limit, out); break;
        case 4: bound_g2_of<4>(panel, target, limit, out); break;
        case 5: bound_g2_of<5>(panel, target, limit, out); break;
        case 6: bound_g2_of<6>(panel, target, limit, out); break;
        case 7: bound_g2_of<7>(panel, target, limit, out); break;
        default: bound_g2_of<8>(panel, target, limit, out); break;
    }
}
