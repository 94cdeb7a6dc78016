#include "serape/gaussian_score.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "serape/kernels.hpp"
#include "serape/log_gamma.hpp"

namespace serape {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double log_pi = 1.1447298858494002;
constexpr double prior_weight = 1.0;  // of the means
constexpr double prior_dof = 2.0;     // beyond the number of variables
constexpr double prior_scale = prior_weight * (prior_dof - 1.0) / (prior_weight + 1.0);  // of the matrix

constexpr std::size_t row_begin(std::size_t row) {
    return row * (row + 1) / 2;
}

}  // namespace

GaussianScore::GaussianScore(const GaussianTest& columns, GaussianScoreKind kind, std::vector<double> log_variance,
                             double cost)
    : columns_(columns),
      kind_(kind),
      rows_(columns.effective_rows()),
      cost_(0.5 * std::log(rows_) + cost),
      unit_(std::ldexp(1.0, std::ilogb(rows_) - 34)),
      of_column_(std::move(log_variance)) {
    for (std::size_t k = 0; k < of_column_.size(); ++k) {
        if (kind == GaussianScoreKind::bge) {  // sums of squares, with those of the prior
            const double log_sum = columns.varies(k) ? std::log(rows_) + of_column_[k] : -infinity;
            const double share = 1.0 / (1.0 + prior_scale * std::exp(-log_sum));
            shrink_.push_back(std::sqrt(share));
            of_column_[k] = share > 0.0 ? log_sum - std::log(share) : std::log(prior_scale);
        } else {
            const double fit = std::log(2.0 * std::numbers::pi) + 1.0 + of_column_[k];
            of_column_[k] = rounded(columns.varies(k) ? -0.5 * rows_ * fit - std::log(rows_) : 0.0);
        }
    }
}

double GaussianScore::rounded(double value) const {
    return std::nearbyint(value / unit_) * unit_;
}

GaussianScore::Terms GaussianScore::terms(std::size_t parents) const {
    const auto count = static_cast<double>(parents);
    if (kind_ == GaussianScoreKind::bic) {
        return {-cost_ * count, count + 2.0 > rows_ ? 0.0 : 0.5 * rows_, 0.0};
    }
    const double before = 0.5 * (prior_dof + count + 1.0);
    const double after = before + 0.5 * rows_;
    const double constant = 0.5 * std::log(prior_weight / (rows_ + prior_weight)) - 0.5 * rows_ * log_pi +
                            log_gamma(after) - log_gamma(before) +
                            0.5 * (prior_dof + 2.0 * count + 1.0) * std::log(prior_scale);
    return {constant, after, 0.5};
}

// What is rounded of a score.
double GaussianScore::unrounded(std::size_t child, const Terms& terms, double left, double log_determinant) const {
    const double log_left = std::log(left);
    if (kind_ == GaussianScoreKind::bic) {
        return terms.constant - terms.of_left * log_left;
    }
    return terms.constant - terms.of_left * (of_column_[child] + log_left) - terms.of_determinant * log_determinant;
}

double GaussianScore::score(std::size_t child, const Terms& terms, double left, double log_determinant) const {
    const double value = rounded(unrounded(child, terms, left, log_determinant));
    return kind_ == GaussianScoreKind::bic ? of_column_[child] + value : value;
}

// The determinant of a column alone, in logarithms; only BGe asks for determinants.
double GaussianScore::log_scale(std::size_t column) const {
    return kind_ == GaussianScoreKind::bge ? of_column_[column] : 0.0;
}

GaussianScore::Basis GaussianScore::basis(std::size_t child, std::span<const std::uint32_t> parents) const {
    Basis made{{}, {}, parents.size(), 1.0, 0.0};
    std::vector<std::uint32_t> sorted(parents.begin(), parents.end());
    std::sort(sorted.begin(), sorted.end());
    sorted.push_back(static_cast<std::uint32_t>(child));
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const bool last = i + 1 == sorted.size();
        const std::size_t size = made.members.size();
        made.factor.resize(row_begin(size + 1));
        double* const shares = made.factor.data() + row_begin(size);
        double left = columns_.varies(sorted[i]) || last ? 1.0 : 0.0;
        for (std::size_t k = 0; k < size; ++k) {
            const double* const other = made.factor.data() + row_begin(k);
            double share = correlation(made.members[k], sorted[i]);
            for (std::size_t j = 0; j < k; ++j) {
                share -= other[j] * shares[j];
            }
            shares[k] = share / other[k];
            left -= shares[k] * shares[k];
        }
        if (last) {
            made.left = std::max(left, least_variance);
            break;
        }
        made.log_determinant += log_scale(sorted[i]);
        if (left > least_variance) {
            shares[size] = std::sqrt(left);
            made.members.push_back(sorted[i]);
            made.log_determinant += std::log(left);
        }
    }
    return made;
}

