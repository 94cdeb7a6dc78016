// The k-d tree, and the Cochran-Mantel-Haenszel test in its leaves.
#include "serape/cmh_test.hpp"

#include <algorithm>
#include <numeric>

#include "harness.hpp"

namespace serape::testing {
namespace {

std::vector<std::uint32_t> all_rows(std::size_t rows) {
    std::vector<std::uint32_t> all(rows);
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

const Case ranks("k-d tree: tied values have twice their mean rank", [] {
    const std::vector<double> values{3.0, -1.0, 3.0, 7.0, 0.0};
    check_equal(ranks_of(values), std::vector<std::uint32_t>{5, 0, 5, 8, 2});
});

const Case leaves("k-d tree: leaves divide the rows, none too small, ties together", [] {
    Random random(9);
    const std::size_t rows = 500;
    std::vector<std::vector<std::uint32_t>> ranked;
    std::vector<std::vector<double>> values(3, std::vector<double>(rows));
    for (std::size_t v = 0; v < 3; ++v) {
        for (double& value : values[v]) {
            value = v == 2 ? below(random, 4) : uniform(random);
        }
        ranked.push_back(ranks_of(values[v]));
    }
    const std::vector<const std::uint32_t*> pointers{ranked[0].data(), ranked[1].data(), ranked[2].data()};
    const std::vector<std::uint32_t> starts{0, 200, 500};
    const std::vector<const double*> columns{values[0].data(), values[1].data(), values[2].data()};
    const KdTree tree = build_kd_tree(all_rows(rows), starts, pointers, columns, 25);
    const KdTree reversed = build_kd_tree(all_rows(rows), starts, {pointers.rbegin(), pointers.rend()},
                                          {columns.rbegin(), columns.rend()}, 25);
    check_equal(reversed.rows, tree.rows);  // the order of the variables plays no part
    std::vector<std::uint32_t> seen(tree.rows);
    std::sort(seen.begin(), seen.end());
    check_equal(seen, all_rows(rows));
    check(tree.size() > 4);
    for (std::size_t k = 0; k < tree.size(); ++k) {
        check(tree.leaf(k).size() >= 25);
        check(std::is_sorted(tree.leaf(k).begin(), tree.leaf(k).end()));
        for (const std::uint32_t row : tree.leaf(k)) {
            check_equal(tree.stratum[k], row < 200 ? 0U : 1U);
        }
    }
    // One variable alone: leaves do not overlap.
    const KdTree alone =
        build_kd_tree(all_rows(rows), std::vector<std::uint32_t>{0, 500}, {ranked[2].data()}, {values[2].data()}, 25);
    for (std::size_t k = 0; k < alone.size(); ++k) {
        for (std::size_t other = 0; other < k; ++other) {
            for (const std::uint32_t a : alone.leaf(k)) {
                for (const std::uint32_t b : alone.leaf(other)) {
                    check(ranked[2][a] != ranked[2][b]);
                }
            }
        }
    }
});

const Case mirrored("k-d tree: the leaves of a variable and of its negative are the same", [] {
    Random random(10);
    for (std::size_t rows = 60; rows < 260; ++rows) {  // odd numbers of rows, and ties, have no middle
        std::vector<double> values(rows), negative(rows);
        for (std::size_t i = 0; i < rows; ++i) {
            values[i] = rows % 3 == 0 ? uniform(random) : rows % 3 == 1 ? below(random, 3) : below(random, 20);
            negative[i] = -values[i];
        }
        const auto leaves_of = [&](const std::vector<double>& column) {
            const std::vector<std::uint32_t> ranked = ranks_of(column);
            const KdTree tree = build_kd_tree(all_rows(rows), std::vector<std::uint32_t>{0, std::uint32_t(rows)},
                                              {ranked.data()}, {column.data()}, 7);
            std::vector<std::vector<std::uint32_t>> found;
            for (std::size_t k = 0; k < tree.size(); ++k) {
                found.emplace_back(tree.leaf(k).begin(), tree.leaf(k).end());
            }
            std::sort(found.begin(), found.end());
            return found;
        };
        const auto found = leaves_of(values);
        check(found == leaves_of(negative));
        check(rows % 3 == 1 || found.size() > 3);
    }
});

const Case two_by_two("cmh test: without continuous variables, the textbook statistic of 2 x 2 tables", [] {
    Random random(13);
    const std::size_t rows = 300;
    Codes x{std::vector<std::uint16_t>(rows), 2}, y{std::vector<std::uint16_t>(rows), 2};
    for (std::size_t i = 0; i < rows; ++i) {
        x.of_row[i] = static_cast<std::uint16_t>(below(random, 2));
        y.of_row[i] = static_cast<std::uint16_t>(below(random, 3) == 0 ? x.of_row[i] : below(random, 2));
    }
    // One stratum of three leaves: (Σ (a − E a))² / Σ var a.
    KdTree tree{all_rows(rows), {0, 80, 180, 300}, {0, 0, 0}};
    double excess = 0.0, variance = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
        double n = 0.0, both = 0.0, of_x = 0.0, of_y = 0.0;
        for (const std::uint32_t row : tree.leaf(k)) {
            n += 1.0;
            of_x += x.of_row[row];
            of_y += y.of_row[row];
            both += x.of_row[row] * y.of_row[row];
        }
        excess += both - of_x * of_y / n;
        variance += of_x * (n - of_x) * of_y * (n - of_y) / (n * n * (n - 1.0));
    }
    const CmhResult found = cmh_test(tree, {}, x, y);
    check_close(found.statistic, excess * excess / variance, 1e-10);
    check_equal(found.dof, 1.0);
    check_equal(found.rows, rows);
    // Strata add up.
    tree.stratum = {0, 1, 2};
    check_equal(cmh_test(tree, {}, x, y).dof, 3.0);
});

const Case uninformative("cmh test: a constant variable adds nothing", [] {
    const KdTree tree{all_rows(10), {0, 10}, {0}};
    const Codes constant{std::vector<std::uint16_t>(10, 1), 2};
    Codes varying{std::vector<std::uint16_t>(10, 0), 2};
    varying.of_row[3] = 1;
    check_equal(cmh_test(tree, {}, constant, varying).dof, 0.0);
});

}  // namespace
}  // namespace serape::testing
