#include "serape/cmh_test.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "serape/cell_moments.hpp"

namespace serape {

namespace {

// The sums over the leaves of a stratum: by pair of levels, how many more rows there are than expected, and the
// covariance of these numbers. The last level of each variable follows from the others and is omitted.
class Stratum {
  public:
    Stratum(std::size_t levels_x, std::size_t levels_y) : index_x(levels_x), index_y(levels_y) {}

    std::vector<std::uint32_t> index_x, index_y;  // by level that occurs
    // The indices of the last levels.
    std::size_t last_x() const { return last_x_; }
    std::size_t last_y() const { return last_y_; }
    std::size_t size() const { return last_x_ * last_y_; }
    bool possible() const { return size() > 0 && size() <= most_pairs; }
    double& excess(std::size_t pair) { return excess_[pair]; }
    double* covariance(std::size_t pair) { return covariance_.data() + pair * size(); }

    void start(std::span<const std::uint32_t> rows, const std::vector<std::uint16_t>& x,
               const std::vector<std::uint16_t>& y) {
        last_x_ = number(rows, x, index_x);
        last_y_ = number(rows, y, index_y);
        if (possible()) {
            excess_.assign(size(), 0.0);
            covariance_.assign(size() * size(), 0.0);
        }
    }

    // The excess by its covariance, and the rank of that: pairs that others determine add nothing.
    std::pair<double, double> solve() {
        const std::size_t n = size();
        double statistic = 0.0, dof = 0.0;
        std::vector<double> whole(n);
        for (std::size_t j = 0; j < n; ++j) {
            whole[j] = covariance(j)[j];
        }
        for (std::size_t j = 0; j < n; ++j) {
            const double* row = covariance(j);
            if (!(row[j] > 1e-9 * whole[j])) {
                continue;
            }
            statistic += excess_[j] * excess_[j] / row[j];
            dof += 1.0;
            for (std::size_t k = j + 1; k < n; ++k) {
                const double slope = row[k] / row[j];
                if (slope != 0.0) {
                    excess_[k] -= slope * excess_[j];
                    double* other = covariance(k);
                    for (std::size_t m = k; m < n; ++m) {
                        other[m] -= slope * row[m];
                    }
                }
            }
        }
        return {statistic, dof};
    }

  private:
    // Numbers the levels that occur; returns how many there are but the last.
    static std::size_t number(std::span<const std::uint32_t> rows, const std::vector<std::uint16_t>& codes,
                              std::vector<std::uint32_t>& place) {
        std::fill(place.begin(), place.end(), 0U);
        for (const std::uint32_t row : rows) {
            place[codes[row]] = 1;
        }
        std::uint32_t levels = 0;
        for (std::uint32_t& at : place) {
            at = at ? levels++ : 0;
        }
        return levels - 1;
    }

    std::size_t last_x_ = 0, last_y_ = 0;
    std::vector<double> excess_, covariance_;  // the upper half of the latter
};

// One categorical variable in a leaf: its levels there and the residuals of their regressions on the continuous
// variables.
struct LeafSide {
    LeafSide(std::size_t numbers, std::size_t levels) : place(levels, absent), sums_(numbers * levels) {}

    std::vector<std::uint32_t> levels;  // that occur
    std::vector<double> rows;
    std::vector<std::uint32_t> place;
    std::vector<double> left;  // scatter of the indicators of the levels

    double* sums(std::size_t at, std::size_t numbers) { return sums_.data() + at * numbers; }

    bool take(std::span<const std::uint32_t> members, const std::vector<std::uint16_t>& codes) {
        for (const std::uint32_t level : levels) {
            place[level] = absent;
        }
        levels.clear();
        rows.clear();
        for (const std::uint32_t row : members) {
            std::uint32_t& at = place[codes[row]];
            if (at == absent) {
                at = static_cast<std::uint32_t>(levels.size());
                levels.push_back(codes[row]);
                rows.push_back(0.0);
            }
            rows[at] += 1.0;
        }
        return levels.size() > 1;
    }

  private:
    static constexpr std::uint32_t absent = ~0U;
    std::vector<double> sums_;
};

// Two categorical variables in a leaf, the continuous ones regressed out.
class Leaf {
  public:
    Leaf(std::size_t numbers, std::size_t levels_x, std::size_t levels_y)
        : numbers_(numbers), cell_(numbers), x_(numbers, levels_x), y_(numbers, levels_y) {}

    // False if the leaf is uninformative.
    bool take(std::span<const std::uint32_t> members, const std::vector<const double*>& values,
              const std::vector<std::uint16_t>& x, const std::vector<std::uint16_t>& y) {
        if (!x_.take(members, x) || !y_.take(members, y)) {
            return false;
        }
        cell_.clear();
        cell_.rows = static_cast<double>(members.size());
        counts_.assign(x_.levels.size() * y_.levels.size(), 0.0);
        for (const std::uint32_t row : members) {
            counts_[x_.place[x[row]] * y_.levels.size() + y_.place[y[row]]] += 1.0;
        }
        for (std::size_t j = 0; j < numbers_; ++j) {
            double total = 0.0;
            for (const std::uint32_t row : members) {
                total += values[j][row];
            }
            cell_.mean[j] = total / cell_.rows;
        }
        std::fill_n(x_.sums(0, numbers_), x_.levels.size() * numbers_, 0.0);
        std::fill_n(y_.sums(0, numbers_), y_.levels.size() * numbers_, 0.0);
        for (const std::uint32_t row : members) {
            double* sums_x = x_.sums(x_.place[x[row]], numbers_);
            double* sums_y = y_.sums(y_.place[y[row]], numbers_);
            for (std::size_t j = 0; j < numbers_; ++j) {
                const double apart = values[j][row] - cell_.mean[j];
                sums_x[j] += apart;
                sums_y[j] += apart;
                for (std::size_t k = j; k < numbers_; ++k) {
                    cell_.scatter(j, k) += apart * (values[k][row] - cell_.mean[k]);
                }
            }
        }
        for (std::size_t j = 0; j < numbers_; ++j) {
            cell_.whole[j] = cell_.left(j);
        }
        return regress();
    }

