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

PermutedScore::PermutedScore(const NetworkScore& score, std::vector<std::uint32_t> order)
    : score_(score), order_(std::move(order)), place_(order_.size()) {
    for (std::uint32_t k = 0; k < order_.size(); ++k) {
        place_[order_[k]] = k;
    }
}

std::vector<std::uint32_t> PermutedScore::permuted(std::span<const std::uint32_t> columns) const {
    std::vector<std::uint32_t> found;
    found.reserve(columns.size());
    for (const std::uint32_t x : columns) {
        found.push_back(order_[x]);
    }
    return found;
}

void PermutedScore::additions_of_many(std::span<const AdditionQuery> queries, std::size_t threads,
                                      CancellationToken& token, double* out) const {
    std::vector<std::vector<std::uint32_t>> lists;
    lists.reserve(2 * queries.size());
    std::vector<AdditionQuery> asked;
    for (const AdditionQuery& query : queries) {
        lists.push_back(permuted(query.candidates));
        lists.push_back(permuted(query.parents));
        asked.push_back({order_[query.child], lists[lists.size() - 2], lists.back()});
    }
    score_.additions_of_many(asked, threads, token, out);
}

void PermutedScore::families(std::uint32_t child, std::span<const std::vector<std::uint32_t>> parent_sets,
                             std::size_t threads, CancellationToken& token, double* out) const {
    std::vector<std::vector<std::uint32_t>> sets;
    for (const std::vector<std::uint32_t>& parents : parent_sets) {
        sets.push_back(permuted(parents));
    }
    score_.families(order_[child], sets, threads, token, out);
}

double PermutedScore::family(std::uint32_t child, std::span<const std::uint32_t> parents,
                             CancellationToken& token) const {
    return score_.family(order_[child], permuted(parents), token);
}

void PermutedScore::removals(std::uint32_t child, std::span<const std::uint32_t> parents, CancellationToken& token,
                             double* out) const {
    score_.removals(order_[child], permuted(parents), token, out);
}

double PermutedScore::raising(const AdditionQuery& query, double least, std::size_t threads, CancellationToken& token,
                              std::vector<Addition>& out) const {
    const std::size_t before = out.size();
    const double own = score_.raising({order_[query.child], permuted(query.candidates), permuted(query.parents)}, least,
                                      threads, token, out);
    for (std::size_t k = before; k < out.size(); ++k) {
        out[k].variable = place_[out[k].variable];
    }
    return own;
}

}  // namespace serape
