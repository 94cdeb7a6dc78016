// Every counting strategy gives the same bits, and so do counts that are written down.
#include <bit>

#include "harness.hpp"
#include "serape/contingency_test.hpp"
#include "serape/counting/count_table.hpp"
#include "serape/family_score.hpp"

namespace serape::testing {
namespace {

constexpr CountingStrategy strategies[] = {CountingStrategy::automatic, CountingStrategy::panels,
                                           CountingStrategy::planes,    CountingStrategy::scatter,
                                           CountingStrategy::sparse,    CountingStrategy::ones};

struct Question {
    std::size_t target;
    std::vector<std::uint32_t> given, candidates;
};

std::vector<Question> questions(std::uint32_t columns) {
    std::vector<Question> made{{0, {}, {}}, {1, {2}, {}}, {3, {0, 5}, {}}, {2, {1, 3, 4, 6, 7}, {}}};
    for (Question& one : made) {
        for (std::uint32_t x = columns; x-- > 0;) {  // not in order
            if (x != one.target && std::find(one.given.begin(), one.given.end(), x) == one.given.end()) {
                one.candidates.push_back(x);
            }
        }
    }
    return made;
}

std::vector<std::uint64_t> bits(const std::vector<double>& numbers) {
    std::vector<std::uint64_t> out;
    for (const double number : numbers) {
        out.push_back(std::bit_cast<std::uint64_t>(number));
    }
    return out;
}

const Case tests_agree("strategies and counts of tests", [] {
    for (const std::size_t rows : {3, 64, 700}) {
        const RandomTable random(rows, rows, 14, 12);
        for (const StatisticKind kind : {StatisticKind::g2, StatisticKind::x2}) {
            const Rules rules{kind, DofRule::adjusted, Reliability::none, 5.0};
            const ContingencyTest test(random.table, rules);
            const CountedTest counted(rows, rules);
            for (const Question& q : questions(14)) {
                const std::size_t size = q.candidates.size();
                std::vector<double> expected(2 * size), found(2 * size);
                std::vector<std::uint8_t> reliable(size);
                CancellationToken token;
                for (const CountingStrategy strategy : strategies) {
                    test.screen(q.target, q.candidates, q.given, 1, token,
                                {found.data(), found.data() + size, reliable.data()}, strategy);
                    if (strategy == CountingStrategy::automatic) {
                        expected = found;
                    }
                    check(bits(found) == bits(expected));
                }
                for (const CountingStrategy strategy : strategies) {
                    const CountTable table =
                        counts(random.table, q.target, random.table, q.candidates, q.given, 1, token, strategy);
                    counted.screen(table, {found.data(), found.data() + size, reliable.data()});
                    check(bits(found) == bits(expected));
                }
            }
        }
    }
});

const Case scores_agree("strategies and counts of scores", [] {
    const RandomTable random(5, 300, 14, 12);
    for (const ScoreKind kind : {ScoreKind::loglik, ScoreKind::bic, ScoreKind::bdeu, ScoreKind::k2}) {
        const FamilyScore score(random.table, kind, 2.0);
        const CountedScore counted(300, kind, 2.0);
        for (const Question& q : questions(14)) {
            std::vector<double> expected(q.candidates.size()), found(q.candidates.size());
            CancellationToken token;
            score.additions(q.target, q.candidates, q.given, 1, token, expected.data());
            for (const CountingStrategy strategy : strategies) {
                if (strategy == CountingStrategy::panels) {
                    check_throws<std::invalid_argument>(
                        [&] { score.additions(q.target, q.candidates, q.given, 1, token, found.data(), strategy); });
                    continue;
                }
                score.additions(q.target, q.candidates, q.given, 1, token, found.data(), strategy);
                check(bits(found) == bits(expected));
            }
            counted.scores(counts(random.table, q.target, random.table, q.candidates, q.given, 1, token), found.data());
            check(bits(found) == bits(expected));
            double family = 0.0, of_counts = 0.0;
            score.families(q.target, {&q.given, 1}, 1, token, &family);
            counted.scores(counts(random.table, q.target, random.table, {}, q.given, 1, token), &of_counts);
            check_equal(of_counts, family);
        }
    }
});

// The bitsets of 300 cells take 3.75 GB if there are 100,000,000 rows.
const Case bitsets_are_bounded("bitsets of very many rows", [] {
    const Costs costs;
    check_equal(costs.masks_for(5000), costs.max_masks);
    check_equal(costs.masks_for(10'000'000), costs.max_masks);
    check(costs.masks_for(100'000'000) * 12'500'000 <= costs.max_mask_bytes);
    for (const std::size_t rows : {std::size_t{10'000'000}, std::size_t{100'000'000}}) {
        for (const std::size_t cells : {std::size_t{12}, std::size_t{300}}) {
            Shape shape;
            shape.rows = rows;
            shape.cells = shape.varying = cells;
            shape.candidates = 36;
            shape.levels_present = 1 << 2;
            check_equal(choose(shape, costs, CountingStrategy::planes).masks, cells <= costs.masks_for(rows));
        }
    }
});

const Case no_candidates("screens of no candidates", [] {
    const RandomTable random(6, 100, 10, 2);
    const ContingencyTest test(random.table, {});
    CancellationToken token;
    for (const std::size_t size : {std::size_t{5}, CandidateGroups::many + 1}) {
        const CandidateGroups groups(random.table, {{std::vector<std::uint32_t>(size, 3), {}}});
        test.screen_among(0, groups, {}, {}, 1, token, {});
    }
});

}  // namespace
}  // namespace serape::testing
