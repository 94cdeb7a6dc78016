#include "serape/order_search.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace serape {
namespace {

constexpr std::size_t together = 256;      // children whose first parents are scored in one call
constexpr std::size_t between_looks = 64;  // at the memory: moves that are tried

bool contains(std::span<const std::uint32_t> set, std::uint32_t member) {
    return std::find(set.begin(), set.end(), member) != set.end();
}

}  // namespace

OrderSearch::OrderSearch(const NetworkScore& score, OrderRules rules, std::size_t threads, std::size_t most_bytes)
    : score_(score),
      rules_(std::move(rules)),
      later_(rules_.allowed.size()),
      threads_(threads),
      most_bytes_(most_bytes),
      trees_(rules_.allowed.size()),
      place_(rules_.allowed.size()),
      walks_(rules_.allowed.size()),
      parents_(rules_.allowed.size()),
      scores_(rules_.allowed.size()),
      depth_(rules_.allowed.size() * rules_.allowed.size(), 0),
      own_(rules_.allowed.size()),
      added_(rules_.allowed.size()) {
    rising_.depth.assign(variables(), Rising::none);
    for (std::uint32_t child = 0; child < variables(); ++child) {
        for (const std::uint32_t x : rules_.earlier[child]) {
            later_[x].push_back(child);
        }
        for (const std::uint32_t x : rules_.required[child]) {
            if (!contains(rules_.allowed[child], x) || !contains(rules_.earlier[child], x)) {
                throw std::invalid_argument("a required parent must be allowed and come earlier");
            }
        }
    }
}

void OrderSearch::check_order(std::span<const std::uint32_t> order) const {
    std::vector<bool> seen(variables(), false);
    for (const std::uint32_t x : order) {
        if (x >= variables() || seen[x]) {
            throw std::invalid_argument("an order has every variable once");
        }
        seen[x] = true;
        for (const std::uint32_t earlier : rules_.earlier[x]) {
            if (!seen[earlier]) {
                throw std::invalid_argument("a variable comes before one that has to be earlier");
            }
        }
    }
    if (order.size() != variables()) {
        throw std::invalid_argument("an order has every variable once");
    }
}

void OrderSearch::set_order(std::span<const std::uint32_t> order, CancellationToken& token) {
    check_order(order);
    grow_roots(token);
    const std::vector<Place> places = place_;
    for (std::uint32_t k = 0; k < order.size(); ++k) {
        place_[order[k]] = static_cast<Place>(k);
    }
    std::vector<Walk> found(variables());
    std::vector<std::uint8_t> complete(variables(), 0);
    const auto find = [&](std::size_t first, std::size_t last, std::size_t) {
        for (std::size_t k = first; k < last; ++k) {
            const std::uint32_t child = order[k];
            found[child] = {Step{0}};
            descend(child, place_[child], found[child], token);
            score(child, found[child], token);
            complete[child] = 1;
        }
    };
    const auto take = [&] {
        order_.assign(order.begin(), order.end());
        for (std::uint32_t child = 0; child < variables(); ++child) {
            if (complete[child] != 0) {
                settle(child, found[child]);
            }
        }
    };
    try {
        parallel_for(variables(), 1, score_.for_one_thread() ? 1 : threads_, token, find);
    } catch (...) {
        if (order_.empty()) {  // some parents are better than none
            take();
        } else {
            place_ = places;
        }
        throw;
    }
    take();
    ready_ = true;
}

std::size_t OrderSearch::arcs() const {
    std::size_t sum = 0;
    for (const std::vector<std::uint32_t>& parents : parents_) {
        sum += parents.size();
    }
    return sum;
}

double OrderSearch::total() const {
    return std::accumulate(scores_.begin(), scores_.end(), 0.0);
}

// --- trees ---

