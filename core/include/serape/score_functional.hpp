// The functionals of scores: log-likelihood and Dirichlet.
//
// The target is a family's child, the strata are the combinations of its parents, and a candidate is one more parent.
#pragma once

#include <cstddef>
#include <cstdint>

#include "serape/counting/functional.hpp"
#include "serape/counting/plan.hpp"
#include "serape/gamma_table.hpp"
#include "serape/log_table.hpp"
#include "serape/statistic.hpp"

namespace serape {

// What is counted of a family: the sum of its terms and, for Dirichlet scores, how many cells and strata occur.
struct FamilySum {
    std::int64_t value = 0;
    std::int64_t cells = 0;
    std::int64_t strata = 0;
};

struct DirichletTerms {
    GammaTable::View of_cells, of_strata;
    std::int64_t cell(std::uint32_t n) const { return of_cells(n); }
    std::int64_t margin(std::uint32_t n) const { return of_strata(n); }
    static void note(FamilySum& total, std::int64_t cells, std::int64_t met, std::size_t) {
        total.cells += cells;
        total.strata += met;
    }
};

template <FunctionalKind Kind, class Terms>
class ScoreFunctional {
  public:
    using Total = FamilySum;
    static constexpr std::size_t min_cells = skips_single_cells(Kind) ? 2 : 1;
    explicit ScoreFunctional(const Terms& terms) : terms_(terms) {}

    FunctionalKind kind() const { return Kind; }
    static bool is_zero(const Cells&, std::uint32_t) { return false; }
    static FamilySum start() { return {}; }
    void add(FamilySum& total, const DenseCounts& dense, const Cells& cells) const {
        add_terms(total, dense, cells, min_cells, Terms(terms_));  // a copy stays in registers
    }
    void add(FamilySum& total, const SparseStratum& stratum, std::uint32_t) const {
        if (stratum.sizes.size() >= min_cells) {
            add_terms(total, stratum, terms_);
        }
    }
    // The family without a further parent.
    FamilySum of(const Cells& cells) const {
        FamilySum total;
        for (const std::uint32_t n : cells.count) {
            total.value += terms_.cell(n);
        }
        for (const std::uint32_t n : cells.stratum_count) {
            total.value -= terms_.margin(n);
        }
        terms_.note(total, static_cast<std::int64_t>(cells.size()), static_cast<std::int64_t>(cells.strata()), 1);
        return total;
    }
    // A parent that is nowhere one changes nothing.
    void prepare_ones(const Cells& cells) { start_of_ones_ = of(cells); }
    FamilySum start_of_ones() const { return start_of_ones_; }
    void add_ones_in_cell(FamilySum& total, std::uint32_t a, std::uint32_t n) const {
        total.value += terms_.cell(a) + terms_.cell(n - a) - terms_.cell(n);
        terms_.note(total, a < n, 0, 1);
    }
    void add_ones_in_stratum(FamilySum& total, std::uint32_t a, std::uint32_t n, std::size_t) const {
        total.value -= terms_.margin(a) + terms_.margin(n - a) - terms_.margin(n);
        terms_.note(total, 0, a < n, 1);
    }

  private:
    Terms terms_;
    FamilySum start_of_ones_;
};

using LikelihoodFunctional = ScoreFunctional<FunctionalKind::likelihood, LogTerms<LogTable>>;
using DirichletFunctional = ScoreFunctional<FunctionalKind::dirichlet, DirichletTerms>;

}  // namespace serape
