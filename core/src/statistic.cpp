#include "serape/statistic.hpp"

#include <algorithm>
#include <cmath>

namespace serape {
namespace {

// The largest power of two by which `bound` can be multiplied and stay below 2^61.
int shift_for(long double bound) {
    int exponent = 0;
    std::frexp(std::max(bound, 1.0L), &exponent);
    return 61 - exponent;
}

}  // namespace

double Statistic::scale(std::uint32_t x_levels, std::uint32_t t_levels) const {
    if (kind_ == StatisticKind::g2) {
        return 1.0;
    }
    const auto fewer = static_cast<long double>(std::min(x_levels, t_levels));
    return std::ldexp(1.0, std::min(45, shift_for(static_cast<long double>(rows_) * fewer)));
}

void Statistic::add(Sum& sum, const DenseCounts& dense, const Cells& cells, double scale) const {
    if (kind_ == StatisticKind::x2) {
        for_each_stratum(dense, cells, 2,
                         [&](const Stratum<std::uint32_t>& stratum) { add_x2(sum, stratum, dense.levels, scale); });
    } else if (log_.covers(rows_)) {  // no count is larger than the number of rows: mostly all are in the table
        add_terms(sum, dense, cells, 2, LogTerms<std::int64_t>{log_.data()});
    } else {
        add_terms(sum, dense, cells, 2, LogTerms<LogTable>{&log_});
    }
}

void Statistic::add(Sum& sum, const SparseStratum& stratum, double scale) const {
    const std::size_t cells = stratum.sizes.size();
    if (cells < 2) {
        return;
    }
    if (kind_ == StatisticKind::g2) {
        add_terms(sum, stratum, LogTerms<LogTable>{&log_});
        return;
    }
    if (stratum.met.size() < 2) {
        return;
    }
    std::uint64_t covered = 0;
    for (std::size_t c = 0, k = 0; c < cells; ++c) {
        for (; k < stratum.ends[c]; ++k) {
            const auto [level, n] = stratum.counts[k];
            sum.value += x2_cell(n, stratum.margin[level], stratum.sizes[c], stratum.rows, scale);
            covered += std::uint64_t{stratum.margin[level]} * stratum.sizes[c];
        }
    }
    sum.value += x2_empty(covered, stratum.rows, scale);
    sum.dof += static_cast<std::int64_t>((stratum.met.size() - 1) * (cells - 1));
}

StatisticFunctional::StatisticFunctional(const Statistic& statistic, const Cells& cells, std::uint32_t target_levels)
    : statistic_(statistic), target_levels_(target_levels) {
    for (std::size_t z = 0; z < cells.strata(); ++z) {
        const std::size_t begin = cells.stratum_begin[z];
        constant_ +=
            statistic.constant(cells.count.data() + begin, cells.stratum_begin[z + 1] - begin, cells.stratum_count[z]);
    }
}

std::int64_t Statistic::x2_cell(std::uint32_t n_xt, std::uint32_t n_x, std::uint32_t n_t, std::uint32_t n,
                                double scale) {
    const std::int64_t difference = static_cast<std::int64_t>(n_xt) * n - static_cast<std::int64_t>(n_x) * n_t;
    const auto d = static_cast<double>(difference);
    const double margins = static_cast<double>(n_x) * static_cast<double>(n_t);  // the same either way round
    return std::llrint(d / (margins * static_cast<double>(n)) * d * scale);
}

std::int64_t Statistic::x2_empty(std::uint64_t covered, std::uint32_t n, double scale) {
    const std::uint64_t uncovered = std::uint64_t{n} * n - covered;
    return std::llrint(static_cast<double>(uncovered) / static_cast<double>(n) * scale);
}

}  // namespace serape
