#include "serape/gaussian_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "correlation_evaluator.hpp"
#include "serape/chi_square.hpp"
#include "serape/kernels.hpp"
#include "serape/student_t.hpp"

namespace serape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t most_kept = 4096;    // critical values
constexpr std::size_t few_candidates = 4;  // a quarter of the columns, from which on rows of correlations are made

double dot(const double* a, const double* b, std::size_t rows) {
    double value = 0.0;
    kernels().dots(a, &b, 1, rows, &value);
    return value;
}

}  // namespace

// --- from correlations to p-values --------------------------------------------------------------------------------

double CorrelationRule::dof(double rows, std::size_t given) const {
    return rows - static_cast<double>(given) - (kind == CorrelationKind::fisher_z ? 3.0 : 2.0);
}

double CorrelationRule::statistic(double r, double rest, double dof) const {
    if (kind == CorrelationKind::fisher_z) {
        return std::sqrt(dof) * 0.5 * std::log1p(2.0 * r / rest);  // artanh r
    }
    return std::sqrt(dof) * r / std::sqrt(rest * (1.0 + r));
}

double CorrelationRule::log_p(double statistic, double dof) const {
    return kind == CorrelationKind::fisher_z ? chi_square_log_sf(statistic * statistic, 1.0)
                                             : student_t_log_p(statistic, dof);
}

double CorrelationRule::correlation(double statistic, double dof) const {
    return kind == CorrelationKind::fisher_z ? std::tanh(statistic / std::sqrt(dof))
                                             : statistic / std::hypot(statistic, std::sqrt(dof));
}

CorrelationRule::Bracket CorrelationRule::critical(double level, double dof) const {
    if (!(level < 0.0)) {
        return {-1.0, -1.0};  // no log p is above
    }
    // Brackets outlive a call: searches are short and many, and ask at the same level.
    thread_local double known_level = 1.0;
    thread_local std::unordered_map<double, Bracket> known;
    if (level != known_level || known.size() > most_kept) {
        known_level = level;
        known.clear();
    }
    const auto [at, fresh] = known.try_emplace(kind == CorrelationKind::fisher_z ? -1.0 : dof);
    if (fresh) {
        double low = 0.0;
        double high = 2.0;
        while (high < 1e150 && log_p(high, dof) > level) {
            low = high;
            high *= 2.0;
        }
        while (high < 1e150 && high - low > 1e-7 * high) {
            const double middle = 0.5 * (low + high);
            (log_p(middle, dof) > level ? low : high) = middle;
        }
        at->second = high < 1e150 ? Bracket{low * (1.0 - 1e-9), high * (1.0 + 1e-9)}
                                  : Bracket{low, std::numeric_limits<double>::infinity()};
    }
    return at->second;
}

bool CorrelationRule::log_p_above(double statistic, double dof, double level) const {
    const auto [below, above] = critical(level, dof);
    return statistic <= below || (statistic < above && log_p(statistic, dof) > level);
}

void CorrelationRule::log_p(std::span<const double> statistic, std::span<const double> dof, double* out) const {
    for (std::size_t k = 0; k < statistic.size(); ++k) {
        out[k] = log_p(statistic[k], dof[k]);
    }
}

void CorrelationRule::dependent(std::span<const double> statistic, std::span<const double> dof,
                                std::span<const bool> reliable, double log_alpha, bool* out) const {
    for (std::size_t k = 0; k < statistic.size(); ++k) {
        out[k] = reliable[k] && !log_p_above(statistic[k], dof[k], log_alpha);
    }
}

