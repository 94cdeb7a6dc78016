// Evaluates conditioning sets by contingency tables, for SubsetDriver.
//
// The cells of a subset are those of its parent, divided by one more variable. They are made once for all x that are
// searched side by side; where the x come one after another, cells are kept for the next x as long as memory allows.
// In a tall table, the distinct rows of the variables concerned are found first once the sets of a size are worth that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "distinct_search.hpp"
#include "serape/contingency_test.hpp"
#include "serape/counting/joint_counter.hpp"
#include "serape/counting/pair_counter.hpp"
#include "serape/critical_values.hpp"
#include "serape/subset_driver.hpp"

namespace serape {

class CountEvaluator {
  public:
    struct Walk;
    using Walks = std::vector<Walk*>;
    struct Tree {
        Tree* parent = nullptr;
        std::uint32_t member = 0;    // one more than the parent has
        bool kept = false;           // for the x to come
        std::optional<Cells> cells;  // made when they are needed
        std::optional<TestCells> plan;
        std::vector<std::unique_ptr<Tree>> children;  // by member
    };
    struct Node {
        Tree* tree;
        double strata;
        std::unique_ptr<Tree> temporary = {};  // holds the tree if it is not kept
        double sharing = 1.0;                  // x that are tested there
    };
    static constexpr bool resumable = true;
    static constexpr std::size_t poll_every = 32;
    static constexpr std::uint64_t few_questions = default_costs.min_tests_for_threads;

    CountEvaluator(const ContingencyTest& test, SubsetState& state);
    CountEvaluator(const CountEvaluator&) = delete;
    CountEvaluator& operator=(const CountEvaluator&) = delete;
    ~CountEvaluator() {
        if (joint_) {
            test_.table().take_back(std::move(joint_));
        }
    }

    void prepare(std::size_t threads);
    void share(const CountEvaluator& first) { pool_ = first.pool_; }
    void start(std::vector<Walk>& walks);
    void start_size(const Walks& walks, std::size_t size);
    bool visit_singles(Walks& walks);
    Node root() const { return {ground_->root.get(), root_strata_}; }
    Node child(const Node& node, std::uint32_t member, const Walks&) { return extended(node, member, true); }
    Node leaf(const Node& node, std::uint32_t member, const Walks& walks);
    bool may_test(const Walk& walk, const Node& node, std::size_t wanted) const;
    bool examine(Walk& walk, const Node& node);
    void finish(Walk& walk) { rank(walk); }
    void pool_changed();

  private:
    static constexpr std::size_t few_dof = 16;
    // A table to count in.
    struct Ground {
        const PackedTable* table = nullptr;
        std::unique_ptr<Tree> root = nullptr;
        std::size_t bytes = 0;  // of trees kept
    };
    void stand_on(Ground& ground, const PackedTable& table);
    void stand_on_whole();
    void make_pool(std::size_t threads);
    std::uint32_t column(std::uint32_t variable) const {  // in the table at hand
        return ground_ == &distinct_ ? search_.column(variable) : variable;
    }
    Node extended(const Node& node, std::uint32_t member, bool keep);
    double least(const Walk& walk, std::size_t wanted) const;
    void test_with_later(Walk& walk);
    std::int64_t irrelevant_for_any_dof(Walk& walk, std::size_t most_dof);
    void rank(Walk& walk);
    bool may_pair(const Walk& walk, double strata) const;
    double full_dof(const Walk& walk, double strata) const;
    bool judge(Walk& walk, const Sum& sum, double strata);
    Cells& cells_of(Tree& tree);
    std::span<const std::uint32_t> given();

    const ContingencyTest& test_;
    SubsetState& state_;
    CandidateKinds kinds_;
    CriticalValues critical_;
    std::uint32_t target_levels_;
    std::vector<double> levels_;  // of the members of the pool, ascending
    std::vector<double> least_;   // by k, the least product of levels of k members of the pool
    Ground whole_, distinct_;     // the test's table, and the distinct rows of the variables concerned
    Ground* ground_ = &whole_;
    DistinctSearch search_;
    double root_strata_;
    CandidateCounter counter_;
    std::unique_ptr<JointCounter> joint_;  // if it serves
    std::vector<std::uint32_t> given_;
    bool by_pairs_ = false;  // whether sets of one member are gone through by pairs_
    std::shared_ptr<const PairPool> pool_;
    std::optional<PairCounter> pairs_;
};

// What is remembered of one x.
struct CountEvaluator::Walk : SubsetWalk {
    std::uint32_t levels = 0;
    bool ranked = false;  // whether best->outcome.log_p is known
    // By few degrees of freedom, the smallest statistic met. It is the best's or not weaker, and the best only gets
    // weaker.
    std::array<double, few_dof> met = [] {
        std::array<double, few_dof> nothing;
        nothing.fill(std::numeric_limits<double>::infinity());
        return nothing;
    }();

    // Whether a statistic is known not to be weaker than the best.
    bool knows(double statistic, std::size_t dof) const {
        return dof < few_dof && (statistic == met[dof] || statistic > met[dof] * (1.0 + margin));
    }
    // Statistics of the same degrees of freedom that are further apart than this, relatively, are ordered by log p,
    // however that is rounded.
    static constexpr double margin = 1e-9;
};

}  // namespace serape
