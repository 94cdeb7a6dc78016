// One conditioning set, many candidates; or several sets, each with its own.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "serape/contingency_test.hpp"
#include "serape/counting/panel_counter.hpp"
#include "serape/kernels.hpp"

namespace serape {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Cells divided further by a set; a copy if that is empty, as what is made of it on the way is not for other threads.
Cells refined(Cells& cells, std::span<const std::uint32_t> given) {
    if (given.empty()) {
        return cells;
    }
    Cells next(cells, given[0], false);
    return given.size() == 1 ? std::move(next) : refined(next, given.subspan(1));
}

}  // namespace

class ContingencyTest::Screen {
  public:
    // Candidates are columns of `source`, which has the rows of the test's table.
    Screen(const ContingencyTest& test, const PackedTable& source, std::size_t target,
           std::span<const std::uint32_t> candidates, std::span<const std::uint32_t> given, std::size_t threads,
           CancellationToken& token, Answers out)
        : test_(test),
          table_(source),
          statistic_(test.statistic_),
          target_(target),
          target_levels_(test.table_.levels(target)),
          candidates_(candidates),
          given_(given),
          threads_(std::max<std::size_t>(threads, 1)),
          token_(token),
          out_(out),
          strata_(test.strata_product(given)),
          target_freedom_(target_levels_ - 1.0),
          adjusted_(test.rules_.dof == DofRule::adjusted) {
        for (std::uint32_t levels = 2; levels <= plane_levels; ++levels) {
            allowed_[levels] = test.enough_rows(levels, target_levels_, strata_);
        }
    }

    void run(CountingStrategy strategy) {
        if (!allowed_[2]) {  // then no candidate is
            for (std::size_t k = 0; k < candidates_.size(); ++k) {
                skip(k);
            }
            return;
        }
        Cells cells(test_.table_, target_, given_);
        if (plan(cells, strategy).panels) {
            by_panels(cells);
            if (!rest_.empty()) {
                one_by_one(cells, CountingStrategy::automatic);
            }
        } else {
            count(cells, strategy);
        }
    }

    // How the candidates are counted in these cells.
    Plan plan(const Cells& cells, CountingStrategy strategy) const {
        const Costs& costs = kernels().costs;
        if (strategy == CountingStrategy::panels ||
            (strategy == CountingStrategy::automatic && candidates_.size() >= costs.min_candidates_for_panels)) {
            return choose(sampled_shape(table_, cells, candidates_, statistic_.functional_kind()), costs, strategy);
        }
        return {};
    }

    // Counts the candidates one by one in cells that have been made already.
    void count(Cells& cells, CountingStrategy strategy = CountingStrategy::automatic) {
        for (std::size_t k = 0; k < candidates_.size(); ++k) {
            may(candidates_[k]) ? rest_.push_back(k) : skip(k);
        }
        if (!rest_.empty()) {
            one_by_one(cells, strategy);
        }
    }

  private:
    struct Part {  // candidates of one panel
        std::size_t panel, begin, end;
    };
    struct Worker {
        std::optional<PanelCounter> counter;
        std::vector<std::uint32_t> wanted;
        std::vector<std::size_t> position;
        std::vector<std::int64_t> value, dof;
        std::vector<std::size_t> left;
    };

    // What reliability allows depends on a candidate only through its number of levels.
    bool may(std::uint32_t x) const {
        const std::uint32_t levels = table_.levels(x);
        return levels <= plane_levels ? allowed_[levels] : test_.enough_rows(levels, target_levels_, strata_);
    }
    double full_dof(std::size_t k) const { return (table_.levels(candidates_[k]) - 1.0) * target_freedom_ * strata_; }
    void write(std::size_t k, std::int64_t value, std::int64_t sum_dof) {
        const double dof = adjusted_ ? static_cast<double>(sum_dof) : full_dof(k);
        const double scale = statistic_.scale(table_.levels(candidates_[k]), target_levels_);
        out_.statistic[k] = dof > 0.0 ? statistic_.value(value, scale) : nan;
        out_.dof[k] = dof;
        out_.reliable[k] = dof > 0.0;
    }
    void skip(std::size_t k) {
        out_.statistic[k] = nan;
        out_.dof[k] = full_dof(k);
        out_.reliable[k] = 0;
    }

