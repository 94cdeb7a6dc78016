// What the test of residuals remembers of earlier questions changes no bit of an answer.
#include "../src/feature_products.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>

#include "../src/known_outcomes.hpp"
#include "harness.hpp"
#include "serape/kernels.hpp"
#include "serape/residual_test.hpp"

namespace serape::testing {
namespace {

// --- the memory itself ----------------------------------------------------------------------------------------------

constexpr std::size_t padded = 16;

struct Found {
    std::vector<double> products, sums;
    bool knows_nothing() const {
        const auto unknown = [](double value) { return std::isnan(value); };
        for (std::size_t k = 0; k < sums.size(); k += padded) {
            if (!unknown(sums[k])) {
                return false;
            }
        }
        return std::all_of(products.begin(), products.end(), unknown);
    }
};

Found find(FeatureProducts& memory, const std::vector<FeatureKey>& features, std::size_t some,
           const std::vector<std::uint32_t>& divided_by) {
    Found found{std::vector<double>(features.size() * some), std::vector<double>(some * padded)};
    memory.find(features, some, divided_by, padded, found.products.data(), found.sums.data());
    return found;
}

// The product of the i-th and the j-th of all features is 100 i + j for i > j; c-th sum of the k-th: 1000 k + c.
double product_of(const FeatureKey& one, const FeatureKey& other) {
    return 100.0 * std::max(one.a, other.a) + std::min(one.a, other.a);
}

void keep(FeatureProducts& memory, const std::vector<FeatureKey>& features, std::size_t many,
          const std::vector<std::uint32_t>& divided_by) {
    std::vector<double> products, sums;
    for (std::size_t i = 0; i < many; ++i) {
        for (const FeatureKey& other : features) {
            products.push_back(product_of(features[i], other));
        }
    }
    for (const FeatureKey& one : features) {
        for (std::size_t c = 0; c < padded; ++c) {
            sums.push_back(1000.0 * one.a + static_cast<double>(c));
        }
    }
    memory.keep(features, many, divided_by, padded, products.data(), sums.data());
}

std::vector<FeatureKey> features_from(std::uint32_t first, std::size_t count, std::int64_t cell = -1) {
    std::vector<FeatureKey> made;
    for (std::uint32_t k = 0; k < count; ++k) {
        made.push_back({1, first + k, 2, cell});
    }
    return made;
}

const Case kept("products of features: what was kept is found, in any order, and nothing else", [] {
    FeatureProducts memory;
    const std::vector<FeatureKey> features = features_from(0, 5);
    check(find(memory, features, 5, {7}).knows_nothing());
    keep(memory, features, 2, {7});  // products with the first two
    const std::vector<FeatureKey> reversed(features.rbegin(), features.rend());
    const Found found = find(memory, reversed, 3, {7});  // with 2, 1 and 0
    for (std::size_t i = 0; i < 5; ++i) {
        for (std::size_t k = 0; k < 3; ++k) {
            const double value = found.products[i * 3 + k];
            if (reversed[i].a < 2 || k > 0) {
                check_equal(value, product_of(reversed[i], reversed[2 + k]));
            } else {
                check(std::isnan(value));
            }
        }
    }
    for (std::size_t k = 0; k < 3; ++k) {
        for (std::size_t c = 0; c < padded; ++c) {
            check_equal(found.sums[k * padded + c], 1000.0 * reversed[2 + k].a + static_cast<double>(c));
        }
    }
    const Found elsewhere = find(memory, features, 1, {8});  // other cells, the same columns
    check(std::isnan(elsewhere.sums[0]));
    check_equal(elsewhere.products[0], product_of(features[0], features[4]));
    memory.clear();
    check(find(memory, features, 5, {7}).knows_nothing());
});

const Case in_cells("products of features: cells of other categories make other features", [] {
    FeatureProducts memory;
    const std::vector<FeatureKey> in_cell = features_from(0, 3, 1);
    keep(memory, in_cell, 3, {7});
    check(!std::isnan(find(memory, in_cell, 1, {7}).products[0]));
    check(find(memory, in_cell, 3, {8}).knows_nothing());
    check(find(memory, in_cell, 3, {7, 8}).knows_nothing());
    check(find(memory, features_from(0, 3, 2), 3, {7}).knows_nothing());
    check(find(memory, features_from(0, 3), 3, {7}).knows_nothing());
});

const Case forgotten("products of features: where there is no room for all, all before are forgotten", [] {
    FeatureProducts memory;
    const std::vector<FeatureKey> first = features_from(0, 10);
    keep(memory, first, 10, {});
    const auto room = static_cast<std::uint32_t>(FeatureProducts::max_features);
    keep(memory, features_from(10, room - 10), 1, {});
    check(!std::isnan(find(memory, first, 1, {}).products[0]));
    const std::vector<FeatureKey> last = features_from(room, 10);
    keep(memory, last, 10, {});
    check_equal(find(memory, last, 10, {}).products[3], product_of(last[0], last[3]));
    check(find(memory, first, 10, {}).knows_nothing());
    // More than there is room for at once are not kept, nor is anything forgotten for them.
    const std::vector<FeatureKey> many = features_from(0, room + 1);
    keep(memory, many, 1, {});
    check(find(memory, many, 1, {}).knows_nothing());
    check(!std::isnan(find(memory, last, 1, {}).products[0]));
});

const Case sums_forgotten("products of features: sums by cell have their limit", [] {
    FeatureProducts memory;
    const std::vector<FeatureKey> two = features_from(0, 2);
    const std::size_t half = FeatureProducts::max_sums / 4;  // of the sums of two: half of what there is room for
    const std::vector<double> products{1.0, 2.0, 2.0, 3.0}, sums(2 * half, 5.0);
    std::vector<double> found(4), found_sums(2 * half);
    const auto knows = [&](std::uint32_t category, std::size_t each) {
        memory.find(two, 2, {category}, each, found.data(), found_sums.data());
        return !std::isnan(found_sums[0]) && !std::isnan(found_sums[each]);
    };
    memory.keep(two, 2, {0}, half, products.data(), sums.data());
    memory.keep(two, 2, {1}, half, products.data(), sums.data());
    check(knows(0, half) && knows(1, half));
    check_equal(std::accumulate(found_sums.begin(), found_sums.end(), 0.0), 5.0 * static_cast<double>(2 * half));
    memory.keep(two, 2, {0}, half, products.data(), sums.data());  // which needs no more room
    check(knows(0, half) && knows(1, half));
    memory.keep(two, 2, {2}, half, products.data(), sums.data());
    check(knows(2, half) && !knows(0, half) && !knows(1, half));
    memory.keep(two, 2, {1}, half, products.data(), sums.data());
    check(knows(2, half) && knows(1, half));  // there is room again
    // Sums that are too many at once are not kept; products are.
    memory.clear();
    const std::size_t large = FeatureProducts::max_sums / 2 + 16;
    found_sums.resize(2 * large);
    memory.keep(two, 2, {3}, large, products.data(), std::vector<double>(2 * large, 5.0).data());
    check(!knows(3, large));
    check_equal(found, products);
});

// --- answers --------------------------------------------------------------------------------------------------------

enum class Weights { none, frequencies, survey };

// Numbers with ties, of few values, nearly equal and without a test, and categories of few, many, rare and one level,
// all related.
struct Anything {
    Anything(std::uint64_t seed, std::size_t rows, Weights kind)
        : frequencies(kind == Weights::frequencies), table(rows) {
        Random random(seed);
        std::vector<double> cause(rows);
        for (double& value : cause) {
            value = uniform(random) + uniform(random);
        }
        const auto number = [&](const auto& make) {
            numbers.emplace_back(rows);
            for (std::size_t r = 0; r < rows; ++r) {
                numbers.back()[r] = make(cause[r], uniform(random), r);
            }
            table.append(std::vector<std::uint8_t>(rows, 0), 1);
        };
        const auto category = [&](std::uint32_t levels, const auto& make) {
            numbers.emplace_back();
            std::vector<std::uint8_t> codes(rows);
            for (std::size_t r = 0; r < rows; ++r) {
                codes[r] = static_cast<std::uint8_t>(
                    std::min<double>(levels - 1, make(cause[r], uniform(random)) * static_cast<double>(levels)));
            }
            table.append(codes, levels);
        };
        number([](double c, double u, auto) { return c + 0.5 * u; });
        number([](double c, double u, auto) { return c * c - u; });
        number([](double c, double u, auto) { return c < 0.9 ? 0.0 : c + u; });  // often 0
        number([](double c, double u, auto) { return c + u < 1.4 ? 0.0 : 1.0; });
        number([](double, double, auto) { return 3.0; });
        number([](double, double u, auto r) { return r < 3 ? u : 2.0; });  // without a test
        number([](double c, double u, auto) { return std::floor(2.0 * (c + u)); });
        number([&](double, double u, auto r) { return numbers[0][r] + 1e-3 * u; });
        number([](double c, double u, auto) { return (c - 1.0) / (u + 0.01); });
        number([](double c, double u, auto) { return std::floor(c + u); });
        for (int k = 0; k < 4; ++k) {
            number([&](double c, double u, auto) { return u + 0.3 * k * c; });
        }
        category(2, [](double c, double u) { return 0.3 * (c + u); });
        category(3, [](double c, double u) { return 0.3 * (c + u); });
        category(4, [](double c, double u) { return 0.6 * c * u; });
        category(1, [](double, double) { return 0.0; });
        category(30, [](double c, double u) { return 0.5 * c * (0.5 + u); });
        category(12, [](double, double u) { return u; });
        category(6, [](double c, double u) { return u * u * u * c; });
        if (kind != Weights::none) {
            for (std::size_t r = 0; r < rows; ++r) {
                weights.push_back(frequencies ? 1.0 + below(random, 3) : 0.2 + uniform(random));
            }
        }
    }
    std::uint32_t columns() const { return static_cast<std::uint32_t>(numbers.size()); }
    std::unique_ptr<ResidualTest> fresh(ResidualLimits limits = {}) const {
        std::vector<std::uint8_t> kinds;
        for (const std::vector<double>& values : numbers) {
            kinds.push_back(!values.empty());
        }
        auto made = std::make_unique<ResidualTest>(table, kinds, Rules{}, true, weights, frequencies, limits);
        for (std::uint32_t v = 0; v < columns(); ++v) {
            if (kinds[v] != 0) {
                made->set_values(v, numbers[v]);
            } else {
                made->set_category(v);
            }
        }
        return made;
    }

