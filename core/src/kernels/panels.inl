// Kernels for panels: some columns of a block of rows, one after the other.

#if defined(SERAPE_AVX512)
constexpr std::size_t panel_tile = 4;  // columns of either side whose sums stay in registers
#else
constexpr std::size_t panel_tile = 2;
#endif

#if defined(SERAPE_AVX512)
// The sums of four times eight numbers, in the order of the other instruction sets: halves, quarters, neighbours.
inline __m256d added_up(__m512d a, __m512d b, __m512d c, __m512d d) {
    const __m512d first = _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x44), _mm512_shuffle_f64x2(a, b, 0xee));
    const __m512d second = _mm512_add_pd(_mm512_shuffle_f64x2(c, d, 0x44), _mm512_shuffle_f64x2(c, d, 0xee));
    const __m512d pairs =
        _mm512_add_pd(_mm512_shuffle_f64x2(first, second, 0x88), _mm512_shuffle_f64x2(first, second, 0xdd));
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 0, 2, 4, 6), odd = _mm512_setr_epi64(1, 3, 5, 7, 1, 3, 5, 7);
    return _mm256_add_pd(_mm512_castpd512_pd256(_mm512_permutexvar_pd(even, pairs)),
                         _mm512_castpd512_pd256(_mm512_permutexvar_pd(odd, pairs)));
}
#endif

// Eight sums side by side, added up in one order: the rounding does not depend on the instruction set.
template <std::size_t ones, std::size_t others>
inline void products_of_tile(const double* one, const double* other, std::size_t rows, std::size_t stride, double* out,
                             std::size_t out_stride) {
    using Eight = SERAPE_VECTOR(double, 8);
    Eight sums[ones][others] = {};
    for (std::size_t r = 0; r < rows; r += 8) {
        Eight right[others];
        SERAPE_UNROLL(4)
        for (std::size_t j = 0; j < others; ++j) {
            right[j] = *reinterpret_cast<const Eight*>(other + j * stride + r);
        }
        SERAPE_UNROLL(4)
        for (std::size_t i = 0; i < ones; ++i) {
            const Eight left = *reinterpret_cast<const Eight*>(one + i * stride + r);
            SERAPE_UNROLL(4)
            for (std::size_t j = 0; j < others; ++j) {
                sums[i][j] += left * right[j];
            }
        }
    }
#if defined(SERAPE_AVX512)
    if constexpr (others == 4) {
        SERAPE_UNROLL(4)
        for (std::size_t i = 0; i < ones; ++i) {
            double* const row = out + i * out_stride;
            const auto part = [&](std::size_t k) { return reinterpret_cast<__m512d>(sums[i][k]); };
            const __m256d sum = added_up(part(0), part(1), part(2), part(3));
            _mm256_storeu_pd(row, _mm256_add_pd(_mm256_loadu_pd(row), sum));
        }
        return;
    }
#endif
    for (std::size_t i = 0; i < ones; ++i) {
        for (std::size_t j = 0; j < others; ++j) {
            const Eight s = sums[i][j];
            out[i * out_stride + j] += ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
        }
    }
}

// Calls body(first, size) for tiles of at most `panel_tile`, the sizes being constants.
template <class Body>
inline void each_tile(std::size_t count, const Body& body) {
    std::size_t first = 0;
    for (; count - first >= panel_tile; first += panel_tile) {
        body(first, std::integral_constant<std::size_t, panel_tile>{});
    }
#if defined(SERAPE_AVX512)
    if (count - first == 3) {
        body(first, std::integral_constant<std::size_t, 3>{});
        return;
    }
    if (count - first == 2) {
        body(first, std::integral_constant<std::size_t, 2>{});
        return;
    }
#endif
    if (count - first == 1) {
        body(first, std::integral_constant<std::size_t, 1>{});
    }
}

void panel_products(const double* ones, std::size_t one_count, const double* others, std::size_t other_count,
                    std::size_t rows, std::size_t stride, double* out, std::size_t out_stride) {
    each_tile(one_count, [&]<class One>(std::size_t i, One) {
        each_tile(other_count, [&]<class Other>(std::size_t j, Other) {
            products_of_tile<One::value, Other::value>(ones + i * stride, others + j * stride, rows, stride,
                                                       out + i * out_stride + j, out_stride);
        });
    });
}

template <std::size_t count>
inline void subtract_in_tile(double* columns, const double* others, std::size_t other_count, const double* factors,
                             std::size_t factor_stride, std::size_t rows, std::size_t stride) {
    using Eight = SERAPE_VECTOR(double, 8);
    for (std::size_t r = 0; r < rows; r += 16) {
        Eight even[count] = {}, odd[count] = {};
        for (std::size_t i = 0; i < other_count; ++i) {
            const Eight a = *reinterpret_cast<const Eight*>(others + i * stride + r);
            const Eight b = *reinterpret_cast<const Eight*>(others + i * stride + r + 8);
            SERAPE_UNROLL(4)
            for (std::size_t j = 0; j < count; ++j) {
                even[j] += factors[i * factor_stride + j] * a;
                odd[j] += factors[i * factor_stride + j] * b;
            }
        }
        SERAPE_UNROLL(4)
        for (std::size_t j = 0; j < count; ++j) {
            *reinterpret_cast<Eight*>(columns + j * stride + r) -= even[j];
            *reinterpret_cast<Eight*>(columns + j * stride + r + 8) -= odd[j];
        }
    }
}