    void by_panels(Cells& cells) {
        layout_ = &table_.panels(threads_);
        const std::vector<Part> parts = divided(*layout_);
        const PanelPlan plan(table_, statistic_, cells, target_levels_, adjusted_);
        const KernelCosts& kernel = kernels().costs.kernel;
        const double work = static_cast<double>(parts.size()) * (static_cast<double>(table_.rows()) * kernel.row +
                                                                 static_cast<double>(cells.size()) * kernel.digit);
        const std::size_t threads = kernels().costs.threads_for(work, threads_);
        std::vector<Worker> workers(threads);
        parallel_for(parts.size(), 4, threads, token_, [&](std::size_t first, std::size_t last, std::size_t w) {
            Worker& worker = workers[w];
            if (!worker.counter) {
                worker.counter.emplace(plan);
                worker.value.resize(line_bits);
                worker.dof.resize(line_bits);
            }
            for (std::size_t p = first; p < last; ++p) {
                one_panel(parts[p], worker);
            }
        });
        for (const Worker& worker : workers) {
            rest_.insert(rest_.end(), worker.left.begin(), worker.left.end());
        }
    }

    std::vector<Part> divided(const Panels& layout) const {
        std::vector<Part> parts;
        for (std::size_t begin = 0, panel = 0; begin < candidates_.size(); ++panel) {
            const auto bound = candidates_.begin() + static_cast<std::ptrdiff_t>(begin);
            const auto stop = panel < layout.count
                                  ? std::lower_bound(bound, candidates_.end(), layout.first_column[panel + 1])
                                  : candidates_.end();
            const auto end = static_cast<std::size_t>(stop - candidates_.begin());
            if (end > begin) {
                parts.push_back({std::min(panel, layout.count), begin, end});
            }
            begin = end;
        }
        return parts;
    }

    void one_panel(const Part& part, Worker& worker) {
        const Panels& layout = *layout_;
        if (part.panel < layout.count && layout.binary[part.panel] != 0 && statistic_.kind() == StatisticKind::g2) {
            binary_panel(part, worker);
            return;
        }
        worker.wanted.clear();
        worker.position.clear();
        for (std::size_t k = part.begin; k < part.end; ++k) {
            if (!may(candidates_[k])) {
                skip(k);
            } else if (part.panel >= layout.count || layout.slot[candidates_[k]] == Panels::absent) {
                worker.left.push_back(k);
            } else {
                worker.wanted.push_back(candidates_[k]);
                worker.position.push_back(k);
            }
        }
        if (!worker.wanted.empty()) {
            (*worker.counter)(part.panel, worker.wanted, worker.value.data(), worker.dof.data());
        }
        for (std::size_t k = 0; k < worker.wanted.size(); ++k) {
            write(worker.position[k], worker.value[k], worker.dof[k]);
        }
    }

    // The common case, kept short.
    void binary_panel(const Part& part, Worker& worker) {
        const std::size_t size = part.end - part.begin;
        (*worker.counter)(part.panel, candidates_.subspan(part.begin, size), worker.value.data(), worker.dof.data());
        kernels().to_statistics(worker.value.data(), size, 2.0 * statistic_.log().unit(), out_.statistic + part.begin);
        std::fill_n(out_.dof + part.begin, size, target_freedom_ * strata_);
        std::fill_n(out_.reliable + part.begin, size, std::uint8_t{1});
        for (std::size_t k = part.begin; adjusted_ && k < part.end; ++k) {
            const std::int64_t dof = worker.dof[k - part.begin];
            out_.dof[k] = static_cast<double>(dof);
            if (dof == 0) {
                out_.statistic[k] = nan;
                out_.reliable[k] = 0;
            }
        }
    }

    void one_by_one(Cells& cells, CountingStrategy strategy) {
        std::vector<std::uint32_t> rest;
        for (const std::size_t k : rest_) {
            rest.push_back(candidates_[k]);
        }
        const TestCells counted(table_, statistic_, cells, target_levels_, CandidateKinds(table_, rest), strategy);
        count_each(
            counted.prepared, rest, threads_, token_,
            [&](std::uint32_t) -> const StatisticFunctional& { return counted.functional; },
            [&](std::size_t k, const Sum& sum) { write(rest_[k], sum.value, sum.dof); });
    }

