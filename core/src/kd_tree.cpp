#include "serape/kd_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace serape {

namespace {

constexpr double same = 1e-9;  // means that differ less, in units of the column, are equally near

struct Spread {
    std::uint32_t width;
    double deviation;
    std::size_t variable;
};

class Builder {
  public:
    Builder(KdTree& out, const std::vector<const std::uint32_t*>& ranks, const std::vector<const double*>& values,
            std::size_t min_rows)
        : out_(out), ranks_(ranks), values_(values), min_rows_(min_rows), spreads_(ranks.size()) {}

    void build(std::size_t begin, std::size_t end, std::uint32_t stratum) {
        const auto rows = out_.rows.begin();
        const std::size_t middle = split(begin, end);
        if (middle == begin) {
            std::sort(rows + static_cast<std::ptrdiff_t>(begin), rows + static_cast<std::ptrdiff_t>(end));
            out_.begin.push_back(static_cast<std::uint32_t>(end));
            out_.stratum.push_back(stratum);
            return;
        }
        build(begin, middle, stratum);
        build(middle, end, stratum);
    }

  private:
    // Where the second half begins once rows are reordered; `begin` if they are not to be halved.
    std::size_t split(std::size_t begin, std::size_t end) {
        if (end - begin < 2 * min_rows_) {
            return begin;
        }
        for (std::size_t k = 0; k < ranks_.size(); ++k) {
            std::uint32_t low = ~0U, high = 0;
            double deviation = 0.0;
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint32_t rank = ranks_[k][out_.rows[i]];
                low = std::min(low, rank);
                high = std::max(high, rank);
                deviation += std::fabs(values_[k][out_.rows[i]]);
            }
            spreads_[k] = {high - low, deviation, k};
        }
        std::stable_sort(spreads_.begin(), spreads_.end(), [](const Spread& a, const Spread& b) {
            return a.width > b.width || (a.width == b.width && a.deviation > b.deviation);
        });
        for (const Spread& spread : spreads_) {
            const std::size_t middle = spread.width > 0 ? halved(begin, end, spread.variable) : begin;
            if (middle != begin) {
                return middle;
            }
        }
        return begin;
    }

    std::size_t halved(std::size_t begin, std::size_t end, std::size_t variable) {
        const std::uint32_t* const rank = ranks_[variable];
        const double* const value = values_[variable];
        const auto first = out_.rows.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = out_.rows.begin() + static_cast<std::ptrdiff_t>(end);
        const auto half = first + (last - first) / 2;
        std::nth_element(first, half, last, [&](std::uint32_t a, std::uint32_t b) { return rank[a] < rank[b]; });
        const std::uint32_t median = rank[*half];
        const auto below = std::partition(first, last, [&](std::uint32_t row) { return rank[row] < median; });
        const auto up_to = std::partition(below, last, [&](std::uint32_t row) { return rank[row] == median; });
        // The rows at the median go to the smaller half; of equal ones, to that whose mean is nearer.
        auto best = below - first > last - up_to ? below : up_to;
        if (below - first == last - up_to && below != first) {
            const auto mean = [&](auto from, auto to) {
                double sum = 0.0;
                std::for_each(from, to, [&](std::uint32_t row) { sum += value[row]; });
                return sum / static_cast<double>(to - from);
            };
            const double nearer = mean(first, below) + mean(up_to, last) - 2.0 * value[*below];
            if (std::fabs(nearer) <= same) {
                return begin;
            }
            best = nearer < 0.0 ? below : up_to;
        }
        const auto enough = static_cast<std::ptrdiff_t>(min_rows_);
        return std::min(best - first, last - best) < enough ? begin : begin + static_cast<std::size_t>(best - first);
    }

    KdTree& out_;
    const std::vector<const std::uint32_t*>& ranks_;
    const std::vector<const double*>& values_;
    std::size_t min_rows_;
    std::vector<Spread> spreads_;
};

}  // namespace

KdTree build_kd_tree(std::vector<std::uint32_t> rows, std::span<const std::uint32_t> starts,
                     const std::vector<const std::uint32_t*>& ranks, const std::vector<const double*>& values,
                     std::size_t min_rows) {
    KdTree out;
    out.rows = std::move(rows);
    out.begin.push_back(0);
    Builder builder(out, ranks, values, min_rows);
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
        builder.build(starts[s], starts[s + 1], static_cast<std::uint32_t>(s));
    }
    return out;
}

std::vector<std::uint32_t> ranks_of(std::span<const double> values) {
    std::vector<std::uint32_t> order(values.size()), out(values.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
    for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
        while (last < order.size() && values[order[last]] == values[order[first]]) {
            ++last;
        }
        for (std::size_t i = first; i < last; ++i) {
            out[order[i]] = static_cast<std::uint32_t>(first + last - 1);
        }
    }
    return out;
}

}  // namespace serape
