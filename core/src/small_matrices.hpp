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

struct Matrix {
    Matrix(std::size_t r = 0, std::size_t c = 0) : rows(r), columns(c), values(r * c, 0.0) {}
    double& operator()(std::size_t i, std::size_t j) { return values[i * columns + j]; }
    double operator()(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
    double* operator[](std::size_t i) { return values.data() + i * columns; }
    const double* operator[](std::size_t i) const { return values.data() + i * columns; }

    std::size_t rows, columns;
    std::vector<double> values;
};

// a · b, and a · bᵀ.
inline Matrix product(const Matrix& a, const Matrix& b) {
    Matrix made(a.rows, b.columns);
    for (std::size_t i = 0; i < a.rows; ++i) {
        for (std::size_t k = 0; k < a.columns; ++k) {
            const double factor = a(i, k);
            for (std::size_t j = 0; factor != 0.0 && j < b.columns; ++j) {
                made(i, j) += factor * b(k, j);
            }
        }
    }
    return made;
}

inline Matrix product_transposed(const Matrix& a, const Matrix& b) {
    Matrix made(a.rows, b.rows);
    for (std::size_t i = 0; i < a.rows; ++i) {
        for (std::size_t j = 0; j < b.rows; ++j) {
            double sum = 0.0;
            for (std::size_t k = 0; k < a.columns; ++k) {
                sum += a(i, k) * b(j, k);
            }
            made(i, j) = sum;
        }
    }
    return made;
}

// Combinations of columns of which all products are known, each less those before it.
class Elimination {
  public:
    explicit Elimination(const Matrix& products) : products_(products) {}

    // Column k less the columns that have been added, made of length 1; false if no more than `least` of its squared
    // length is left.
    bool add(std::size_t k, double least) {
        const std::size_t size = products_.rows;
        std::vector<double> combination(size, 0.0), image(products_[k], products_[k] + size);
        combination[k] = 1.0;
        double rest = products_(k, k);
        for (std::size_t i = 0; i < combinations.size(); ++i) {
            const double shared = images[i][k];
            rest -= shared * shared;
            for (std::size_t j = 0; j < size; ++j) {
                combination[j] -= shared * combinations[i][j];
                image[j] -= shared * images[i][j];
            }
        }
        if (!(rest > least)) {
            return false;
        }
        const double scale = 1.0 / std::sqrt(rest);
        for (std::size_t j = 0; j < size; ++j) {
            combination[j] *= scale;
            image[j] *= scale;
        }
        combinations.push_back(std::move(combination));
        images.push_back(std::move(image));
        return true;
    }
    // Column k as it is.
    void keep(std::size_t k) {
        combinations.emplace_back(products_.rows, 0.0)[k] = 1.0;
        images.emplace_back(products_[k], products_[k] + products_.rows);
    }
    void forget_from(std::size_t count) {
        combinations.resize(count);
        images.resize(count);
    }

    std::vector<std::vector<double>> combinations, images;  // images: products with all columns

  private:
    const Matrix& products_;
};

}  // namespace serape
