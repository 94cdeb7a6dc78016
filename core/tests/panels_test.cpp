// Kernels of panels: every set of them gives the bits of plain loops, and touches nothing beyond the rows.
#include <bit>
#include <functional>
#include <limits>

#include "harness.hpp"
#include "serape/aligned.hpp"
#include "serape/kernels.hpp"

namespace serape::testing {
namespace {

using Values = LineVector<double>;

constexpr std::size_t rows = 48, stride = 56;
constexpr double unset = std::numeric_limits<double>::quiet_NaN();

// Of all sizes, and of both signs of zero.
double any_value(Random& random) {
    switch (below(random, 12)) {
        case 0: return 0.0;
        case 1: return -0.0;
        default: return std::ldexp(uniform(random) - 0.5, static_cast<int>(below(random, 60)) - 30);
    }
}

Values any_values(Random& random, std::size_t count) {
    Values made(count);
    for (double& value : made) {
        value = any_value(random);
    }
    return made;
}

// Columns one after the other; what lies between them would spoil every sum.
Values any_columns(Random& random, std::size_t count) {
    Values made(count * stride, unset);
    for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t r = 0; r < rows; ++r) {
            made[k * stride + r] = any_value(random);
        }
    }
    return made;
}

void check_bits(const Values& found, const Values& expected, const char* file = __builtin_FILE(),
                int line = __builtin_LINE()) {
    for (std::size_t k = 0; k < expected.size(); ++k) {
        const auto one = std::bit_cast<std::uint64_t>(found[k]), other = std::bit_cast<std::uint64_t>(expected[k]);
        check(one == other, file, line);
    }
}

// Calls body with each set of kernels and counts of columns that fill tiles of every size.
void each_set(const std::function<void(const Kernels&, Random&, std::size_t)>& body) {
    for (const Kernels* const set : available_kernels()) {
        Random random(1);
        for (std::size_t count = 0; count <= 9; ++count) {
            body(*set, random, count);
        }
    }
}

const Case products("panels: products are eight sums side by side, added up in one order", [] {
    each_set([](const Kernels& set, Random& random, std::size_t count) {
        for (std::size_t others = 0; others <= 9; ++others) {
            const Values one = any_columns(random, count), other = any_columns(random, others);
            const std::size_t out_stride = others + 2;
            Values found = any_values(random, count * out_stride), expected = found;
            set.panel_products(one.data(), count, other.data(), others, rows, stride, found.data(), out_stride);
            for (std::size_t i = 0; i < count; ++i) {
                for (std::size_t j = 0; j < others; ++j) {
                    double s[8] = {};
                    for (std::size_t r = 0; r < rows; ++r) {
                        s[r % 8] += one[i * stride + r] * other[j * stride + r];
                    }
                    expected[i * out_stride + j] += ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
                }
            }
            check_bits(found, expected);
        }
    });
});

const Case subtract("panels: what is subtracted is added up first, in the order of the columns", [] {
    each_set([](const Kernels& set, Random& random, std::size_t count) {
        for (std::size_t others = 0; others <= 9; ++others) {
            const Values other = any_columns(random, others), factors = any_values(random, others * (count + 3));
            Values found = any_columns(random, count), expected = found;
            set.panel_subtract(found.data(), count, other.data(), others, factors.data(), count + 3, rows, stride);
            for (std::size_t k = 0; k < count; ++k) {
                for (std::size_t r = 0; r < rows; ++r) {
                    double sum = 0.0;
                    for (std::size_t i = 0; i < others; ++i) {
                        sum += factors[i * (count + 3) + k] * other[i * stride + r];
                    }
                    expected[k * stride + r] -= sum;
                }
            }
            check_bits(found, expected);
        }
    });
});

// Numbers of cells, by row. The largest occurs.
std::vector<std::uint32_t> any_cells(Random& random, std::uint32_t cells) {
    std::vector<std::uint32_t> made(rows);
    for (std::uint32_t& cell : made) {
        cell = below(random, cells);
    }
    made[below(random, rows)] = cells - 1;
    return made;
}

const Case cell_sums("panels: sums by cell are added up row after row", [] {
    each_set([](const Kernels& set, Random& random, std::size_t count) {
        for (const std::uint32_t cells : {1, 2, 15, 16, 17, 40}) {
            const std::size_t sum_stride = (cells + 15) / 16 * 16;
            const std::vector<std::uint32_t> cell = any_cells(random, cells);
            const Values root = any_values(random, rows), columns = any_columns(random, count);
            Values found = any_values(random, count * sum_stride), expected = found;
            set.panel_cell_sums(cell.data(), root.data(), columns.data(), count, rows, stride, found.data(),
                                sum_stride);
            for (std::size_t k = 0; k < count; ++k) {
                for (std::size_t r = 0; r < rows; ++r) {
                    expected[k * sum_stride + cell[r]] += columns[k * stride + r] * root[r];
                }
            }
            check_bits(found, expected);
        }
    });
});

