#include "serape/all_pairs.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <utility>

#include "all_pairs_order.hpp"
#include "serape/counting/costs.hpp"
#include "serape/critical_values.hpp"
#include "serape/kernels.hpp"
#include "serape/statistic.hpp"

namespace serape {

namespace {

using namespace pairs;
using Count = std::uint16_t;

struct Partner {
    std::int64_t sum;
    std::uint32_t column;

    bool operator<(const Partner& other) const {  // stronger
        return sum > other.sum || (sum == other.sum && column < other.column);
    }
};

struct Limits {
    std::uint32_t below, from;  // a count below the one or from the other on shows dependence
};
struct Range {
    std::uint32_t smallest = ~0U, largest = 0;
};

// A column about which all others are asked.
struct Asked {
    std::size_t at;
    std::uint32_t ones;
    bool flipped;                     // its zeros are counted, as they are fewer
    std::vector<std::uint32_t> rows;  // of its ones or zeros, padded to a multiple of 8
    std::vector<Limits> limits;       // by group
    std::vector<Range> ranges;        // by group, of the counts
    std::uint32_t dependents;
};

// Asks about several columns at a time, so that a panel is read from near by.
class Worker {
  public:
    Worker(const Sorted& sorted, const PairSum& sum, std::int64_t critical, std::size_t strongest)
        : sorted_(sorted),
          panels_(sorted.packed.panels()),
          sum_(sum),
          critical_(critical),
          strongest_(strongest),
          counts_(line_bits),
          parts_(sorted.parts) {}

    void ask(std::size_t begin, std::size_t end, AllPairs& out) {
        asked_.resize(end - begin);
        for (std::size_t k = begin; k < end; ++k) {
            start(asked_[k - begin], k, k > begin ? &asked_[k - begin - 1] : nullptr);
        }
        for (std::size_t p = 0; p < panels_.count; ++p) {
            for (Asked& asked : asked_) {
                judge(asked, p);
            }
        }
        for (Asked& asked : asked_) {
            const Limits& own = asked.limits[sorted_.group_of[asked.at]];
            asked.dependents -= asked.ones < own.below || asked.ones >= own.from;  // itself
            pick(asked);
            tell(asked, out);
        }
    }

    // Where statistics go, and the sums they stand for.
    const std::vector<std::pair<std::size_t, std::int64_t>>& sums() const { return sums_to_; }

  private:
    struct Lead {
        std::int64_t sum;
        std::size_t group;
        bool high;
    };

