// Searches through conditioning sets of one size for many targets at once, as in a level of the PC algorithm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "serape/counting/costs.hpp"
#include "serape/parallel.hpp"
#include "serape/subset_query.hpp"

namespace serape {

struct SubsetBatch {
    struct Question {
        std::uint32_t target;
        std::span<const std::uint32_t> xs;
        std::span<const std::uint32_t> pool;  // distinct
        std::size_t first = 0;                // of its answers
    };
    std::vector<Question> questions;
    std::size_t size = 0;  // of the subsets of the pool
    std::size_t max_size = std::numeric_limits<std::size_t>::max();
    double stop_above = 0.0;

    std::uint64_t tests_of(const Question& question) const {  // at most
        const std::uint64_t sets = choose(question.pool.size(), size);
        return sets > most_count / (question.xs.size() + 1) ? most_count : sets * question.xs.size();
    }
    SubsetQuery query(const Question& question) const {
        SubsetQuery made{.xs = {question.xs.begin(), question.xs.end()},
                         .target = question.target,
                         .pool = {question.pool.begin(), question.pool.end()}};
        made.smallest = made.largest = size;
        made.max_size = max_size;
        made.stop_above = stop_above;
        return made;
    }
};

// The answers to all questions, one after another: those of a search for each. Threads share the questions; one that
// would keep a thread busy for longer than the others is shared by itself.
template <class Test>
SubsetAnswers search_each(const Test& test, const SubsetBatch& batch, std::size_t threads, CancellationToken& token) {
    threads = std::max<std::size_t>(threads, 1);
    struct Turn {
        std::uint64_t tests;
        const SubsetBatch::Question* question;
    };
    std::vector<Turn> turns;
    double total = 0.0;
    std::size_t answers = 0;
    for (const SubsetBatch::Question& question : batch.questions) {
        turns.push_back({batch.tests_of(question), &question});
        total += static_cast<double>(turns.back().tests);
        answers = std::max(answers, question.first + question.xs.size());
    }
    if (total < static_cast<double>(default_costs.min_tests_for_threads)) {
        threads = 1;
    }
    std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) { return a.tests > b.tests; });
    SubsetAnswers all{std::vector<SubsetAnswer>(answers), {}};
    std::vector<Tally> tallies(threads);
    const auto ask = [&](const Turn& turn, std::size_t inner_threads, Tally& tally) {
        SubsetAnswers found = test.search_subsets(batch.query(*turn.question), inner_threads, token);
        std::move(found.answers.begin(), found.answers.end(),
                  all.answers.begin() + static_cast<std::ptrdiff_t>(turn.question->first));
        tally.merge(found.tally);
    };
    std::size_t shared = 0;  // questions, the largest
    const double fair = total / static_cast<double>(threads) / 4.0;
    while (threads > 1 && shared < turns.size() && static_cast<double>(turns[shared].tests) > fair) {
        ask(turns[shared++], threads, tallies[0]);
    }
    const std::size_t rest = turns.size() - shared;
    const std::size_t grain = std::clamp<std::size_t>(rest / (threads * default_costs.pieces_per_thread), 1, 64);
    parallel_for(rest, grain, threads, token, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        for (std::size_t k = begin; k < end; ++k) {
            ask(turns[shared + k], 1, tallies[worker]);
        }
    });
    for (const Tally& tally : tallies) {
        all.tally.merge(tally);
    }
    return all;
}

}  // namespace serape
