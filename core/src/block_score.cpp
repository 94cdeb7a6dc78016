#include "serape/block_score.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "serape/kernels.hpp"

namespace serape {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
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
double factorise(double* matrix, std::size_t size, double least) {
    double determinant = 1.0, log_determinant = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
        double* const row = matrix + i * size;
        for (std::size_t j = 0; j < i; ++j) {
            const double* const other = matrix + j * size;
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
        determinant *= left;
        if (determinant < 1e-100) {
            log_determinant += std::log(determinant);
            determinant = 1.0;
        }
    }
    return log_determinant + std::log(determinant);
}

}  // namespace

struct BlockScore::Scratch {    // one per thread
    LineVector<double> shares;  // by score of parents and child, and candidates' score
    std::vector<const double*> vectors;
    std::vector<std::uint32_t> scores;  // of the candidates
    std::vector<double> before, after, shared;
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

// Calls part(first, end) for parts of the candidates of so many scores that they stay in the cache.
template <class Part>
void BlockScore::each_together(std::span<const std::uint32_t> candidates, const Part& part) const {
    for (std::size_t first = 0, end = 0; first < candidates.size(); first = end) {
        for (std::size_t scores = 0;
             end < candidates.size() && (end == first || scores + width(candidates[end]) <= together); ++end) {
            scores += width(candidates[end]);
        }
        part(first, end);
    }
}

double BlockScore::rounded(double value) const {
    return std::nearbyint(value / unit_) * unit_;
}

double BlockScore::score(std::uint32_t child, double log_left, double cost, std::size_t scores) const {
    const bool few_rows = rows_per_score * static_cast<double>(scores) > rows_;
    const double gain = few_rows ? 0.0 : 0.5 * rows_ * (log_alone_[child] - log_left);
    return rounded(gain - cost);
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

// The shares of the candidates' scores in the basis of the parents, and then of the child, follow row by row, those of
// all candidates side by side. What the child adds to the parents, of a candidate's determinant, is what the candidate
// adds to them of the child's. Calls each(candidate, score) for all whose gain in likelihood is more than `floor` and
// their cost; some others are passed over, by the bound −ln det(I − A) ≤ tr(A) + tr(A)² for tr(A) < ½.
template <class Each>
void BlockScore::add_each(const Basis& basis, std::uint32_t child, std::span<const std::uint32_t> candidates,
                          double floor, Scratch& scratch, const Each& each) const {
    const std::size_t known = basis.scores.size(), of_child = width(child), all = known + of_child;
    scratch.scores.clear();
    for (const std::uint32_t x : candidates) {
        for (std::uint32_t k = begins_[x]; k < begins_[x + 1]; ++k) {
            scratch.scores.push_back(k);
        }
    }
    const std::size_t count = scratch.scores.size(), stride = padded(count);
    scratch.shares.resize(all * stride);
    scratch.vectors.clear();
    for (std::size_t i = 0; i < all; ++i) {
        const std::size_t own = i < known ? basis.scores[i] : begins_[child] + (i - known);
        double* const row = scratch.shares.data() + i * stride;
        const double* const products = gram_.data() + own * size_;
        for (std::size_t f = 0; f < count; ++f) {
            row[f] = products[scratch.scores[f]];
        }
        std::fill(row + count, row + stride, 0.0);
        const double* const factor = basis.factor.data() + row_begin(i);
        kernels().subtract(row, scratch.vectors.data(), factor, i, stride);
        const double inverse = 1.0 / factor[i];
        for (std::size_t f = 0; f < stride; ++f) {
            row[f] *= inverse;
        }
        scratch.vectors.push_back(row);
    }
    std::vector<double>&before = scratch.before, &after = scratch.after, &shared = scratch.shared;
    for (std::size_t c = 0, first = 0; c < candidates.size(); first += width(candidates[c]), ++c) {
        const std::size_t some = width(candidates[c]);
        const double own_cost = cost(child, candidates[c]);
        const bool few_rows = rows_per_score * static_cast<double>(all + some) > rows_;
        before.resize(some * some);
        after.resize(some * some);
        double log_left = 0.0;
        if (!few_rows) {
            const double* const own = scratch.shares.data() + first;
            for (std::size_t a = 0; a < some; ++a) {
                const double* const products = gram_.data() + scratch.scores[first + a] * size_;
                for (std::size_t b = 0; b <= a; ++b) {
                    double value = products[scratch.scores[first + b]] + (a == b ? ridge : 0.0);
                    for (std::size_t i = 0; i < known; ++i) {
                        value -= own[i * stride + a] * own[i * stride + b];
                    }
                    before[a * some + b] = value;
                    for (std::size_t i = known; i < all; ++i) {
                        value -= own[i * stride + a] * own[i * stride + b];
                    }
                    after[a * some + b] = value;
                }
            }
            const auto is_known = [&, needed = (floor + own_cost) / (0.5 * rows_)](double trace) {
                return trace < 0.5 && trace + trace * trace < needed;
            };
            if (some == 1) {
                const double share = std::max(after[0], 0.5 * ridge) / std::max(before[0], 0.5 * ridge);
                if (is_known(1.0 - share)) {
                    continue;
                }
                log_left = std::log(share);
            } else {
                const double log_before = factorise(before.data(), some, 0.5 * ridge);
                if (floor > -infinity) {
                    double trace = 0.0;
                    shared.resize(some);
                    for (std::size_t i = known; i < all; ++i) {
                        for (std::size_t a = 0; a < some; ++a) {
                            double value = own[i * stride + a];
                            for (std::size_t b = 0; b < a; ++b) {
                                value -= before[a * some + b] * shared[b];
                            }
                            shared[a] = value / before[a * some + a];
                            trace += shared[a] * shared[a];
                        }
                    }
                    if (is_known(trace)) {
                        continue;
                    }
                }
                log_left = factorise(after.data(), some, 0.5 * ridge) - log_before;
            }
        }
        const double gain = few_rows ? 0.0 : 0.5 * rows_ * (log_alone_[child] - basis.log_left - log_left);
        each(c, rounded(gain - basis.cost - own_cost));
    }
}

double BlockScore::raising(const AdditionQuery& query, double least, std::size_t threads, CancellationToken& token,
                           std::vector<Addition>& out) const {
    static_cast<void>(threads);  // a query takes microseconds
    token.check();
    const Basis made = basis(query.child, query.parents);
    const double own = score(query.child, made.log_left, made.cost, made.scores.size() + width(query.child));
    thread_local Scratch scratch;
    const double gain = 0.5 * rows_ * (log_alone_[query.child] - made.log_left);
    const double floor = own + least - gain + made.cost - 4.0 * unit_;
    each_together(query.candidates, [&](std::size_t first, std::size_t end) {
        const auto some = query.candidates.subspan(first, end - first);
        add_each(made, query.child, some, floor, scratch, [&](std::size_t k, double score) {
            if (score > own + least) {
                out.push_back({some[k], score});
            }
        });
    });
    return own;
}

void BlockScore::additions_of_many(std::span<const AdditionQuery> queries, std::size_t threads,
                                   CancellationToken& token, double* out) const {
    std::vector<std::size_t> begins{0};
    for (const AdditionQuery& query : queries) {
        begins.push_back(begins.back() + query.candidates.size());
    }
    std::vector<Scratch> scratch(std::max<std::size_t>(threads, 1));
    const auto add = [&](const AdditionQuery& query, const Basis& made, std::size_t begin, std::size_t last,
                         std::size_t worker, double* to) {
        each_together(query.candidates.subspan(begin, last - begin), [&](std::size_t first, std::size_t end) {
            add_each(made, query.child, query.candidates.subspan(begin + first, end - first), -infinity,
                     scratch[worker], [&](std::size_t k, double score) { to[begin + first + k] = score; });
        });
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
