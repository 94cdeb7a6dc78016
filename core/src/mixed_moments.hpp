// Divisions of the rows by categorical columns, and the moments of continuous ones in their cells.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "serape/cell_moments.hpp"
#include "serape/mixed_test.hpp"

namespace serape {

// Four sums side by side, as one would wait for itself.
template <class Term>
inline double sum(std::size_t begin, std::size_t end, Term term) {
    double sums[4] = {};
    std::size_t i = begin;
    for (; i + 4 <= end; i += 4) {
        for (std::size_t k = 0; k < 4; ++k) {
            sums[k] += term(i + k);
        }
    }
    for (; i < end; ++i) {
        sums[0] += term(i);
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// The rows divided by some categorical columns into the cells that occur, and what is known of the cells.
struct MixedTest::Division {
    std::vector<std::uint32_t> cell_of_row;
    std::vector<std::uint32_t> order;  // rows, cell by cell; empty for one cell
    std::vector<std::uint32_t> begin;  // in `order`, one more than cells
    std::map<std::uint32_t, std::vector<double>> means;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> scatters;
    std::map<Columns, KdTree> trees;  // by continuous columns
    std::size_t bytes = 0;
    std::uint64_t used = 0;

    std::size_t size() const { return begin.size() - 1; }
    double rows(std::size_t cell) const { return begin[cell + 1] - begin[cell]; }
    std::uint32_t row(std::size_t place) const {
        return order.empty() ? static_cast<std::uint32_t>(place) : order[place];
    }
    std::uint32_t cell_in(const Division& coarser, std::size_t cell) const {
        return coarser.cell_of_row[row(begin[cell])];
    }

    std::vector<double> mean_of(const std::vector<double>& v) const {
        std::vector<double> out(size());
        for (std::size_t c = 0; c < size(); ++c) {
            out[c] = sum(begin[c], begin[c + 1], [&](std::size_t i) { return v[row(i)]; }) / rows(c);
        }
        return out;
    }
    std::vector<double> scatter_of(const std::vector<double>& v, const std::vector<double>& mean_v,
                                   const std::vector<double>& w, const std::vector<double>& mean_w) const {
        std::vector<double> out(size());
        for (std::size_t c = 0; c < size(); ++c) {
            out[c] = sum(begin[c], begin[c + 1],
                         [&](std::size_t i) { return (v[row(i)] - mean_v[c]) * (w[row(i)] - mean_w[c]); });
        }
        return out;
    }
};

struct MixedTest::Question {
    std::uint32_t x, y;
    Columns numbers, categories;  // the given ones, ascending
    bool remember;
};

// The moments of some variables in the cells of a division.
class MixedTest::Moments {
  public:
    // If x is not to be remembered, its moments are kept here, which are otherwise kept with the division.
    Moments(const MixedTest& test, std::shared_ptr<Division> division, const Columns& variables,
            const Question& question)
        : division_(std::move(division)) {
        for (const std::uint32_t v : variables) {
            const bool kept = question.remember || v != question.x;
            auto [at, fresh] = (kept ? division_->means : own_.means).try_emplace(v);
            if (fresh) {
                at->second = division_->mean_of(test.values_[v]);
                note(kept, at->second.size());
            }
            means_.push_back(&at->second);
        }
        for (std::size_t j = 0; j < variables.size(); ++j) {
            for (std::size_t k = 0; k < variables.size(); ++k) {
                if (k < j) {
                    scatters_.push_back(nullptr);
                    continue;
                }
                const std::uint32_t v = variables[j], w = variables[k];
                const bool kept = question.remember || (v != question.x && w != question.x);
                auto [at, fresh] = (kept ? division_->scatters : own_.scatters).try_emplace(std::minmax(v, w));
                if (fresh) {
                    at->second = division_->scatter_of(test.values_[v], *means_[j], test.values_[w], *means_[k]);
                    note(kept, at->second.size());
                }
                scatters_.push_back(&at->second);
            }
        }
        for (std::size_t j = 0; j < variables.size(); ++j) {
            taken_.push_back(j);
        }
    }

    const Division& division() const { return *division_; }
    std::size_t size() const { return taken_.size(); }
    const std::vector<std::size_t>& taken() const { return taken_; }  // of the variables, places

    void load(std::size_t cell, Cell& out) const {
        out.rows = division_->rows(cell);
        for (std::size_t j = 0; j < size(); ++j) {
            out.mean[j] = (*means_[taken_[j]])[cell];
            for (std::size_t k = j; k < size(); ++k) {
                out.scatter(j, k) = (*scatters_[taken_[j] * means_.size() + taken_[k]])[cell];
            }
            out.whole[j] = out.left(j);
        }
    }

    // KdTree out those of the first variables that others before determine in all cells; returns how many are left.
    std::size_t leave_out_determined(std::size_t first) {
        Cell cell(size());
        bool fine = true;
        for (std::size_t c = 0; fine && c < division_->size(); ++c) {
            load(c, cell);
            fine = cell.take_out_first(first);
        }
        if (fine) {
            return first;
        }
        Cell pooled(first);
        std::vector<double> least(first);
        for (std::size_t c = 0; c < division_->size(); ++c) {
            load(c, cell);
            for (std::size_t j = 0; j < first; ++j) {
                least[j] += cell.rounding(j);
                for (std::size_t k = j; k < first; ++k) {
                    pooled.scatter(j, k) += cell.scatter(j, k);
                }
            }
        }
        for (std::size_t j = 0; j < first; ++j) {
            pooled.whole[j] = pooled.left(j);
        }
        std::vector<std::size_t> taken;
        for (std::size_t j = 0; j < first; ++j) {
            if (pooled.left(j) > std::max(Cell::singular * pooled.whole[j], least[j])) {
                taken.push_back(j);
                pooled.take_out(j);
            }
        }
        const std::size_t left = taken.size();
        for (std::size_t j = first; j < size(); ++j) {
            taken.push_back(j);
        }
        taken_ = std::move(taken);
        return left;
    }

    // The cells that are kept, merged into coarser ones.
    std::vector<Cell> merged(const std::vector<std::uint8_t>& keep, const std::vector<std::uint32_t>& to,
                             std::size_t count) const {
        std::vector<Cell> out(count, Cell(size()));
        Cell cell(size());
        for (std::size_t c = 0; c < keep.size(); ++c) {
            if (keep[c]) {
                load(c, cell);
                out[to[c]].rows += cell.rows;
                for (std::size_t j = 0; j < size(); ++j) {
                    out[to[c]].mean[j] += cell.rows * cell.mean[j];
                }
            }
        }
        for (Cell& whole : out) {
            for (double& mean : whole.mean) {
                mean /= std::max(whole.rows, 1.0);
            }
        }
        for (std::size_t c = 0; c < keep.size(); ++c) {
            if (keep[c]) {
                load(c, cell);
                out[to[c]].add_scatter(cell);
            }
        }
        return out;
    }

  private:
    void note(bool kept, std::size_t values) {
        if (kept) {
            division_->bytes += values * sizeof(double) + 64;
        }
    }

    std::shared_ptr<Division> division_;
    Division own_;
    std::vector<const std::vector<double>*> means_;
    std::vector<const std::vector<double>*> scatters_;
    std::vector<std::size_t> taken_;
};

}  // namespace serape
