#include "serape/counting/plan.hpp"

#include <algorithm>
#include <cmath>

namespace serape {
namespace {

using Strategy = CountingStrategy;

// Estimated nanoseconds of counting so many panels.
double panels_cost(const Shape& shape, const Costs& costs, double panels) {
    const auto rows = static_cast<double>(shape.rows);
    const auto read = static_cast<double>(shape.rows - std::max(shape.idle, shape.largest));
    const bool cached = rows * line_bytes * panels <= costs.cached_bytes;
    const double row = costs.kernel.row + (cached ? 0.0 : costs.memory_row);
    return panels * (read * row + static_cast<double>(shape.cells) * costs.kernel.digit) +
           costs.panel_listing_row * rows;
}

}  // namespace

double expected_cost(const ExpectedTests& expected, const Costs& costs) {
    const double by_row = expected.tests * costs.scatter_row +
                          expected.divisions * (costs.division_row + costs.division_code * expected.divided_by);
    const double line = std::max(costs.tall_line, costs.kernel.line);
    const double by_planes =
        expected.cells / line_bits *
        (expected.tests * (expected.levels - 1.0) * line + expected.divisions * costs.tall_line_made);
    const bool planes =
        !expected.distinct_rows && expected.cells <= static_cast<double>(costs.masks_for(expected.rows));
    return static_cast<double>(expected.rows) * (planes ? std::min(by_planes, by_row) : by_row);
}

double distinct_cost(std::size_t rows, std::size_t bits, const Costs& costs) {
    return static_cast<double>(rows) *
           (costs.distinct_row + costs.distinct_word * std::ceil(static_cast<double>(bits) / 64.0));
}

Plan choose(const Shape& shape, const Costs& costs, Strategy wanted) {
    Plan plan;
    const auto rows = static_cast<double>(shape.rows);
    const auto cells = static_cast<double>(shape.cells);
    const auto candidates = static_cast<double>(std::max<std::size_t>(shape.candidates, 1));
    const bool statistic = shape.functional == FunctionalKind::g2 || shape.functional == FunctionalKind::x2;
    const bool may_skip = skips_single_cells(shape.functional);

    // Planes. Strata that add nothing are skipped; or the largest cell is what the others leave of a level's rows.
    const bool planes =
        !shape.distinct_rows && shape.cells <= costs.masks_for(shape.rows) &&
        (shape.has_masks || shape.candidates >= costs.min_candidates_for_masks || wanted == Strategy::planes);
    const double mask = std::ceil(rows / line_bits) * costs.kernel.line + costs.mask;
    plan.skips = may_skip && shape.varying + 1 < shape.cells;
    plan.by_rest = shape.complete && !plan.skips && costs.rest + costs.rest_cell * cells < mask;
    const double read = plan.skips ? static_cast<double>(shape.varying) : cells - (plan.by_rest ? 1.0 : 0.0);
    const double term = shape.functional == FunctionalKind::g2   ? costs.g2_term
                        : shape.functional == FunctionalKind::x2 ? costs.x2_term
                                                                 : costs.score_term;
    const auto planes_cost = [&](double levels) { return (levels - 1.0) * read * mask + term * cells * levels; };

    // Row by row: a dense table, or what is met. The first needs the cell of each row, the second the rows of each
    // cell.
    plan.scatter_start = rows * (costs.scatter_row + (shape.has_cell_of_row ? 0.0 : costs.listing_row / candidates));
    plan.scatter_level = (costs.scatter_term + term) * cells;
    plan.sparse = rows * (costs.sparse_row + (shape.has_rows ? 0.0 : costs.listing_row / candidates));
    if (wanted != Strategy::sparse) {
        const double entries = static_cast<double>(costs.dense_entries_per_row * shape.rows + costs.dense_entries);
        const double cheaper =
            wanted == Strategy::scatter ? entries : (plan.sparse - plan.scatter_start) / plan.scatter_level;
        plan.scatter_levels = static_cast<std::uint32_t>(std::clamp(std::min(entries / cells, cheaper), 0.0, 1e9));
    }
    const auto row_by_row = [&](std::uint32_t levels) {
        return levels <= plan.scatter_levels
                   ? Plan::Choice{Strategy::scatter, plan.scatter_start + plan.scatter_level * levels}
                   : Plan::Choice{Strategy::sparse, plan.sparse};
    };
    const bool forced_rows = wanted == Strategy::scatter || wanted == Strategy::sparse;
    for (std::uint32_t levels = 1; levels <= plane_levels + 1; ++levels) {
        if ((shape.levels_present >> levels & 1) == 0) {
            continue;
        }
        if (levels > plane_levels) {
            plan.cell_of_row = true;
            plan.rows_by_cell = plan.rows_by_cell || shape.max_levels > plan.scatter_levels;
            continue;
        }
        Plan::Choice& best = plan.by_levels[levels];
        if (shape.complete) {
            best = row_by_row(levels);
        }
        if (planes && !(forced_rows && shape.complete)) {
            const double cost = planes_cost(levels);
            if (wanted == Strategy::planes || cost < best.nanoseconds) {
                best = {Strategy::planes, cost};
            }
        }
        plan.masks = plan.masks || best.strategy == Strategy::planes;
        plan.cell_of_row = plan.cell_of_row || best.strategy == Strategy::scatter;
        plan.rows_by_cell = plan.rows_by_cell || best.strategy == Strategy::sparse;
    }

    plan.together = wanted == Strategy::automatic && shape.rows > (2 * costs.near_words - 8) * 64 &&
                    shape.varying > 0 && plan.masks && !plan.cell_of_row && !plan.rows_by_cell;

    const bool separable =
        !shape.distinct_rows && shape.functional != FunctionalKind::x2 && shape.functional != FunctionalKind::record;
    if (separable && shape.complete && !plan.together && (shape.levels_present >> 2 & 1) != 0) {
        if (wanted == Strategy::ones) {
            plan.ones = true;
            plan.ones_below = std::numeric_limits<double>::infinity();
        } else if (wanted == Strategy::automatic && shape.ones_are_few &&
                   shape.candidates >= costs.min_candidates_for_ones && shape.cells > costs.min_cells_for_ones) {
            plan.ones = true;
            plan.ones_below = (plan.by_levels[2].nanoseconds - costs.ones_start) / costs.one;
        }
        plan.cell_of_row = plan.cell_of_row || plan.ones;
    }

    // Panels, if the sample would cost more one by one.
    std::uint32_t sampled = 0;
    double bits = 0.0, of_sample = 0.0;
    for (std::uint32_t levels = 1; levels <= plane_levels; ++levels) {
        sampled += shape.sample[levels];
        bits += shape.sample[levels] * (levels - 1.0);
        of_sample += shape.sample[levels] > 0 ? shape.sample[levels] * plan.by_levels[levels].nanoseconds : 0.0;
    }
    if (statistic && !shape.distinct_rows && shape.ascending && sampled > 0) {
        const double per_candidate = 1.0 / sampled;
        const double touched =
            std::min(static_cast<double>(shape.span) * bits * per_candidate / line_bits + 1.0, candidates);
        plan.one_by_one = of_sample * candidates * per_candidate;
        // Counts of panels are added up as quickly as those of planes.
        plan.by_panels = panels_cost(shape, costs, std::floor(touched)) +
                         (term - costs.g2_term) * cells * (bits + sampled) * per_candidate * candidates;
        plan.panels = wanted == Strategy::panels ||
                      (wanted == Strategy::automatic && shape.candidates >= costs.min_candidates_for_panels &&
                       plan.by_panels < plan.one_by_one);
    }
    return plan;
}

std::size_t candidates_per_piece(double nanoseconds, const Costs& costs) {
    const auto most = static_cast<double>(costs.max_candidates_per_piece);
    return static_cast<std::size_t>(std::clamp(costs.piece / (nanoseconds + costs.candidate), 1.0, most));
}

bool pairs_pay(const PairShape& shape, const Costs& costs) {
    const std::size_t bytes = shape.pool * (shape.rows / 8 + shape.cells * sizeof(std::uint32_t));
    return shape.planes && shape.complete && shape.pool >= costs.min_pairs && shape.xs >= costs.min_pairs &&
           shape.rows <= max_rows_in_16_bits && shape.cells * (shape.max_levels - 1) <= costs.max_pair_lists &&
           bytes <= costs.max_pair_bytes;
}

bool joint_pays(const JointShape& shape, const Costs& costs) {
    const auto rows = static_cast<double>(shape.rows);
    const double levels = shape.levels;
    const double all = shape.cells * levels;
    const double joint = rows * costs.joint_row + all * costs.joint_cell + costs.joint_start;
    const double cells = std::min(shape.cells, rows);
    const bool planes = cells <= static_cast<double>(costs.masks_for(shape.rows)) && shape.levels <= plane_levels;
    const double mask = std::ceil(rows / line_bits) * costs.kernel.line + costs.mask;
    const double make = costs.cells_start + (planes ? cells * mask : 0.0) +
                        (planes && shape.all_have_planes ? 0.0 : rows * costs.listing_row);
    const double count = planes ? cells * ((levels - 1.0) * mask + costs.g2_term * levels)
                                : rows * costs.scatter_row + (costs.scatter_term + costs.g2_term) * cells * levels;
    const double uses = shape.one_by_one ? costs.joint_uses_one_by_one : costs.joint_uses;
    return joint / uses + costs.joint_look_up <= make / shape.sharing + count;
}

}  // namespace serape