    void add_to(Stratum& stratum) {
        const std::vector<Kept> xs = kept(x_, stratum.index_x, stratum.last_x());
        const std::vector<Kept> ys = kept(y_, stratum.index_y, stratum.last_y());
        const std::size_t a = x_.levels.size(), b = y_.levels.size();
        for (std::size_t i = 0; i < xs.size(); ++i) {
            for (const Kept& y : ys) {
                stratum.excess(xs[i].place * stratum.last_y() + y.place) +=
                    counts_[xs[i].at * b + y.at] - x_.rows[xs[i].at] * y_.rows[y.at] / cell_.rows -
                    dot(x_.sums(xs[i].at, numbers_), y_.sums(y.at, numbers_));
            }
            for (std::size_t k = i; k < xs.size(); ++k) {
                const double left_x = x_.left[xs[i].at * a + xs[k].at] / dof_;
                for (std::size_t j = 0; j < ys.size(); ++j) {
                    const double* left_y = y_.left.data() + ys[j].at * b;
                    double* row = stratum.covariance(xs[i].place * stratum.last_y() + ys[j].place) +
                                  xs[k].place * stratum.last_y();
                    for (std::size_t m = k == i ? j : 0; m < ys.size(); ++m) {
                        row[ys[m].place] += left_x * left_y[ys[m].at];
                    }
                }
            }
        }
    }

  private:
    struct Kept {
        std::uint32_t place;  // in the stratum
        std::uint32_t at;     // in the leaf
    };
    // The levels in the leaf but the last of the stratum, in the stratum's order.
    static std::vector<Kept> kept(const LeafSide& side, const std::vector<std::uint32_t>& place, std::size_t last) {
        std::vector<Kept> out;
        for (std::uint32_t at = 0; at < side.levels.size(); ++at) {
            if (place[side.levels[at]] < last) {
                out.push_back({place[side.levels[at]], at});
            }
        }
        std::sort(out.begin(), out.end(), [](const Kept& one, const Kept& other) { return one.place < other.place; });
        return out;
    }

    // Takes the continuous variables out; those that others determine add nothing.
    bool regress() {
        dof_ = cell_.rows - 1.0;
        for (std::size_t j = 0; j < numbers_; ++j) {
            if (!cell_.varies(j)) {
                for (LeafSide* side : {&x_, &y_}) {
                    for (std::size_t i = 0; i < side->levels.size(); ++i) {
                        side->sums(i, numbers_)[j] = 0.0;
                    }
                }
                continue;
            }
            dof_ -= 1.0;
            const double root = std::sqrt(cell_.left(j));
            for (LeafSide* side : {&x_, &y_}) {
                for (std::size_t i = 0; i < side->levels.size(); ++i) {
                    double* sums = side->sums(i, numbers_);
                    for (std::size_t k = j + 1; k < numbers_; ++k) {
                        sums[k] -= cell_.scatter(j, k) / cell_.left(j) * sums[j];
                    }
                    sums[j] /= root;
                }
            }
            cell_.take_out(j);
        }
        for (LeafSide* side : {&x_, &y_}) {
            const std::size_t n = side->levels.size();
            side->left.resize(n * n);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t k = 0; k < n; ++k) {
                    const double shared = dot(side->sums(i, numbers_), side->sums(k, numbers_));
                    side->left[i * n + k] =
                        (i == k ? side->rows[i] : 0.0) - side->rows[i] * side->rows[k] / cell_.rows - shared;
                }
            }
        }
        return dof_ >= 1.0;
    }

    double dot(const double* a, const double* b) const {
        double total = 0.0;
        for (std::size_t j = 0; j < numbers_; ++j) {
            total += a[j] * b[j];
        }
        return total;
    }

    std::size_t numbers_;
    Cell cell_;
    LeafSide x_, y_;
    std::vector<double> counts_;
    double dof_ = 0.0;
};

}  // namespace

CmhResult cmh_test(const KdTree& tree, const std::vector<const double*>& values, const Codes& x, const Codes& y) {
    CmhResult out;
    Stratum stratum(x.levels, y.levels);
    Leaf leaf(values.size(), x.levels, y.levels);
    for (std::size_t begin = 0, end = 0; begin < tree.size(); begin = end) {
        for (end = begin; end < tree.size() && tree.stratum[end] == tree.stratum[begin]; ++end) {
        }
        const std::size_t rows = tree.begin[end] - tree.begin[begin];
        stratum.start(std::span(tree.rows).subspan(tree.begin[begin], rows), x.of_row, y.of_row);
        if (!stratum.possible()) {
            continue;
        }
        for (std::size_t k = begin; k < end; ++k) {
            if (leaf.take(tree.leaf(k), values, x.of_row, y.of_row)) {
                leaf.add_to(stratum);
            }
        }
        const auto [statistic, dof] = stratum.solve();
        if (dof > 0) {
            out.statistic += statistic;
            out.dof += dof;
            out.rows += rows;
        }
    }
    return out;
}

}  // namespace serape
