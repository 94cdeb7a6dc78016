// Kernels for columns of numbers.

// Sixteen sums side by side, added up in one order, for every few thousand rows: the rounding does not depend on the
// instruction set and hardly on the number of rows.
template <std::size_t columns, std::size_t count>
inline void dots_of(const std::array<const double*, columns>& column, const double* const* others, std::size_t rows,
                    const std::array<double*, columns>& out) {
    using Eight = SERAPE_VECTOR(double, 8);
    constexpr std::size_t block = 4096;
    for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t k = 0; k < count; ++k) {
            out[c][k] = 0.0;
        }
    }
    for (std::size_t begin = 0; begin < rows; begin += block) {
        const std::size_t end = begin + block < rows ? begin + block : rows;
        Eight even[columns][count] = {};
        Eight odd[columns][count] = {};
        for (std::size_t i = begin; i < end; i += 16) {
            SERAPE_UNROLL(4)
            for (std::size_t k = 0; k < count; ++k) {
                const Eight a = *reinterpret_cast<const Eight*>(others[k] + i);
                const Eight b = *reinterpret_cast<const Eight*>(others[k] + i + 8);
                SERAPE_UNROLL(2)
                for (std::size_t c = 0; c < columns; ++c) {
                    even[c][k] += a * *reinterpret_cast<const Eight*>(column[c] + i);
                    odd[c][k] += b * *reinterpret_cast<const Eight*>(column[c] + i + 8);
                }
            }
        }
        for (std::size_t c = 0; c < columns; ++c) {
            for (std::size_t k = 0; k < count; ++k) {
                const Eight s = even[c][k] + odd[c][k];
                out[c][k] += ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
            }
        }
    }
}

template <std::size_t columns>
inline void dots_with(const std::array<const double*, columns>& column, const double* const* others, std::size_t count,
                      std::size_t rows, std::array<double*, columns> out) {
    const auto step = [&]<std::size_t size>(std::integral_constant<std::size_t, size>) {
        dots_of<columns, size>(column, others, rows, out);
        others += size;
        count -= size;
        for (double*& next : out) {
            next += size;
        }
    };
#if defined(SERAPE_AVX512)
    while (count >= 4) {
        step(std::integral_constant<std::size_t, 4>{});
    }
#endif
    while (count >= 2) {
        step(std::integral_constant<std::size_t, 2>{});
    }
    if (count > 0) {
        step(std::integral_constant<std::size_t, 1>{});
    }
}

void dots(const double* column, const double* const* others, std::size_t count, std::size_t rows, double* out) {
    dots_with<1>({column}, others, count, rows, {out});
}

void dots_of_two(const double* one, const double* two, const double* const* others, std::size_t count, std::size_t rows,
                 double* out_one, double* out_two) {
    dots_with<2>({one, two}, others, count, rows, {out_one, out_two});
}

void subtract(double* column, const double* const* others, const double* factors, std::size_t count, std::size_t rows) {
    using Eight = SERAPE_VECTOR(double, 8);
    for (std::size_t i = 0; i < rows; i += 8) {
        Eight value = *reinterpret_cast<const Eight*>(column + i);
        for (std::size_t k = 0; k < count; ++k) {
            value -= factors[k] * *reinterpret_cast<const Eight*>(others[k] + i);
        }
        *reinterpret_cast<Eight*>(column + i) = value;
    }
}

void explained(const double* const* rows, const double* factor, const double* inverse, std::size_t count, double least,
               std::size_t columns, double* scratch, double* out) {
    using Eight = SERAPE_VECTOR(double, 8);
    constexpr std::size_t lanes = 4;
    constexpr std::size_t side_by_side = 8 * lanes;
    for (std::size_t next = 0; next < columns; next += side_by_side) {
        const std::size_t begin =
            next + side_by_side <= columns ? next : columns - side_by_side;  // some are done twice
        Eight left[lanes];
        for (std::size_t c = 0; c < lanes; ++c) {
            left[c] = Eight{} + 1.0;
        }
        const double* own = factor;
        for (std::size_t k = 0; k <= count; own += k, ++k) {
            Eight value[lanes];
            std::memcpy(value, rows[k] + begin, sizeof value);
            for (std::size_t j = 0; j < k; ++j) {
                const Eight* const other = reinterpret_cast<const Eight*>(scratch + j * side_by_side);
                for (std::size_t c = 0; c < lanes; ++c) {
                    value[c] -= own[j] * other[c];
                }
            }
            if (k < count) {
                Eight* const kept = reinterpret_cast<Eight*>(scratch + k * side_by_side);
                for (std::size_t c = 0; c < lanes; ++c) {
                    kept[c] = value[c];
                    left[c] -= value[c] * value[c] * inverse[k];
                }
            } else {
                for (std::size_t c = 0; c < lanes; ++c) {
                    left[c] = value[c] * value[c] - least * left[c];
                }
                std::memcpy(out + begin, left, sizeof left);
            }
        }
    }
}
