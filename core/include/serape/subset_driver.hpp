// The search through the subsets of a pool, written once for all tests.
//
// Subsets form a tree: a subset's parent is the subset without its last member. The driver walks the tree, several x
// side by side, size by size; it keeps the members that are still in the pool, leaves out what is exhausted, skips what
// cannot be tested by counting it, and spreads the x over threads. An Evaluator knows the data. It offers
//
//   Evaluator(const Test&, SubsetState&)        the state is the driver's
//   struct Walk : SubsetWalk                    what it remembers of an x
//   Node                                        what it knows given a subset
//   resumable                                   whether a walk can go on from an answer
//   poll_every                                  tests between two looks at the cancellation token
//   few_questions                               below which threads do not pay
//   void prepare(threads)                       if there is such a function: before several threads begin, on one
//   void share(const Evaluator&)                of another thread, what that has prepared
//   void start(std::vector<Walk>&)              before the first subset
//   void start_size(Walks&, std::size_t)        before the subsets of a size
//   bool visit_singles(Walks&)                  goes through the subsets of one member itself, or returns false
//   Node root()                                 given the fixed members
//   Node child(const Node&, member, walks)      given one more member, of a subset that will grow further
//   Node leaf(const Node&, member, walks)       given one more member, of a subset to be tested
//   bool may_test(walk, node, wanted)           whether a set with `wanted` more members can be reliable
//   bool examine(walk, node)                    tests x given the chosen members; true if that separates it
//   void finish(Walk&)                          after the last subset
//   void pool_changed()                         between two searches, the pool has grown or lost a member
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "serape/parallel.hpp"
#include "serape/subset_query.hpp"

namespace serape {

struct TestsSpent {};  // thrown when max_tests are performed

// Which members of the pool an x is tried with: all, those before it, or those after it (going on from an answer).
enum class Members { all, before, after };

// The way through the subsets for one x. Members of the pool go by their index in it.
struct SubsetWalk {
    std::uint32_t x;
    std::size_t index;     // among the walks of a search
    std::size_t position;  // of x among the live members, or their number
    std::uint32_t member;  // of x in the pool, or beyond it
    std::int64_t n_exhausted;
    SubsetAnswer* best;

    // Whether a subset whose last member is this is not exhausted; the empty one has none (−1).
    bool fresh(std::int64_t last) const { return n_exhausted < 0 || last >= n_exhausted; }
};

// The members of a pool by their variables: a flat table, as a pool of many thousands is looked up by every thread.
class MemberIndex {
  public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    bool empty() const { return size_ == 0; }
    void reserve(std::size_t size);                          // room for so many, before the first
    void add(std::uint32_t variable, std::uint32_t member);  // the first of a variable counts
    std::uint32_t find(std::uint32_t variable) const;        // its member, or none

  private:
    struct Entry {
        std::uint32_t variable = 0;
        std::uint32_t member = none;
    };
    std::size_t place(std::uint32_t variable) const;  // where it is, or would be

    std::vector<Entry> entries_;  // a power of two, at most half in use
    std::size_t size_ = 0;
};

// What the driver and its evaluator share; one per thread.
class SubsetState {
  public:
    explicit SubsetState(const SubsetQuery& asked);

    const SubsetQuery& query;
    std::vector<std::uint32_t> live;    // members that have not left the pool, ascending; never the target or fixed
    std::vector<std::uint32_t> chosen;  // members of the subset at hand
    Members members = Members::all;
    Tally tally;
    CancellationToken* token = nullptr;

    std::size_t position(std::uint32_t variable);                    // among the live, or their number
    void expect_before(std::size_t position) { found_ = position; }  // the next to be looked for is probably there
    void drop(std::uint32_t variable);                               // takes it out of the pool
    void join();                                                     // the query's pool has one more member, the last

    std::size_t set_size() const { return query.fixed.size() + chosen.size(); }
    std::int64_t last() const { return chosen.empty() ? -1 : static_cast<std::int64_t>(chosen.back()); }
    std::vector<std::uint32_t> given() const;  // the conditioning set at hand
    bool admits(std::uint32_t x) const;        // whether x is neither the target nor fixed
    bool tries(const SubsetWalk& walk, std::int64_t last) const {
        return members == Members::all || last < 0 ||
               (members == Members::before ? last < walk.member : last > walk.member);
    }
    // Throws TestsSpent if no more tests may be performed.
    void check_tests() const {
        if (query.max_tests != std::numeric_limits<std::uint64_t>::max() && tally.performed() >= query.max_tests) {
            throw TestsSpent{};
        }
    }
    // Counts the subsets that add `wanted` live members, from a position on, to those chosen.
    void skip(const SubsetWalk& walk, std::size_t from, std::size_t wanted);
    // Counts all subsets of some sizes; of more than 62 sizes, whose number is too large for any, as one number.
    void skip_sizes(const SubsetWalk& walk, std::size_t smallest, std::size_t largest);
    template <std::size_t every>
    void poll_cancel() {
        if (++polled_ % every == 0) {
            token->check();
        }
    }

