// The order of variables that BOSS improves move by move, with a grow-shrink tree for each variable.
//
// Andrews, Ramsey, Sanchez Romero, Camchong and Kummerfeld, NeurIPS 2023. The parents of a variable among those before
// it in the order are found by growing, always with the parent that raises the score most, and then by shrinking. The
// tree of a variable remembers both: a node is a set of parents in the order in which they were added; its branches are
// the further parents that raise the score, the best first. A walk down takes the first branch whose variable comes
// before, so a score is asked for once, whatever the order.
//
// A walk depends on the order only by the variables that it took and those that it passed over because they come later.
// So a move of a variable concerns those others alone in whose walk it takes part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace serape {

struct Branch {
    std::uint32_t variable;
    double score;  // with this variable
    std::uint32_t node = 0;
};

struct Shrunk {
    std::vector<std::uint32_t> parents;
    double score;
};

class OrderSearch {
  public:
    // The further parents of a child that raise its score, the best first.
    using Grow = std::function<std::vector<Branch>(std::uint32_t child, std::span<const std::uint32_t> parents)>;
    // The parents that remain once the removal of none raises the score.
    using Shrink = std::function<Shrunk(std::uint32_t child, std::span<const std::uint32_t> parents)>;

    OrderSearch(std::size_t variables, Grow grow, Shrink shrink);

    // Finds the parents of each variable among those before it.
    void set_order(std::span<const std::uint32_t> order);
    // Moves a variable to where the score is highest, if that raises it by more than `least`; returns by how much.
    double best_move(std::uint32_t variable, double least);

    std::size_t variables() const { return trees_.size(); }
    const std::vector<std::uint32_t>& order() const { return order_; }
    const std::vector<std::uint32_t>& parents(std::uint32_t child) const;
    double total() const;

  private:
    struct Node {
        std::vector<Branch> branches;
        bool grown = false;
        bool shrunk = false;
        Shrunk left{};  // by shrinking
    };
    struct Walk {
        std::uint32_t node = 0;
        std::vector<std::uint32_t> taken;
        std::vector<std::uint32_t> passed;  // over, because they come later
    };
    enum Part : std::uint8_t { none, passed, taken };

    using Place = std::int64_t;
    static constexpr Place before_all = -1;
    static constexpr Place after_all = std::numeric_limits<Place>::max();

    void walk(std::uint32_t child, Place before, Walk& found);
    double score(std::uint32_t child, const Walk& found);
    double score_before(std::uint32_t child, Place before);
    void find_parents(std::uint32_t child, Place before);
    void score_places(std::uint32_t variable, std::vector<double>& out);
    void mark(std::uint32_t child, bool take_part);

    Grow grow_;
    Shrink shrink_;
    std::vector<std::vector<Node>> trees_;
    std::vector<std::uint32_t> order_;
    std::vector<Place> place_;  // of each variable in the order
    std::vector<Walk> walks_;   // of each variable, in the present order
    std::vector<double> scores_;
    std::vector<Part> parts_;  // by variable and child: the part it takes in the child's walk
    Walk trial_;
};

}  // namespace serape
