// Moments of continuous variables in a cell.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace serape {

// Rows, means and scatter (sums of products about the mean; the upper half) of variables in a cell.
class Cell {
  public:
    // A variable is determined by others if they leave a smaller part of its variance.
    static constexpr double singular = 1e-10;
    // A standard deviation in a cell that is nothing but rounding.
    static constexpr double constant = 1e-12;

    explicit Cell(std::size_t size) : mean(size), whole(size), size_(size), scatter_(size * size) {}

    double rows = 0.0;
    std::vector<double> mean;
    std::vector<double> whole;  // the scatter of each variable, before anything is taken out

    std::size_t size() const { return size_; }
    double& scatter(std::size_t j, std::size_t k) { return scatter_[j * size_ + k]; }
    double left(std::size_t j) const { return scatter_[j * size_ + j]; }
    double rounding(std::size_t j) const { return rows * constant * constant * std::max(1.0, mean[j] * mean[j]); }
    // Whether enough is left of a variable to tell it from one that others determine.
    bool varies(std::size_t j) const { return left(j) > std::max(singular * whole[j], rounding(j)); }

    // Takes out of the variables after j what j tells about them.
    void take_out(std::size_t j) {
        for (std::size_t k = j + 1; k < size_; ++k) {
            const double slope = scatter(j, k) / left(j);
            for (std::size_t m = k; m < size_; ++m) {
                scatter(k, m) -= slope * scatter(j, m);
            }
        }
    }
    // Takes out the first variables, one after another. False if one of them is determined by those before.
    bool take_out_first(std::size_t count) {
        for (std::size_t j = 0; j < count; ++j) {
            if (!varies(j)) {
                return false;
            }
            take_out(j);
        }
        return true;
    }

    void clear() {
        rows = 0.0;
        std::fill(mean.begin(), mean.end(), 0.0);
        std::fill(scatter_.begin(), scatter_.end(), 0.0);
    }
    // Adds another cell's rows, given the mean of all rows.
    void add_scatter(Cell& other) {
        for (std::size_t j = 0; j < size_; ++j) {
            const double apart = other.rows * (other.mean[j] - mean[j]);
            for (std::size_t k = j; k < size_; ++k) {
                scatter(j, k) += other.scatter(j, k) + apart * (other.mean[k] - mean[k]);
            }
        }
    }

  private:
    std::size_t size_;
    std::vector<double> scatter_;
};

}  // namespace serape