  private:
    MemberIndex index_;      // made when first needed
    std::size_t found_ = 0;  // the last position that was looked for
    std::size_t polled_ = 0;
};

template <class Evaluator>
class SubsetDriver {  // one per thread
  public:
    template <class Test>
    SubsetDriver(const Test& test, const SubsetQuery& query) : state_(query), evaluator_(test, state_) {}
    SubsetDriver(const SubsetDriver&) = delete;  // the evaluator refers to the state
    SubsetDriver& operator=(const SubsetDriver&) = delete;

    // Makes what several drivers share.
    void prepare(std::size_t threads) {
        if constexpr (shares) {
            evaluator_.prepare(threads);
        }
    }
    void share(const SubsetDriver& first) {
        if constexpr (shares) {
            evaluator_.share(first.evaluator_);
        }
    }
    // Tells that the next x is probably the live member before a position.
    void expect_before(std::size_t position) { state_.expect_before(position); }
    // Searches for several x side by side.
    void operator()(std::span<const std::uint32_t> xs, std::span<const std::int64_t> n_exhausted,
                    CancellationToken& token, SubsetAnswer* answers, Members members = Members::all) {
        state_.token = &token;
        state_.members = members;
        std::vector<Walk> all;
        all.reserve(xs.size());
        for (std::size_t k = 0; k < xs.size(); ++k) {
            if (members != Members::after) {
                answers[k] = {no_outcome, {}, false};
            }
            if (state_.admits(xs[k])) {
                const std::size_t position = state_.position(xs[k]);
                const std::uint32_t member = position < state_.live.size() ? state_.live[position] : outside;
                all.push_back({{xs[k], all.size(), position, member, n_exhausted[k], &answers[k]}});
            }
        }
        evaluator_.start(all);
        Walks walks;
        for (Walk& walk : all) {
            walks.push_back(&walk);
        }
        const SubsetQuery& query = state_.query;
        const std::size_t smallest = std::max<std::size_t>(query.smallest, members == Members::after ? 1 : 0);
        const std::size_t largest = std::min(query.largest, state_.live.size());
        for (std::size_t size = smallest; size <= largest && !walks.empty(); ++size) {
            evaluator_.start_size(walks, size);
            const Node root = evaluator_.root();
            std::erase_if(walks, [&](const Walk* walk) {  // a larger set is no more reliable
                const bool hopeless = !may_test(*walk, root, size);
                if (hopeless) {
                    state_.skip_sizes(*walk, size, largest);
                }
                return hopeless;
            });
            if (walks.empty()) {
                break;
            }
            const std::uint64_t all_singles = std::uint64_t{walks.size()} * state_.live.size();
            const bool fits = state_.tally.performed() + all_singles <= query.max_tests;  // it cannot be cut short
            if (size != 1 || !fits || !evaluator_.visit_singles(walks)) {
                visit(walks, root, 0, size);
            }
        }
        for (Walk& walk : all) {
            evaluator_.finish(walk);
        }
    }
    void drop(std::uint32_t variable) { state_.drop(variable); }
    // A pool that grows: the query has one more member, the last; or a member leaves it.
    void join() {
        state_.join();
        evaluator_.pool_changed();
    }
    void leave(std::uint32_t variable) {
        state_.drop(variable);
        evaluator_.pool_changed();
    }
    std::vector<std::uint32_t> members() const {  // of the pool, as variables
        std::vector<std::uint32_t> all;
        for (const std::uint32_t member : state_.live) {
            all.push_back(state_.query.pool[member]);
        }
        return all;
    }
    const Tally& tally() const { return state_.tally; }

  private:
    using Walk = typename Evaluator::Walk;
    using Walks = std::vector<Walk*>;
    using Node = typename Evaluator::Node;
    static constexpr std::uint32_t outside = std::numeric_limits<std::uint32_t>::max();
    static constexpr bool shares = requires(Evaluator& one) { one.share(one); };

    bool may_test(const Walk& walk, const Node& node, std::size_t wanted) const {
        return state_.set_size() + wanted <= state_.query.max_size && evaluator_.may_test(walk, node, wanted);
    }

    // Goes through the subsets that add `wanted` live members, from a position on, to those chosen. A separated x
    // leaves the walks.
    void visit(Walks& walks, const Node& node, std::size_t from, std::size_t wanted) {
        if (wanted == 0) {
            examine(walks, node, from);
            return;
        }
        state_.template poll_cancel<Evaluator::poll_every>();
        const std::int64_t last = state_.last();
        Walks going;  // those whose subsets may be tested
        std::int64_t first_new = outside;
        for (Walk* walk : walks) {
            if (walk->member == last) {
                continue;
            }
            if (may_test(*walk, node, wanted)) {
                going.push_back(walk);
                first_new = std::min(first_new, walk->fresh(last) ? 0 : walk->n_exhausted);
            } else {
                state_.skip(*walk, from, wanted);
            }
        }
        const std::vector<std::uint32_t>& live = state_.live;
        if (wanted == 1 && first_new > 0) {  // the last member has to be new for one of them at least
            const auto at = std::lower_bound(live.begin() + static_cast<std::ptrdiff_t>(from), live.end(), first_new);
            from = static_cast<std::size_t>(at - live.begin());
        }
        const std::size_t before = going.size();
        for (std::size_t k = from; k + wanted <= live.size() && !going.empty(); ++k) {
            const std::uint32_t member = live[k];
            if (going.size() == 1 && going[0]->member == member) {
                continue;
            }
            state_.chosen.push_back(member);
            if (wanted == 1) {
                examine(going, evaluator_.leaf(node, member, going), k + 1);
            } else {
                visit(going, evaluator_.child(node, member, going), k + 1, wanted - 1);
            }
            state_.chosen.pop_back();
        }
        if (going.size() < before) {
            std::erase_if(walks, [](const Walk* walk) { return walk->best->separated; });
        }
    }

