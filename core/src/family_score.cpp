#include "serape/family_score.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "serape/cells.hpp"
#include "serape/kernels.hpp"

namespace serape {
namespace {

constexpr std::size_t most_bytes = 64u << 20;  // of tables kept

// f(n) of a cell and of a stratum. A likelihood has one f for both, and a stratum of one cell adds nothing to it.
struct Likelihood {
    static constexpr bool dirichlet = false;
    const LogTable& cell;
    const LogTable& stratum;
};

struct Dirichlet {
    static constexpr bool dirichlet = true;
    const GammaTable& cell;
    const GammaTable& stratum;
};

template <class Terms>
void add_cell(FamilySum& sum, const Terms& terms, std::uint32_t n) {
    sum.value += terms.cell(n);
    if constexpr (Terms::dirichlet) {
        sum.cells += n != 0;
    }
}

template <class Terms>
void add_stratum(FamilySum& sum, const Terms& terms, std::uint32_t n) {
    sum.value -= terms.stratum(n);
    if constexpr (Terms::dirichlet) {
        sum.strata += n != 0;
    }
}

template <class Terms>
FamilySum sum_of(const Cells& cells, const Terms& terms) {
    FamilySum sum;
    for (const std::uint32_t n : cells.count) {
        add_cell(sum, terms, n);
    }
    for (const std::uint32_t n : cells.stratum_count) {
        add_stratum(sum, terms, n);
    }
    return sum;
}

// The parts into which a candidate divides cells and strata. counts[(l−1) · cells + c] is the rows of level l >= 1 in
// cell c; level 0 is what they leave. `Levels` is the candidate's number of levels; 0 for as many as `margin` has room
// for.
template <std::uint32_t Levels, class Terms>
FamilySum sum_of_parts(const Cells& cells, const Terms& terms, const std::uint32_t* counts,
                       std::span<std::uint32_t> margin = {}) {
    FamilySum sum;
    const std::size_t levels = Levels == 0 ? margin.size() : Levels;
    const std::size_t stride = cells.size();
    std::uint32_t few[Levels == 0 ? 1 : Levels];
    for (std::size_t z = 0; z < cells.strata(); ++z) {
        const std::size_t begin = cells.stratum_begin[z];
        const std::size_t end = cells.stratum_begin[z + 1];
        if (!Terms::dirichlet && end - begin == 1) {
            continue;
        }
        std::uint32_t* in_stratum = Levels == 0 ? margin.data() : few;
        std::fill_n(in_stratum, levels, 0);
        for (std::size_t c = begin; c < end; ++c) {
            std::uint32_t rest = cells.count[c];
            for (std::size_t level = 1; level < levels; ++level) {
                const std::uint32_t n = counts[(level - 1) * stride + c];
                add_cell(sum, terms, n);
                in_stratum[level] += n;
                rest -= n;
            }
            add_cell(sum, terms, rest);
            in_stratum[0] += rest;
        }
        for (std::size_t level = 0; level < levels; ++level) {
            add_stratum(sum, terms, in_stratum[level]);
        }
    }
    return sum;
}

// Counts candidates one at a time; one per thread.
class AdditionCounter {
  public:
    AdditionCounter(const PackedTable& table, const Cells& cells, std::span<const std::uint64_t* const> masks)
        : table_(table), cells_(cells), masks_(masks) {}

    template <class Terms>
    FamilySum operator()(std::size_t candidate, Way way, const Terms& terms) {
        switch (way) {
            case Way::planes: return by_planes(candidate, terms);
            case Way::scatter: return by_scatter(candidate, terms);
            default: return by_sparse(candidate, terms);
        }
    }

  private:
    template <class Terms>
    FamilySum sum_up(std::uint32_t levels, const Terms& terms, const std::uint32_t* counts) {
        switch (levels) {
            case 2: return sum_of_parts<2>(cells_, terms, counts);
            case 3: return sum_of_parts<3>(cells_, terms, counts);
            case 4: return sum_of_parts<4>(cells_, terms, counts);
            default:
                margin_.resize(std::max<std::size_t>(margin_.size(), levels));
                return sum_of_parts<0>(cells_, terms, counts, std::span(margin_).first(levels));
        }
    }

    // AND and popcount; of the largest cell, what the others leave.
    template <class Terms>
    FamilySum by_planes(std::size_t candidate, const Terms& terms) {
        const std::uint32_t levels = table_.levels(candidate);
        const std::size_t cells = cells_.size();
        const std::size_t largest = cells_.largest;
        counts_.resize(std::max(counts_.size(), cells * levels));
        for (std::uint32_t level = 1; level < levels; ++level) {
            std::uint32_t* of_level = counts_.data() + (level - 1) * cells;
            const std::uint64_t* plane = table_.plane(candidate, level);
            kernels().and_popcounts(plane, masks_.data(), largest, table_.plane_words(), of_level);
            kernels().and_popcounts(plane, masks_.data() + largest + 1, cells - largest - 1, table_.plane_words(),
                                    of_level + largest + 1);
            of_level[largest] = 0;
            std::uint32_t rest = table_.total(candidate, level);
            for (std::size_t c = 0; c < cells; ++c) {
                rest -= of_level[c];
            }
            of_level[largest] = rest;
        }
        return sum_up(levels, terms, counts_.data());
    }

