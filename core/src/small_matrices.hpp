// Linear algebra of small matrices.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace serape {

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

}  // namespace serape
