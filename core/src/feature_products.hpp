// Products of features of conditioning sets, kept with the table: sets that share members share them. They are what a
// pass over all rows would make again, with the same bits, so it makes no difference what is kept.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace serape {

// A feature, by what it is made of.
struct FeatureKey {
    std::uint32_t kind, a, b;  // as in Conditioning, but always columns
    std::int64_t cell = -1;    // of those into which some categories divide the rows; −1: in all

    auto operator<=>(const FeatureKey&) const = default;
};

class FeatureProducts {
  public:
    // Fills the products of all features with the last `some` of them, by feature, and the sums of these by cell, each
    // `padded` long; `divided_by`: the categories that make the cells. NaN is what is not known; the first of the sums.
    void find(std::span<const FeatureKey> features, std::size_t some, const std::vector<std::uint32_t>& divided_by,
              std::size_t padded, double* products, double* sums);
    // Keeps the products of the first `many` of some features with all of them, by feature, and the sums of all.
    void keep(std::span<const FeatureKey> features, std::size_t many, const std::vector<std::uint32_t>& divided_by,
              std::size_t padded, const double* products, const double* sums);
    void clear();

    static constexpr std::size_t max_features = 1024;
    static constexpr std::size_t max_sums = std::size_t{1} << 20;

  private:
    struct Place {
        std::size_t divided;  // whose cells the feature is in; 0: none
        FeatureKey feature;

        auto operator<=>(const Place&) const = default;
    };

    std::vector<std::size_t> places(std::span<const FeatureKey> features, const std::vector<std::uint32_t>& divided_by);
    std::size_t divided(const std::vector<std::uint32_t>& divided_by);
    void forget();

    std::mutex changing_;
    std::map<std::vector<std::uint32_t>, std::size_t> divisions_;     // numbered from 1 on
    std::map<Place, std::size_t> numbers_;                            // of features
    std::vector<double> products_;                                    // lower triangle, by row
    std::map<std::array<std::size_t, 2>, std::vector<double>> sums_;  // by division and feature
    std::size_t sums_kept_ = 0;
};

}  // namespace serape
