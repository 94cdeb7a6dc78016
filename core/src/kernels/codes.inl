// Kernels for columns as codes, a part of kernels.inl.

void combine_codes(const std::uint16_t* before, const std::uint8_t* codes, std::uint32_t levels, std::size_t rows,
                   std::uint16_t* out) {
    const std::uint16_t* __restrict from = before;
    std::uint16_t* __restrict to = out;
    const auto factor = static_cast<std::uint16_t>(levels);
    for (std::size_t i = 0; i < rows; ++i) {
        to[i] = static_cast<std::uint16_t>(from[i] * factor + codes[i]);
    }
}

// Neighbouring rows go to different tables: they often are in the same cell, and an increment has to wait for the one
// before it.
void count_codes(const std::uint16_t* before, const std::uint8_t* x, std::uint32_t x_levels, const std::uint8_t* y,
                 std::uint32_t y_levels, std::size_t rows, std::size_t cells, std::uint16_t* counts) {
    constexpr std::size_t block = 512;
    constexpr std::size_t small = 1024;
    std::uint16_t index[block];
    std::uint16_t others[small];
    std::uint16_t* const odd = cells <= small ? others : counts;
    for (std::size_t c = 0; c < cells; ++c) {
        counts[c] = 0;
    }
    for (std::size_t c = 0; odd != counts && c < cells; ++c) {
        odd[c] = 0;
    }
    const auto x_factor = static_cast<std::uint16_t>(x_levels);
    const auto y_factor = static_cast<std::uint16_t>(y_levels);
    for (std::size_t begin = 0; begin < rows; begin += block) {
        const std::size_t count = begin + block < rows ? block : rows - begin;
        const std::uint16_t* __restrict b = before + begin;
        const std::uint8_t* __restrict of_x = x + begin;
        const std::uint8_t* __restrict of_y = y + begin;
        for (std::size_t i = 0; i < count; ++i) {
            const auto both = static_cast<std::uint16_t>(b[i] * x_factor + of_x[i]);
            index[i] = static_cast<std::uint16_t>(both * y_factor + of_y[i]);
        }
        std::size_t i = 0;
        for (; i + 2 <= count; i += 2) {
            ++counts[index[i]];
            ++odd[index[i + 1]];
        }
        if (i < count) {
            ++counts[index[i]];
        }
    }
    for (std::size_t c = 0; odd != counts && c < cells; ++c) {
        counts[c] = static_cast<std::uint16_t>(counts[c] + odd[c]);
    }
}

std::uint64_t adjusted_dof(const std::uint32_t* present, std::size_t outer, std::uint32_t levels, std::size_t inner) {
    std::uint64_t dof = 0;
    for (std::size_t o = 0; o < outer; ++o, present += levels * inner) {
        for (std::size_t i = 0; i < inner; ++i) {
            std::uint32_t met = 0, columns = 0;
            for (std::uint32_t level = 0; level < levels; ++level) {
                const std::uint32_t here = present[level * inner + i];
                met |= here;
                columns += here != 0;
            }
            const auto rows = static_cast<std::uint32_t>(std::popcount(met));
            dof += rows > 1 ? std::uint64_t{rows - 1} * (columns - 1) : 0;
        }
    }
    return dof;
}
