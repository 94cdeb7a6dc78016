// From bitsets to codes; part of kernels.inl.

#if !defined(SERAPE_AVX512)
// The four bits of a number from 0 to 15, the lowest first, as four numbers of 16 bits in memory.
constexpr std::array<std::uint64_t, 16> spread = [] {
    std::array<std::uint64_t, 16> made{};
    for (unsigned bits = 0; bits < 16; ++bits) {
        for (unsigned k = 0; k < 4; ++k) {
            const unsigned place = std::endian::native == std::endian::little ? k : 3 - k;
            made[bits] |= std::uint64_t{bits >> k & 1} << (16 * place);
        }
    }
    return made;
}();
#endif

// 64 rows, a word of each plane, at a time; the rest one by one.
void unpack_planes(const std::uint64_t* planes, std::uint32_t levels, std::size_t words, std::size_t rows,
                   std::uint16_t* codes) {
    const std::size_t whole = rows / 64;
    for (std::size_t word = 0; word < whole; ++word) {
#if defined(SERAPE_AVX512)
        __m512i low = _mm512_setzero_si512();
        __m512i high = _mm512_setzero_si512();
        for (std::uint32_t level = 1; level < levels; ++level) {
            const std::uint64_t bits = planes[(level - 1) * words + word];
            const __m512i code = _mm512_set1_epi16(static_cast<short>(level));
            low = _mm512_mask_mov_epi16(low, static_cast<__mmask32>(bits), code);
            high = _mm512_mask_mov_epi16(high, static_cast<__mmask32>(bits >> 32), code);
        }
        _mm512_storeu_si512(codes + word * 64, low);
        _mm512_storeu_si512(codes + word * 64 + 32, high);
#else
        // Four rows at a time: four bits become four numbers of 16 bits.
        std::uint64_t fours[16] = {};
        for (std::uint32_t level = 1; level < levels; ++level) {
            const std::uint64_t bits = planes[(level - 1) * words + word];
            for (unsigned part = 0; part < 16; ++part) {
                fours[part] += spread[bits >> (4 * part) & 15] * level;
            }
        }
        std::memcpy(codes + word * 64, fours, sizeof fours);
#endif
    }
    for (std::size_t i = whole * 64; i < rows; ++i) {
        codes[i] = 0;
        for (std::uint32_t level = 1; level < levels; ++level) {
            const std::uint64_t bits = planes[(level - 1) * words + i / 64];
            codes[i] = static_cast<std::uint16_t>(codes[i] + level * (bits >> (i % 64) & 1));
        }
    }
}
