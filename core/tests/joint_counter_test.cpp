// Sets counted together with the target against cells divided one variable after another.
#include "serape/counting/joint_counter.hpp"

#include <algorithm>
#include <numeric>
#include <thread>
#include <utility>

#include "harness.hpp"
#include "serape/contingency_test.hpp"

namespace serape::testing {
namespace {

Sum by_cells(const PackedTable& table, std::uint32_t x, std::uint32_t target, std::span<const std::uint32_t> given) {
    const Statistic statistic(StatisticKind::g2, table.rows(), table.log_table());
    Cells cells(table, target, given);
    const TestCells counted(table, statistic, cells, table.levels(target), CandidateKinds(table, {&x, 1}));
    CandidateCounter counter;
    return counted(counter, x);
}

// Asks for x and the target given all subsets of this size of shuffled columns.
void check_random_sets(const PackedTable& table, JointCounter& counter, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::uint32_t> order(table.columns());
    std::iota(order.begin(), order.end(), 0u);
    for (int k = 0; k < 150; ++k) {
        std::shuffle(order.begin(), order.end(), random);
        if (!JointCounter::serves(table, order[0])) {
            continue;
        }
        counter.take(table, order[0]);
        const std::span<const std::uint32_t> given = std::span(order).subspan(2, below(random, 4));
        double cells = table.levels(order[0]) * table.levels(order[1]);
        for (const std::uint32_t z : given) {
            cells *= table.levels(z);
        }
        const auto sum = counter(order[1], given, below(random, 2) == 0);
        check_equal(sum.has_value(), cells <= 65'536.0);
        if (sum) {
            const Sum expected = by_cells(table, order[1], order[0], given);
            check_equal(sum->value, expected.value);
            check_equal(sum->dof, expected.dof);
        }
    }
}

const Case same_sums("joint counter: the same sums as by cells", [] {
    for (const Kernels* set : available_kernels()) {
        check(select_kernels(set->name));
        for (const std::size_t rows : {1, 63, 700, 5001}) {
            const RandomTable random(rows, rows, 9, rows == 700 ? 40 : 5);
            JointCounter counter;
            check_random_sets(random.table, counter, rows);
        }
    }
    check(select_kernels(available_kernels().back()->name));
});

const Case shared("joint counter: one table for all members of a set", [] {
    const RandomTable random(1, 400, 6, 4);
    JointCounter counter;
    std::uint32_t target = 0;
    counter.take(random.table, target);
    const std::vector<std::uint32_t> members{1, 2, 3};
    const auto ask = [&](std::size_t k, bool ask_all) {
        std::vector<std::uint32_t> given(members);
        given.erase(given.begin() + static_cast<std::ptrdiff_t>(k));
        const auto sum = counter(members[k], given, ask_all);
        check(sum.has_value());
        check_equal(sum->value, by_cells(random.table, members[k], target, given).value);
        check_equal(sum->dof, by_cells(random.table, members[k], target, given).dof);
    };
    ask(0, true);
    check_equal(counter.remembered(), 2u);  // {1, 2, 3} and {2, 3}
    ask(1, true);
    ask(2, true);
    ask(0, false);
    check_equal(counter.remembered(), 4u);
    target = 4;
    counter.take(random.table, target);
    ask(0, false);
    ask(1, false);  // whose degrees of freedom are not known
    ask(0, false);
    check_equal(counter.remembered(), 7u);
});

const Case limits("joint counter: what cannot be counted", [] {
    RandomTable random(2, 300, 10, 2);
    std::vector<std::uint16_t> many(300);
    std::iota(many.begin(), many.end(), std::uint16_t{0});
    random.table.append(many, 300);
    check(!JointCounter::serves(random.table, 10));
    JointCounter counter;
    counter.take(random.table, 0);
    const std::vector<std::uint32_t> given{2, 3, 4, 5, 6, 7, 8};
    check(!counter(1, given, true));  // too many members
    check(counter(1, std::span(given).first(6), true).has_value());
    check(!counter(10, {}, true));  // too many levels
    const PackedTable moved = std::move(random.table);
    counter.take(moved, 1);
    check_equal(counter(2, {}, true)->value, by_cells(moved, 2, 1, {}).value);
});

const Case lent("joint counter: one for each thread, kept by the table", [] {
    const RandomTable random(3, 50, 3, 3);
    auto first = random.table.lend_joint_counter();
    auto second = random.table.lend_joint_counter();
    check(first != second);
    const JointCounter* const one = first.get();
    const JointCounter* const other = second.get();
    random.table.take_back(std::move(second));
    check(random.table.lend_joint_counter().get() == other);  // and freed, as nobody takes it back
    random.table.take_back(std::move(first));
    std::thread([&] {
        auto lent = random.table.lend_joint_counter();  // there is no other for this thread
        check(lent.get() == one);
        random.table.take_back(std::move(lent));
    }).join();
    auto again = random.table.lend_joint_counter();
    check(again.get() == one);
    for (int k = 0; k < 100; ++k) {  // more than are kept
        random.table.take_back(std::make_unique<JointCounter>());
    }
    check(random.table.bytes() > 0);
});

const Case choice("joint counter: chosen where cells are many, or counted again", [] {
    const Costs costs = costs_of(avx512_costs);
    check(!joint_pays({5000, 8, 2, 1, false, true}, costs));
    check(!joint_pays({5000, 8, 2, 1, true, true}, costs));
    check(joint_pays({5000, 81, 3, 1, true, true}, costs));
    check(!joint_pays({5000, 81, 3, 60, false, true}, costs));
    check(joint_pays({5000, 400, 4, 1, false, true}, costs));
    check(joint_pays({5000, 40, 11, 1, false, false}, costs));
});

}  // namespace
}  // namespace serape::testing
