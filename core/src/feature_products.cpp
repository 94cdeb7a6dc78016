#include "feature_products.hpp"

#include <algorithm>
#include <limits>

namespace serape {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::size_t place_of(std::size_t i, std::size_t j) {
    return i < j ? j * (j + 1) / 2 + i : i * (i + 1) / 2 + j;
}

}  // namespace

void FeatureProducts::find(std::span<const FeatureKey> features, std::size_t some,
                           const std::vector<std::uint32_t>& divided_by, std::size_t padded, double* products,
                           double* sums) {
    if (features.size() > max_features) {
        std::fill_n(products, features.size() * some, unknown);
        for (std::size_t k = 0; k < some; ++k) {
            sums[k * padded] = unknown;
        }
        return;
    }
    const std::lock_guard lock(changing_);
    const std::vector<std::size_t> place = places(features, divided_by);
    const std::size_t first = features.size() - some, division = divided(divided_by);
    for (std::size_t k = 0; k < some; ++k) {
        for (std::size_t i = 0; i < features.size(); ++i) {
            products[i * some + k] = products_[place_of(place[i], place[first + k])];
        }
        const auto known = sums_.find({division, place[first + k]});
        if (known == sums_.end()) {
            sums[k * padded] = unknown;
        } else {
            std::copy_n(known->second.begin(), padded, sums + k * padded);
        }
    }
}

void FeatureProducts::keep(std::span<const FeatureKey> features, std::size_t many,
                           const std::vector<std::uint32_t>& divided_by, std::size_t padded, const double* products,
                           const double* sums) {
    if (features.size() > max_features) {
        return;
    }
    const std::lock_guard lock(changing_);
    std::vector<std::size_t> place = places(features, divided_by);
    std::size_t division = divided(divided_by);
    const auto has_sums = [&](std::size_t k) { return sums_.contains({division, place[k]}); };
    std::size_t more = 0;
    for (std::size_t k = 0; k < features.size(); ++k) {
        more += has_sums(k) ? 0 : padded;
    }
    if (more <= max_sums && sums_kept_ + more > max_sums) {
        forget();
        place = places(features, divided_by);
        division = divided(divided_by);
    }
    for (std::size_t k = 0; k < features.size(); ++k) {
        for (std::size_t i = 0; i < many; ++i) {
            products_[place_of(place[i], place[k])] = products[i * features.size() + k];
        }
        if (more <= max_sums && !has_sums(k)) {
            sums_.try_emplace({division, place[k]}, sums + k * padded, sums + (k + 1) * padded);
            sums_kept_ += padded;
        }
    }
}

void FeatureProducts::clear() {
    const std::lock_guard lock(changing_);
    forget();
}

void FeatureProducts::forget() {
    divisions_.clear();
    numbers_.clear();
    products_.clear();
    sums_.clear();
    sums_kept_ = 0;
}

std::size_t FeatureProducts::divided(const std::vector<std::uint32_t>& divided_by) {
    return divisions_.try_emplace(divided_by, divisions_.size() + 1).first->second;
}

// The numbers of features; where there is no room for all, nothing else stays.
std::vector<std::size_t> FeatureProducts::places(std::span<const FeatureKey> features,
                                                 const std::vector<std::uint32_t>& divided_by) {
    const auto numbered = [&] {
        std::vector<std::size_t> found;
        const std::size_t division = divided(divided_by);
        for (const FeatureKey& feature : features) {
            found.push_back(
                numbers_.try_emplace({feature.cell >= 0 ? division : 0, feature}, numbers_.size()).first->second);
        }
        return found;
    };
    std::vector<std::size_t> found = numbered();
    if (numbers_.size() > max_features) {
        forget();
        found = numbered();
    }
    products_.resize(std::max(products_.size(), numbers_.size() * (numbers_.size() + 1) / 2), unknown);
    return found;
}

}  // namespace serape
