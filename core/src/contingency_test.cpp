#include "serape/contingency_test.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "serape/chi_square.hpp"
#include "serape/kernels.hpp"
#include "serape/panel_counter.hpp"
#include "serape/subset_search.hpp"

namespace serape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t few_questions = 4096;

}  // namespace

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
    const CountingPlan plan(table_, statistic_, cells, table_.levels(y), CandidateKinds(table_, {&candidate, 1}));
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
        const CountingPlan sample_plan(table_, statistic_, cells, table_.levels(target),
                                       CandidateKinds(table_, candidates.first(1)));
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
    const CountingPlan plan(table_, statistic_, cells, table_.levels(target), CandidateKinds(table_, rest), way);
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
    const CountingPlan plan(table_, statistic_, cells, table_.levels(target), CandidateKinds(table_, candidates));
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

SubsetAnswers ContingencyTest::search_subsets(std::span<const std::uint32_t> xs, const SubsetQuestion& question,
                                              std::size_t threads, Control& control) const {
    const std::size_t largest = std::min(question.largest, question.pool.size());
    if (xs.size() * std::min(choose(question.pool.size(), largest), few_questions) < few_questions) {
        threads = 1;  // they would be done before another thread had started
    }
    std::vector<std::optional<SubsetSearch>> searches(std::max<std::size_t>(threads, 1));
    std::vector<SubsetAnswer> answers(xs.size());
    std::vector<std::int64_t> tried(question.tried.begin(), question.tried.end());
    if (tried.size() < 2) {
        tried.assign(xs.size(), tried.empty() ? -1 : tried[0]);
    }
    using With = SubsetSearch::With;
    const auto of_worker = [&](std::size_t worker) -> SubsetSearch& {
        return searches[worker] ? *searches[worker] : searches[worker].emplace(*this, question, xs);
    };
    const auto search = [&](std::size_t first, std::size_t last, std::size_t worker, With with) {
        of_worker(worker)(xs.subspan(first, last - first), std::span(tried).subspan(first, last - first), control,
                          answers.data() + first, with);
    };
    const auto side_by_side = [&](With with) {
        const std::size_t pieces = 4 * std::max<std::size_t>(threads, 1);
        const std::size_t grain = threads > 1 ? (xs.size() + pieces - 1) / pieces : xs.size();
        parallel_for(xs.size(), grain, threads, control, [&](std::size_t first, std::size_t last, std::size_t worker) {
            search(first, last, worker, with);
        });
    };
    std::size_t asked = xs.size();
    if (question.shrinking && !question.until_survivor && question.largest <= 1 &&
        std::equal(xs.begin(), xs.end(), question.pool.rbegin(), question.pool.rend())) {
        // Whoever is before an x in the pool comes after it, so is there still: these are tried side by side.
        side_by_side(With::earlier);
        for (std::size_t k = 0; k < asked; ++k) {
            if (answers[k].separated) {
                of_worker(0).drop(xs[k]);
            }
        }
        for (std::size_t k = 0; k < asked; ++k) {
            if (!answers[k].separated) {
                search(k, k + 1, 0, With::later);
                if (answers[k].separated) {
                    of_worker(0).drop(xs[k]);
                }
            }
        }
    } else if (question.shrinking || question.until_survivor) {  // what is asked next depends on the answer
        for (std::size_t k = 0; k < asked; ++k) {
            search(k, k + 1, 0, With::all);
            if (answers[k].separated && question.shrinking) {
                of_worker(0).drop(xs[k]);
            }
            if (!answers[k].separated && question.until_survivor) {
                asked = k + 1;
            }
        }
    } else {
        side_by_side(With::all);
    }
    answers.resize(asked);
    SubsetAnswers all{std::move(answers), {}};
    for (const std::optional<SubsetSearch>& one : searches) {
        if (one) {
            all.tally.merge(one->tally());
        }
    }
    return all;
}

}  // namespace serape
