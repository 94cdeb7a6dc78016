// Conditional independence by partial correlation of standardised columns: one question or many at once.
//
// A column is kept centred and of length 1, so that a correlation is a product of two (Correlations). A partial one is
// the correlation of what is left of two columns once an orthonormal basis of the conditioning set has been taken out
// (Projection).
//
// Collinear columns: a member of a conditioning set of which those before it leave less than 1e-10 of its variance adds
// nothing and is left out of the basis (it still costs a degree of freedom, so that these follow from the number of
// members alone). If that little is left of x or of the target, there is nothing to test. So it is for constant
// columns.
//
// Weighted rows: the caller passes columns that are centred at their weighted means and multiplied by the roots of the
// weights. Products of such columns are weighted covariances, so they must not be centred again; the degrees of freedom
// follow from the effective number of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "serape/aligned.hpp"
#include "serape/correlations.hpp"
#include "serape/outcome.hpp"
#include "serape/parallel.hpp"
#include "serape/projection.hpp"
#include "serape/subset_query.hpp"

namespace serape {

enum class CorrelationKind { fisher_z, student_t };

inline constexpr double least_variance = 1e-10;  // of a column, below which nothing is left of it

// How a statistic follows from a correlation, and a p-value from a statistic.
struct CorrelationRule {
    CorrelationKind kind;

    double dof(double rows, std::size_t given) const;
    // `rest` is 1 − r; r is not negative.
    double statistic(double r, double rest, double dof) const;
    double log_p(double statistic, double dof) const;
    // The correlation of a statistic.
    double correlation(double statistic, double dof) const;
    // The correlation that has, at some degrees of freedom, the log p of another at more of them.
    double as_rare(double r, double from_dof, double dof) const;

    // A statistic up to `below` has log p above the level, one from `above` on has not; what lies between is computed.
    struct Bracket {
        double below, above;
    };
    Bracket critical(double level, double dof) const;
    // Whether log_p(statistic, dof) > level: the same answer as by computing it.
    bool log_p_above(double statistic, double dof, double level) const;

    // Of many answers at once: log p, and which are reliable with log p <= log_alpha.
    void log_p(std::span<const double> statistic, std::span<const double> dof, double* out) const;
    void dependent(std::span<const double> statistic, std::span<const double> dof, std::span<const bool> reliable,
                   double log_alpha, bool* out) const;
};

class GaussianTest {
  public:
    enum class Column : std::uint8_t { varying, constant, missing };

    GaussianTest(std::size_t rows, std::size_t columns, CorrelationKind kind);
    // On weighted rows that carry as much information as `effective` rows.
    GaussianTest(std::size_t rows, std::size_t columns, CorrelationKind kind, double effective);

    // Adds a column, standardised (weighted columns are only scaled); one that is constant or not all numbers becomes
    // zeros.
    Column append(std::span<const double> values);

    std::size_t rows() const { return rows_; }
    double effective_rows() const { return effective_; }
    std::size_t columns() const { return state_.size(); }
    std::size_t bytes() const { return data_.capacity() * sizeof(double); }
    std::size_t stride() const { return stride_; }  // rows, and zeros up to whole lines
    const double* column(std::size_t k) const { return data_.data() + k * stride_; }
    bool varies(std::size_t k) const { return state_[k] == Column::varying; }
    const CorrelationRule& rule() const { return rule_; }
    const Correlations& correlations() const;  // of different columns
    double correlation(std::size_t a, std::size_t b) const;

    Outcome test(std::size_t x, std::size_t y, std::span<const std::uint32_t> given) const;
    // Partial correlations with their signs.
    void correlations(std::size_t target, std::span<const std::uint32_t> candidates,
                      std::span<const std::uint32_t> given, CancellationToken& token, double* out) const;
    void screen(std::size_t target, std::span<const std::uint32_t> candidates, std::span<const std::uint32_t> given,
                std::size_t threads, CancellationToken& token, Answers out) const;
    // Tests the candidates in order until one is dependent (log p <= log_alpha); returns how many were asked.
    std::size_t first_dependent(std::size_t target, std::span<const std::uint32_t> candidates,
                                std::span<const std::uint32_t> given, double log_alpha, CancellationToken& token,
                                Answers out) const;
    SubsetAnswers search_subsets(const SubsetQuery& query, std::size_t threads, CancellationToken& token) const;
    GrownPool grow_pool(const SubsetQuery& query, bool examine, std::uint64_t enough, CancellationToken& token) const;
    // Announces searches about some targets: their correlations with all columns are made together.
    void expect(std::span<const std::uint32_t> targets, std::size_t threads, CancellationToken& token) const;

  private:
    template <class Body>
    void each_partial(std::size_t target, std::span<const std::uint32_t> candidates,
                      std::span<const std::uint32_t> given, std::size_t threads, CancellationToken& token,
                      const Body& body) const;

    std::size_t rows_;
    std::size_t stride_;
    double effective_;
    bool weighted_ = false;
    CorrelationRule rule_;
    LineVector<double> data_;
    std::vector<Column> state_;
    mutable std::once_flag remembering_;
    mutable std::unique_ptr<Correlations> correlations_;
};

}  // namespace serape