    // Tests the x given the subset at hand.
    void examine(Walks& walks, const Node& node, std::size_t from) {
        state_.template poll_cancel<Evaluator::poll_every>();
        state_.check_tests();
        const std::int64_t last = state_.last();
        std::erase_if(walks, [&](Walk* walk) {
            if (walk->member == last || !walk->fresh(last) || !state_.tries(*walk, last)) {
                return false;
            }
            if (!may_test(*walk, node, 0)) {
                state_.skip(*walk, from, 0);
                return false;
            }
            return evaluator_.examine(*walk, node);
        });
    }

    SubsetState state_;
    Evaluator evaluator_;
};

// One target, one or many x: answers a query on up to `threads` threads.
template <class Evaluator, class Test>
SubsetAnswers drive_subsets(const Test& test, const SubsetQuery& query, std::size_t threads, CancellationToken& token) {
    constexpr std::uint64_t few = Evaluator::few_questions;
    const std::span<const std::uint32_t> xs(query.xs);
    const std::size_t largest = std::min(query.largest, query.pool.size());
    threads = std::max<std::size_t>(threads, 1);
    if (xs.size() * std::min(choose(query.pool.size(), largest), few) < few) {
        threads = 1;  // they would be answered before another thread had started
    }
    std::vector<std::optional<SubsetDriver<Evaluator>>> drivers(threads);
    std::vector<SubsetAnswer> answers(xs.size());
    std::vector<std::int64_t> n_exhausted(query.n_exhausted);
    if (n_exhausted.size() < 2) {
        n_exhausted.assign(xs.size(), n_exhausted.empty() ? -1 : n_exhausted[0]);
    }
    const auto driver = [&](std::size_t worker) -> SubsetDriver<Evaluator>& {
        if (!drivers[worker]) {
            drivers[worker].emplace(test, query);
            if (worker > 0) {
                drivers[worker]->share(*drivers[0]);
            }
        }
        return *drivers[worker];
    };
    const auto search = [&](std::size_t first, std::size_t last, std::size_t worker, Members members) {
        if (members == Members::before) {  // the x are the pool, from the last to the first
            driver(worker).expect_before(xs.size() - first);
        }
        driver(worker)(xs.subspan(first, last - first), std::span(n_exhausted).subspan(first, last - first), token,
                       answers.data() + first, members);
    };
    const auto side_by_side = [&](Members members) {
        const std::size_t grain = threads > 1 ? (xs.size() + 4 * threads - 1) / (4 * threads) : xs.size();
        if (threads > 1) {
            driver(0).prepare(threads);
        }
        parallel_for(xs.size(), grain, threads, token, [&](std::size_t first, std::size_t last, std::size_t worker) {
            search(first, last, worker, members);
        });
    };
    const auto drop_separated = [&](std::size_t k) {
        if (answers[k].separated) {
            driver(0).drop(xs[k]);
        }
    };
    std::size_t asked = xs.size();
    bool cut = false;
    try {
        if (Evaluator::resumable && query.shrinking && !query.until_survivor && query.largest <= 1 &&
            std::equal(xs.begin(), xs.end(), query.pool.rbegin(), query.pool.rend())) {
            // The members before an x in the pool are asked about after it, so have not left: they are tried side by
            // side.
            side_by_side(Members::before);
            for (std::size_t k = 0; k < asked; ++k) {
                drop_separated(k);
            }
            for (std::size_t k = 0; k < asked; ++k) {
                if (!answers[k].separated) {
                    search(k, k + 1, 0, Members::after);
                    drop_separated(k);
                }
            }
        } else if (query.one_by_one()) {
            for (std::size_t k = 0; k < asked; ++k) {
                search(k, k + 1, 0, Members::all);
                if (query.shrinking) {
                    drop_separated(k);
                }
                if (!answers[k].separated && query.until_survivor) {
                    asked = k + 1;
                }
            }
        } else {
            side_by_side(Members::all);
        }
    } catch (const TestsSpent&) {
        cut = true;
    }
    answers.resize(asked);
    SubsetAnswers all{std::move(answers), {}, cut};
    for (const auto& one : drivers) {
        if (one) {
            all.tally.merge(one->tally());
        }
    }
    return all;
}

}  // namespace serape