    const ContingencyTest& test_;
    const PackedTable& table_;
    const Statistic& statistic_;
    std::size_t target_;
    std::uint32_t target_levels_;
    std::span<const std::uint32_t> candidates_, given_;
    std::size_t threads_;
    CancellationToken& token_;
    Answers out_;
    double strata_;
    double target_freedom_;
    bool adjusted_;
    bool allowed_[plane_levels + 1] = {};
    const Panels* layout_ = nullptr;  // where panels count
    std::vector<std::size_t> rest_;   // places of candidates that panels do not serve
};

void ContingencyTest::screen(std::size_t target, std::span<const std::uint32_t> candidates,
                             std::span<const std::uint32_t> given, std::size_t threads, CancellationToken& token,
                             Answers out, CountingStrategy strategy) const {
    if (strategy == CountingStrategy::panels && !kernels().ascending(candidates.data(), candidates.size())) {
        screen_in_order(target, candidates, given, threads, token, out);
        return;
    }
    if (const PackedTable* const distinct =
            strategy == CountingStrategy::automatic ? distinct_for(target, candidates, given) : nullptr) {
        ContingencyTest(*distinct, rules_).screen(target, candidates, given, threads, token, out);
        return;
    }
    Screen(*this, table_, target, candidates, given, threads, token, out).run(strategy);
}

// By panels, which serve candidates in the table's order, each once.
void ContingencyTest::screen_in_order(std::size_t target, std::span<const std::uint32_t> candidates,
                                      std::span<const std::uint32_t> given, std::size_t threads,
                                      CancellationToken& token, Answers out) const {
    std::vector<std::uint32_t> ordered(candidates.begin(), candidates.end());
    std::sort(ordered.begin(), ordered.end());
    ordered.erase(std::unique(ordered.begin(), ordered.end()), ordered.end());
    std::vector<double> numbers(2 * ordered.size());
    std::vector<std::uint8_t> reliable(ordered.size());
    const Answers once{numbers.data(), numbers.data() + ordered.size(), reliable.data()};
    Screen(*this, table_, target, ordered, given, threads, token, once).run(CountingStrategy::panels);
    for (std::size_t k = 0; k < candidates.size(); ++k) {
        const auto at = std::lower_bound(ordered.begin(), ordered.end(), candidates[k]) - ordered.begin();
        out.statistic[k] = once.statistic[at];
        out.dof[k] = once.dof[at];
        out.reliable[k] = once.reliable[at];
    }
}

std::vector<CountingStrategy> ContingencyTest::strategies(std::size_t target, std::span<const std::uint32_t> candidates,
                                                          std::span<const std::uint32_t> given,
                                                          CountingStrategy strategy) const {
    CancellationToken token;
    Cells cells(table_, target, given);
    const bool panels = Screen(*this, table_, target, candidates, given, 1, token, {}).plan(cells, strategy).panels;
    const CandidateKinds kinds(table_, candidates);
    const PreparedCells prepared(table_, cells, kinds, statistic_.functional_kind(), strategy);
    std::vector<CountingStrategy> chosen;
    for (const std::uint32_t x : candidates) {
        chosen.push_back(panels && table_.has_planes(x) ? CountingStrategy::panels : prepared.choice(x).strategy);
    }
    return chosen;
}

void ContingencyTest::screen_in(const PackedTable& source, std::size_t target,
                                std::span<const std::uint32_t> candidates, std::span<const std::uint32_t> given,
                                std::size_t threads, CancellationToken& token, Answers out) const {
    Screen(*this, source, target, candidates, given, threads, token, out).run(CountingStrategy::automatic);
}