void OrderSearch::keep_branches(Tree& tree, std::uint32_t node, std::vector<Addition>& raising) {
    std::stable_sort(raising.begin(), raising.end(),
                     [](const Addition& a, const Addition& b) { return a.score > b.score; });
    tree.nodes[node].begin = static_cast<std::uint32_t>(tree.branches.size());
    tree.nodes[node].branches = static_cast<std::uint32_t>(raising.size());
    tree.nodes[node].grown = true;
    for (const Addition& addition : raising) {
        tree.branches.push_back({addition.variable, 0});
    }
}

// The first parents of many children are scored together.
void OrderSearch::grow_roots(CancellationToken& token) {
    if (roots_) {
        return;
    }
    std::vector<std::vector<std::uint32_t>> candidates(together);
    std::vector<double> scores;
    for (std::uint32_t begin = 0; begin < variables(); begin += together) {
        const auto end = static_cast<std::uint32_t>(std::min<std::size_t>(begin + together, variables()));
        std::vector<AdditionQuery> queries;
        std::size_t size = 0;
        for (std::uint32_t child = begin; child < end; ++child) {
            const std::vector<std::uint32_t>& required = rules_.required[child];
            std::vector<std::uint32_t>& others = candidates[child - begin];
            others.clear();
            if (required.size() < rules_.max_parents) {
                std::copy_if(rules_.allowed[child].begin(), rules_.allowed[child].end(), std::back_inserter(others),
                             [&](std::uint32_t x) { return !contains(required, x); });
            }
            queries.push_back({child, others, required});
            size += others.size();
        }
        scores.resize(size);
        score_.additions_of_many(queries, threads_, token, scores.data());
        const double* next = scores.data();
        for (const AdditionQuery& query : queries) {
            Tree& tree = trees_[query.child];
            const double own = score_.family(query.child, query.parents, token);
            std::vector<Addition> raising;
            for (const std::uint32_t x : query.candidates) {
                if (*next > own + rules_.rounding) {
                    raising.push_back({x, *next});
                }
                ++next;
            }
            tree = Tree{};
            tree.nodes[0].score = own;
            keep_branches(tree, 0, raising);
        }
        token.check();
    }
    roots_ = true;
}

// The parents taken on a walk, but for its last step, which takes none.
std::vector<std::uint32_t> OrderSearch::taken(std::uint32_t child, std::span<const Step> walk) const {
    const Tree& tree = trees_[child];
    std::vector<std::uint32_t> parents = rules_.required[child];
    for (const Step& step : walk.first(walk.size() - 1)) {
        parents.push_back(tree.branches[tree.nodes[step.node].begin + step.passed].variable);
    }
    return parents;
}

void OrderSearch::grow(std::uint32_t child, std::uint32_t node, std::span<const Step> walk, CancellationToken& token) {
    const std::vector<std::uint32_t> parents = taken(child, walk);
    std::vector<Addition> raising;
    double own = 0.0;
    if (parents.size() >= rules_.max_parents) {
        own = score_.family(child, parents, token);
    } else {
        std::vector<std::uint32_t> others = rules_.allowed[child];
        for (const std::uint32_t x : parents) {
            others.erase(std::lower_bound(others.begin(), others.end(), x));
        }
        own = score_.raising({child, others, parents}, rules_.rounding, threads_, token, raising);
    }
    Tree& tree = trees_[child];
    tree.nodes[node].score = own;
    keep_branches(tree, node, raising);
    token.check();
}

// Removes parents as long as that raises the score, always the one whose removal raises it most.
void OrderSearch::shrink(std::uint32_t child, const Walk& walk, CancellationToken& token) {
    Tree& tree = trees_[child];
    const std::uint32_t at = walk.back().node;
    double best = tree.nodes[at].score;
    std::vector<std::uint32_t> left = taken(child, walk);
    std::sort(left.begin(), left.end());
    std::vector<double> without_each(left.size());
    while (!left.empty()) {
        score_.removals(child, left, token, without_each.data());
        std::size_t most = left.size();
        for (std::size_t k = 0; k < left.size(); ++k) {
            if ((most == left.size() || without_each[k] > without_each[most]) &&
                !contains(rules_.required[child], left[k])) {
                most = k;
            }
        }
        if (most == left.size() || !(without_each[most] > best + rules_.rounding)) {
            break;
        }
        best = without_each[most];
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(most));
    }
    Node& node = tree.nodes[at];
    node.left_score = best;
    node.left_begin = static_cast<std::uint32_t>(tree.left.size());
    node.left = static_cast<std::uint32_t>(left.size());
    node.shrunk = true;
    tree.left.insert(tree.left.end(), left.begin(), left.end());
    token.check();
}