    // One increment a row.
    template <class Terms>
    FamilySum by_scatter(std::size_t candidate, const Terms& terms) {
        const std::uint32_t levels = table_.levels(candidate);
        const std::size_t cells = cells_.size();
        counts_.resize(std::max(counts_.size(), cells * levels));
        std::fill_n(counts_.data(), cells * levels, 0);
        codes_.resize(table_.rows());
        table_.unpack(candidate, codes_);
        for (std::size_t i = 0; i < codes_.size(); ++i) {
            ++counts_[codes_[i] * cells + cells_.cell_of_row[i]];
        }
        return sum_up(levels, terms, counts_.data() + cells);
    }

    // Cell by cell, keeping only the levels met.
    template <class Terms>
    FamilySum by_sparse(std::size_t candidate, const Terms& terms) {
        const std::uint32_t levels = table_.levels(candidate);
        codes_.resize(table_.rows());
        table_.unpack(candidate, codes_);
        counts_.assign(std::max<std::size_t>(counts_.size(), levels), 0);
        margin_.assign(std::max<std::size_t>(margin_.size(), levels), 0);
        FamilySum sum;
        for (std::size_t z = 0; z < cells_.strata(); ++z) {
            in_stratum_.clear();
            for (std::size_t c = cells_.stratum_begin[z]; c < cells_.stratum_begin[z + 1]; ++c) {
                in_cell_.clear();
                for (std::size_t k = cells_.rows_begin[c]; k < cells_.rows_begin[c + 1]; ++k) {
                    const std::uint16_t level = codes_[cells_.rows[k]];
                    if (counts_[level]++ == 0) {
                        in_cell_.push_back(level);
                    }
                }
                for (const std::uint16_t level : in_cell_) {
                    add_cell(sum, terms, counts_[level]);
                    if (margin_[level] == 0) {
                        in_stratum_.push_back(level);
                    }
                    margin_[level] += counts_[level];
                    counts_[level] = 0;
                }
            }
            for (const std::uint16_t level : in_stratum_) {
                add_stratum(sum, terms, margin_[level]);
                margin_[level] = 0;
            }
        }
        return sum;
    }