    void start(Asked& asked, std::size_t at, const Asked* before) {
        const auto rows = static_cast<std::uint32_t>(sorted_.packed.rows());
        asked.at = at;
        asked.ones = sorted_.packed.total(at, 1);
        asked.flipped = 2 * asked.ones > rows;
        asked.dependents = 0;
        const std::uint64_t* plane = sorted_.packed.plane(at, 1);
        asked.rows.clear();
        for (std::uint32_t word = 0; word * 64 < rows; ++word) {
            std::uint64_t bits = asked.flipped ? ~plane[word] : plane[word];
            if (rows - word * 64 < 64) {
                bits &= (std::uint64_t{1} << (rows - word * 64)) - 1;
            }
            for (; bits != 0; bits &= bits - 1) {
                asked.rows.push_back(word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
            }
        }
        asked.rows.resize((asked.rows.size() + 7) / 8 * 8, rows);  // the line after the last is zero
        asked.ranges.assign(sorted_.groups.size(), Range{});
        if (before != nullptr && before->ones == asked.ones) {
            asked.limits = before->limits;
            return;
        }
        asked.limits.clear();
        for (const Group& group : sorted_.groups) {
            asked.limits.push_back(
                {sum_.below(asked.ones, group.ones, critical_), sum_.from(asked.ones, group.ones, critical_)});
        }
    }

    // Which columns of a panel depend on the one asked about. Of one that is flipped, zeros are counted.
    void judge(Asked& asked, std::size_t panel) {
        LineVector<Part>& parts = parts_[panel];
        const std::vector<std::uint32_t>& groups = sorted_.part_groups[panel];
        for (std::size_t k = 0; k < parts.size(); ++k) {
            const auto [below, from] = asked.limits[groups[k]];
            const std::uint32_t ones = sorted_.groups[groups[k]].ones;
            parts[k].below = asked.flipped ? ones + 1 - from : below;
            parts[k].from = asked.flipped ? ones + 1 - below : from;
        }
        kernels().judge_bits(panels_.panel(panel), asked.rows.data(), asked.rows.size(), parts.data(), parts.size());
        for (std::size_t k = 0; k < parts.size(); ++k) {
            const Part& part = parts[k];
            if (part.outside == 0) {
                continue;
            }
            const Group& group = sorted_.groups[groups[k]];
            asked.dependents += part.outside * group.copies;
            Range& range = asked.ranges[groups[k]];
            if (part.largest != 0) {
                asked.flipped ? least(range, group.ones - part.largest) : most(range, part.largest);
            }
            if (part.smallest != ~0U) {
                asked.flipped ? most(range, group.ones - part.smallest) : least(range, part.smallest);
            }
        }
    }
    static void least(Range& range, std::uint32_t count) { range.smallest = std::min(range.smallest, count); }
    static void most(Range& range, std::uint32_t count) { range.largest = std::max(range.largest, count); }

    // In how many rows each column of a panel has a one together with the one asked about.
    void count(const Asked& asked, std::size_t panel) {
        kernels().count_bits(panels_.panel(panel), asked.rows.data(), asked.rows.size(), nullptr, counts_.data());
        if (asked.flipped) {
            const std::size_t begin = panel * line_bits, end = std::min(begin + line_bits, sorted_.columns.size());
            for (std::size_t k = begin; k < end; ++k) {
                counts_[k - begin] = static_cast<Count>(sorted_.packed.total(k, 1) - counts_[k - begin]);
            }
        }
    }

    // The strongest partners, and the column itself. Groups are looked through that may hold some of them, the one with
    // the strongest first.
    void pick(const Asked& asked) {
        best_.clear();
        if (strongest_ == 0) {
            return;
        }
        leads_.clear();
        for (std::size_t g = 0; g < asked.ranges.size(); ++g) {
            const std::uint32_t ones = sorted_.groups[g].ones;
            if (asked.ranges[g].largest >= asked.limits[g].from) {
                leads_.push_back({sum_(asked.ones, ones, asked.ranges[g].largest), g, true});
            }
            if (asked.ranges[g].smallest < asked.limits[g].below) {
                leads_.push_back({sum_(asked.ones, ones, asked.ranges[g].smallest), g, false});
            }
        }
        // Each holds one at least, so that as many as are wanted are enough, but for ties.
        const std::size_t enough = std::min(leads_.size(), 2 * strongest_ + 8);
        const auto stronger = [](const Lead& a, const Lead& b) { return a.sum > b.sum; };
        std::partial_sort(leads_.begin(), leads_.begin() + static_cast<std::ptrdiff_t>(enough), leads_.end(), stronger);
        least_ = leads_.size() > strongest_ ? leads_[strongest_].sum : critical_;
        for (std::size_t k = 0; k < leads_.size(); ++k) {
            if (k == enough) {
                std::sort(leads_.begin() + static_cast<std::ptrdiff_t>(k), leads_.end(), stronger);
            }
            const Lead& lead = leads_[k];
            if (best_.size() > strongest_ && lead.sum < best_.back().sum) {
                break;
            }
            look_through(asked, lead);
        }
    }

    void look_through(const Asked& asked, const Lead& lead) {
        const Group& group = sorted_.groups[lead.group];
        const std::int64_t needed = best_.size() > strongest_ ? best_.back().sum : least_;
        const std::uint32_t limit =
            lead.high ? sum_.from(asked.ones, group.ones, needed) : sum_.below(asked.ones, group.ones, needed);
        for (std::size_t panel = group.begin / line_bits; panel * line_bits < group.end; ++panel) {
            const Line beyond = bits_beyond(asked, lead, limit, panel);
            bool counted = false;
            for (std::size_t word = 0; word < line_words; ++word) {
                for (std::uint64_t bits = beyond[word]; bits != 0; bits &= bits - 1) {
                    if (!std::exchange(counted, true)) {
                        count(asked, panel);
                    }
                    const std::size_t bit = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
                    const std::int64_t sum = sum_(asked.ones, group.ones, counts_[bit]);
                    for (const std::uint32_t column : sorted_.columns[panel * line_bits + bit]) {
                        if (!add({sum, column})) {
                            break;  // nor do later copies
                        }
                    }
                }
            }
            const std::size_t next = (panel + 1) * line_bits;
            if (next < group.end && best_.size() > strongest_ &&
                best_.back() < Partner{lead.sum, sorted_.columns[next][0]}) {
                return;  // what follows in this group is no stronger, and comes later
            }
        }
    }

    // The bits of a group, in a panel, whose counts are beyond the limit.
    Line bits_beyond(const Asked& asked, const Lead& lead, std::uint32_t limit, std::size_t panel) {
        const std::vector<std::uint32_t>& groups = sorted_.part_groups[panel];
        const auto at = std::find(groups.begin(), groups.end(), lead.group) - groups.begin();
        Part& part = parts_[panel][static_cast<std::size_t>(at)];
        const bool from = lead.high != asked.flipped;
        const std::uint32_t bound = asked.flipped ? sorted_.groups[lead.group].ones + 1 - limit : limit;
        part.from = from ? bound : ~0U;
        part.below = from ? 0 : bound;
        kernels().judge_bits(panels_.panel(panel), asked.rows.data(), asked.rows.size(), &part, 1);
        return part.hits;
    }

    // Whether it is one of the strongest so far.
    bool add(const Partner& partner) {
        if (best_.size() > strongest_) {
            if (!(partner < best_.back())) {
                return false;
            }
            best_.pop_back();
        }
        best_.insert(std::upper_bound(best_.begin(), best_.end(), partner), partner);
        return true;
    }

    // The answer holds for all copies of the column, but that none is a partner of itself.
    void tell(const Asked& asked, AllPairs& out) {
        for (const std::uint32_t c : sorted_.columns[asked.at]) {
            out.dependents[c] = asked.dependents;
            std::size_t place = c * strongest_;
            for (const Partner& partner : best_) {
                if (partner.column != c && place < (c + 1) * strongest_) {
                    out.partners[place] = partner.column;
                    sums_to_.push_back({place++, partner.sum});
                }
            }
        }
    }

    const Sorted& sorted_;
    const Panels& panels_;
    const PairSum& sum_;
    std::int64_t critical_;
    std::size_t strongest_;
    LineVector<Count> counts_;
    std::vector<Asked> asked_;
    std::vector<LineVector<Part>> parts_;  // by panel
    std::vector<Lead> leads_;
    std::vector<Partner> best_;
    std::int64_t least_ = 0;  // of the sums of the strongest
    std::vector<std::pair<std::size_t, std::int64_t>> sums_to_;
};

}  // namespace

AllPairs all_pairs(const PackedTable& table, double log_alpha, std::size_t strongest, std::size_t least_rows,
                   std::size_t threads, CancellationToken& token) {
    AllPairs out;
    out.strongest = strongest;
    out.dependents.assign(table.columns(), 0);
    out.partners.assign(table.columns() * strongest, AllPairs::none);
    out.statistic.assign(table.columns() * strongest, std::numeric_limits<double>::quiet_NaN());
    out.dof.assign(table.columns() * strongest, 1.0);
    if (table.rows() < least_rows) {
        return out;
    }
    const Sorted sorted(table, token);
    if (sorted.columns.empty()) {
        return out;
    }
    token.check();
    const auto rows = static_cast<std::uint32_t>(table.rows());
    const Statistic statistic(StatisticKind::g2, table.rows(), table.log_table());
    const PairSum sum(table.log_table(), rows);
    const std::int64_t critical = critical_sum(statistic, rows, 1.0, log_alpha);
    sorted.packed.panels();
    token.check();
    std::vector<std::unique_ptr<Worker>> workers(std::max<std::size_t>(threads, 1));
    // Many together read a panel once; fewer share the work better.
    const std::size_t pieces = default_costs.pieces_per_thread * std::max<std::size_t>(threads, 1);
    const std::size_t together = std::clamp(sorted.columns.size() / pieces, default_costs.min_columns_together,
                                            default_costs.max_columns_together);
    parallel_for(sorted.columns.size(), together, threads, token,
                 [&](std::size_t begin, std::size_t end, std::size_t worker) {
                     if (!workers[worker]) {
                         workers[worker] = std::make_unique<Worker>(sorted, sum, critical, strongest);
                     }
                     // Columns of many ones take longest, so the last of the order come first.
                     workers[worker]->ask(sorted.columns.size() - end, sorted.columns.size() - begin, out);
                 });
    for (const auto& worker : workers) {
        if (worker) {
            for (const auto& [place, value] : worker->sums()) {
                out.statistic[place] = statistic.value(value, 1.0);
            }
        }
    }
    return out;
}

}  // namespace serape
