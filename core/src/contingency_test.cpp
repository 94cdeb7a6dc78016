#include "serape/contingency_test.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "serape/chi_square.hpp"
#include "serape/kernels.hpp"
#include "serape/panel_counter.hpp"

namespace serape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t most = std::uint64_t{1} << 63;

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
    return a > most - std::min(b, most) ? most : a + b;
}

// n choose k, stopping at 2^63.
std::uint64_t choose(std::uint64_t n, std::uint64_t k) {
    if (k > n) {
        return 0;
    }
    double estimate = 1.0;
    std::uint64_t value = 1;
    for (std::uint64_t i = 1; i <= std::min(k, n - k); ++i) {
        estimate *= static_cast<double>(n - std::min(k, n - k) + i) / static_cast<double>(i);
        if (estimate > 9e18) {
            return most;
        }
        const auto product = static_cast<unsigned __int128>(value) * (n - std::min(k, n - k) + i) / i;
        value = static_cast<std::uint64_t>(product);
    }
    return value;
}

}  // namespace

void Tally::add(std::vector<std::uint64_t>& to, std::size_t size, std::uint64_t count) {
    if (to.size() <= size) {
        to.resize(size + 1, 0);
    }
    to[size] = plus(to[size], count);
}

void Tally::merge(const Tally& other) {
    for (std::size_t size = 0; size < other.tests.size(); ++size) {
        add_test(size, other.tests[size]);
    }
    for (std::size_t size = 0; size < other.skipped.size(); ++size) {
        add_skip(size, other.skipped[size]);
    }
}

ContingencyTest::ContingencyTest(const PackedTable& table, Rules rules)
    : table_(table), rules_(rules), statistic_(rules.statistic, table.rows(), table.log_table()) {}

double ContingencyTest::strata_product(std::span<const std::uint32_t> given) const {
    double product = 1.0;
    for (const std::uint32_t z : given) {
        product *= table_.levels(z);
    }
    return product;
}

double ContingencyTest::full_dof(std::size_t x, std::size_t y, std::span<const std::uint32_t> given) const {
    return (table_.levels(x) - 1.0) * (table_.levels(y) - 1.0) * strata_product(given);
}

bool ContingencyTest::enough_rows(double x_levels, double y_levels, double strata) const {
    const auto rows = static_cast<double>(table_.rows());
    const double dof = (x_levels - 1.0) * (y_levels - 1.0) * strata;
    if (!(dof > 0.0)) {
        return false;
    }
    switch (rules_.reliability) {
        case Reliability::dof: return rows >= rules_.minimum * dof;
        case Reliability::cells: return rows >= rules_.minimum * x_levels * y_levels * strata;
        default: return true;
    }
}

Outcome ContingencyTest::outcome(std::size_t x, std::size_t y, double strata, const Sum& sum) const {
    const std::uint32_t x_levels = table_.levels(x);
    const std::uint32_t y_levels = table_.levels(y);
    Outcome out{};
    out.statistic = statistic_.value(sum.value, statistic_.scale(x_levels, y_levels));
    out.dof =
        rules_.dof == DofRule::adjusted ? static_cast<double>(sum.dof) : (x_levels - 1.0) * (y_levels - 1.0) * strata;
    out.log_p = out.dof > 0.0 ? chi_square_log_sf(out.statistic, out.dof) : nan;
    out.reliable = out.dof > 0.0 && enough_rows(x_levels, y_levels, strata);
    return out;
}

Outcome ContingencyTest::test(std::size_t x, std::size_t y, std::span<const std::uint32_t> given) const {
    // The statistic is symmetric; dividing by the variable of fewer levels is cheaper.
    if (table_.levels(y) > table_.levels(x)) {
        std::swap(x, y);
    }
    Cells cells(table_, y, given);
    const auto candidate = static_cast<std::uint32_t>(x);
    const CountingPlan plan(table_, statistic_, cells, table_.levels(y), {&candidate, 1});
    return outcome(x, y, strata_product(given), CandidateCounter(plan)(x));
}

