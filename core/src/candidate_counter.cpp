#include "serape/candidate_counter.hpp"

#include <algorithm>

#include "serape/kernels.hpp"

namespace serape {
namespace {

constexpr std::size_t near_words = 512;    // of a bitset: eight of them fit the first-level cache beside some masks
constexpr std::size_t block_words = 4096;  // the masks fit the second-level cache

}  // namespace

CandidateKinds::CandidateKinds(const PackedTable& table, std::span<const std::uint32_t> candidates)
    : count(candidates.size()) {
    for (const std::uint32_t x : candidates) {
        most_levels = std::max(most_levels, table.levels(x));
        all_have_planes = all_have_planes && table.has_planes(x);
    }
}

CountingPlan::CountingPlan(const PackedTable& table, const Statistic& statistic, Cells& cells,
                           std::uint32_t target_levels, const CandidateKinds& candidates, Way way)
    : table_(table), statistic_(statistic), cells_(cells), target_levels_(target_levels), forced_(way) {
    planes_possible_ = cells.size() <= most_masks && (cells.has_masks() || candidates.count >= 8 || way == Way::planes);
    if (planes_possible_) {
        cells.need_masks();
        masks_.reserve(cells.size());
        mask_cell_.reserve(cells.size());
        // One cell may be what the others leave of a level's rows; or strata that tell nothing are skipped.
        std::size_t varying = 0;
        for (std::size_t z = 0; z < cells.strata(); ++z) {
            const std::size_t in_stratum = cells.stratum_begin[z + 1] - cells.stratum_begin[z];
            varying += in_stratum > 1 ? in_stratum : 0;
        }
        by_rest_ = cells.complete && varying + 1 >= cells.size();
        for (std::size_t z = 0; z < cells.strata(); ++z) {
            const std::size_t begin = cells.stratum_begin[z];
            const std::size_t end = cells.stratum_begin[z + 1];
            for (std::size_t c = begin; c < end && (by_rest_ || end - begin > 1); ++c) {
                if (!by_rest_ || c != cells.largest) {
                    masks_.push_back(cells.mask(c));
                    mask_cell_.push_back(static_cast<std::uint32_t>(c));
                }
            }
        }
    }
    // Row by row only where bitsets will not do, or would cost more; lists of rows only where a table would be too
    // large.
    const std::uint32_t most_levels = candidates.most_levels;
    const bool all_planes = planes_possible_ && candidates.all_have_planes;
    const auto rows = static_cast<double>(table.rows());
    const double by_rows = rows * (1.0 + 3.0 / static_cast<double>(std::max<std::size_t>(candidates.count, 1)));
    if (cells.complete &&
        (!all_planes || planes_cost(most_levels) > by_rows || (way != Way::automatic && way != Way::planes))) {
        cells.need_cell_of_row();
        if (!dense(most_levels) || way == Way::sparse) {
            cells.need_rows();
        }
    }
    for (std::size_t z = 0; z < cells.strata(); ++z) {
        const std::size_t begin = cells.stratum_begin[z];
        constant_ +=
            statistic.constant(cells.count.data() + begin, cells.stratum_begin[z + 1] - begin, cells.stratum_count[z]);
    }
    if (statistic.kind() == StatisticKind::g2 && cells.complete &&
        (way == Way::ones || (candidates.count >= 64 && cells.size() > 64 && table.ones_are_few()))) {
        ones_ = &table.ones();
        cells.need_cell_of_row();
        stratum_of_cell_.resize(cells.size());
        for (std::size_t z = 0; z < cells.strata(); ++z) {
            std::fill(stratum_of_cell_.begin() + cells.stratum_begin[z],
                      stratum_of_cell_.begin() + cells.stratum_begin[z + 1], static_cast<std::uint32_t>(z));
        }
    }
    for (std::uint32_t levels = 1; levels <= plane_levels; ++levels) {
        by_levels_[levels] = choose_by_levels(levels);
    }
}

double CountingPlan::planes_cost(std::uint32_t levels) const {
    const auto lines = static_cast<double>(table_.plane_words() / line_words);
    const auto cells = static_cast<double>(masks_.size());
    return (levels - 1) * cells * (lines * kernels().line_cost + 1.1) + 0.4 * cells * levels;
}

bool CountingPlan::dense(std::uint32_t levels) const {
    return cells_.size() * levels <= 4 * table_.rows() + 65'536;
}

CountingPlan::Choice CountingPlan::choose(std::size_t candidate) const {
    const std::uint32_t levels = table_.levels(candidate);
    Choice best = levels <= plane_levels ? by_levels_[levels] : choose_by_levels(levels);
    if (ones_ != nullptr && levels == 2 && forced_ != best.way) {
        const double nanoseconds = 3.0 * table_.total(candidate, 1) + 10.0;
        if (forced_ == Way::ones || nanoseconds < best.nanoseconds) {
            best = {Way::ones, nanoseconds};
        }
    }
    return best;
}

CountingPlan::Choice CountingPlan::choose_by_levels(std::uint32_t levels) const {
    const auto rows = static_cast<double>(table_.rows());
    const auto cells = static_cast<double>(cells_.size());
    Choice best{Way::sparse, cells_.rows_begin.empty() ? 1e300 : 4.0 * rows};
    const auto consider = [&](Way way, double nanoseconds) {
        if (way == forced_ || (best.way != forced_ && nanoseconds < best.nanoseconds)) {
            best = {way, nanoseconds};
        }
    };
    if (planes_possible_ && levels <= plane_levels) {
        consider(Way::planes, planes_cost(levels));
    }
    if (!cells_.cell_of_row.empty() && dense(levels)) {
        consider(Way::scatter, rows + 1.2 * cells * levels);
    }
    return best;
}

Sum CandidateCounter::operator()(std::size_t candidate) {
    if (plan_->cells_.size() == plan_->cells_.strata() || plan_->table_.levels(candidate) < 2) {
        return {};  // the target varies in no stratum, or the candidate nowhere
    }
    switch (plan_->choose(candidate).way) {
        case Way::planes: return by_planes(candidate);
        case Way::scatter: return by_scatter(candidate);
        case Way::ones: return by_ones(candidate);
        default: return by_sparse(candidate);
    }
}

// Adds up the strata of counts_, in which level l >= 1 of cell c is at [c * stride + offset + l − 1].
Sum CandidateCounter::add_strata(std::uint32_t levels, std::size_t stride, std::size_t offset) {
    const Cells& cells = plan_->cells_;
    const double scale = plan_->statistic_.scale(levels, plan_->target_levels_);
    Sum sum{plan_->constant_, 0};
    plan_->statistic_.add_all(sum, counts_.data() + offset, stride, cells.count.data(), cells.stratum_begin,
                              cells.stratum_count, levels, scale);
    return sum;
}

Sum CandidateCounter::by_planes(std::size_t candidate) {
    const PackedTable& table = plan_->table_;
    const std::size_t masks = plan_->masks_.size();
    const std::uint32_t planes = table.levels(candidate) - 1;
    masked_.resize(std::max(masked_.size(), masks * planes));
    for (std::uint32_t level = 1; level <= planes; ++level) {
        kernels().and_popcounts(table.plane(candidate, level), plan_->masks_.data(), masks, table.plane_words(),
                                masked_.data() + (level - 1) * masks);
    }
    return add_planes(candidate, masked_.data());
}

// Adds up what a candidate's planes have in the masks: of level l, mask k, masked[(l − 1) * masks + k].
Sum CandidateCounter::add_planes(std::size_t candidate, const std::uint32_t* masked) {
    const PackedTable& table = plan_->table_;
    const Cells& cells = plan_->cells_;
    const std::size_t masks = plan_->masks_.size();
    const std::uint32_t planes = table.levels(candidate) - 1;
    counts_.resize(std::max(counts_.size(), cells.size() * planes));
    for (std::uint32_t level = 1; level <= planes; ++level, masked += masks) {
        std::uint32_t rest = table.total(candidate, level);
        for (std::size_t k = 0; k < masks; ++k) {
            counts_[plan_->mask_cell_[k] * planes + level - 1] = masked[k];
            rest -= masked[k];
        }
        if (plan_->by_rest_) {
            counts_[cells.largest * planes + level - 1] = rest;
        }
    }
    return add_strata(planes + 1, planes, 0);
}

bool CountingPlan::together(const CandidateKinds& candidates) const {
    return forced_ == Way::automatic && table_.plane_words() >= 2 * near_words && candidates.all_have_planes &&
           by_levels_[candidates.most_levels].way == Way::planes && cells_.size() > cells_.strata();
}

// A few rows of eight planes are counted with every mask while they are near; planes come from memory once, masks once
// for every block.
void CandidateCounter::operator()(std::span<const std::uint32_t> candidates, Sum* sums) {
    const PackedTable& table = plan_->table_;
    const std::size_t masks = plan_->masks_.size();
    std::vector<const std::uint64_t*> planes;
    for (const std::uint32_t candidate : candidates) {
        for (std::uint32_t level = 1; level < table.levels(candidate); ++level) {
            planes.push_back(table.plane(candidate, level));
        }
    }
    masked_.assign(std::max(masked_.size(), planes.size() * masks), 0);
    for (std::size_t block = 0; block < table.plane_words(); block += block_words) {
        const std::size_t end = std::min(block + block_words, table.plane_words());
        for (std::size_t first = 0; first < planes.size(); first += 8) {
            const std::size_t count = std::min<std::size_t>(8, planes.size() - first);
            for (std::size_t begin = block; begin < end; begin += near_words) {
                const std::uint64_t* here[8];
                for (std::size_t k = 0; k < count; ++k) {
                    here[k] = planes[first + k] + begin;
                }
                for (std::size_t mask = 0; mask < masks; ++mask) {
                    std::uint32_t found[8];
                    kernels().and_popcounts(plan_->masks_[mask] + begin, here, count, std::min(near_words, end - begin),
                                            found);
                    for (std::size_t k = 0; k < count; ++k) {
                        masked_[(first + k) * masks + mask] += found[k];
                    }
                }
            }
        }
    }
    const std::uint32_t* masked = masked_.data();
    for (std::size_t k = 0; k < candidates.size(); ++k) {
        sums[k] = table.levels(candidates[k]) < 2 ? Sum{} : add_planes(candidates[k], masked);
        masked += (table.levels(candidates[k]) - 1) * masks;
    }
}

Sum CandidateCounter::by_scatter(std::size_t candidate) {
    const Cells& cells = plan_->cells_;
    const std::uint32_t levels = plan_->table_.levels(candidate);
    counts_.assign(std::max(counts_.size(), cells.size() * levels), 0);
    codes_.resize(plan_->table_.rows());
    plan_->table_.unpack(candidate, codes_);
    for (std::size_t i = 0; i < codes_.size(); ++i) {
        ++counts_[static_cast<std::size_t>(cells.cell_of_row[i]) * levels + codes_[i]];
    }
    return add_strata(levels, levels, 1);
}

Sum CandidateCounter::by_sparse(std::size_t candidate) {
    const Cells& cells = plan_->cells_;
    const Statistic& statistic = plan_->statistic_;
    const LogTable& log = statistic.log();
    const std::uint32_t levels = plan_->table_.levels(candidate);
    const double scale = statistic.scale(levels, plan_->target_levels_);
    codes_.resize(plan_->table_.rows());
    plan_->table_.unpack(candidate, codes_);
    counts_.assign(std::max<std::size_t>(counts_.size(), levels), 0);
    margin_.assign(std::max<std::size_t>(margin_.size(), levels), 0);
    Sum sum;
    for (std::size_t z = 0; z < cells.strata(); ++z) {
        const std::size_t begin = cells.stratum_begin[z];
        const std::size_t end = cells.stratum_begin[z + 1];
        const std::uint32_t n = cells.stratum_count[z];
        if (end - begin < 2) {
            continue;
        }
        const auto rows_of = [&](std::size_t cell) {
            return std::span<const std::uint32_t>(cells.rows).subspan(cells.rows_begin[cell], cells.count[cell]);
        };
        touched_.clear();  // levels met in the stratum
        for (std::size_t c = begin; c < end; ++c) {
            for (const std::uint32_t row : rows_of(c)) {
                if (margin_[codes_[row]]++ == 0) {
                    touched_.push_back(codes_[row]);
                }
            }
        }
        if (touched_.size() >= 2) {
            sum.dof += static_cast<std::int64_t>(touched_.size() - 1) * static_cast<std::int64_t>(end - begin - 1);
            const bool g2 = statistic.kind() == StatisticKind::g2;
            std::uint64_t covered = 0;
            sum.value += g2 ? log(n) : 0;
            for (std::size_t c = begin; c < end; ++c) {
                touched_more_.clear();  // levels met in the cell
                for (const std::uint32_t row : rows_of(c)) {
                    if (counts_[codes_[row]]++ == 0) {
                        touched_more_.push_back(codes_[row]);
                    }
                }
                sum.value -= g2 ? log(cells.count[c]) : 0;
                for (const std::uint32_t x : touched_more_) {
                    if (g2) {
                        sum.value += log(counts_[x]);
                    } else {
                        sum.value += Statistic::x2_cell(counts_[x], margin_[x], cells.count[c], n, scale);
                        covered += std::uint64_t{margin_[x]} * cells.count[c];
                    }
                    counts_[x] = 0;
                }
            }
            if (!g2) {
                sum.value += Statistic::x2_empty(covered, n, scale);
            }
            for (const std::uint32_t x : touched_) {
                sum.value -= g2 ? log(margin_[x]) : 0;
            }
        }
        for (const std::uint32_t x : touched_) {
            margin_[x] = 0;
        }
    }
    return sum;
}

// With a ones of a cell of n rows, f(a) + f(n−a) − f(n) is nought unless a > 0: only cells and strata that are met
// add to the sum.
Sum CandidateCounter::by_ones(std::size_t candidate) {
    const Cells& cells = plan_->cells_;
    const LogTable& log = plan_->statistic_.log();
    cell_ones_.resize(cells.size(), 0);  // both are left all nought
    stratum_ones_.resize(cells.strata(), 0);
    touched_.clear();
    touched_more_.clear();
    const Ones& ones = *plan_->ones_;
    for (std::size_t k = ones.start[candidate]; k < ones.start[candidate + 1]; ++k) {
        const std::uint32_t cell = cells.cell_of_row[ones.rows[k]];
        if (cell_ones_[cell]++ == 0) {
            touched_.push_back(cell);
        }
    }
    Sum sum;
    for (const std::uint32_t cell : touched_) {
        const std::uint32_t a = cell_ones_[cell];
        cell_ones_[cell] = 0;
        sum.value += log(a) + log(cells.count[cell] - a) - log(cells.count[cell]);
        const std::uint32_t z = plan_->stratum_of_cell_[cell];
        if (stratum_ones_[z] == 0) {
            touched_more_.push_back(z);
        }
        stratum_ones_[z] += a;
    }
    for (const std::uint32_t z : touched_more_) {
        const std::uint32_t a = stratum_ones_[z];
        stratum_ones_[z] = 0;
        const std::uint32_t n = cells.stratum_count[z];
        sum.value -= log(a) + log(n - a) - log(n);
        if (a < n) {
            sum.dof += cells.stratum_begin[z + 1] - cells.stratum_begin[z] - 1;
        }
    }
    return sum;
}

}  // namespace serape