void ContingencyTest::screen_among(std::size_t target, const CandidateGroups& groups,
                                   std::span<const std::uint32_t> candidates, std::span<const std::uint32_t> given,
                                   std::size_t threads, CancellationToken& token, Answers out) const {
    const PackedTable* const own = groups.own();
    std::vector<std::uint32_t> places;
    if (own != nullptr) {
        places.reserve(candidates.size());
        std::uint32_t place = 0;
        std::size_t found = 0;
        for (const Group& group : groups.all()) {
            for (const std::uint32_t column : group.candidates) {
                if (found < candidates.size() && candidates[found] == column) {
                    places.push_back(place);
                    ++found;
                }
                ++place;
            }
        }
    }
    if (own == nullptr || places.size() < candidates.size()) {  // there is no such table, or not all are in it
        screen(target, candidates, given, threads, token, out);
        return;
    }
    Screen(*this, *own, target, places, given, threads, token, out).run(CountingStrategy::automatic);
}

CandidateGroups::CandidateGroups(const PackedTable& table, std::vector<Group> all)
    : table_(table), all_(std::move(all)) {
    std::size_t size = 0;
    for (const Group& group : all_) {
        size += group.candidates.size();
    }
    places_.resize(size);
    std::iota(places_.begin(), places_.end(), 0u);
}

void CandidateGroups::expect(std::size_t screens, std::size_t threads) const {
    const std::lock_guard lock(mutex_);
    if (made_ || size() < many) {
        return;
    }
    bool large = false;
    for (const Group& group : all_) {
        if (group.candidates.size() >= default_costs.min_candidates_for_own_screen) {
            large = true;
            passed_over_ += static_cast<double>(screens) *
                            static_cast<double>(table_.columns() - std::min(table_.columns(), group.candidates.size()));
        }
    }
    if (passed_over_ < default_costs.own_table * static_cast<double>(size())) {
        return;
    }
    std::vector<std::uint32_t> columns;
    columns.reserve(size());
    for (const Group& group : all_) {
        columns.insert(columns.end(), group.candidates.begin(), group.candidates.end());
    }
    made_ = std::make_unique<const PackedTable>(table_.select(columns, threads));
    if (large && threads > 1) {
        made_->panels(threads);
    }
    own_.store(made_.get(), std::memory_order_release);
}

Tally ContingencyTest::screens(std::size_t target, const CandidateGroups& groups, std::uint32_t also,
                               std::size_t threads, CancellationToken& token, Answers out,
                               std::vector<std::uint32_t>& xs) const {
    const std::size_t many = default_costs.min_candidates_for_own_screen;
    const PackedTable* const own = groups.own();
    const PackedTable& source = own != nullptr ? *own : table_;
    struct Asked {
        std::span<const std::uint32_t> candidates;  // in the source
        const Group* group;
        std::vector<std::uint32_t> given;
        Answers out;
    };
    std::vector<Asked> asked;
    std::size_t before = 0;
    for (const Group& group : groups.all()) {
        const std::size_t size = group.candidates.size();
        if (std::find(group.given.begin(), group.given.end(), also) == group.given.end()) {
            asked.push_back(
                {own != nullptr ? std::span(groups.places_).subspan(before, size) : std::span(group.candidates),
                 &group,
                 group.given,
                 {out.statistic + xs.size(), out.dof + xs.size(), out.reliable + xs.size()}});
            asked.back().given.push_back(also);
            xs.insert(xs.end(), group.candidates.begin(), group.candidates.end());
        }
        before += size;
    }
    const auto screen = [&](const Asked& one, std::size_t with_threads) {
        return Screen(*this, source, target, one.candidates, one.given, with_threads, token, one.out);
    };
    for (const Asked& one : asked) {
        if (one.candidates.size() >= many) {
            screen(one, threads).run(CountingStrategy::automatic);
        }
    }
    Cells root(table_, target, {&also, 1});
    if (threads > 1) {
        root.need_cell_of_row();  // before they share it
    }
    parallel_for(asked.size(), 64, threads, token, [&](std::size_t first, std::size_t last, std::size_t) {
        for (const Asked& one : std::span(asked).subspan(first, last - first)) {
            if (one.candidates.size() < many) {
                Cells cells = refined(root, one.group->given);
                screen(one, 1).count(cells);
            }
        }
    });
    Tally tally;
    for (const Asked& one : asked) {
        const std::size_t size = one.candidates.size();
        const auto performed = static_cast<std::size_t>(std::count(one.out.reliable, one.out.reliable + size, 1));
        tally.add_test(one.given.size(), performed);
        tally.add_skip(one.given.size(), size - performed);
    }
    return tally;
}

}  // namespace serape
