#include "serape/order_search.hpp"

#include <algorithm>
#include <numeric>

namespace serape {

OrderSearch::OrderSearch(std::size_t variables, Grow grow, Shrink shrink)
    : grow_(std::move(grow)),
      shrink_(std::move(shrink)),
      trees_(variables, std::vector<Node>(1)),
      place_(variables),
      walks_(variables),
      scores_(variables),
      parts_(variables * variables, none) {}

void OrderSearch::set_order(std::span<const std::uint32_t> order) {
    order_.assign(order.begin(), order.end());
    for (std::uint32_t k = 0; k < order_.size(); ++k) {
        place_[order_[k]] = k;
    }
    for (std::uint32_t k = 0; k < order_.size(); ++k) {
        find_parents(order_[k], k);
    }
}

const std::vector<std::uint32_t>& OrderSearch::parents(std::uint32_t child) const {
    return trees_[child][walks_[child].node].left.parents;
}

double OrderSearch::total() const {
    return std::accumulate(scores_.begin(), scores_.end(), 0.0);
}

// Walks down the tree of a child whose parents have places below `before`.
void OrderSearch::walk(std::uint32_t child, Place before, Walk& found) {
    std::vector<Node>& tree = trees_[child];
    found.node = 0;
    found.taken.clear();
    found.passed.clear();
    for (bool further = true; further;) {
        if (!tree[found.node].grown) {
            std::vector<Branch> grown = grow_(child, found.taken);
            tree[found.node].branches = std::move(grown);
            tree[found.node].grown = true;
        }
        further = false;
        for (Branch& branch : tree[found.node].branches) {
            if (place_[branch.variable] < before) {
                found.taken.push_back(branch.variable);
                if (branch.node == 0) {
                    branch.node = static_cast<std::uint32_t>(tree.size());
                    const std::uint32_t made = branch.node;  // the branch moves with its node
                    tree.emplace_back();
                    found.node = made;
                } else {
                    found.node = branch.node;
                }
                further = true;
                break;
            }
            found.passed.push_back(branch.variable);
        }
    }
}

double OrderSearch::score(std::uint32_t child, const Walk& found) {
    Node& node = trees_[child][found.node];
    if (!node.shrunk) {
        node.left = shrink_(child, found.taken);
        node.shrunk = true;
    }
    return node.left.score;
}

double OrderSearch::score_before(std::uint32_t child, Place before) {
    walk(child, before, trial_);
    return score(child, trial_);
}

void OrderSearch::mark(std::uint32_t child, bool take_part) {
    const std::size_t n = variables();
    for (const std::uint32_t x : walks_[child].passed) {
        parts_[x * n + child] = take_part ? passed : none;
    }
    for (const std::uint32_t x : walks_[child].taken) {  // one that was passed over by an earlier node is not here
        parts_[x * n + child] = take_part ? taken : none;
    }
}

void OrderSearch::find_parents(std::uint32_t child, Place before) {
    walk(child, before, trial_);
    const double found = score(child, trial_);
    mark(child, false);
    std::swap(walks_[child], trial_);
    mark(child, true);
    scores_[child] = found;
}

// The score of a variable at each place among the others.
void OrderSearch::score_places(std::uint32_t variable, std::vector<double>& out) {
    out.clear();
    bool same = false;                                    // whether the walk before leads to the same parents
    for (std::uint32_t k = 0; k <= order_.size(); ++k) {  // `order_` is without the variable
        if (k > 0) {
            same = std::find(trial_.passed.begin(), trial_.passed.end(), order_[k - 1]) == trial_.passed.end();
        }
        out.push_back(same ? out.back() : score_before(variable, k));
    }
}

double OrderSearch::best_move(std::uint32_t variable, double least) {
    const std::size_t n = variables();
    const auto from = static_cast<std::uint32_t>(place_[variable]);
    order_.erase(order_.begin() + from);
    for (std::uint32_t k = from; k < order_.size(); ++k) {
        place_[order_[k]] = k;
    }
    std::vector<double> own;
    score_places(variable, own);
    // By place: what it adds to the score of the others that the variable comes before.
    std::vector<double> added(n, 0.0);
    std::vector<std::uint32_t> concerned;
    for (std::uint32_t k = 0; k < order_.size(); ++k) {
        const std::uint32_t child = order_[k];
        const Part part = parts_[variable * n + child];
        if (part == none) {
            continue;
        }
        concerned.push_back(child);
        place_[variable] = k < from ? before_all : after_all;  // the other way than now
        const double turned = score_before(child, k);
        added[k] = (k < from ? turned - scores_[child] : scores_[child] - turned);
    }
    std::uint32_t best = from;
    double most = least;
    double change = 0.0;  // in the scores of the others, as the variable moves away
    const auto consider = [&](std::uint32_t to) {
        const double gain = own[to] - own[from] + change;
        if (gain > most) {
            most = gain;
            best = to;
        }
    };
    for (std::uint32_t to = from; to-- > 0;) {
        change += added[to];
        consider(to);
    }
    change = 0.0;
    for (std::uint32_t to = from + 1; to < n; ++to) {
        change -= added[to - 1];
        consider(to);
    }
    order_.insert(order_.begin() + best, variable);
    for (std::uint32_t k = std::min(from, best); k < n; ++k) {
        place_[order_[k]] = k;
    }
    if (best == from) {
        return 0.0;
    }
    for (const std::uint32_t child : concerned) {
        const auto at = static_cast<std::uint32_t>(place_[child]);
        if (at >= std::min(from, best) && at <= std::max(from, best)) {
            find_parents(child, at);
        }
    }
    find_parents(variable, best);
    return most;
}

}  // namespace serape