void panel_subtract(double* columns, std::size_t count, const double* others, std::size_t other_count,
                    const double* factors, std::size_t factor_stride, std::size_t rows, std::size_t stride) {
    each_tile(count, [&]<class Size>(std::size_t j, Size) {
        subtract_in_tile<Size::value>(columns + j * stride, others, other_count, factors + j, factor_stride, rows,
                                      stride);
    });
}

// Several columns at a time, as each sum waits for the one before.
template <std::size_t count>
inline void sums_in_tile(const std::uint32_t* cell, const double* root, const double* columns, std::size_t rows,
                         std::size_t stride, double* sums, std::size_t sum_stride) {
    for (std::size_t r = 0; r < rows; ++r) {
        const std::uint32_t c = cell[r];
        SERAPE_UNROLL(4)
        for (std::size_t k = 0; k < count; ++k) {
            sums[k * sum_stride + c] += columns[k * stride + r] * root[r];
        }
    }
}

void panel_cell_sums(const std::uint32_t* cell, const double* root, const double* columns, std::size_t count,
                     std::size_t rows, std::size_t stride, double* sums, std::size_t sum_stride) {
    each_tile(count, [&]<class Size>(std::size_t k, Size) {
        sums_in_tile<Size::value>(cell, root, columns + k * stride, rows, stride, sums + k * sum_stride, sum_stride);
    });
}

template <std::size_t count>
inline void run_sums_in_tile(const std::uint32_t* cell, const double* root, const double* columns, std::size_t rows,
                             std::size_t stride, double* sums, std::size_t sum_stride) {
    for (std::size_t r = 0; r < rows;) {
        const std::uint32_t c = cell[r];
        double sum[count] = {};
        do {
            SERAPE_UNROLL(4)
            for (std::size_t k = 0; k < count; ++k) {
                sum[k] += columns[k * stride + r] * root[r];
            }
            ++r;
        } while (r < rows && cell[r] == c);
        for (std::size_t k = 0; k < count; ++k) {
            sums[k * sum_stride + c] += sum[k];
        }
    }
}

void panel_run_sums(const std::uint32_t* cell, const double* root, const double* columns, std::size_t count,
                    std::size_t rows, std::size_t stride, double* sums, std::size_t sum_stride) {
    each_tile(count, [&]<class Size>(std::size_t k, Size) {
        run_sums_in_tile<Size::value>(cell, root, columns + k * stride, rows, stride, sums + k * sum_stride,
                                      sum_stride);
    });
}

void panel_subtract_means(double* columns, std::size_t count, const std::uint32_t* cell,
                          [[maybe_unused]] std::size_t first, [[maybe_unused]] std::size_t end, const double* means,
                          std::size_t mean_stride, const double* root, std::size_t rows, std::size_t stride) {
#if defined(SERAPE_AVX512)
    if (end - first <= 16) {  // the means of all cells are in two registers
        const __m512i from = _mm512_set1_epi64(static_cast<long long>(first));
        for (std::size_t k = 0; k < count; ++k) {
            double* const column = columns + k * stride;
            const __m512d one = _mm512_loadu_pd(means + k * mean_stride + first);
            const __m512d other = _mm512_loadu_pd(means + k * mean_stride + first + 8);
            for (std::size_t r = 0; r < rows; r += 8) {
                const __m512i of_row = _mm512_sub_epi64(
                    _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(cell + r))), from);
                const __m512d mean = _mm512_permutex2var_pd(one, of_row, other);
                const __m512d part = _mm512_mul_pd(mean, _mm512_loadu_pd(root + r));
                _mm512_storeu_pd(column + r, _mm512_sub_pd(_mm512_loadu_pd(column + r), part));
            }
        }
        return;
    }
#endif
    for (std::size_t k = 0; k < count; ++k) {
        double* const column = columns + k * stride;
        const double* const mean = means + k * mean_stride;
        for (std::size_t r = 0; r < rows; ++r) {
            column[r] -= mean[cell[r]] * root[r];
        }
    }
}

void panel_add_squares(const double* columns, std::size_t count, std::size_t rows, std::size_t stride, double* out) {
    using Eight = SERAPE_VECTOR(double, 8);
    for (std::size_t r = 0; r < rows; r += 8) {
        Eight sum = *reinterpret_cast<const Eight*>(out + r);
        for (std::size_t k = 0; k < count; ++k) {
            const Eight value = *reinterpret_cast<const Eight*>(columns + k * stride + r);
            sum += value * value;
        }
        *reinterpret_cast<Eight*>(out + r) = sum;
    }
}

void next_polynomial(const double* first, const double* last, const double* before, double shift, double back,
                     double scale, std::size_t rows, double* out) {
    using Eight = SERAPE_VECTOR(double, 8);
    for (std::size_t r = 0; r < rows; r += 8) {
        const Eight one = *reinterpret_cast<const Eight*>(first + r);
        const Eight two = *reinterpret_cast<const Eight*>(last + r);
        const Eight three = *reinterpret_cast<const Eight*>(before + r);
        *reinterpret_cast<Eight*>(out + r) = ((one - shift) * two - three * back) * scale;
    }
}

void multiply(const double* one, const double* other, std::size_t rows, double* out) {
    using Eight = SERAPE_VECTOR(double, 8);
    for (std::size_t r = 0; r < rows; r += 8) {
        *reinterpret_cast<Eight*>(out + r) =
            *reinterpret_cast<const Eight*>(one + r) * *reinterpret_cast<const Eight*>(other + r);
    }
}