// Calls each(place, what is left of the child, what is left of the candidate) with one more parent, for up to
// `Projection::block` candidates.
template <class Each>
void GaussianScore::with_each(const Basis& basis, std::size_t child, std::span<const std::uint32_t> candidates,
                              Projection::Scratch& scratch, const Each& each) const {
    const std::size_t size = basis.members.size();
    const std::size_t width = (candidates.size() + line_words - 1) / line_words * line_words;
    load_correlations(columns_, basis.members, static_cast<std::uint32_t>(child), candidates, width, scratch);
    std::array<double, Projection::block> left;
    left.fill(1.0);
    scratch.vectors.resize(size);
    for (std::size_t k = 0; k <= size; ++k) {  // the last is the child: what is left there are covariances
        double* const shares = scratch.shares.data() + k * width;
        const double* const factor = basis.factor.data() + row_begin(k);
        if (!shrink_.empty()) {
            const double own = shrink_[k < size ? basis.members[k] : child];
            for (std::size_t b = 0; b < candidates.size(); ++b) {
                shares[b] *= own * shrink_[candidates[b]];
            }
        }
        kernels().subtract(shares, scratch.vectors.data(), factor, k, width);
        if (k < size) {
            for (std::size_t b = 0; b < width; ++b) {
                shares[b] /= factor[k];
                left[b] -= shares[b] * shares[b];
            }
            scratch.vectors[k] = shares;
        }
    }
    const double* const covariance = scratch.shares.data() + size * width;
    for (std::size_t b = 0; b < candidates.size(); ++b) {
        if (left[b] > least_variance && columns_.varies(candidates[b])) {
            each(b, std::max(basis.left - covariance[b] * covariance[b] / left[b], least_variance), left[b]);
        } else {
            each(b, basis.left, 1.0);
        }
    }
}

// The score of the child with one more parent.
double GaussianScore::with_one_more(const Basis& basis, const Terms& terms, std::size_t child, std::uint32_t candidate,
                                    double of_child, double of_candidate) const {
    double log_determinant = 0.0;
    if (kind_ == GaussianScoreKind::bge) {
        log_determinant = basis.log_determinant + log_scale(candidate);
        if (of_candidate != 1.0) {
            log_determinant += std::log(of_candidate);
        }
    }
    return score(child, terms, of_child, log_determinant);
}

void GaussianScore::add_each(const Basis& basis, std::size_t child, std::span<const std::uint32_t> candidates,
                             Projection::Scratch& scratch, double* out) const {
    const Terms one_more = terms(basis.parents + 1);
    with_each(basis, child, candidates, scratch, [&](std::size_t b, double of_child, double of_candidate) {
        out[b] = with_one_more(basis, one_more, child, candidates[b], of_child, of_candidate);
    });
}

// Makes the rows of correlations that queries with many candidates read.
void GaussianScore::make_rows(std::span<const AdditionQuery> queries, std::size_t threads,
                              CancellationToken& token) const {
    std::vector<std::uint32_t> asked;
    for (const AdditionQuery& query : queries) {
        if (query.candidates.size() * 4 > columns_.columns()) {
            asked.push_back(query.child);
            asked.insert(asked.end(), query.parents.begin(), query.parents.end());
        }
    }
    columns_.correlations().make_rows(asked, threads, token);
}

