// Which statistics are significant, without computing a p-value for each.
#pragma once

#include <vector>

namespace serape {

class CriticalValues {  // not to be shared by threads
  public:
    explicit CriticalValues(double log_alpha) : log_alpha_(log_alpha) {}

    // Whether chi_square_log_sf(statistic, dof) > log_alpha: the same answer as by computing it.
    bool log_p_above(double statistic, double dof);

  private:
    struct Bracket {
        double below = -1.0;  // a statistic up to this has log p above, one from `above` on has not
        double above = -1.0;
    };
    static Bracket find(double log_alpha, double dof);

    double log_alpha_;
};

}  // namespace serape
