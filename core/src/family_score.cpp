#include "serape/family_score.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "serape/counting/candidate_counter.hpp"
#include "serape/counting/costs.hpp"

namespace serape {
namespace {

std::size_t largest_stratum(const Cells& cells) {
    return *std::max_element(cells.stratum_count.begin(), cells.stratum_count.end());
}

}  // namespace

ScoreRule::ScoreRule(ScoreKind kind, double ess, std::size_t rows, const LogTable& log)
    : kind_(kind), ess_(ess), rows_(rows), log_(log), known_(std::make_unique<Known>()) {
    if (!dirichlet()) {
        unit_ = log_.unit();
        return;
    }
    // A sum of terms stays below rows · ln(rows + the largest a), and below 2^60.
    const auto n = static_cast<double>(rows);
    const double largest_a = kind == ScoreKind::bdeu ? ess : max_levels;
    shift_ = std::min(50, 59 - std::ilogb(n * std::log(n + largest_a + 2.0)));
    unit_ = std::ldexp(1.0, -shift_);
}

ScoreRule::Constants ScoreRule::constants(std::uint32_t child_levels, std::vector<std::uint32_t> parent_levels,
                                          std::size_t most_cell, std::size_t most_stratum) const {
    // In ascending order, so that rounding does not depend on the order of the parents.
    std::sort(parent_levels.begin(), parent_levels.end());
    double q = 1.0;
    double log_q = 0.0;
    for (const std::uint32_t levels : parent_levels) {
        q *= levels;
        log_q += std::log(static_cast<double>(levels));
    }
    const auto penalty = [&](double each) {
        return each > 0.0 && child_levels > 1 ? each * (child_levels - 1.0) * q : 0.0;
    };
    Constants made;
    switch (kind_) {
        case ScoreKind::loglik: break;
        case ScoreKind::bic: made.penalty = penalty(0.5 * std::log(static_cast<double>(rows_))); break;
        case ScoreKind::aic: made.penalty = penalty(1.0); break;
        case ScoreKind::bdeu:
            made.log_levels = std::log(static_cast<double>(child_levels));
            made.log_a = std::log(ess_) - log_q - made.log_levels;
            made.cell = gamma_table(ess_ / q / child_levels, most_cell);
            made.stratum = gamma_table(ess_ / q, most_stratum);
            break;
        case ScoreKind::k2:
            made.log_levels = std::log(static_cast<double>(child_levels));
            made.cell = gamma_table(1.0, most_cell);
            made.stratum = gamma_table(child_levels, most_stratum);
            break;
    }
    return made;
}

double ScoreRule::score(const Constants& constants, const FamilySum& sum) const {
    double score = static_cast<double>(sum.value) * unit_;
    score += static_cast<double>(sum.cells - sum.strata) * constants.log_a;
    score -= static_cast<double>(sum.strata) * constants.log_levels;
    return score - constants.penalty;
}

std::shared_ptr<const GammaTable> ScoreRule::gamma_table(double a, std::size_t most) const {
    if (1.0 + a == 1.0) {
        a = 0.0;  // the same to the last digit
    }
    {
        const std::lock_guard lock(known_->mutex);
        const auto found = known_->tables.find(a);
        if (found != known_->tables.end() && found->second->serves(most)) {
            return found->second;
        }
    }
    const auto made = std::make_shared<const GammaTable>(a, most, shift_);
    const std::lock_guard lock(known_->mutex);
    if (known_->bytes > default_costs.max_kept_bytes) {
        known_->tables.clear();
        known_->bytes = 0;
    }
    std::shared_ptr<const GammaTable>& place = known_->tables[a];
    known_->bytes += made->bytes() - (place ? place->bytes() : 0);
    place = made;
    return made;
}

FamilyScore::FamilyScore(const PackedTable& table, ScoreKind kind, double ess)
    : table_(table), rule_(kind, ess, table.rows(), table.log_table()) {}

void FamilyScore::additions(std::size_t child, std::span<const std::uint32_t> candidates,
                            std::span<const std::uint32_t> parents, std::size_t threads, CancellationToken& token,
                            double* out, CountingStrategy strategy) const {
    if (strategy == CountingStrategy::panels) {
        throw std::invalid_argument("scores are not counted by panels");
    }
    if (!candidates.empty()) {
        Cells cells(table_, child, parents);
        count_additions(cells, child, candidates, parents, threads, token, out, strategy);
    }
}

void FamilyScore::count_additions(Cells& cells, std::size_t child, std::span<const std::uint32_t> candidates,
                                  std::span<const std::uint32_t> parents, std::size_t threads, CancellationToken& token,
                                  double* out, CountingStrategy strategy) const {
    const CandidateKinds kinds(table_, candidates);
    const PreparedCells prepared(table_, cells, kinds, rule_.kind(), strategy);

    // What a candidate's terms are depends on its number of levels alone.
    std::vector<ScoreRule::Constants> made;
    std::vector<std::uint32_t> place(kinds.most_levels + 1, 0);  // by levels: place among those made, counted from 1
    std::vector<std::uint32_t> parent_levels;
    for (const std::uint32_t p : parents) {
        parent_levels.push_back(table_.levels(p));
    }
    parent_levels.push_back(0);  // the candidate's
    const std::size_t most_cell = cells.count[cells.largest];
    const std::size_t most_stratum = largest_stratum(cells);
    for (const std::uint32_t x : candidates) {
        const std::uint32_t levels = table_.levels(x);
        if (place[levels] == 0) {
            parent_levels.back() = levels;
            made.push_back(rule_.constants(table_.levels(child), parent_levels, most_cell, most_stratum));
            place[levels] = static_cast<std::uint32_t>(made.size());
        }
    }
    const auto constants_of = [&](std::uint32_t x) -> const ScoreRule::Constants& {
        return made[place[table_.levels(x)] - 1];
    };
    const auto count = [&]<class Functional>() {
        std::vector<Functional> functionals;
        for (const ScoreRule::Constants& constants : made) {
            functionals.push_back(rule_.functional<Functional>(constants));
            if (prepared.plan().ones) {
                functionals.back().prepare_ones(cells);
            }
        }
        count_each(
            prepared, candidates, threads, token,
            [&](std::uint32_t x) -> const Functional& { return functionals[place[table_.levels(x)] - 1]; },
            [&](std::size_t k, const FamilySum& sum) { out[k] = rule_.score(constants_of(candidates[k]), sum); });
    };
    rule_.kind() == FunctionalKind::dirichlet ? count.template operator()<DirichletFunctional>()
                                              : count.template operator()<LikelihoodFunctional>();
}

void FamilyScore::additions_of_many(std::span<const AdditionQuery> queries, std::size_t threads,
                                    CancellationToken& token, double* out) const {
    std::vector<std::size_t> begins(queries.size(), 0);
    for (std::size_t k = 1; k < queries.size(); ++k) {
        begins[k] = begins[k - 1] + queries[k - 1].candidates.size();
    }
    const std::size_t within = queries.size() == 1 ? threads : 1;
    parallel_for(queries.size(), 1, threads, token, [&](std::size_t first, std::size_t last, std::size_t) {
        for (std::size_t k = first; k < last; ++k) {
            const AdditionQuery& query = queries[k];
            additions(query.child, query.candidates, query.parents, within, token, out + begins[k]);
        }
    });
}

double FamilyScore::score_of(const Cells& cells, std::size_t child, std::span<const std::uint32_t> parents) const {
    std::vector<std::uint32_t> parent_levels;
    for (const std::uint32_t p : parents) {
        parent_levels.push_back(table_.levels(p));
    }
    const ScoreRule::Constants made =
        rule_.constants(table_.levels(child), parent_levels, cells.count[cells.largest], largest_stratum(cells));
    return rule_.score(made, rule_.add_up(made, [&](const auto& functional) { return functional.of(cells); }));
}

void FamilyScore::families(std::uint32_t child, std::span<const std::vector<std::uint32_t>> parent_sets,
                           std::size_t threads, CancellationToken& token, double* out) const {
    parallel_for(parent_sets.size(), 1, threads, token, [&](std::size_t first, std::size_t last, std::size_t) {
        for (std::size_t k = first; k < last; ++k) {
            out[k] = score_of(Cells(table_, child, parent_sets[k]), child, parent_sets[k]);
        }
    });
}

double FamilyScore::raising(const AdditionQuery& query, double least, std::size_t threads, CancellationToken& token,
                            std::vector<Addition>& out) const {
    Cells cells(table_, query.child, query.parents);
    const double own = score_of(cells, query.child, query.parents);
    std::vector<double> scores(query.candidates.size());
    if (!scores.empty()) {
        count_additions(cells, query.child, query.candidates, query.parents, threads, token, scores.data(),
                        CountingStrategy::automatic);
    }
    for (std::size_t k = 0; k < scores.size(); ++k) {
        if (scores[k] > own + least) {
            out.push_back({query.candidates[k], scores[k]});
        }
    }
    return own;
}

CountedScore::CountedScore(std::size_t rows, ScoreKind kind, double ess)
    : rows_(rows), log_(rows), rule_(kind, ess, rows, log_) {}

void CountedScore::scores(const CountTable& table, double* out) const {
    check_rows(table, rows_);
    std::vector<std::uint32_t> parent_levels(table.given_levels);
    parent_levels.push_back(0);  // the candidate's
    for (std::size_t k = 0; k < table.candidate_levels.size(); ++k) {
        CountedStrata strata(table, k);
        const std::uint32_t levels = table.candidate_levels[k];
        parent_levels.back() = levels;
        const ScoreRule::Constants made =
            rule_.constants(table.target_levels, parent_levels, strata.largest_cell(), strata.largest_stratum());
        out[k] = rule_.score(made, rule_.add_up(made, [&](const auto& functional) {
            FamilySum sum = functional.start();
            strata.for_each([&](const SparseStratum& stratum) { functional.add(sum, stratum, levels); });
            return sum;
        }));
    }
}

}  // namespace serape