double OrderSearch::score(std::uint32_t child, const Walk& walk, CancellationToken& token) {
    if (!trees_[child].nodes[walk.back().node].shrunk) {
        shrink(child, walk, token);
    }
    return trees_[child].nodes[walk.back().node].left_score;
}

std::size_t OrderSearch::bytes() const {
    std::size_t sum = 0;
    for (const Tree& tree : trees_) {
        sum += tree.nodes.capacity() * sizeof(Node) + tree.branches.capacity() * sizeof(Branch) +
               tree.left.capacity() * sizeof(std::uint32_t);
    }
    return sum;
}

// Throws the trees away and makes those of the present order.
void OrderSearch::rebuild(CancellationToken& token) {
    ready_ = false;
    roots_ = false;
    std::fill(depth_.begin(), depth_.end(), Depth{0});
    std::fill(walks_.begin(), walks_.end(), Walk{});
    set_order(std::vector<std::uint32_t>(order_), token);
}

// --- walks ---

// The node that the next branch of a step leads to.
std::uint32_t OrderSearch::next_node(Tree& tree, const Step& step) {
    Branch& branch = tree.branches[tree.nodes[step.node].begin + step.passed];
    if (branch.node == 0) {
        branch.node = static_cast<std::uint32_t>(tree.nodes.size());
        tree.nodes.emplace_back();
    }
    return branch.node;
}

// Walks on from the last step with parents that have places below `before`.
void OrderSearch::descend(std::uint32_t child, Place before, Walk& walk, CancellationToken& token) {
    Tree& tree = trees_[child];
    while (true) {
        Step& step = walk.back();
        if (!tree.nodes[step.node].grown) {
            grow(child, step.node, walk, token);
        }
        const Node& node = tree.nodes[step.node];
        const Branch* const branches = tree.branches.data() + node.begin;
        while (step.passed < node.branches && place_[branches[step.passed].variable] >= before) {
            ++step.passed;
        }
        if (step.passed == node.branches) {
            return;
        }
        walk.push_back({next_node(tree, step)});
    }
}

