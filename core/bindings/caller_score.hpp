// A score that the caller wrote in Python.
#pragma once

#include <nanobind/nanobind.h>

#include "serape/network_score.hpp"

namespace serape {

// Asks the methods of a serape.Score, which answer in any way they like.
class CallerScore : public NetworkScore {
  public:
    CallerScore(nanobind::object score, std::size_t variables) : score_(std::move(score)), variables_(variables) {}

    std::size_t columns() const override { return variables_; }
    bool for_one_thread() const override { return true; }
    void additions_of_many(std::span<const AdditionQuery> queries, std::size_t threads, CancellationToken& token,
                           double* out) const override;
    void families(std::uint32_t child, std::span<const std::vector<std::uint32_t>> parent_sets, std::size_t threads,
                  CancellationToken& token, double* out) const override;
    double family(std::uint32_t child, std::span<const std::uint32_t> parents, CancellationToken& token) const override;
    double raising(const AdditionQuery& query, double least, std::size_t threads, CancellationToken& token,
                   std::vector<Addition>& out) const override;

  private:
    nanobind::object score_;
    std::size_t variables_;
};

}  // namespace serape