const Case run_sums("panels: sums of cells that are side by side are added up cell after cell", [] {
    each_set([](const Kernels& set, Random& random, std::size_t count) {
        for (const std::uint32_t cells : {1, 2, 16, 40, 500}) {
            const std::size_t sum_stride = (cells + 15) / 16 * 16;
            std::vector<std::uint32_t> cell = any_cells(random, cells);
            std::sort(cell.begin(), cell.end());
            const Values root = any_values(random, rows), columns = any_columns(random, count);
            Values found = any_values(random, count * sum_stride), expected = found;
            set.panel_run_sums(cell.data(), root.data(), columns.data(), count, rows, stride, found.data(), sum_stride);
            for (std::size_t k = 0; k < count; ++k) {
                for (std::size_t r = 0; r < rows;) {
                    const std::uint32_t c = cell[r];
                    double sum = 0.0;
                    for (; r < rows && cell[r] == c; ++r) {
                        sum += columns[k * stride + r] * root[r];
                    }
                    expected[k * sum_stride + c] += sum;
                }
            }
            check_bits(found, expected);
        }
    });
});

const Case subtract_means("panels: of few cells and of many, each row loses the mean of its own", [] {
    each_set([](const Kernels& set, Random& random, std::size_t count) {
        for (const auto& [first, end] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1},
                                                                                             {0, 2},
                                                                                             {0, 8},
                                                                                             {0, 9},
                                                                                             {0, 15},
                                                                                             {0, 16},
                                                                                             {0, 17},
                                                                                             {0, 40},
                                                                                             {3, 4},
                                                                                             {5, 21},
                                                                                             {16, 32},
                                                                                             {7, 30}}) {
            const std::size_t mean_stride = (end + 15) / 16 * 16;
            std::vector<std::uint32_t> cell = any_cells(random, end - first);
            for (std::uint32_t& each : cell) {
                each += first;
            }
            const Values root = any_values(random, rows), means = any_values(random, count * mean_stride + 16);
            Values found = any_columns(random, count), expected = found;
            set.panel_subtract_means(found.data(), count, cell.data(), first, end, means.data(), mean_stride,
                                     root.data(), rows, stride);
            for (std::size_t k = 0; k < count; ++k) {
                for (std::size_t r = 0; r < rows; ++r) {
                    expected[k * stride + r] -= means[k * mean_stride + cell[r]] * root[r];
                }
            }
            check_bits(found, expected);
        }
    });
});

const Case add_squares("panels: squares are added row by row", [] {
    each_set([](const Kernels& set, Random& random, std::size_t count) {
        const Values columns = any_columns(random, count);
        Values found = any_values(random, stride), expected = found;
        set.panel_add_squares(columns.data(), count, rows, stride, found.data());
        for (std::size_t k = 0; k < count; ++k) {
            for (std::size_t r = 0; r < rows; ++r) {
                expected[r] += columns[k * stride + r] * columns[k * stride + r];
            }
        }
        check_bits(found, expected);
    });
});

const Case row_by_row("panels: polynomials and products row by row", [] {
    each_set([](const Kernels& set, Random& random, std::size_t) {
        const Values first = any_columns(random, 1), last = any_columns(random, 1), before = any_columns(random, 1);
        const double shift = any_value(random), back = any_value(random), scale = any_value(random);
        Values found = any_values(random, stride), expected = found;
        set.next_polynomial(first.data(), last.data(), before.data(), shift, back, scale, rows, found.data());
        for (std::size_t r = 0; r < rows; ++r) {
            expected[r] = ((first[r] - shift) * last[r] - back * before[r]) * scale;
        }
        check_bits(found, expected);
        set.multiply(first.data(), last.data(), rows, found.data());
        for (std::size_t r = 0; r < rows; ++r) {
            expected[r] = first[r] * last[r];
        }
        check_bits(found, expected);
        set.multiply(found.data(), before.data(), rows, found.data());  // in place
        for (std::size_t r = 0; r < rows; ++r) {
            expected[r] *= before[r];
        }
        check_bits(found, expected);
    });
});

}  // namespace
}  // namespace serape::testing