double CorrelationRule::as_rare(double r, double from_dof, double dof) const {
    const double met = statistic(r, 1.0 - r, from_dof);
    if (kind == CorrelationKind::fisher_z) {
        return correlation(met, dof);
    }
    const double wanted = log_p(met, from_dof);
    // Nearly always as Wallace's approximation of the normal quantile has it ("Bounds on normal approximations to
    // Student's and the chi-square distributions", Annals of Mathematical Statistics 30, 1959).
    const double z = (8.0 * from_dof + 1.0) / (8.0 * from_dof + 3.0) *
                     std::sqrt(from_dof * std::log1p(met * met / from_dof)) * (8.0 * dof + 3.0) / (8.0 * dof + 1.0);
    const double near = std::sqrt(dof * std::expm1(z * z / dof));
    if (log_p(near * (1.0 - 1e-7), dof) >= wanted && log_p(near * (1.0 + 1e-7), dof) <= wanted) {
        return correlation(near, dof);
    }
    double low = met;  // fewer degrees of freedom need more
    double high = met;
    while (log_p(high, dof) > wanted && high < 1e100) {
        low = high;
        high = 1.25 * high + 1e-3;
    }
    while (high - low > 1e-7 * high) {
        const double middle = 0.5 * (low + high);
        (log_p(middle, dof) > wanted ? low : high) = middle;
    }
    return correlation(0.5 * (low + high), dof);
}

// --- columns ------------------------------------------------------------------------------------------------------

GaussianTest::GaussianTest(std::size_t rows, std::size_t columns, CorrelationKind kind)
    : rows_(rows), stride_((rows + 15) / 16 * 16), effective_(static_cast<double>(rows)), rule_{kind} {
    data_.reserve(columns * stride_);
    state_.reserve(columns);
}

GaussianTest::GaussianTest(std::size_t rows, std::size_t columns, CorrelationKind kind, double effective)
    : GaussianTest(rows, columns, kind) {
    effective_ = effective;
    weighted_ = true;
}

GaussianTest::Column GaussianTest::append(std::span<const double> values) {
    data_.resize(data_.size() + stride_, 0.0);
    double* out = data_.data() + state_.size() * stride_;
    bool finite = true;
    double low = values[0];
    double high = values[0];
    for (const double v : values) {
        finite = finite && std::isfinite(v);
        low = std::min(low, v);
        high = std::max(high, v);
    }
    if (!finite || low == high) {
        state_.push_back(finite ? Column::constant : Column::missing);
        return state_.back();
    }
    // By a power of two, which is exact, so that neither sums nor squares leave the range of a double; then twice, as
    // the mean of large numbers is rounded to their size.
    const auto scaled = [&](double by) {
        const int exponent = std::ilogb(by);
        const double half = std::ldexp(1.0, -exponent / 2);  // in two steps, as the whole may be out of range
        const double other = std::ldexp(1.0, -exponent + exponent / 2);
        for (std::size_t i = 0; i < rows_; ++i) {
            out[i] = out[i] * half * other;
        }
    };
    const auto centred = [&] {
        double mean = 0.0;
        for (std::size_t begin = 0; begin < rows_ && !weighted_; begin += 1024) {
            double sum = 0.0;
            for (std::size_t i = begin; i < std::min(begin + 1024, rows_); ++i) {
                sum += out[i];
            }
            mean += sum;
        }
        mean /= static_cast<double>(rows_);
        double largest = 0.0;
        for (std::size_t i = 0; i < rows_; ++i) {
            out[i] -= mean;
            largest = std::max(largest, std::fabs(out[i]));
        }
        return largest;
    };
    std::copy(values.begin(), values.end(), out);
    scaled(std::max(std::fabs(low), std::fabs(high)));
    scaled(centred());
    centred();
    for (int again = 0; again < 2; ++again) {
        const double length = std::sqrt(dot(out, out, stride_));
        for (std::size_t i = 0; i < rows_; ++i) {
            out[i] /= length;
        }
    }
    state_.push_back(Column::varying);
    return Column::varying;
}

const Correlations& GaussianTest::correlations() const {
    std::call_once(remembering_,
                   [&] { correlations_ = std::make_unique<Correlations>(data_.data(), stride_, columns()); });
    return *correlations_;
}

double GaussianTest::correlation(std::size_t a, std::size_t b) const {
    if (a == b) {
        return varies(a) ? 1.0 : 0.0;
    }
    return correlations()(a, b);
}

// --- questions ----------------------------------------------------------------------------------------------------

