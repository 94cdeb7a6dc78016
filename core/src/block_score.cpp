#include "serape/block_score.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "serape/kernels.hpp"

namespace serape {
namespace {

constexpr double rows_per_score = 5.0;  // of a family whose parents explain anything
constexpr std::size_t together = 64;    // scores of candidates, about

constexpr std::size_t row_begin(std::size_t row) {
    return row * (row + 1) / 2;
}

constexpr std::size_t padded(std::size_t count) {
    return (count + 15) / 16 * 16;
}

// Cholesky factor of a symmetric matrix in its lower half, in place; returns the logarithm of its determinant.
// `least` is what rounding may have left of a pivot.
double factorise(double* matrix, std::size_t size, std::size_t stride, double least) {
    double log_determinant = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
        double* const row = matrix + i * stride;
        for (std::size_t j = 0; j < i; ++j) {
            const double* const other = matrix + j * stride;
            double value = row[j];
            for (std::size_t k = 0; k < j; ++k) {
                value -= row[k] * other[k];
            }
            row[j] = value / other[j];
        }
        double left = row[i];
        for (std::size_t k = 0; k < i; ++k) {
            left -= row[k] * row[k];
        }
        left = std::max(left, least);
        row[i] = std::sqrt(left);
        log_determinant += std::log(left);
    }
    return log_determinant;
}

}  // namespace

struct BlockScore::Scratch {    // one per thread
    LineVector<double> shares;  // by parents' score and candidates' score; then by child's score, the covariances
    std::vector<const double*> vectors;
    std::vector<std::uint32_t> scores;  // of the candidates
    std::vector<double> child, own, shared;
};

BlockScore::BlockScore(std::span<const double> gram, std::vector<std::uint32_t> begins, double rows,
                       double cost_of_product, double cost_of_parent)
    : gram_(gram),
      begins_(std::move(begins)),
      size_(begins_.back()),
      rows_(rows),
      cost_of_product_(cost_of_product),
      cost_of_parent_(cost_of_parent),
      unit_(std::ldexp(1.0, std::ilogb(rows) - 34)) {
    for (std::uint32_t column = 0; column < columns(); ++column) {
        log_alone_.push_back(basis(column, {}).log_left);
    }
}

double BlockScore::cost(std::uint32_t child, std::uint32_t parent) const {
    return cost_of_product_ * static_cast<double>(width(child) * width(parent)) + cost_of_parent_;
}

double BlockScore::score(std::uint32_t child, double log_left, double cost, std::size_t scores) const {
    const bool few_rows = rows_per_score * static_cast<double>(scores) > rows_;
    const double gain = few_rows ? 0.0 : 0.5 * rows_ * (log_alone_[child] - log_left);
    return std::nearbyint((gain - cost) / unit_) * unit_;
}

BlockScore::Basis BlockScore::basis(std::uint32_t child, std::span<const std::uint32_t> parents) const {
    Basis made{{}, {}, 0.0, 0.0};
    std::vector<std::uint32_t> sorted(parents.begin(), parents.end());
    std::sort(sorted.begin(), sorted.end());  // the same bits for any order
    for (const std::uint32_t x : sorted) {
        made.cost += cost(child, x);
        for (std::uint32_t k = begins_[x]; k < begins_[x + 1]; ++k) {
            made.scores.push_back(k);
        }
    }
    const std::size_t of_parents = made.scores.size(), all = of_parents + width(child);
    made.factor.resize(row_begin(all));
    for (std::size_t i = 0; i < all; ++i) {
        const std::size_t own = i < of_parents ? made.scores[i] : begins_[child] + (i - of_parents);
        double* const row = made.factor.data() + row_begin(i);
        double left = at(own, own);
        for (std::size_t j = 0; j < i; ++j) {
            const std::size_t other = j < of_parents ? made.scores[j] : begins_[child] + (j - of_parents);
            const double* const before = made.factor.data() + row_begin(j);
            double value = at(own, other);
            for (std::size_t k = 0; k < j; ++k) {
                value -= row[k] * before[k];
            }
            row[j] = value / before[j];
            left -= row[j] * row[j];
        }
        left = std::max(left, 0.5 * ridge);
        row[i] = std::sqrt(left);
        made.log_left += i < of_parents ? 0.0 : std::log(left);
    }
    return made;
}

