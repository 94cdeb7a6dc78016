#include "spread.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "columns_algebra.hpp"
#include "residuals.hpp"

namespace serape {
namespace {

void add_product(const LineVector<double>& a, const LineVector<double>& b, LineVector<double>& sum) {
    for (std::size_t r = 0; r < sum.size(); ++r) {
        sum[r] += a[r] * b[r];
    }
}

double moment(const TakenOut& taken, const LineVector<double>& a, const LineVector<double>& b) {
    double sum = 0.0;
    for (std::size_t r = 0; r < a.size(); ++r) {
        sum += a[r] * b[r] * taken.root_weights()[r] * taken.root_weights()[r];
    }
    return taken.rows_left() * sum;
}

}  // namespace

TakenOut::TakenOut(const ResidualTest& test, const Conditioning& given, const std::vector<LineVector<double>>& curves)
    : test_(test),
      given_(given),
      curves_(curves),
      rows_left_(given.rows_left() - static_cast<double>(curves.size())),
      root_weights_(given.root_weights(), given.root_weights() + test.stride()) {
    for (std::size_t r = 0; r < test.rows() && !curves.empty(); ++r) {
        double& root = root_weights_[r];
        double left = root > 0.0 ? 1.0 / (root * root) : 0.0;
        for (const LineVector<double>& curve : curves) {
            left -= curve[r] * curve[r];
        }
        root = left > 1e-9 ? 1.0 / std::sqrt(left) : 0.0;
    }
}

void TakenOut::explain(std::vector<LineVector<double>>& products) const {
    std::vector<LineVector<double>> left;
    std::vector<double*> pointers;
    for (LineVector<double>& product : products) {
        for (std::size_t r = 0; r < test_.rows(); ++r) {
            product[r] *= root_weights_[r] / test_.root_of_copy(r);
        }
        test_.centre(left.emplace_back(product).data());
    }
    for (LineVector<double>& column : left) {
        pointers.push_back(column.data());
    }
    given_.take_out(pointers);
    for (std::size_t k = 0; k < products.size(); ++k) {
        take_block_out(curves_, left[k]);
        for (std::size_t r = 0; r < test_.rows(); ++r) {
            products[k][r] = (products[k][r] - left[k][r]) * test_.root_of_copy(r);
        }
    }
}

Spread::Spread(const ResidualTest& test, const TakenOut& taken, const ResidualColumns& columns)
    : width_(columns.block.size()), shared_(width_ > test.limits().max_spreads) {
    LineVector<double> lengths(test.stride(), 0.0);
    for (const LineVector<double>& column : columns.block) {
        add_product(column, column, lengths);
    }
    LineVector<double> of_both(lengths);
    std::vector<const LineVector<double>*> all;
    for (const LineVector<double>& column : columns.block) {
        all.push_back(&column);
    }
    if (!columns.square.empty()) {
        add_product(columns.square, columns.square, of_both);
        all.push_back(&columns.square);
    }
    block = moment(taken, lengths, lengths);
    across = moment(taken, of_both, lengths);
    both = moment(taken, of_both, of_both);
    if (taken.nothing()) {
        return;
    }
    std::vector<LineVector<double>> products;
    if (shared_) {
        scale(products.emplace_back(lengths), 1.0 / static_cast<double>(width_));
    }
    for (std::size_t i = shared_ ? width_ : 0; i < all.size(); ++i) {
        for (std::size_t j = shared_ ? width_ : 0; j <= i; ++j) {
            add_product(*all[i], *all[j], products.emplace_back(test.stride(), 0.0));
        }
    }
    explain(test, taken, std::move(lengths), std::move(products));
}

Spread::Spread(const ResidualTest& test, const TakenOut& taken, std::span<const std::uint16_t> level, std::size_t count)
    : width_(count), shared_(true) {
    std::vector<double> rows(count + 1, 0.0);
    for (std::size_t r = 0; r < level.size(); ++r) {
        rows[level[r]] += test.root_weight(r) * test.root_weight(r);
    }
    LineVector<double> lengths(test.stride(), 0.0);
    for (std::size_t r = 0; r < level.size(); ++r) {
        const double weight = test.root_weight(r) * test.root_weight(r);
        lengths[r] = weight * (1.0 / rows[level[r]] - 1.0 / test.effective_rows());
    }
    block = across = both = moment(taken, lengths, lengths);
    if (!taken.nothing()) {
        std::vector<LineVector<double>> products(1, lengths);
        scale(products[0], 1.0 / static_cast<double>(count));
        explain(test, taken, std::move(lengths), std::move(products));
    }
}

void Spread::explain(const ResidualTest& test, const TakenOut& taken, LineVector<double> lengths,
                     std::vector<LineVector<double>> products) {
    for (std::size_t r = 0; r < test.rows(); ++r) {
        lengths[r] *= lengths[r] * taken.root_weights()[r] / std::sqrt(test.copies(r));
    }
    products.push_back(std::move(lengths));
    taken.explain(products);
    fourths_ = std::move(products.back());
    products.pop_back();
    fitted_ = std::move(products);
    squares_.assign(test.stride(), 0.0);
    for (std::size_t i = 0; i < width_; ++i) {
        const LineVector<double>& own = *product(i, i);
        for (std::size_t r = 0; r < test.rows(); ++r) {
            squares_[r] += own[r];
        }
    }
}

double Spread::inflation(const Spread& other, const TakenOut& taken) const {
    const double pairs = static_cast<double>(width_ * other.width_);
    return taken.nothing() ? 1.0 : std::max(taken.rows_left() * dot(squares_, other.squares_) / pairs, 1.0);
}

double Spread::concentration(const Spread& other, const TakenOut& taken) const {
    if (taken.nothing()) {
        return 1.0;
    }
    const double fourths = std::pow(taken.rows_left(), 3) * dot(fourths_, other.fourths_) / (block * other.block);
    return std::max(fourths, 0.0) / std::pow(inflation(other, taken), 2);
}

double Spread::excess_variance(const Spread& other, const TakenOut& taken) const {
    return excess(block, width_, width_) * excess(other.block, other.width_, other.width_) *
           concentration(other, taken);
}

const LineVector<double>* Spread::product(std::size_t i, std::size_t j) const {
    if (!shared_) {
        return &fitted_[i < j ? j * (j + 1) / 2 + i : i * (i + 1) / 2 + j];
    }
    return i != j ? nullptr : &fitted_[i < width_ ? 0 : 1];
}

}  // namespace serape
