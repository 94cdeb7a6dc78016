#include "serape/correlations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "serape/kernels.hpp"

namespace serape {
namespace {

constexpr std::size_t tile_columns = 16;  // columns that stay in the second cache while all others pass by
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Correlations::Correlations(const double* data, std::size_t stride, std::size_t columns)
    : data_(data), stride_(stride), columns_(columns) {
    if (columns <= most_columns) {
        rows_ = std::make_unique<std::atomic<Entry*>[]>(columns);
        complete_ = std::make_unique<std::atomic<bool>[]>(columns);
    }
}

Correlations::~Correlations() {
    for (std::size_t k = 0; kept() && k < columns_; ++k) {
        delete[] row_at(k);
    }
}

double Correlations::operator()(std::size_t a, std::size_t b) const {
    for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
        const Entry* const row = kept() ? row_at(one) : nullptr;
        const double known = row != nullptr ? row[other].load(std::memory_order_relaxed) : unknown;
        if (!std::isnan(known)) {
            return known;
        }
    }
    double value = 0.0;
    const double* const other = column(b);
    kernels().dots(column(a), &other, 1, stride_, &value);
    if (kept()) {
        allocated(a)[b].store(value, std::memory_order_relaxed);
    }
    return value;
}

Correlations::Entry* Correlations::allocated(std::size_t column) const {
    Entry* row = row_at(column);
    if (row != nullptr) {
        return row;
    }
    auto fresh = std::make_unique<Entry[]>(columns_);
    for (std::size_t k = 0; k < columns_; ++k) {
        fresh[k].store(unknown, std::memory_order_relaxed);
    }
    if (rows_[column].compare_exchange_strong(row, fresh.get(), std::memory_order_acq_rel)) {
        return fresh.release();
    }
    return row;  // another thread was first
}

void Correlations::make_rows(std::span<const std::uint32_t> wanted, std::size_t threads,
                             CancellationToken& token) const {
    if (!kept()) {
        return;
    }
    std::vector<std::uint32_t> fresh;
    const auto add = [&](std::uint32_t column) {
        if (!complete_[column].load(std::memory_order_acquire)) {
            fresh.push_back(column);
        }
    };
    std::for_each(wanted.begin(), wanted.end(), add);
    if (fresh.empty()) {
        return;
    }
    std::sort(fresh.begin(), fresh.end());
    fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
    if (made_.fetch_add(fresh.size()) + fresh.size() > columns_ / 4) {  // all others are worth making, too
        fresh.clear();
        for (std::uint32_t k = 0; k < columns_; ++k) {
            add(k);
        }
    }
    for (std::size_t begin = 0; begin < fresh.size(); begin += tile_columns) {
        make_tile(std::span(fresh).subspan(begin, std::min(tile_columns, fresh.size() - begin)), threads, token);
    }
}

void Correlations::make_tile(std::span<const std::uint32_t> tile, std::size_t threads, CancellationToken& token) const {
    std::array<const double*, tile_columns> vectors{};
    std::array<Entry*, tile_columns> rows{};
    for (std::size_t k = 0; k < tile.size(); ++k) {
        vectors[k] = column(tile[k]);
        rows[k] = allocated(tile[k]);
    }
    const auto keep = [&](std::size_t other, const std::array<double, tile_columns>& products) {
        for (std::size_t k = 0; k < tile.size(); ++k) {
            rows[k][other].store(products[k], std::memory_order_relaxed);
        }
    };
    std::vector<std::uint32_t> others;  // with which they have no row in common
    std::array<double, tile_columns> known{};
    for (std::uint32_t other = 0; other < columns_; ++other) {
        if (const Row row = this->row(other)) {
            for (std::size_t k = 0; k < tile.size(); ++k) {
                known[k] = row[tile[k]].load(std::memory_order_relaxed);
            }
            keep(other, known);
        } else {
            others.push_back(other);
        }
    }
    const std::size_t pairs = (others.size() + 1) / 2;
    const std::size_t grain = std::max<std::size_t>(100'000 / (stride_ * tile.size() + 1), 1);
    parallel_for(pairs, grain, threads, token, [&](std::size_t first, std::size_t last, std::size_t) {
        std::array<double, tile_columns> one{};
        std::array<double, tile_columns> two{};
        for (std::size_t k = 2 * first; k < 2 * last; k += 2) {
            const std::uint32_t next = others[std::min(k + 1, others.size() - 1)];  // the last may stand alone
            kernels().dots_of_two(column(others[k]), column(next), vectors.data(), tile.size(), stride_, one.data(),
                                  two.data());
            keep(others[k], one);
            keep(next, two);
        }
    });
    for (const std::uint32_t column : tile) {
        complete_[column].store(true, std::memory_order_release);
    }
}

}  // namespace serape
