// The correlations of a table's columns, each computed once.
//
// Columns are centred and of length 1, so that a correlation is a product of two. One kernel computes all of them: a
// correlation has the same bits however it was asked for. The matrix is made pair by pair and row by row, as far as it
// is asked for; once a share of its rows has been made one after another, the others are made together, which is many
// times cheaper for each. Of more than `most_columns` nothing is kept.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "serape/parallel.hpp"

namespace serape {

class Correlations {
  public:
    using Row = const std::atomic<double>*;
    static constexpr std::size_t most_columns = 4096;  // 128 MiB

    Correlations(const double* data, std::size_t stride, std::size_t columns);
    ~Correlations();
    Correlations(const Correlations&) = delete;
    Correlations& operator=(const Correlations&) = delete;

    bool kept() const { return rows_ != nullptr; }
    // Of two different columns.
    double operator()(std::size_t a, std::size_t b) const;
    // The correlations of a column with all others, if they have been made; null otherwise.
    Row row(std::size_t column) const {
        return kept() && complete_[column].load(std::memory_order_acquire) ? row_at(column) : nullptr;
    }
    // The same as plain numbers; nothing is written to them any more.
    const double* values(std::size_t column) const {
        static_assert(sizeof(std::atomic<double>) == sizeof(double) && std::atomic<double>::is_always_lock_free);
        return reinterpret_cast<const double*>(row(column));
    }
    // Makes the rows of some columns, if they can be kept.
    void make_rows(std::span<const std::uint32_t> wanted, std::size_t threads, CancellationToken& token) const;

  private:
    using Entry = std::atomic<double>;  // NaN where it is not known

    const double* column(std::size_t k) const { return data_ + k * stride_; }
    Entry* row_at(std::size_t column) const { return rows_[column].load(std::memory_order_acquire); }
    Entry* allocated(std::size_t column) const;
    void make_tile(std::span<const std::uint32_t> tile, std::size_t threads, CancellationToken& token) const;

    const double* data_;
    std::size_t stride_;
    std::size_t columns_;
    std::unique_ptr<std::atomic<Entry*>[]> rows_;
    std::unique_ptr<std::atomic<bool>[]> complete_;
    mutable std::atomic<std::size_t> made_{0};
};

}  // namespace serape
