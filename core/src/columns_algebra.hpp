// Linear algebra of a few long columns, and of small matrices.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "serape/aligned.hpp"
#include "serape/kernels.hpp"

namespace serape {

inline double dot(const LineVector<double>& a, const LineVector<double>& b) {
    double value = 0.0;
    const double* other = b.data();
    kernels().dots(a.data(), &other, 1, a.size(), &value);
    return value;
}

// Takes orthonormal vectors out of columns: `from` are the columns of which products are taken, `columns` those that
// they are taken out of (mostly the same). A block of rows after another, so that the vectors are read once for all
// columns; the bits are those of one column after another.
inline void take_vectors_out(std::span<const double* const> vectors, std::span<const double* const> from,
                             std::span<double* const> columns, std::size_t rows) {
    constexpr std::size_t block = 4096;  // rows of which the kernel makes one sum
    constexpr std::size_t group = 16;    // vectors that stay in the cache
    std::vector<double> products(columns.size() * vectors.size(), 0.0);
    std::array<const double*, group> some;
    const auto each_group = [&](const auto& body) {
        for (std::size_t begin = 0; begin < rows; begin += block) {
            for (std::size_t first = 0; first < vectors.size(); first += group) {
                const std::size_t count = std::min(group, vectors.size() - first);
                for (std::size_t k = 0; k < count; ++k) {
                    some[k] = vectors[first + k] + begin;
                }
                body(begin, std::min(block, rows - begin), first, count);
            }
        }
    };
    each_group([&](std::size_t begin, std::size_t size, std::size_t first, std::size_t count) {
        std::array<double, group> one, two;
        for (std::size_t c = 0; c < columns.size(); c += 2) {
            const std::size_t next = std::min(c + 1, columns.size() - 1);
            if (next > c) {
                kernels().dots_of_two(from[c] + begin, from[next] + begin, some.data(), count, size, one.data(),
                                      two.data());
            } else {
                kernels().dots(from[c] + begin, some.data(), count, size, one.data());
            }
            for (std::size_t k = 0; k < count; ++k) {
                products[c * vectors.size() + first + k] += one[k];
                if (next > c) {
                    products[next * vectors.size() + first + k] += two[k];
                }
            }
        }
    });
    each_group([&](std::size_t begin, std::size_t size, std::size_t first, std::size_t count) {
        for (std::size_t c = 0; c < columns.size(); ++c) {
            kernels().subtract(columns[c] + begin, some.data(), products.data() + c * vectors.size() + first, count,
                               size);
        }
    });
}

// Takes an orthonormal block out of a column.
inline void take_block_out(const std::vector<LineVector<double>>& block, LineVector<double>& column) {
    std::vector<const double*> vectors(block.size());
    for (std::size_t k = 0; k < block.size(); ++k) {
        vectors[k] = block[k].data();
    }
    double* const left = column.data();
    take_vectors_out(vectors, {&left, 1}, {&left, 1}, column.size());
}

// Cholesky factor of a symmetric matrix, in its lower half; a row whose pivot is below `least` becomes zero.
inline void factorise(std::vector<double>& matrix, std::size_t size, double least) {
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double value = matrix[i * size + j];
            for (std::size_t k = 0; k < j; ++k) {
                value -= matrix[i * size + k] * matrix[j * size + k];
            }
            if (i == j) {
                matrix[i * size + i] = value > least ? std::sqrt(value) : 0.0;
            } else {
                matrix[i * size + j] = matrix[j * size + j] > 0.0 ? value / matrix[j * size + j] : 0.0;
            }
        }
    }
}

// Solves L v = values, in place, L such a factor; what it leaves out becomes zero.
inline void solve(const std::vector<double>& factor, std::size_t size, std::vector<double>& values) {
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            values[i] -= factor[i * size + j] * values[j];
        }
        values[i] = factor[i * size + i] > 0.0 ? values[i] / factor[i * size + i] : 0.0;
    }
}

// Solves Lᵀ v = values likewise.
inline void solve_transposed(const std::vector<double>& factor, std::size_t size, std::vector<double>& values) {
    for (std::size_t i = size; i-- > 0;) {
        for (std::size_t j = i + 1; j < size; ++j) {
            values[i] -= factor[j * size + i] * values[j];
        }
        values[i] = factor[i * size + i] > 0.0 ? values[i] / factor[i * size + i] : 0.0;
    }
}

// The leading eigenvectors of a symmetric matrix in its lower half, column after column, by so many steps of the power
// method that they are a smooth function of the matrix even where eigenvalues tie.
inline std::vector<std::vector<double>> leading_vectors(std::vector<double> matrix, std::size_t size,
                                                        std::size_t count) {
    std::vector<std::vector<double>> found;
    const auto at = [&](std::size_t i, std::size_t j) -> double& {
        return matrix[i < j ? j * size + i : i * size + j];
    };
    for (std::size_t k = 0; k < std::min(count, size); ++k) {
        std::vector<double> vector(size), next(size);
        for (std::size_t i = 0; i < size; ++i) {
            vector[i] = at(i, i);
        }
        double length = 0.0;
        for (int step = 0; step < 50; ++step) {
            length = 0.0;
            for (std::size_t i = 0; i < size; ++i) {
                next[i] = 0.0;
                for (std::size_t j = 0; j < size; ++j) {
                    next[i] += at(i, j) * vector[j];
                }
                length += next[i] * next[i];
            }
            length = std::sqrt(length);
            if (!(length > 0.0)) {
                return found;
            }
            for (std::size_t i = 0; i < size; ++i) {
                vector[i] = next[i] / length;
            }
        }
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                at(i, j) -= length * vector[i] * vector[j];
            }
        }
        found.push_back(std::move(vector));
    }
    return found;
}

inline void scale(LineVector<double>& column, double by) {
    for (double& value : column) {
        value *= by;
    }
}

}  // namespace serape