// The shares of the candidates' scores in the basis of the parents follow row by row, those of all candidates side by
// side; then what is left of each candidate, and of the child beside it.
void BlockScore::add_each(const Basis& basis, std::uint32_t child, std::span<const std::uint32_t> candidates,
                          Scratch& scratch, double* out) const {
    const std::size_t known = basis.scores.size(), of_child = width(child);
    scratch.scores.clear();
    for (const std::uint32_t x : candidates) {
        for (std::uint32_t k = begins_[x]; k < begins_[x + 1]; ++k) {
            scratch.scores.push_back(k);
        }
    }
    const std::size_t count = scratch.scores.size(), stride = padded(count);
    scratch.shares.assign((known + of_child) * stride, 0.0);
    scratch.vectors.clear();
    for (std::size_t i = 0; i < known + of_child; ++i) {
        const std::size_t own = i < known ? basis.scores[i] : begins_[child] + (i - known);
        double* const row = scratch.shares.data() + i * stride;
        const double* const products = gram_.data() + own * size_;
        for (std::size_t f = 0; f < count; ++f) {
            row[f] = products[scratch.scores[f]];
        }
        const double* const factor = basis.factor.data() + row_begin(i);
        kernels().subtract(row, scratch.vectors.data(), factor, std::min(i, known), stride);
        if (i < known) {
            for (std::size_t f = 0; f < stride; ++f) {
                row[f] /= factor[i];
            }
            scratch.vectors.push_back(row);
        }
    }
    std::vector<double>&left = scratch.child, &own = scratch.own, &shared = scratch.shared;
    for (std::size_t c = 0, first = 0; c < candidates.size(); ++c) {
        const std::size_t some = width(candidates[c]);
        own.resize(some * some);
        for (std::size_t a = 0; a < some; ++a) {
            for (std::size_t b = 0; b <= a; ++b) {
                double value = at(scratch.scores[first + a], scratch.scores[first + b]);
                for (std::size_t i = 0; i < known; ++i) {
                    const double* const row = scratch.vectors[i];
                    value -= row[first + a] * row[first + b];
                }
                own[a * some + b] = value;
            }
        }
        factorise(own.data(), some, some, 0.5 * ridge);
        // What is left of the child: LLᵀ of its part of the factor, less what the candidate adds.
        left.assign(of_child * of_child, 0.0);
        shared.resize(of_child * some);
        for (std::size_t i = 0; i < of_child; ++i) {
            const double* const covariances = scratch.shares.data() + (known + i) * stride + first;
            for (std::size_t a = 0; a < some; ++a) {
                double value = covariances[a];
                for (std::size_t b = 0; b < a; ++b) {
                    value -= own[a * some + b] * shared[i * some + b];
                }
                shared[i * some + a] = value / own[a * some + a];
            }
            const double* const row = basis.factor.data() + row_begin(known + i) + known;
            for (std::size_t j = 0; j <= i; ++j) {
                const double* const other = basis.factor.data() + row_begin(known + j) + known;
                double value = 0.0;
                for (std::size_t k = 0; k <= j; ++k) {
                    value += row[k] * other[k];
                }
                for (std::size_t a = 0; a < some; ++a) {
                    value -= shared[i * some + a] * shared[j * some + a];
                }
                left[i * of_child + j] = value;
            }
        }
        const double log_left = factorise(left.data(), of_child, of_child, 0.5 * ridge);
        out[c] = score(child, log_left, basis.cost + cost(child, candidates[c]), known + of_child + some);
        first += some;
    }
}

void BlockScore::additions_of_many(std::span<const AdditionQuery> queries, std::size_t threads,
                                   CancellationToken& token, double* out) const {
    std::vector<std::size_t> begins{0};
    for (const AdditionQuery& query : queries) {
        begins.push_back(begins.back() + query.candidates.size());
    }
    std::vector<Scratch> scratch(std::max<std::size_t>(threads, 1));
    const auto add = [&](const AdditionQuery& query, const Basis& made, std::size_t first, std::size_t last,
                         std::size_t worker, double* to) {
        for (std::size_t k = first; k < last;) {
            std::size_t end = k, scores = 0;
            for (; end < last && (end == k || scores + width(query.candidates[end]) <= together); ++end) {
                scores += width(query.candidates[end]);
            }
            add_each(made, query.child, query.candidates.subspan(k, end - k), scratch[worker], to + k);
            k = end;
        }
    };
    if (queries.size() == 1) {
        const Basis made = basis(queries[0].child, queries[0].parents);
        parallel_for(begins.back(), 32 * together, threads, token,
                     [&](std::size_t first, std::size_t last, std::size_t worker) {
                         add(queries[0], made, first, last, worker, out);
                     });
        return;
    }
    parallel_for(queries.size(), 4, threads, token, [&](std::size_t first, std::size_t last, std::size_t worker) {
        for (std::size_t k = first; k < last; ++k) {
            const AdditionQuery& query = queries[k];
            add(query, basis(query.child, query.parents), 0, query.candidates.size(), worker, out + begins[k]);
        }
    });
}

void BlockScore::families(std::uint32_t child, std::span<const std::vector<std::uint32_t>> parent_sets,
                          std::size_t threads, CancellationToken& token, double* out) const {
    parallel_for(parent_sets.size(), 64, threads, token, [&](std::size_t first, std::size_t last, std::size_t) {
        for (std::size_t k = first; k < last; ++k) {
            const Basis made = basis(child, parent_sets[k]);
            out[k] = score(child, made.log_left, made.cost, made.scores.size() + width(child));
        }
    });
}

}  // namespace serape
