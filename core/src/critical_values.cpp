#include "serape/critical_values.hpp"

#include <cmath>
#include <cstddef>

#include "serape/chi_square.hpp"

namespace serape {
namespace {

constexpr std::size_t most_kept = 4096;  // degrees of freedom

}  // namespace

CriticalValues::Bracket CriticalValues::look_up(double dof) {
    // Brackets outlive a call: searches are short and many, and ask at the same level.
    thread_local double level = 1.0;
    thread_local std::vector<Bracket> brackets;
    if (level != log_alpha_) {
        level = log_alpha_;
        brackets.assign(most_kept, {});
    }
    const auto place = static_cast<std::size_t>(dof);
    if (place >= most_kept || static_cast<double>(place) != dof || !(log_alpha_ < 0.0)) {
        return {};
    }
    Bracket& bracket = brackets[place];
    if (bracket.below < 0.0) {
        bracket = find(log_alpha_, dof);
    }
    if (place < few) {
        near_[place] = bracket;
    }
    return bracket;
}

bool CriticalValues::decide(double statistic, double dof) {
    const Bracket bracket = look_up(dof);
    if (statistic <= bracket.below) {
        return true;
    }
    if (statistic >= bracket.above) {
        return false;
    }
    return chi_square_log_sf(statistic, dof) > log_alpha_;
}

CriticalValues::Bracket CriticalValues::find(double log_alpha, double dof) {
    double low = 0.0;
    double high = dof + 10.0;
    while (chi_square_log_sf(high, dof) > log_alpha) {
        low = high;
        high *= 2.0;
    }
    while (high - low > 1e-7 * high) {  // what lies between is computed
        const double middle = 0.5 * (low + high);
        (chi_square_log_sf(middle, dof) > log_alpha ? low : high) = middle;
    }
    const double margin = 1e-9 * high;  // log p is good to 1e-11, so it cannot be on the wrong side out there
    return {low - margin, high + margin};
}

std::int64_t critical_sum(const Statistic& statistic, std::uint32_t rows, double dof, double log_alpha) {
    CriticalValues critical(log_alpha);
    std::int64_t low = 0, high = statistic.log()(rows) + 1;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (critical.log_p_above(statistic.value(middle, 1.0), dof)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

}  // namespace serape
