// The order of variables that BOSS improves move by move, with a grow-shrink tree for each variable.
//
// Andrews, Ramsey, Sanchez Romero, Camchong and Kummerfeld, NeurIPS 2023. The parents of a variable among those before
// it in the order are found by growing, always with the parent that raises the score most, and then by shrinking, as
// long as the removal of a parent raises the score. The tree of a variable remembers both: a node is a set of parents
// in the order in which they were added; its branches are the further parents that raise the score, the best first. A
// walk down takes the first branch whose variable comes before, so a score is asked for once, whatever the order.
//
// A walk depends on the order only by the variables that it took and those that it passed over because they come later.
// So a move of a variable concerns those others alone in whose walk it takes part, and each of their walks changes only
// from the step on at which it does. As a variable moves up the order, its own walk is mended in the same way.
//
// Memory: a byte for each pair of variables, and the trees. Once these take more than `most_bytes`, they are thrown
// away between two moves and grow again; answers do not depend on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "serape/network_score.hpp"
#include "serape/parallel.hpp"

namespace serape {

// What orders and parents are allowed.
struct OrderRules {
    std::vector<std::vector<std::uint32_t>> allowed;   // by child: the parents that it may have, in ascending order
    std::vector<std::vector<std::uint32_t>> required;  // by child: parents that it has whatever the score
    std::vector<std::vector<std::uint32_t>> earlier;   // by variable: those that come before it in every order
    std::size_t max_parents;
    double rounding;  // no smaller difference of scores is a gain
};

class OrderSearch {
  public:
    static constexpr std::size_t default_bytes = std::size_t{1} << 30;

    // Throws std::invalid_argument if a required parent is not allowed or does not have to come before its child.
    OrderSearch(const NetworkScore& score, OrderRules rules, std::size_t threads = 1,
                std::size_t most_bytes = default_bytes);

    // Finds the parents of each variable among those before it. Throws std::invalid_argument if the order is not
    // allowed. When it is cancelled, some variables have parents by this order and the others none.
    void set_order(std::span<const std::uint32_t> order, CancellationToken& token);
    // Moves a variable to where the score is highest, if that raises it; returns by how much. When it is cancelled,
    // nothing has moved.
    double best_move(std::uint32_t variable, CancellationToken& token);
    // Moves each variable in turn until no move raises the score; calls `moved` after each.
    void improve(const std::function<void()>& moved, CancellationToken& token);

    std::size_t variables() const { return trees_.size(); }
    const std::vector<std::uint32_t>& order() const { return order_; }
    const std::vector<std::uint32_t>& parents(std::uint32_t child) const { return parents_[child]; }
    std::size_t arcs() const;
    double total() const;

  private:
    struct Branch {
        std::uint32_t variable;
        std::uint32_t node;  // 0: none yet
    };
    struct Node {
        double score = 0.0;       // of the parents taken on the way here
        double left_score = 0.0;  // of those that are left by shrinking
        std::uint32_t begin = 0;  // of its branches
        std::uint32_t branches = 0;
        std::uint32_t left_begin = 0;
        std::uint32_t left = 0;
        bool grown = false;
        bool shrunk = false;
    };
    struct Tree {
        std::vector<Node> nodes = std::vector<Node>(1);
        std::vector<Branch> branches;
        std::vector<std::uint32_t> left;  // parents
    };
    struct Step {
        std::uint32_t node;
        std::uint32_t passed = 0;  // branches, because their variables come later; the next one is taken
        bool operator==(const Step&) const = default;
    };
    using Walk = std::vector<Step>;
    using Place = std::int32_t;
    using Depth = std::uint8_t;
    static constexpr Place nowhere = std::numeric_limits<Place>::max();
    static constexpr std::size_t most_depth = 253;

    // A variable's own walk, as it comes later and later.
    struct Rising {
        Walk walk;
        std::vector<std::uint32_t> passed;  // by step
        std::vector<std::size_t> begins;    // by step: of its variables among those
        std::vector<std::uint32_t> depth;   // by variable: the first step that passed it over
        static constexpr std::uint32_t none = 0xffffffff;
    };

    void check_order(std::span<const std::uint32_t> order) const;
    void grow_roots(CancellationToken& token);
    void grow(std::uint32_t child, std::uint32_t node, std::span<const Step> above, CancellationToken& token);
    void keep_branches(Tree& tree, std::uint32_t node, std::vector<Addition>& raising);
    void shrink(std::uint32_t child, const Walk& walk, CancellationToken& token);
    std::vector<std::uint32_t> taken(std::uint32_t child, std::span<const Step> walk) const;
    std::uint32_t next_node(Tree& tree, const Step& step);
    void descend(std::uint32_t child, Place before, Walk& walk, CancellationToken& token);
    double score(std::uint32_t child, const Walk& walk, CancellationToken& token);
    void turn(std::uint32_t child, std::uint32_t variable, Walk& walk, CancellationToken& token);
    void score_places(std::uint32_t variable, std::uint32_t first, std::uint32_t last, CancellationToken& token);
    void rise(std::uint32_t variable, Place before, CancellationToken& token);
    void settle(std::uint32_t child, const Walk& walk);
    void mark(std::uint32_t child, std::size_t from, bool take_part);
    void rebuild(CancellationToken& token);
    std::size_t bytes() const;

    const NetworkScore& score_;
    OrderRules rules_;
    std::vector<std::vector<std::uint32_t>> later_;  // by variable: those that come after it in every order
    std::size_t threads_;
    std::size_t most_bytes_;
    bool roots_ = false;  // whether they are grown
    bool ready_ = false;  // whether there is an order, and the walks are those of it
    std::vector<Tree> trees_;
    std::vector<std::uint32_t> order_;
    std::vector<Place> place_;  // of each variable in the order
    std::vector<Walk> walks_;   // of each variable, in the present order
    std::vector<std::vector<std::uint32_t>> parents_;
    std::vector<double> scores_;
    std::vector<Depth> depth_;  // by variable and child: 1 + the first step of the child's walk that it takes part in
    Rising rising_;
    std::vector<double> own_;
    std::vector<double> added_;
    std::vector<std::uint32_t> concerned_;
    std::vector<Walk> turned_;
};

}  // namespace serape