// The walk of a child if a variable that takes part in it came after the child instead of before, or the other way.
// The variable has no place meanwhile.
void OrderSearch::turn(std::uint32_t child, std::uint32_t variable, Walk& walk, CancellationToken& token) {
    Tree& tree = trees_[child];
    const Walk& present = walks_[child];
    std::size_t depth = depth_[variable * variables() + child] - 1u;
    const Branch* found = nullptr;
    const Branch* branches = nullptr;
    for (;; ++depth) {
        const Step& step = present[depth];
        const Node& node = tree.nodes[step.node];
        branches = tree.branches.data() + node.begin;
        const Branch* const end = branches + std::min(step.passed + 1, node.branches);
        found = std::find_if(branches, end, [&](const Branch& branch) { return branch.variable == variable; });
        if (found != end) {
            break;
        }
    }
    walk.assign(present.begin(), present.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
    Step& step = walk.back();
    const auto at = static_cast<std::uint32_t>(found - branches);
    if (at == step.passed) {  // it was taken
        ++step.passed;
    } else {
        step.passed = at;
        walk.push_back({next_node(tree, step)});
    }
    descend(child, place_[child], walk, token);
}

// Walks on with a variable's own walk, whose parents have places below `before`.
void OrderSearch::rise(std::uint32_t variable, Place before, CancellationToken& token) {
    Tree& tree = trees_[variable];
    Walk& walk = rising_.walk;
    while (true) {
        Step& step = walk.back();
        if (!tree.nodes[step.node].grown) {
            grow(variable, step.node, walk, token);
        }
        const auto depth = static_cast<std::uint32_t>(walk.size() - 1);
        const Node& node = tree.nodes[step.node];
        const Branch* const branches = tree.branches.data() + node.begin;
        while (step.passed < node.branches && place_[branches[step.passed].variable] >= before) {
            const std::uint32_t x = branches[step.passed].variable;
            if (rising_.depth[x] == Rising::none) {
                rising_.depth[x] = depth;
            }
            rising_.passed.push_back(x);
            ++step.passed;
        }
        if (step.passed == node.branches) {
            return;
        }
        walk.push_back({next_node(tree, step)});
        rising_.begins.push_back(rising_.passed.size());
    }
}

// The scores of a variable at the places `first` to `last` among the others.
void OrderSearch::score_places(std::uint32_t variable, std::uint32_t first, std::uint32_t last,
                               CancellationToken& token) {
    const auto from = static_cast<std::uint32_t>(place_[variable]);
    const auto before = [&](std::uint32_t to) { return static_cast<Place>(to <= from ? to : to + 1); };
    Tree& tree = trees_[variable];
    Walk& walk = rising_.walk;
    for (const std::uint32_t x : rising_.passed) {  // by the last variable, or when a move was cancelled
        rising_.depth[x] = Rising::none;
    }
    rising_.passed.clear();
    rising_.begins.assign(1, 0);
    walk.assign(1, Step{0});
    rise(variable, before(first), token);
    own_[first] = score(variable, walk, token);
    for (std::uint32_t to = first + 1; to <= last; ++to) {
        const std::uint32_t x = order_[to - 1 < from ? to - 1 : to];  // comes before from here on
        const std::uint32_t depth = rising_.depth[x];
        if (depth == Rising::none) {
            own_[to] = own_[to - 1];
            continue;
        }
        const std::size_t begin = rising_.begins[depth];
        const auto at = std::find(rising_.passed.begin() + static_cast<std::ptrdiff_t>(begin), rising_.passed.end(), x);
        const auto passed = static_cast<std::size_t>(at - rising_.passed.begin());
        for (std::size_t step = walk.size(); step-- > depth;) {
            const std::size_t left = std::max(rising_.begins[step], passed);
            for (; rising_.passed.size() > left; rising_.passed.pop_back()) {
                if (rising_.depth[rising_.passed.back()] == step) {  // no earlier step passed it over
                    rising_.depth[rising_.passed.back()] = Rising::none;
                }
            }
        }
        walk.resize(depth + 1);
        rising_.begins.resize(depth + 1);
        walk.back().passed = static_cast<std::uint32_t>(passed - begin);
        walk.push_back({next_node(tree, walk.back())});
        rising_.begins.push_back(rising_.passed.size());
        rise(variable, before(to), token);
        own_[to] = score(variable, walk, token);
    }
}

// --- moves ---

// Takes a walk as that of the present order.
void OrderSearch::settle(std::uint32_t child, const Walk& walk) {
    Walk& present = walks_[child];
    std::size_t same = 0;
    while (same < std::min({present.size(), walk.size(), most_depth}) && present[same] == walk[same]) {
        ++same;
    }
    mark(child, same, false);
    present = walk;
    mark(child, same, true);
    const Tree& tree = trees_[child];
    const Node& node = tree.nodes[walk.back().node];
    scores_[child] = node.left_score;
    const auto left = tree.left.begin() + node.left_begin;
    parents_[child].assign(left, left + node.left);
}

// Notes which variables take part in the steps of a child's walk, or that they no longer do.
void OrderSearch::mark(std::uint32_t child, std::size_t from, bool take_part) {
    const Tree& tree = trees_[child];
    for (std::size_t depth = from; depth < walks_[child].size(); ++depth) {
        const Step& step = walks_[child][depth];
        const Node& node = tree.nodes[step.node];
        const auto code = static_cast<Depth>(std::min(depth, most_depth) + 1);
        for (std::uint32_t k = 0; k < std::min(step.passed + 1, node.branches); ++k) {
            Depth& known = depth_[tree.branches[node.begin + k].variable * variables() + child];
            if (take_part ? known == 0 : known == code) {  // the first step counts
                known = take_part ? code : Depth{0};
            }
        }
    }
}

double OrderSearch::best_move(std::uint32_t variable, CancellationToken& token) {
    if (!ready_) {
        throw std::invalid_argument("there is no order yet");
    }
    const auto n = static_cast<std::uint32_t>(variables());
    const auto from = static_cast<std::uint32_t>(place_[variable]);
    std::uint32_t first = 0;  // places among the others
    std::uint32_t last = n - 1;
    for (const std::uint32_t x : rules_.earlier[variable]) {
        first = std::max(first, static_cast<std::uint32_t>(place_[x]) + 1);
    }
    for (const std::uint32_t x : later_[variable]) {
        last = std::min(last, static_cast<std::uint32_t>(place_[x]) - 1);
    }
    score_places(variable, first, last, token);
    concerned_.clear();
    for (std::uint32_t k = first; k < last; ++k) {
        const std::uint32_t child = order_[k < from ? k : k + 1];
        added_[k] = 0.0;  // to the score of the child if the variable comes before it
        if (depth_[std::size_t{variable} * n + child] != 0) {
            concerned_.push_back(k);
        }
    }
    if (turned_.size() < concerned_.size()) {
        turned_.resize(concerned_.size());
    }
    place_[variable] = nowhere;
    try {
        for (std::size_t i = 0; i < concerned_.size(); ++i) {
            const std::uint32_t k = concerned_[i];
            const std::uint32_t child = order_[k < from ? k : k + 1];
            turn(child, variable, turned_[i], token);
            const double turned = score(child, turned_[i], token);
            added_[k] = (k < from ? turned - scores_[child] : scores_[child] - turned);
        }
        token.check();
    } catch (...) {
        place_[variable] = static_cast<Place>(from);
        throw;
    }
    place_[variable] = static_cast<Place>(from);
    std::uint32_t best = from;
    double most = rules_.rounding;
    double change = 0.0;  // in the scores of the others, as the variable moves away
    const auto consider = [&](std::uint32_t to) {
        const double gain = own_[to] - own_[from] + change;
        if (gain > most) {
            most = gain;
            best = to;
        }
    };
    for (std::uint32_t to = from; to-- > first;) {
        change += added_[to];
        consider(to);
    }
    change = 0.0;
    for (std::uint32_t to = from + 1; to <= last; ++to) {
        change -= added_[to - 1];
        consider(to);
    }
    if (best == from) {
        return 0.0;
    }
    for (std::size_t i = 0; i < concerned_.size(); ++i) {
        const std::uint32_t k = concerned_[i];
        if (k < from ? k >= best : k < best) {
            settle(order_[k < from ? k : k + 1], turned_[i]);
        }
    }
    const auto at = order_.begin();
    if (best < from) {
        std::rotate(at + best, at + from, at + from + 1);
    } else {
        std::rotate(at + from, at + from + 1, at + best + 1);
    }
    for (std::uint32_t k = std::min(from, best); k <= std::max(from, best); ++k) {
        place_[order_[k]] = static_cast<Place>(k);
    }
    Walk own{Step{0}};
    descend(variable, static_cast<Place>(best), own, token);  // along known nodes
    settle(variable, own);
    return most;
}

void OrderSearch::improve(const std::function<void()>& moved, CancellationToken& token) {
    std::size_t tried = 0;
    for (bool moving = true; moving;) {
        moving = false;
        for (const std::uint32_t variable : std::vector<std::uint32_t>(order_)) {
            if (tried++ % between_looks == 0 && bytes() > most_bytes_) {
                rebuild(token);
            }
            if (best_move(variable, token) > 0.0) {
                moving = true;
                moved();
            }
        }
    }
}

}  // namespace serape