    const PackedTable& table_;
    const Cells& cells_;
    std::span<const std::uint64_t* const> masks_;
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint32_t> margin_;
    std::vector<std::uint16_t> codes_;
    std::vector<std::uint16_t> in_cell_;
    std::vector<std::uint16_t> in_stratum_;
};

}  // namespace

FamilyScore::FamilyScore(const PackedTable& table, ScoreKind kind, double ess)
    : table_(table), kind_(kind), ess_(ess), known_(std::make_unique<Known>()) {
    if (!dirichlet()) {
        log_ = &table.log_table();
        unit_ = log_->unit();
        return;
    }
    // A sum of terms stays below rows · ln(rows + the largest a), and below 2^60.
    const auto rows = static_cast<double>(table.rows());
    const double largest_a = kind == ScoreKind::bdeu ? ess : max_levels;
    shift_ = std::min(50, 59 - std::ilogb(rows * std::log(rows + largest_a + 2.0)));
    unit_ = std::ldexp(1.0, -shift_);
}

FamilyScore::Shape FamilyScore::shape(std::uint32_t child_levels, std::vector<std::uint32_t> parent_levels,
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
    Shape made;
    switch (kind_) {
        case ScoreKind::loglik: break;
        case ScoreKind::bic: made.penalty = penalty(0.5 * std::log(static_cast<double>(table_.rows()))); break;
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

double FamilyScore::score(const Shape& shape, const FamilySum& sum) const {
    double score = static_cast<double>(sum.value) * unit_;
    score += static_cast<double>(sum.cells - sum.strata) * shape.log_a;
    score -= static_cast<double>(sum.strata) * shape.log_levels;
    return score - shape.penalty;
}

std::shared_ptr<const GammaTable> FamilyScore::gamma_table(double a, std::size_t most) const {
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
    if (known_->bytes > most_bytes) {
        known_->tables.clear();
        known_->bytes = 0;
    }
    std::shared_ptr<const GammaTable>& place = known_->tables[a];
    known_->bytes += made->bytes() - (place ? place->bytes() : 0);
    place = made;
    return made;
}

void FamilyScore::additions(std::size_t child, std::span<const std::uint32_t> candidates,
                            std::span<const std::uint32_t> parents, std::size_t threads, CancellationToken& token,
                            double* out, Way way) const {
    if (candidates.empty()) {
        return;
    }
    Cells cells(table_, child, parents);
    const std::size_t rows = table_.rows();
    const CandidateKinds kinds(table_, candidates);
    const std::size_t most_cell = cells.count[cells.largest];
    const std::size_t most_stratum = *std::max_element(cells.stratum_count.begin(), cells.stratum_count.end());

    std::vector<const std::uint64_t*> masks;
    if (cells.size() <= most_masks && (cells.has_masks() || kinds.count >= 8 || way == Way::planes)) {
        cells.need_masks();
        for (std::size_t c = 0; c < cells.size(); ++c) {
            masks.push_back(cells.mask(c));
        }
    }

    // How a candidate is counted and what its terms are depends on its number of levels alone.
    struct Kind {
        Way way;
        double nanoseconds;
        Shape shape;
    };
    std::vector<Kind> made;
    std::vector<std::uint32_t> place(kinds.most_levels + 1, 0);  // by levels: place among those made, counted from 1
    std::vector<std::uint32_t> parent_levels;
    for (const std::uint32_t p : parents) {
        parent_levels.push_back(table_.levels(p));
    }
    parent_levels.push_back(0);  // the candidate's
    const auto lines = static_cast<double>(table_.plane_words() / line_words);
    for (const std::uint32_t x : candidates) {
        const std::uint32_t levels = table_.levels(x);
        if (place[levels] != 0) {
            continue;
        }
        const auto parts = static_cast<double>(cells.size() * levels);
        Way best = Way::sparse;
        double nanoseconds = 4.0 * static_cast<double>(rows);
        const auto consider = [&](Way other, double cost) {
            if (other == way || (best != way && cost < nanoseconds)) {
                best = other;
                nanoseconds = cost;
            }
        };
        if (cells.size() * levels <= 4 * rows + 65'536) {
            const double shared = cells.cell_of_row.empty() ? 3.0 / static_cast<double>(kinds.count) : 0.0;
            consider(Way::scatter, static_cast<double>(rows) * (1.0 + shared) + 1.2 * parts);
        }
        if (!masks.empty() && table_.has_planes(x)) {
            const double planes = (levels - 1.0) * static_cast<double>(cells.size() - 1);
            consider(Way::planes, planes * (lines * kernels().line_cost + 1.1) + 0.8 * parts);
        }
        if (best == Way::scatter) {
            cells.need_cell_of_row();
        } else if (best == Way::sparse) {
            cells.need_rows();
        }
        parent_levels.back() = levels;
        made.push_back({best, nanoseconds, shape(table_.levels(child), parent_levels, most_cell, most_stratum)});
        place[levels] = static_cast<std::uint32_t>(made.size());
    }
    const auto kind_of = [&](std::uint32_t x) -> const Kind& { return made[place[table_.levels(x)] - 1]; };

    // Enough candidates a piece that handing them out costs nothing.
    const double each = kind_of(candidates[candidates.size() / 2]).nanoseconds;
    const auto grain = static_cast<std::size_t>(std::clamp(50'000.0 / (each + 20.0), 1.0, 4096.0));
    std::vector<std::optional<AdditionCounter>> counters(std::max<std::size_t>(threads, 1));
    parallel_for(candidates.size(), grain, threads, token, [&](std::size_t first, std::size_t last, std::size_t w) {
        AdditionCounter& counter = counters[w] ? *counters[w] : counters[w].emplace(table_, cells, masks);
        for (std::size_t k = first; k < last; ++k) {
            const Kind& kind = kind_of(candidates[k]);
            const Shape& shape = kind.shape;
            const FamilySum sum = dirichlet() ? counter(candidates[k], kind.way, Dirichlet{*shape.cell, *shape.stratum})
                                              : counter(candidates[k], kind.way, Likelihood{*log_, *log_});
            out[k] = score(shape, sum);
        }
    });
}

void FamilyScore::families(std::size_t child, std::span<const std::vector<std::uint32_t>> parent_sets,
                           std::size_t threads, CancellationToken& token, double* out) const {
    parallel_for(parent_sets.size(), 1, threads, token, [&](std::size_t first, std::size_t last, std::size_t) {
        for (std::size_t k = first; k < last; ++k) {
            const Cells cells(table_, child, parent_sets[k]);
            std::vector<std::uint32_t> parent_levels;
            for (const std::uint32_t p : parent_sets[k]) {
                parent_levels.push_back(table_.levels(p));
            }
            const Shape made = shape(table_.levels(child), parent_levels, cells.count[cells.largest],
                                     *std::max_element(cells.stratum_count.begin(), cells.stratum_count.end()));
            const FamilySum sum = dirichlet() ? sum_of(cells, Dirichlet{*made.cell, *made.stratum})
                                              : sum_of(cells, Likelihood{*log_, *log_});
            out[k] = score(made, sum);
        }
    });
}

}  // namespace serape