Outcome GaussianTest::test(std::size_t x, std::size_t y, std::span<const std::uint32_t> given) const {
    Projection::Scratch scratch;
    return Projection(*this, y, given).outcome(x, scratch);
}

void GaussianTest::screen(std::size_t target, std::span<const std::uint32_t> candidates,
                          std::span<const std::uint32_t> given, std::size_t threads, CancellationToken& token,
                          Answers out) const {
    const double dof = rule_.dof(effective_, given.size());
    each_partial(target, candidates, given, threads, token, [&](std::size_t k, const PartialCorrelation& partial) {
        out.statistic[k] = partial.known ? rule_.statistic(partial.r, partial.rest, dof) : nan;
        out.dof[k] = dof;
        out.reliable[k] = partial.known;
    });
}

void GaussianTest::correlations(std::size_t target, std::span<const std::uint32_t> candidates,
                                std::span<const std::uint32_t> given, CancellationToken& token, double* out) const {
    each_partial(target, candidates, given, 1, token, [&](std::size_t k, const PartialCorrelation& partial) {
        out[k] = partial.known ? (partial.negative ? -partial.r : partial.r) : nan;
    });
}

// Calls body(k, partial correlation) for the candidates, in any order.
template <class Body>
void GaussianTest::each_partial(std::size_t target, std::span<const std::uint32_t> candidates,
                                std::span<const std::uint32_t> given, std::size_t threads, CancellationToken& token,
                                const Body& body) const {
    if (candidates.size() >= columns() / few_candidates) {
        std::vector<std::uint32_t> rows(given.begin(), given.end());
        rows.push_back(static_cast<std::uint32_t>(target));
        correlations().make_rows(rows, threads, token);
    }
    const Projection projection(*this, target, given);
    std::vector<Projection::Scratch> scratches(std::max<std::size_t>(threads, 1));
    const std::size_t blocks = (candidates.size() + Projection::block - 1) / Projection::block;
    parallel_for(blocks, 1, threads, token, [&](std::size_t first, std::size_t last, std::size_t worker) {
        std::array<PartialCorrelation, Projection::block> found;
        const std::size_t end = std::min(last * Projection::block, candidates.size());
        for (std::size_t begin = first * Projection::block; begin < end; begin += Projection::block) {
            const auto xs = candidates.subspan(begin, std::min(Projection::block, end - begin));
            projection.partials(xs, scratches[worker], found.data());
            for (std::size_t k = 0; k < xs.size(); ++k) {
                body(begin + k, found[k]);
            }
        }
    });
}

SubsetAnswers GaussianTest::search_subsets(const SubsetQuery& query, std::size_t threads,
                                           CancellationToken& token) const {
    if (query.xs.size() >= columns() / few_candidates) {
        std::vector<std::uint32_t> rows(query.pool);
        rows.insert(rows.end(), query.fixed.begin(), query.fixed.end());
        rows.push_back(query.target);
        correlations().make_rows(rows, threads, token);
    }
    return drive_subsets<CorrelationEvaluator>(*this, query, threads, token);
}

void GaussianTest::expect(std::span<const std::uint32_t> targets, std::size_t threads, CancellationToken& token) const {
    correlations().make_rows(targets, threads, token);
}

std::size_t GaussianTest::first_dependent(std::size_t target, std::span<const std::uint32_t> candidates,
                                          std::span<const std::uint32_t> given, double log_alpha,
                                          CancellationToken& token, Answers out) const {
    const Projection projection(*this, target, given);
    Projection::Scratch scratch;
    for (std::size_t k = 0; k < candidates.size(); ++k) {
        if (k % 16 == 15) {
            token.check();
        }
        const Outcome found = projection.outcome(candidates[k], scratch);
        out.statistic[k] = found.statistic;
        out.dof[k] = found.dof;
        out.reliable[k] = found.reliable;
        if (found.reliable && found.log_p <= log_alpha) {
            return k + 1;
        }
    }
    return candidates.size();
}

}  // namespace serape