    bool frequencies;
    PackedTable table;
    std::vector<std::vector<double>> numbers;  // empty: a category
    std::vector<double> weights;
};

// A target, a conditioning set, and all others. A search tries as conditioning sets what these and some others make.
struct Question {
    enum class Kind { screen, tests, effects, subsets } kind;
    std::uint32_t target;
    std::vector<std::uint32_t> given, others;
};

Question any_question(Random& random, std::uint32_t columns, std::size_t most) {
    std::vector<std::uint32_t> order(columns);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random);
    const std::size_t size = below(random, static_cast<std::uint32_t>(most + 1));
    const auto middle = order.begin() + 1 + static_cast<std::ptrdiff_t>(size);
    return {
        static_cast<Question::Kind>(below(random, 4)), order[0], {order.begin() + 1, middle}, {middle, order.end()}};
}

std::vector<std::uint64_t> ask(const ResidualTest& test, const Question& question, std::size_t threads) {
    std::vector<double> found;
    const auto add = [&](const Outcome& one) {
        found.insert(found.end(), {one.statistic, one.dof, one.log_p, one.reliable ? 1.0 : 0.0});
    };
    CancellationToken token;
    const std::size_t count = question.others.size();
    switch (question.kind) {
        case Question::Kind::screen: {
            std::vector<double> statistic(count), dof(count);
            std::vector<std::uint8_t> reliable(count);
            test.screen(question.target, question.others, question.given, threads, token,
                        {statistic.data(), dof.data(), reliable.data()});
            found = statistic;
            found.insert(found.end(), dof.begin(), dof.end());
            found.insert(found.end(), reliable.begin(), reliable.end());
            break;
        }
        case Question::Kind::tests:
            for (std::size_t k = 0; k < std::min<std::size_t>(count, 3); ++k) {
                add(test.test(question.others[k], question.target, question.given));
            }
            break;
        case Question::Kind::effects: {
            std::vector<ResidualEffect> effects(count);
            test.effects(question.target, question.others, question.given, token, effects);
            for (const ResidualEffect& one : effects) {
                found.insert(found.end(), {one.log_lambda, one.correlation, one.products});
            }
            break;
        }
        case Question::Kind::subsets: {
            SubsetQuery query;
            query.target = question.target;
            query.xs.assign(question.others.begin(), question.others.begin() + 6);
            query.pool.assign(question.others.begin() + 3, question.others.begin() + 9);
            query.fixed = question.given;
            query.fixed.resize(std::min<std::size_t>(query.fixed.size(), 1));
            query.largest = 2;
            for (const SubsetAnswer& one : ResidualRows{test}.search_subsets(query, threads, token).answers) {
                add(one.outcome);
                found.insert(found.end(), one.given.begin(), one.given.end());
            }
            break;
        }
    }
    std::vector<std::uint64_t> bits;
    for (const double value : found) {
        bits.push_back(std::isnan(value) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(value));
    }
    return bits;
}

const Case same_answers("residuals: an answer has the same bits after any other questions, on any threads", [] {
    for (const Weights kind : {Weights::none, Weights::frequencies, Weights::survey}) {
        const Anything data(5, 400, kind);
        const std::unique_ptr<ResidualTest> experienced = data.fresh();
        Random random(6);
        for (int round = 0; round < 12; ++round) {
            const Question question = any_question(random, data.columns(), 4);
            check(select_kernels("plain"));
            const std::vector<std::uint64_t> expected = ask(*data.fresh(), question, 1);
            const std::span<const Kernels* const> sets = available_kernels();
            check(select_kernels(sets[below(random, static_cast<std::uint32_t>(sets.size()))]->name));
            for (const std::size_t threads : {1, 3}) {
                check_equal(ask(*experienced, question, threads), expected);
            }
        }
        check(select_kernels(available_kernels().back()->name));
    }
});

const Case wide_target("residuals: beside a wide target, narrow and wide candidates keep their places", [] {
    const Anything data(12, 3000, Weights::none);
    const std::vector<std::uint32_t> candidates{19, 1, 20, 8, 14, 16}, given{0, 15};
    check(data.fresh()->scores(18).width * data.fresh()->scores(19).width > ResidualLimits{}.max_products);
    check(data.fresh()->scores(18).width <= ResidualLimits{}.max_products / 2);  // beside a number it is not wide
    for (const std::size_t threads : {1, 3}) {
        std::vector<double> statistic(candidates.size()), dof(candidates.size());
        std::vector<std::uint8_t> reliable(candidates.size());
        CancellationToken token;
        data.fresh()->screen(18, candidates, given, threads, token, {statistic.data(), dof.data(), reliable.data()});
        for (std::size_t k = 0; k < candidates.size(); ++k) {
            const Outcome single = data.fresh()->test(candidates[k], 18, given);
            check(single.reliable && reliable[k] != 0);
            check_equal(statistic[k], single.statistic);
        }
    }
});

const Case searches("residuals: searches about the same sets have the same bits, whatever is kept of them", [] {
    const Anything data(13, 500, Weights::none);
    // All sets, about eight of them, none.
    for (const std::size_t kept_bytes : {std::size_t{64} << 20, std::size_t{300} << 10, std::size_t{0}}) {
        ResidualLimits limits;
        limits.kept_bytes = kept_bytes;
        const std::unique_ptr<ResidualTest> experienced = data.fresh(limits);
        for (const std::uint32_t target : {0u, 1u, 16u, 8u, 0u}) {
            Question question{Question::Kind::subsets, target, {}, {}};
            for (const std::uint32_t v : {0u, 1u, 8u, 16u, 11u, 6u, 14u, 15u, 12u, 20u}) {
                if (v != target) {
                    question.others.push_back(v);
                }
            }
            for (const std::size_t threads : {1, 3}) {
                check_equal(ask(*experienced, question, threads), ask(*data.fresh(), question, 1));
            }
        }
    }
});

const Case either_side("residuals: a search has the same bits whichever of two columns is the target", [] {
    const Anything data(14, 3000, Weights::none);
    for (const auto& [x, y] : std::vector<std::array<std::uint32_t, 2>>{
             {0, 1}, {1, 2}, {2, 16}, {18, 19}, {18, 0}, {15, 18}, {6, 20}, {19, 8}, {16, 20}}) {
        SubsetQuery query{.xs = {x}, .target = y, .pool = {12, 7, 14, 10}};
        query.largest = 3;
        CancellationToken token;
        const SubsetAnswer one = ResidualRows{*data.fresh()}.search_subsets(query, 1, token).answers[0];
        std::swap(query.xs[0], query.target);
        const SubsetAnswer other = ResidualRows{*data.fresh()}.search_subsets(query, 1, token).answers[0];
        check(one.outcome.reliable);
        check_equal(one.outcome.statistic, other.outcome.statistic);
        check_equal(one.outcome.dof, other.outcome.dof);
        check_equal(one.given, other.given);
    }
});

const Case known_outcomes("known outcomes: those of a pair are found in either order, given the same set", [] {
    KnownOutcomes memory;
    memory.keep(3, 1, std::array{2u, 5u}, {4.0, 1.0, -3.0, true});
    check_equal(memory.find(1, 3, std::array{2u, 5u})->statistic, 4.0);
    check_equal(memory.find(3, 1, std::array{2u, 5u})->statistic, 4.0);
    check(!memory.find(1, 3, std::array{2u}) && !memory.find(1, 2, std::array{3u, 5u}) && !memory.find(1, 3, {}));
    memory.keep(1, 3, {}, {5.0, 1.0, -4.0, true});
    check_equal(memory.find(3, 1, {})->statistic, 5.0);
    for (std::uint32_t z = 4; memory.find(1, 3, {}); ++z) {  // where there is no room, nothing stays
        check(z < KnownOutcomes::max_values);
        memory.keep(1, 3, std::array{z}, {6.0, 1.0, -5.0, true});
    }
    check(!memory.find(1, 3, std::array{2u, 5u}));
    memory.keep(1, 3, {}, {7.0, 1.0, -6.0, true});
    check_equal(memory.find(1, 3, {})->statistic, 7.0);
    memory.clear();
    check(!memory.find(1, 3, {}));
});

// Whether the product of a column's scores with themselves is known.
bool remembers(const ResidualTest& test, std::uint32_t column) {
    return !std::isnan(find(test.feature_products(), {{0, column, 0, -1}}, 1, {}).products[0]);
}

const Case after_forgetting("residuals: nor is an answer another one once products were forgotten", [] {
    const Anything data(7, 900, Weights::none);
    const std::unique_ptr<ResidualTest> experienced = data.fresh();
    const Question first{Question::Kind::tests, 1, {0, 14}, {11, 12, 8}};
    const std::vector<std::uint64_t> expected = ask(*experienced, first, 1);
    check_equal(ask(*data.fresh(), first, 1), expected);
    check(remembers(*experienced, 0));
    for (std::uint32_t a = 14; a < data.columns(); ++a) {
        for (std::uint32_t b = a; b < data.columns(); ++b) {
            for (const std::vector<std::uint32_t>& numbers : {std::vector<std::uint32_t>{2, 6, 8}, {7, 10, 11}}) {
                Question other{Question::Kind::tests, 1, numbers, {12}};
                other.given.push_back(a);
                if (b > a) {
                    other.given.push_back(b);
                }
                check_equal(ask(*experienced, other, 1), ask(*data.fresh(), other, 1));
            }
        }
    }
    check(!remembers(*experienced, 0));
    check_equal(ask(*experienced, first, 1), expected);
});

const Case at_once("residuals: questions of several threads at once have the answers of one", [] {
    const Anything data(8, 300, Weights::none);
    const std::unique_ptr<ResidualTest> shared = data.fresh();
    Random random(9);
    std::vector<Question> questions;
    std::vector<std::vector<std::uint64_t>> expected;
    for (int k = 0; k < 24; ++k) {
        questions.push_back(any_question(random, data.columns(), 3));
        expected.push_back(ask(*data.fresh(), questions.back(), 1));
    }
    std::vector<std::vector<std::uint64_t>> found(questions.size());
    std::vector<std::thread> askers;
    for (std::size_t asker = 0; asker < 4; ++asker) {
        askers.emplace_back([&, asker] {
            for (std::size_t k = asker; k < questions.size(); k += 4) {
                found[k] = ask(*shared, questions[k], 1 + k % 3);
            }
        });
    }
    for (std::thread& asker : askers) {
        asker.join();
    }
    for (std::size_t k = 0; k < questions.size(); ++k) {
        check_equal(found[k], expected[k]);
    }
});

const Case cancelled("residuals: a screen that was cancelled leaves nothing half done", [] {
    const Anything data(10, 2000, Weights::none);
    const std::unique_ptr<ResidualTest> test = data.fresh();
    Question question{Question::Kind::screen, 1, {0, 8, 15, 16}, {}};
    for (std::uint32_t v = 2; v < data.columns(); ++v) {
        if (v != 8 && v != 15 && v != 16) {
            question.others.push_back(v);
        }
    }
    const std::size_t count = question.others.size();
    for (const std::size_t threads : {1, 3}) {
        for (int k = 0; k < 6; ++k) {
            CancellationToken token;
            std::vector<double> statistic(count), dof(count);
            std::vector<std::uint8_t> reliable(count);
            std::thread stopper([&] {
                std::this_thread::sleep_for(std::chrono::microseconds(k * k * 400));
                token.stop();
            });
            try {
                test->screen(question.target, question.others, question.given, threads, token,
                             {statistic.data(), dof.data(), reliable.data()});
            } catch (const Cancelled&) {
            }
            stopper.join();
        }
    }
    check_equal(ask(*test, question, 1), ask(*data.fresh(), question, 1));
});

const Case new_values("residuals: a number with other values has the answers of these", [] {
    Anything data(11, 300, Weights::none);
    const std::unique_ptr<ResidualTest> test = data.fresh();
    const Question single{Question::Kind::tests, 1, {0, 15}, {8, 11, 16}};
    const Question search{Question::Kind::subsets, 1, {0}, {8, 11, 16, 2, 6, 7, 12, 14, 15}};
    const std::vector<std::uint64_t> before = ask(*test, single, 1), searched = ask(*test, search, 1);
    std::reverse(data.numbers[0].begin(), data.numbers[0].end());
    test->set_values(0, data.numbers[0]);
    const std::vector<std::uint64_t> after = ask(*test, single, 1), searched_after = ask(*test, search, 1);
    check(after != before && searched_after != searched);
    check_equal(after, ask(*data.fresh(), single, 1));
    check_equal(searched_after, ask(*data.fresh(), search, 1));
});

}  // namespace
}  // namespace serape::testing
