// Which statistics are significant, without computing a p-value for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "serape/statistic.hpp"

namespace serape {

class CriticalValues {  // not to be shared by threads
  public:
    explicit CriticalValues(double log_alpha) : log_alpha_(log_alpha) {}

    // Whether chi_square_log_sf(statistic, dof) > log_alpha: the same answer as by computing it.
    bool log_p_above(double statistic, double dof) {
        const auto place = static_cast<std::size_t>(dof);
        if (place < few && static_cast<double>(place) == dof) {
            if (statistic <= near_[place].below) {
                return true;
            }
            if (statistic >= near_[place].above) {
                return false;
            }
        }
        return decide(statistic, dof);
    }

    // A statistic from which on log p is not above, for few degrees of freedom, and one up to which it is; infinity and
    // −1 if none is known.
    double surely_not_above(std::size_t dof) { return dof < few ? near(dof).above : Bracket{}.above; }
    double surely_above(std::size_t dof) { return near(dof).below; }

  private:
    struct Bracket {
        double below = -1.0;  // a statistic up to this has log p above, one from `above` on has not
        double above = std::numeric_limits<double>::infinity();
    };
    static Bracket find(double log_alpha, double dof);
    Bracket near(std::size_t dof) {
        if (dof == 0) {
            return {};
        }
        return dof < few && near_[dof].below >= 0.0 ? near_[dof] : look_up(static_cast<double>(dof));
    }
    Bracket look_up(double dof);
    bool decide(double statistic, double dof);

    static constexpr std::size_t few = 16;
    double log_alpha_;
    Bracket near_[few];  // by degrees of freedom, once looked up
};

// The smallest sum of G² with so many degrees of freedom whose log p is at most `log_alpha`; one more than any sum can
// be if there is none.
std::int64_t critical_sum(const Statistic& statistic, std::uint32_t rows, double dof, double log_alpha);

}  // namespace serape
