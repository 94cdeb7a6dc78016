#include "serape/spouse_search.hpp"

#include <algorithm>
#include <optional>

namespace serape {
namespace {

// What a thread uses again for every child: memory that is returned after each would have to be cleared again by the
// system, one thread at a time.
struct Screened {
    explicit Screened(std::size_t room) : answers(room) { xs.reserve(room); }

    ScreenAnswers answers;
    std::vector<std::uint32_t> xs;
};

Spouses spouses_of(const ContingencyTest& test, const CandidateGroups& groups, const SpouseQuery& query,
                   std::uint32_t child, std::size_t threads, Screened& screened, CancellationToken& token) {
    Spouses out;
    auto& [answers, xs] = screened;
    xs.clear();
    out.screened = test.screens(query.target, groups, child, threads, token, answers.out(), xs);
    answers.keep_first(xs.size());
    out.dependents = answers.ranked_split(xs, query.log_alpha, false).dependent;
    if (out.dependents.size() < 2) {
        return out;
    }
    SubsetQuery separate{.xs = {}, .target = query.target, .pool = out.dependents, .fixed = {child}};
    if (query.as_written) {
        std::sort(separate.pool.begin(), separate.pool.end());
        separate.xs = separate.pool;
    } else {
        separate.xs.assign(out.dependents.rbegin(), out.dependents.rend());
    }
    separate.smallest = separate.largest = 1;
    separate.max_size = query.max_size;
    separate.stop_above = query.log_alpha;
    separate.shrinking = true;
    out.found = FoundSubsets(separate.xs, test.search_subsets(separate, threads, token));
    return out;
}

}  // namespace

std::vector<Spouses> find_spouses(const ContingencyTest& test, const CandidateGroups& groups, const SpouseQuery& query,
                                  std::size_t threads, CancellationToken& token) {
    const std::size_t count = query.children.size();
    std::vector<Spouses> all(count);
    // A few children are taken one after another, by all threads each.
    const std::size_t inner = count < std::max<std::size_t>(threads, 1) ? threads : 1;
    const std::size_t outer = inner > 1 ? 1 : threads;
    groups.expect(count, threads);
    std::vector<std::optional<Screened>> screened(std::max<std::size_t>(outer, 1));
    parallel_for(count, 1, outer, token, [&](std::size_t begin, std::size_t, std::size_t worker) {
        std::optional<Screened>& own = screened[worker];
        if (!own) {
            own.emplace(groups.size());
        }
        all[begin] = spouses_of(test, groups, query, query.children[begin], inner, *own, token);
    });
    return all;
}

}  // namespace serape
