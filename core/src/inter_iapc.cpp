#include "serape/inter_iapc.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "serape/ranking.hpp"

namespace serape {
namespace {

using Variables = std::vector<std::uint32_t>;

Variables without(const Variables& all, std::span<const std::uint32_t> excluded) {
    Variables rest;
    for (const std::uint32_t x : all) {
        if (std::find(excluded.begin(), excluded.end(), x) == excluded.end()) {
            rest.push_back(x);
        }
    }
    return rest;
}

class OneTarget {
  public:
    OneTarget(const ContingencyTest& test, const CandidateGroups& among, std::uint32_t target, double log_alpha,
              const std::set<std::uint32_t>& weigh, CancellationToken& token)
        : test_(test), among_(among), target_(target), log_alpha_(log_alpha), weigh_(weigh), token_(token) {
        for (const Group& group : among.all()) {
            candidates_.insert(candidates_.end(), group.candidates.begin(), group.candidates.end());
        }
        std::erase(candidates_, target);
    }

    InterIapc run() {
        std::set<Variables> states;
        bool changed = true;
        while (changed) {
            const Variables before = sorted();
            if (!states.insert(before).second) {
                out_.repeats = true;
                break;
            }
            changed = add_strongest() && sorted() != before;
        }
        SubsetQuery query{.xs = members_, .target = target_, .pool = members_};
        query.smallest = 0;
        query.largest = members_.size();
        query.stop_above = log_alpha_;
        out_.separated = FoundSubsets(members_, test_.search_subsets(query, 1, token_));
        for (const auto& [x, found] : weakest_) {
            out_.weakest.push_back(found);
        }
        return std::move(out_);
    }

  private:
    Variables sorted() const {
        Variables all(members_);
        std::sort(all.begin(), all.end());
        return all;
    }

    // Adds the strongest candidate, if it is dependent, and removes members that the others separate.
    bool add_strongest() {
        const Variables outside = without(candidates_, members_);
        ScreenAnswers answers(outside.size());
        test_.screen_among(target_, among_, outside, members_, 1, token_, answers.out());
        BlanketRound& round = out_.rounds.emplace_back();
        round.given = members_;
        round.performed = answers.performed();
        round.skipped = outside.size() - round.performed;
        const Partition parts = partition(answers.statistic(), answers.dof(), answers.reliable(), log_alpha_);
        for (const std::int64_t k : parts.independent) {
            round.independent.push_back(outside[static_cast<std::size_t>(k)]);
        }
        if (!weigh_.empty()) {
            weigh(outside, answers, parts.dependent);
        }
        const Strongest found = strongest(answers.statistic(), answers.dof(), answers.reliable());
        if (found.ties.empty() || found.log_p > log_alpha_) {
            return false;
        }
        members_.push_back(outside[static_cast<std::size_t>(found.ties[0])]);
        // The newest depends on the target given the others: it is tested once one of these is removed.
        for (bool knows_newest = true; shrink(round, knows_newest); knows_newest = false) {
        }
        return true;
    }

    // Keeps the weakest associations: a p-value is computed for candidates to weigh alone.
    void weigh(const Variables& outside, const ScreenAnswers& answers, const std::vector<std::int64_t>& dependent) {
        for (const std::int64_t index : dependent) {
            const auto k = static_cast<std::size_t>(index);
            const std::uint32_t x = outside[k];
            if (!weigh_.contains(x)) {
                continue;
            }
            const OutsideAssociation here{x, answers.outcome(k), out_.rounds.size() - 1};
            const auto [known, is_first] = weakest_.try_emplace(x, here);
            if (!is_first && here.outcome.log_p > known->second.outcome.log_p) {
                known->second = here;
            }
        }
    }

    // Tests each member given the others, and returns whether any was removed.
    bool shrink(BlanketRound& round, bool knows_newest) {
        if (members_.empty()) {
            return false;
        }
        const std::uint32_t newest = members_.back();
        const Variables pool = members_;
        Variables asked = pool;
        if (knows_newest) {
            asked.pop_back();
        }
        const Variables separated = test_given_rest(round, asked, pool);
        members_ = without(pool, separated);
        if (!separated.empty() && knows_newest) {
            members_ = without(members_, test_given_rest(round, {newest}, members_));
        }
        return !separated.empty();
    }

    Variables test_given_rest(BlanketRound& round, const Variables& xs, const Variables& pool) {
        if (xs.empty()) {
            return {};
        }
        SubsetQuery query{.xs = xs, .target = target_, .pool = pool};
        query.stop_above = log_alpha_;
        return round.tested.emplace_back(query.xs, test_.test_each_given_rest(query, token_)).those(true);
    }

    const ContingencyTest& test_;
    const CandidateGroups& among_;
    std::uint32_t target_;
    double log_alpha_;
    const std::set<std::uint32_t>& weigh_;
    CancellationToken& token_;
    Variables candidates_;
    Variables members_;  // in the order of their entry
    std::map<std::uint32_t, OutsideAssociation> weakest_;
    InterIapc out_;
};

}  // namespace

std::vector<InterIapc> inter_iapc(const ContingencyTest& test, const CandidateGroups& among,
                                  std::span<const std::uint32_t> targets, double log_alpha,
                                  std::span<const std::uint32_t> weigh, std::size_t threads, CancellationToken& token) {
    constexpr std::size_t screens = 2;  // of a target: one given nothing, and one for each member that enters
    among.expect(screens * targets.size(), threads);
    const std::set<std::uint32_t> weighed(weigh.begin(), weigh.end());
    std::vector<InterIapc> all(targets.size());
    parallel_for(targets.size(), 1, threads, token, [&](std::size_t k, std::size_t, std::size_t) {
        all[k] = OneTarget(test, among, targets[k], log_alpha, weighed, token).run();
    });
    return all;
}

}  // namespace serape