void GaussianScore::additions_of_many(std::span<const AdditionQuery> queries, std::size_t threads,
                                      CancellationToken& token, double* out) const {
    std::vector<std::size_t> begins;
    std::size_t size = 0;
    for (const AdditionQuery& query : queries) {
        begins.push_back(size);
        size += query.candidates.size();
    }
    make_rows(queries, threads, token);
    std::vector<Projection::Scratch> scratch(std::max<std::size_t>(threads, 1));
    const auto add = [&](const AdditionQuery& query, const Basis& made, std::size_t first, std::size_t last,
                         std::size_t worker, double* to) {
        for (std::size_t k = first; k < last; k += Projection::block) {
            const std::size_t count = std::min(Projection::block, last - k);
            add_each(made, query.child, query.candidates.subspan(k, count), scratch[worker], to + k);
        }
    };
    if (queries.size() == 1) {
        const Basis made = basis(queries[0].child, queries[0].parents);
        const std::size_t grain = 64 * Projection::block;
        parallel_for(size, grain, threads, token, [&](std::size_t first, std::size_t last, std::size_t worker) {
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

void GaussianScore::families(std::uint32_t child, std::span<const std::vector<std::uint32_t>> parent_sets,
                             std::size_t threads, CancellationToken& token, double* out) const {
    parallel_for(parent_sets.size(), 64, threads, token, [&](std::size_t first, std::size_t last, std::size_t) {
        for (std::size_t k = first; k < last; ++k) {
            out[k] = of_basis(basis(child, parent_sets[k]), child);
        }
    });
}

double GaussianScore::of_basis(const Basis& basis, std::size_t child) const {
    return score(child, terms(basis.parents), basis.left, basis.log_determinant);
}

double GaussianScore::family(std::uint32_t child, std::span<const std::uint32_t> parents, CancellationToken&) const {
    return of_basis(basis(child, parents), child);
}

// Calls each(i, j, value) for the lower half of the inverse of the factor of the parents' correlations.
template <class Each>
void GaussianScore::invert(const Basis& basis, const Each& each) {
    const std::size_t size = basis.members.size();
    std::vector<double> column(size);
    for (std::size_t j = 0; j < size; ++j) {
        for (std::size_t i = j; i < size; ++i) {
            const double* const row = basis.factor.data() + row_begin(i);
            double value = i == j ? 1.0 : 0.0;
            for (std::size_t k = j; k < i; ++k) {
                value -= row[k] * column[k];
            }
            column[i] = value / row[i];
            each(i, j, column[i]);
        }
    }
}

// With L the factor of the parents' correlations R and w the child's shares: without parent j, its coefficient squared
// over the j-th diagonal element of the inverse of R is left of the child besides, and the determinant of R is
// multiplied by that element. These values are as precise as those of a factor without the parent, but not the same;
// where the difference could round the score to another multiple of the unit, the family is scored by itself.
void GaussianScore::removals(std::uint32_t child, std::span<const std::uint32_t> parents, CancellationToken& token,
                             double* out) const {
    const Basis made = basis(child, parents);
    const std::size_t size = made.members.size();
    if (size < parents.size() || !columns_.varies(child) || size < 2) {
        NetworkScore::removals(child, parents, token, out);
        return;
    }
    const double* const shares = made.factor.data() + row_begin(size);
    std::vector<double> diagonal(size, 0.0);  // of the inverse of R
    std::vector<double> coefficient(size, 0.0);
    invert(made, [&](std::size_t i, std::size_t j, double value) {
        diagonal[j] += value * value;
        coefficient[j] += value * shares[i];
    });
    const double inflation = std::accumulate(diagonal.begin(), diagonal.end(), 0.0);
    const Terms one_less = terms(size - 1);
    const double off = 8.0 * std::numeric_limits<double>::epsilon() * static_cast<double>(size + 1) * inflation;
    const double doubt = (one_less.of_left * off / made.left + one_less.of_determinant * off) / unit_;  // in units
    for (std::size_t k = 0; k < size; ++k) {
        const auto place = std::lower_bound(made.members.begin(), made.members.end(), parents[k]);
        const auto j = static_cast<std::size_t>(place - made.members.begin());
        const double left = made.left + coefficient[j] * coefficient[j] / diagonal[j];
        const double log_determinant = made.log_determinant - log_scale(parents[k]) + std::log(diagonal[j]);
        const double units = unrounded(child, one_less, left, log_determinant) / unit_;
        if (std::fabs(units - std::floor(units) - 0.5) > doubt) {
            out[k] = score(child, one_less, left, log_determinant);
        } else {
            const std::vector<std::uint32_t> others = without(parents, parents[k]);
            out[k] = family(child, others, token);
        }
    }
}

// Picks the candidates that can leave up to `most_left` of the child, and perhaps some others. Whole
// rows of correlations are read, as numbers and not one by one; false if there are none, if candidates are few, or if
// the parents are nearly collinear.
bool GaussianScore::pick(const Basis& basis, const AdditionQuery& query, double most_left, PickScratch& scratch) const {
    constexpr std::size_t fewest = 32;
    constexpr double most_inflation = 1e4;
    constexpr double off = 1e-9;  // more than squares can be off by
    const Correlations& known = columns_.correlations();
    const std::size_t columns = columns_.columns();
    const std::size_t size = basis.members.size();
    const double least_square = basis.left - most_left;  // of a covariance, for a candidate of which all is left
    if (columns < fewest || query.candidates.size() * 4 <= columns || !shrink_.empty() || !(least_square > 4.0 * off)) {
        return false;
    }
    scratch.rows.clear();
    for (std::size_t k = 0; k <= size; ++k) {
        scratch.rows.push_back(known.values(k < size ? basis.members[k] : query.child));
        if (scratch.rows.back() == nullptr) {
            return false;
        }
    }
    scratch.factor.clear();  // of which the diagonal is 1
    scratch.inverse.clear();
    for (std::size_t k = 0; k <= size; ++k) {
        const double* const shares = basis.factor.data() + row_begin(k);
        for (std::size_t j = 0; j < k; ++j) {
            scratch.factor.push_back(shares[j] / basis.factor[row_begin(j) + j]);
        }
        if (k < size) {
            scratch.inverse.push_back(1.0 / (shares[k] * shares[k]));
        }
    }
    double inflation = 0.0;
    invert(basis, [&](std::size_t, std::size_t, double value) { inflation += value * value; });
    if (!(inflation <= most_inflation)) {
        return false;
    }
    scratch.values.resize(std::max(scratch.values.size(), fewest * (size + 1)));
    scratch.excess.resize(std::max(scratch.excess.size(), columns));
    kernels().explained(scratch.rows.data(), scratch.factor.data(), scratch.inverse.data(), size, least_square, columns,
                        scratch.values.data(), scratch.excess.data());
    scratch.picked.clear();
    for (const std::uint32_t x : query.candidates) {
        if (scratch.excess[x] > -4.0 * off) {
            scratch.picked.push_back(x);
        }
    }
    return true;
}

double GaussianScore::raising(const AdditionQuery& query, double least, std::size_t, CancellationToken& token,
                              std::vector<Addition>& out) const {
    thread_local PickScratch pick_scratch;
    thread_local Projection::Scratch scratch;
    make_rows({&query, 1}, 1, token);
    const std::uint32_t child = query.child;
    const Basis made = basis(child, query.parents);
    const double own = of_basis(made, child);
    const Terms one_more = terms(made.parents + 1);
    // By BIC, a candidate has to leave no more of the child than this: only then is the logarithm of what it leaves
    // taken.
    double most_left = std::numeric_limits<double>::infinity();
    if (kind_ == GaussianScoreKind::bic && one_more.of_left > 0.0) {
        const double needed = own + least - of_column_[child] - 2.0 * unit_;
        most_left = std::exp((one_more.constant - needed) / one_more.of_left);
    }
    std::span<const std::uint32_t> candidates = query.candidates;
    if (pick(made, query, most_left, pick_scratch)) {
        candidates = pick_scratch.picked;
    }
    for (std::size_t k = 0; k < candidates.size(); k += Projection::block) {
        const auto some = candidates.subspan(k, std::min(Projection::block, candidates.size() - k));
        with_each(made, child, some, scratch, [&](std::size_t b, double of_child, double of_candidate) {
            if (of_child <= most_left) {
                const double with = with_one_more(made, one_more, child, some[b], of_child, of_candidate);
                if (with > own + least) {
                    out.push_back({some[b], with});
                }
            }
        });
    }
    return own;
}

}  // namespace serape