void ContingencyTest::screen(std::size_t target, std::span<const std::uint32_t> candidates,
                             std::span<const std::uint32_t> given, std::size_t threads, Control& control, Answers out,
                             Way way, bool force_panels) const {
    const double strata = strata_product(given);
    const double target_freedom = table_.levels(target) - 1.0;
    const bool adjusted = rules_.dof == DofRule::adjusted;
    const double unit = 2.0 * statistic_.log().unit();
    const bool g2 = rules_.statistic == StatisticKind::g2;
    const std::size_t total = candidates.size();

    // What reliability allows depends on a candidate only through its number of levels.
    bool allowed[plane_levels + 1] = {};
    for (std::uint32_t levels = 2; levels <= plane_levels; ++levels) {
        allowed[levels] = enough_rows(levels, table_.levels(target), strata);
    }
    const auto may = [&](std::uint32_t x) {
        const std::uint32_t levels = table_.levels(x);
        return levels <= plane_levels ? allowed[levels] : enough_rows(levels, table_.levels(target), strata);
    };
    const auto write = [&](std::size_t position, std::int64_t value, std::int64_t sum_dof, double scale) {
        const double dof = adjusted ? static_cast<double>(sum_dof)
                                    : (table_.levels(candidates[position]) - 1.0) * target_freedom * strata;
        out.statistic[position] = dof > 0.0 ? statistic_.value(value, scale) : nan;
        out.dof[position] = dof;
        out.reliable[position] = dof > 0.0;
    };
    const auto pass_over = [&](std::size_t position) {
        out.statistic[position] = nan;
        out.dof[position] = (table_.levels(candidates[position]) - 1.0) * target_freedom * strata;
        out.reliable[position] = 0;
    };
    if (!allowed[2]) {  // then nobody is
        for (std::size_t k = 0; k < total; ++k) {
            pass_over(k);
        }
        return;
    }
    Cells cells(table_, target, given);

    // Panels, if the candidates come in the table's order, each once, and are many.
    bool panels = way == Way::automatic && (force_panels || total >= 128) &&
                  std::adjacent_find(candidates.begin(), candidates.end(), std::greater_equal<>()) == candidates.end();
    if (panels && !force_panels) {
        const CountingPlan sample_plan(table_, statistic_, cells, table_.levels(target), candidates.first(1));
        double one_by_one = 0.0;
        std::size_t sampled = 0;
        std::size_t bits = 0;
        for (std::size_t k = 0; k < total; k += std::max<std::size_t>(total / 32, 1)) {
            if (table_.has_planes(candidates[k])) {
                one_by_one += sample_plan.choose(candidates[k]).nanoseconds;
                bits += table_.levels(candidates[k]) - 1;
                ++sampled;
            }
        }
        const double share = static_cast<double>(total) / static_cast<double>(std::max<std::size_t>(sampled, 1));
        const auto span = static_cast<double>(candidates.back() - candidates.front() + 1);
        const double touched = std::min(
            span * static_cast<double>(bits) / static_cast<double>(std::max<std::size_t>(sampled, 1)) / line_bits + 1.0,
            static_cast<double>(total));
        panels = sampled != 0 && PanelPlan::cost(table_, cells, static_cast<std::size_t>(touched)) < one_by_one * share;
    }
    std::vector<std::uint32_t> rest;  // candidates that panels do not serve, and where their answers go
    std::vector<std::size_t> rest_position;
    if (panels) {
        const Panels& layout = table_.panels();
        const PanelPlan plan(table_, statistic_, cells, table_.levels(target), adjusted);
        struct Part {
            std::size_t panel, begin, end;
        };
        std::vector<Part> parts;
        for (std::size_t begin = 0, panel = 0; begin < total; ++panel) {
            const auto bound = candidates.begin() + static_cast<std::ptrdiff_t>(begin);
            const auto stop = panel < layout.count
                                  ? std::lower_bound(bound, candidates.end(), layout.first_column[panel + 1])
                                  : candidates.end();
            const auto end = static_cast<std::size_t>(stop - candidates.begin());
            if (end > begin) {
                parts.push_back({std::min(panel, layout.count), begin, end});
            }
            begin = end;
        }
        struct Worker {
            std::optional<PanelCounter> counter;
            std::vector<std::uint32_t> wanted;
            std::vector<std::size_t> position;
            std::vector<std::int64_t> value, dof;
            std::vector<std::size_t> left;
        };
        std::vector<Worker> workers(std::max<std::size_t>(threads, 1));
        const double full = target_freedom * strata;
        parallel_for(parts.size(), 4, threads, control, [&](std::size_t first, std::size_t last, std::size_t w) {
            Worker& worker = workers[w];
            if (!worker.counter) {
                worker.counter.emplace(plan);
                worker.value.resize(line_bits);
                worker.dof.resize(line_bits);
            }
            for (std::size_t p = first; p < last; ++p) {
                const Part& part = parts[p];
                if (part.panel < layout.count && layout.binary[part.panel] != 0 && g2) {  // the common case, kept short
                    (*worker.counter)(part.panel, candidates.subspan(part.begin, part.end - part.begin),
                                      worker.value.data(), worker.dof.data());
                    kernels().to_statistics(worker.value.data(), part.end - part.begin, unit,
                                            out.statistic + part.begin);
                    std::fill(out.dof + part.begin, out.dof + part.end, full);
                    std::fill(out.reliable + part.begin, out.reliable + part.end, std::uint8_t{1});
                    for (std::size_t k = part.begin; adjusted && k < part.end; ++k) {
                        const std::int64_t dof = worker.dof[k - part.begin];
                        out.dof[k] = static_cast<double>(dof);
                        if (dof == 0) {
                            out.statistic[k] = nan;
                            out.reliable[k] = 0;
                        }
                    }
                    continue;
                }
                worker.wanted.clear();
                worker.position.clear();
                for (std::size_t k = part.begin; k < part.end; ++k) {
                    if (!may(candidates[k])) {
                        pass_over(k);
                    } else if (part.panel >= layout.count || layout.slot[candidates[k]] == Panels::absent) {
                        worker.left.push_back(k);
                    } else {
                        worker.wanted.push_back(candidates[k]);
                        worker.position.push_back(k);
                    }
                }
                if (!worker.wanted.empty()) {
                    (*worker.counter)(part.panel, worker.wanted, worker.value.data(), worker.dof.data());
                }
                for (std::size_t k = 0; k < worker.wanted.size(); ++k) {
                    const std::uint32_t levels = table_.levels(worker.wanted[k]);
                    write(worker.position[k], worker.value[k], worker.dof[k],
                          statistic_.scale(levels, table_.levels(target)));
                }
            }
        });
        for (const Worker& worker : workers) {
            for (const std::size_t k : worker.left) {
                rest.push_back(candidates[k]);
                rest_position.push_back(k);
            }
        }
    } else {
        for (std::size_t k = 0; k < total; ++k) {
            if (may(candidates[k])) {
                rest.push_back(candidates[k]);
                rest_position.push_back(k);
            } else {
                pass_over(k);
            }
        }
    }
    if (rest.empty()) {
        return;
    }
    const CountingPlan plan(table_, statistic_, cells, table_.levels(target), rest, way);
    std::vector<std::optional<CandidateCounter>> counters(std::max<std::size_t>(threads, 1));
    // Enough candidates a piece that handing them out costs nothing.
    const double each = plan.choose(rest[rest.size() / 2]).nanoseconds;
    const auto grain = static_cast<std::size_t>(std::clamp(50'000.0 / (each + 20.0), 1.0, 4096.0));
    parallel_for(rest.size(), grain, threads, control, [&](std::size_t first, std::size_t last, std::size_t w) {
        if (!counters[w]) {
            counters[w].emplace(plan);
        }
        for (std::size_t k = first; k < last; ++k) {
            const Sum sum = (*counters[w])(rest[k]);
            write(rest_position[k], sum.value, sum.dof,
                  statistic_.scale(table_.levels(rest[k]), table_.levels(target)));
        }
    });
}

std::size_t ContingencyTest::first_dependent(std::size_t target, std::span<const std::uint32_t> candidates,
                                             std::span<const std::uint32_t> given, double log_alpha, Control& control,
                                             Answers out) const {
    const double strata = strata_product(given);
    Cells cells(table_, target, given);
    const CountingPlan plan(table_, statistic_, cells, table_.levels(target), candidates);
    CandidateCounter counter(plan);
    for (std::size_t k = 0; k < candidates.size(); ++k) {
        if (k % 64 == 63) {
            control.check();
        }
        const std::uint32_t x = candidates[k];
        if (!enough_rows(table_.levels(x), table_.levels(target), strata)) {
            out.statistic[k] = nan;
            out.dof[k] = full_dof(x, target, given);
            out.reliable[k] = 0;
            continue;
        }
        const Outcome found = outcome(x, target, strata, counter(x));
        out.statistic[k] = found.reliable ? found.statistic : nan;
        out.dof[k] = found.dof;
        out.reliable[k] = found.reliable;
        if (found.reliable && found.log_p <= log_alpha) {
            return k + 1;
        }
    }
    return candidates.size();
}

SubsetAnswer ContingencyTest::search_subsets(std::uint32_t x, const SubsetQuestion& question, Control& control) const {
    SubsetAnswer best;
    best.outcome = {nan, nan, nan, false};
    std::vector<std::uint32_t> pool;
    for (const std::uint32_t z : question.pool) {
        if (z != x && z != question.target && z != question.must_include) {
            pool.push_back(z);
        }
    }
    std::vector<std::uint32_t> chosen;
    if (question.must_include && question.must_include != x) {
        chosen.push_back(*question.must_include);
    } else if (question.must_include) {
        return best;
    }
    const std::size_t fixed = chosen.size();

    // Least products of levels of k further members: where even these are too many, nothing needs to be looked at.
    std::vector<double> levels;
    for (const std::uint32_t z : pool) {
        levels.push_back(table_.levels(z));
    }
    std::sort(levels.begin(), levels.end());
    std::vector<double> least(1, 1.0);
    for (const double r : levels) {
        least.push_back(least.back() * r);
    }
    const double x_levels = table_.levels(x);
    const double t_levels = table_.levels(question.target);

    // Subsets of one size in lexicographic order; true to stop.
    const auto visit = [&](auto&& self, std::size_t from, std::size_t wanted, double strata) -> bool {
        const std::size_t size = chosen.size() + wanted;
        if (!enough_rows(x_levels, t_levels, strata * least[wanted])) {
            best.tally.add_skip(size, choose(pool.size() - from, wanted));
            return false;
        }
        if (wanted == 0) {
            control.check();
            const Outcome found = test(x, question.target, chosen);
            if (!found.reliable) {
                best.tally.add_skip(size);
                return false;
            }
            best.tally.add_test(size);
            const bool separates = question.stop_above && found.log_p > *question.stop_above;
            const bool weaker = !best.outcome.reliable || found.log_p > best.outcome.log_p ||
                                (found.log_p == best.outcome.log_p && found.statistic < best.outcome.statistic);
            if (separates || weaker) {
                best.outcome = found;
                best.given = chosen;
                best.separated = separates;
            }
            return separates;
        }
        for (std::size_t k = from; k + wanted <= pool.size(); ++k) {
            chosen.push_back(pool[k]);
            const bool stop = self(self, k + 1, wanted - 1, strata * table_.levels(pool[k]));
            chosen.pop_back();
            if (stop) {
                return true;
            }
        }
        return false;
    };
    const double start = strata_product(chosen);
    for (std::size_t size = std::max(question.smallest, fixed); size <= std::min(question.largest, pool.size() + fixed);
         ++size) {
        if (visit(visit, 0, size - fixed, start)) {
            break;
        }
    }
    return best;
}

std::vector<SubsetAnswer> ContingencyTest::search_subsets(std::span<const std::uint32_t> xs,
                                                          const SubsetQuestion& question, std::size_t threads,
                                                          Control& control) const {
    std::vector<SubsetAnswer> answers(xs.size());
    parallel_for(xs.size(), 1, threads, control, [&](std::size_t first, std::size_t last, std::size_t) {
        for (std::size_t k = first; k < last; ++k) {
            answers[k] = search_subsets(xs[k], question, control);
        }
    });
    return answers;
}

}  // namespace serape
