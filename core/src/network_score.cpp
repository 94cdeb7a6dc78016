#include "serape/network_score.hpp"

#include <algorithm>
#include <iterator>

namespace serape {

std::vector<std::uint32_t> without(std::span<const std::uint32_t> set, std::uint32_t member) {
    std::vector<std::uint32_t> others;
    std::remove_copy(set.begin(), set.end(), std::back_inserter(others), member);
    return others;
}

void NetworkScore::verify(std::span<const std::uint32_t>) const {}

double NetworkScore::family(std::uint32_t child, std::span<const std::uint32_t> parents,
                            CancellationToken& token) const {
    const std::vector<std::uint32_t> set(parents.begin(), parents.end());
    double score = 0.0;
    families(child, {&set, 1}, 1, token, &score);
    return score;
}

void NetworkScore::removals(std::uint32_t child, std::span<const std::uint32_t> parents, CancellationToken& token,
                            double* out) const {
    std::vector<std::vector<std::uint32_t>> sets;
    for (const std::uint32_t x : parents) {
        sets.push_back(without(parents, x));
    }
    families(child, sets, 1, token, out);
}

double NetworkScore::raising(const AdditionQuery& query, double least, std::size_t threads, CancellationToken& token,
                             std::vector<Addition>& out) const {
    const double own = family(query.child, query.parents, token);
    std::vector<double> scores(query.candidates.size());
    additions_of_many({&query, 1}, threads, token, scores.data());
    for (std::size_t k = 0; k < scores.size(); ++k) {
        if (scores[k] > own + least) {
            out.push_back({query.candidates[k], scores[k]});
        }
    }
    return own;
}

}  // namespace serape
