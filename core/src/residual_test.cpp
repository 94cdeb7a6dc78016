#include "serape/residual_test.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "conditioning.hpp"
#include "feature_products.hpp"
#include "known_outcomes.hpp"
#include "residual_comparison.hpp"
#include "residuals.hpp"
#include "serape/f_distribution.hpp"
#include "serape/subset_driver.hpp"

namespace serape {
namespace {

constexpr double common_share = 0.1;  // of the rows, from which a value has an indicator

// A number that orders a value among others as it is ordered.
std::uint64_t ordered(double value) {
    const auto pattern = std::bit_cast<std::uint64_t>(value + 0.0);  // zero has no sign
    return pattern >> 63 != 0 ? ~pattern : pattern | std::uint64_t{1} << 63;
}

// The order of values from the smallest to the largest; equal values stay in their order. Their upper halves are sorted
// by digits of eleven bits, then the few that have one upper half.
std::vector<std::uint32_t> ascending(std::span<const double> values) {
    constexpr std::size_t digits = 3, bits = 11, kinds = std::size_t{1} << bits;
    struct Keyed {
        std::uint32_t key, row;
    };
    std::vector<Keyed> one(values.size()), other(values.size());
    std::vector<std::uint32_t> counts(digits * kinds, 0);
    for (std::uint32_t r = 0; r < values.size(); ++r) {
        const auto key = static_cast<std::uint32_t>(ordered(values[r]) >> 32);
        one[r] = {key, r};
        for (std::size_t d = 0; d < digits; ++d) {
            ++counts[d * kinds + (key >> d * bits) % kinds];
        }
    }
    for (std::size_t d = 0; d < digits && !values.empty(); ++d) {
        std::uint32_t* const count = counts.data() + d * kinds;
        if (count[(one[0].key >> d * bits) % kinds] == values.size()) {
            continue;  // all have this digit
        }
        std::exclusive_scan(count, count + kinds, count, 0u);
        for (const Keyed& each : one) {
            other[count[(each.key >> d * bits) % kinds]++] = each;
        }
        one.swap(other);
    }
    std::vector<std::uint32_t> order(values.size());
    std::transform(one.begin(), one.end(), order.begin(), [](const Keyed& each) { return each.row; });
    std::vector<std::pair<std::uint64_t, std::uint32_t>> alike;
    for (std::size_t begin = 0, end = 0; begin < one.size(); begin = end) {
        while (end < one.size() && one[end].key == one[begin].key) {
            ++end;
        }
        const auto first = order.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = order.begin() + static_cast<std::ptrdiff_t>(end);
        if (std::is_sorted(first, last, [&](auto a, auto b) { return values[a] < values[b]; })) {
            continue;
        }
        alike.clear();
        std::transform(first, last, std::back_inserter(alike),
                       [&](auto row) { return std::pair(ordered(values[row]), row); });
        std::sort(alike.begin(), alike.end());
        std::transform(alike.begin(), alike.end(), first, [](const auto& each) { return each.second; });
    }
    return order;
}

constexpr std::size_t max_divisions = 4096;  // of which it is kept whether they divide the rows
constexpr std::size_t max_batch = 16;
constexpr std::size_t batch_bytes = std::size_t{64} << 20;
constexpr std::size_t coordinates_kept = 80;  // of each x in a batch, at most about so many columns

// Calls body for each block of rows, of which the features are made.
template <class Body>
void each_block(const Conditioning& given, Block& block, CancellationToken& token, const Body& body) {
    for (block.begin = 0; block.begin < given.test().stride(); block.begin += panel_rows) {
        token.check();
        given.make_features(block.begin, block.powers, block.features);
        body();
    }
}

enum class Raw { base, with_curves, less_explained };  // by pass

void make_raw(const Residuals& of, const Block& block, Panel& fitted, Panel& out, Raw raw) {
    out.resize(of.base() + std::max<std::size_t>(raw != Raw::base ? of.raw_curves() : 0, 1));
    of.make_base(block.begin, out[0]);
    if (raw != Raw::base) {
        of.make_curves(block.begin, block.features, fitted, out[of.base()]);
    }
    if (raw == Raw::less_explained) {
        of.subtract_explained(block.begin, block.features, out);
    }
}

// In a pass about what Z leaves of a column: takes what the pass adds.
void add_raw(Residuals& to, const Block& block, const Panel& made, Raw raw) {
    if (raw == Raw::base) {
        to.add_base(block.begin, block.features, made[0]);
    } else if (raw == Raw::with_curves) {
        to.add_curves(block.begin, block.features, made[0], made[to.base()]);
    }
}

// What a conditioning set leaves of columns, each looked at once.
class LeftOfColumns {
  public:
    Residuals& of(const Conditioning& given, std::uint32_t column, Residuals::Form form) {
        std::unique_ptr<Residuals>& known = known_[{column, form}];
        if (known == nullptr) {
            known = std::make_unique<Residuals>(given, column, form);
        }
        return *known;
    }
    std::size_t bytes() const {
        return std::accumulate(known_.begin(), known_.end(), std::size_t{0},
                               [](std::size_t sum, const auto& each) { return sum + each.second->bytes(); });
    }
    auto begin() const { return known_.begin(); }
    auto end() const { return known_.end(); }

  private:
    std::map<std::pair<std::uint32_t, Residuals::Form>, std::unique_ptr<Residuals>> known_;
};

// A conditioning set, and what it leaves of columns. Both are known after the first comparison, whose passes they
// share, or after passes of their own.
struct Prepared {
    Prepared(const ResidualTest& test, std::span<const std::uint32_t> given) : conditioning(test, given) {}
    void complete(CancellationToken& token) {
        Block block;
        for (const auto& [key, of_column] : left) {
            const auto pass = [&](Raw raw) {
                each_block(conditioning, block, token, [&] {
                    if (raw == Raw::base && !conditioning.is_weighed()) {
                        conditioning.weigh(block.begin, block.features);
                    }
                    make_raw(*of_column, block, block.fitted, block.raw_y, raw);
                    add_raw(*of_column, block, block.raw_y, raw);
                });
            };
            pass(Raw::base);
            if (!conditioning.is_weighed()) {
                conditioning.end_weighing();
            }
            of_column->end_first();
            if (of_column->raw_curves() > 0) {
                pass(Raw::with_curves);
            }
            of_column->end_second();
        }
    }
    std::size_t bytes() const { return conditioning.bytes() + left.bytes(); }

    Conditioning conditioning;
    LeftOfColumns left;
};

// Which side's block is so wide, beside the other's, that it is looked at as indicators; of two that are as wide, that
// of the first column.
enum class Wide { none, x, target };

Wide wide(const ResidualTest& test, std::uint32_t x, std::uint32_t target) {
    const std::size_t p = test.scores(x).width, q = test.scores(target).width;
    if (p * q <= test.limits().max_products || (test.number(x) && test.number(target))) {
        return Wide::none;
    }
    const bool x_wider = p > q || (p == q && x < target);
    return !test.number(x) && (test.number(target) || x_wider) ? Wide::x : Wide::target;
}

Residuals& left_of_target(const ResidualTest& test, std::uint32_t x, std::uint32_t target, Prepared& prepared) {
    const bool levels = wide(test, x, target) == Wide::target;
    return prepared.left.of(prepared.conditioning, target, levels ? Residuals::Form::levels : Residuals::Form::columns);
}

// Compares several x with a target, in passes over the rows in which they share the features of Z. `put` is called
// with the position of each and its comparison; `effects_alone`: after the second pass. What is not known yet about Z,
// the target and the x is found in the same passes; what Z leaves of the x goes to `left`. The first column of a pair
// comes first in its comparison, so that it has the same bits whichever of the two is the target.
template <class Put>
void compare(const ResidualTest& test, std::uint32_t target, std::span<const std::uint32_t> xs, Prepared& prepared,
             LeftOfColumns& left, bool effects_alone, CancellationToken& token, const Put& put) {
    struct Pair {
        Pair(const Conditioning& given, std::size_t k, Residuals& x, Residuals& y)
            : place(k),
              of_x(x),
              of_y(y),
              x_first(x.column() < y.column()),
              is_new(!x.is_complete() || !y.is_complete()),
              comparison(given, x_first ? x : y, x_first ? y : x) {}
        std::size_t place;
        Residuals& of_x;
        Residuals& of_y;
        bool x_first;
        bool is_new;  // a first pass must look at x or the target
        ResidualComparison comparison;
        bool open = true;
    };
    Conditioning& given = prepared.conditioning;
    std::vector<std::unique_ptr<Pair>> pairs;  // those of one form of the target side by side
    for (const bool by_levels : {false, true}) {
        for (std::size_t k = 0; k < xs.size(); ++k) {
            const Wide side = wide(test, xs[k], target);
            if ((side == Wide::target) == by_levels) {
                const auto form = side == Wide::x ? Residuals::Form::levels : Residuals::Form::columns;
                pairs.push_back(std::make_unique<Pair>(given, k, left.of(given, xs[k], form),
                                                       left_of_target(test, xs[k], target, prepared)));
            }
        }
    }
    std::vector<Residuals*> incomplete;
    for (const auto& pair : pairs) {
        if (!pair->of_y.is_complete() && (incomplete.empty() || incomplete.back() != &pair->of_y)) {
            incomplete.push_back(&pair->of_y);
        }
    }
    for (const auto& pair : pairs) {
        if (!pair->of_x.is_complete()) {
            incomplete.push_back(&pair->of_x);
        }
    }
    Block block;
    const auto pass = [&](Raw raw, const auto& takes_part, const auto& body) {
        if (std::none_of(pairs.begin(), pairs.end(), [&](const auto& pair) { return takes_part(*pair); })) {
            return;
        }
        const bool weighs = raw == Raw::base && !given.is_weighed();
        const bool moderated =
            raw == Raw::less_explained && std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
                return takes_part(*pair) && pair->comparison.is_moderated();
            });
        each_block(given, block, token, [&] {
            const Residuals* made = nullptr;
            if (weighs) {
                given.weigh(block.begin, block.features);
            }
            if (moderated) {
                given.make_moderators(block.begin, block.moderators);
            }
            for (const auto& pair : pairs) {
                if (!takes_part(*pair)) {
                    continue;
                }
                if (made != &pair->of_y) {
                    make_raw(pair->of_y, block, block.fitted, block.raw_y, raw);
                    made = &pair->of_y;
                    if (!pair->of_y.is_complete()) {
                        add_raw(pair->of_y, block, block.raw_y, raw);
                    }
                }
                make_raw(pair->of_x, block, block.fitted, block.raw_x, raw);
                if (!pair->of_x.is_complete()) {
                    add_raw(pair->of_x, block, block.raw_x, raw);
                }
                if (!pair->x_first) {
                    std::swap(block.raw_x, block.raw_y);
                }
                body(*pair);
                if (!pair->x_first) {
                    std::swap(block.raw_x, block.raw_y);
                }
            }
        });
        if (weighs) {
            given.end_weighing();
        }
    };
    pass(Raw::base, [](const Pair& pair) { return pair.is_new; }, [&](Pair& pair) { pair.comparison.add_base(block); });
    for (Residuals* const each : incomplete) {
        each->end_first();
    }
    pass(
        Raw::with_curves,
        [](const Pair& pair) { return !pair.is_new || pair.of_x.raw_curves() + pair.of_y.raw_curves() > 0; },
        [&](Pair& pair) {
            if (!pair.is_new) {
                pair.comparison.add_base(block);
            }
            pair.comparison.add_curves(block);
        });
    for (Residuals* const each : incomplete) {
        each->end_second();
    }
    for (const auto& pair : pairs) {
        pair->comparison.end_second();
        pair->open = !effects_alone && pair->comparison.reliable();
        if (pair->open) {
            pair->comparison.begin_third();
        }
    }
    pass(
        Raw::less_explained, [](const Pair& pair) { return pair.open; },
        [&](Pair& pair) { pair.comparison.add_residuals(block); });
    for (const auto& pair : pairs) {
        if (pair->open) {
            pair->comparison.end_third();
            pair->open = pair->comparison.undecided();
        }
    }
    pass(
        Raw::less_explained, [](const Pair& pair) { return pair.open; },
        [&](Pair& pair) { pair.comparison.add_spreads(block); });
    for (const auto& pair : pairs) {
        put(pair->place, pair->comparison);
    }
}

}  // namespace

// Conditioning sets of searches, with what they leave of columns, for later targets and searches. Who uses one takes it
// out meanwhile. They are what would be made again, with the same bits, so it makes no difference what is kept. Where
// there is no room one of them goes, whichever it is: so a round through more sets than have room finds some.
class PreparedSets {
  public:
    explicit PreparedSets(std::size_t max_bytes) : max_bytes_(max_bytes) {}
    std::unique_ptr<Prepared> take(const std::vector<std::uint32_t>& given) {
        const std::lock_guard lock(changing_);
        const auto at = places_.find(given);
        return at == places_.end() ? nullptr : take_at(at->second);
    }
    void put(const std::vector<std::uint32_t>& given, std::unique_ptr<Prepared> prepared) {
        const std::size_t bytes = prepared->bytes();
        if (bytes > max_bytes_ / fewest) {
            return;
        }
        const std::lock_guard lock(changing_);
        if (!places_.try_emplace(given, kept_.size()).second) {
            return;  // of another thread
        }
        kept_.push_back({given, std::move(prepared), bytes});
        bytes_ += bytes;
        while (bytes_ > max_bytes_) {
            next_ = next_ * 6364136223846793005 + 1442695040888963407;
            take_at((next_ >> 32) % kept_.size());
        }
    }
    void clear() {
        const std::lock_guard lock(changing_);
        places_.clear();
        kept_.clear();
        bytes_ = 0;
    }

  private:
    static constexpr std::size_t fewest = 32;  // sets for which there is room

    struct Kept {
        std::vector<std::uint32_t> given;
        std::unique_ptr<Prepared> prepared;
        std::size_t bytes;
    };

    std::unique_ptr<Prepared> take_at(std::size_t place) {
        std::swap(kept_[place], kept_.back());
        places_[kept_[place].given] = place;
        Kept taken = std::move(kept_.back());
        kept_.pop_back();
        places_.erase(taken.given);
        bytes_ -= taken.bytes;
        return std::move(taken.prepared);
    }

    std::size_t max_bytes_;
    std::mutex changing_;
    std::map<std::vector<std::uint32_t>, std::size_t> places_;
    std::vector<Kept> kept_;
    std::size_t bytes_ = 0;
    std::uint64_t next_ = 0;
};

ResidualTest::ResidualTest(const PackedTable& table, std::vector<std::uint8_t> numbers, Rules rules, bool curved,
                           std::span<const double> weights, bool frequencies, ResidualLimits limits)
    : table_(table),
      numbers_(std::move(numbers)),
      stride_((table.rows() + panel_rows - 1) / panel_rows * panel_rows),
      weighted_(!weights.empty()),
      frequencies_(frequencies),
      effective_rows_(static_cast<double>(table.rows())),
      root_weights_(stride_, 0.0),
      inverse_root_weights_(stride_, 0.0),
      categorical_(table, rules),
      curved_(curved),
      limits_(limits),
      scores_(numbers_.size()),
      takes_part_(numbers_.size(), 0),
      polynomials_(numbers_.size()),
      feature_products_(std::make_unique<FeatureProducts>()),
      prepared_sets_(std::make_unique<PreparedSets>(limits.kept_bytes)),
      known_outcomes_(std::make_unique<KnownOutcomes>()) {
    if (weighted_) {
        const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
        effective_rows_ = sum;
        if (!frequencies) {
            effective_rows_ *= sum / std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0);
        }
        for (std::size_t r = 0; r < weights.size(); ++r) {
            root_weights_[r] = std::sqrt(weights[r] * effective_rows_ / sum);
            inverse_root_weights_[r] = 1.0 / root_weights_[r];
        }
        return;
    }
    std::fill_n(root_weights_.begin(), table.rows(), 1.0);
    std::fill_n(inverse_root_weights_.begin(), table.rows(), 1.0);
    // Blom's scores of ranks 1, 1½, 2 …
    const double rows = static_cast<double>(table.rows());
    for (std::size_t half = 2; half <= 2 * table.rows(); ++half) {
        quantiles_.push_back(normal_quantile((0.5 * static_cast<double>(half) - 0.375) / (rows + 0.25)));
    }
    for (std::size_t k = 0; k < quantiles_.size() / 2; ++k) {
        quantiles_[quantiles_.size() - 1 - k] = -quantiles_[k];  // the same bits for a column and its negative
    }
}

ResidualTest::~ResidualTest() = default;

void ResidualTest::set_values(std::size_t column, std::span<const double> values) {
    const std::size_t rows = values.size();
    const std::vector<std::uint32_t> order = ascending(values);
    Scores& made = scores_[column];
    made.columns.assign(stride_, 0.0);
    made.values = 0;
    std::size_t common = 0, common_end = 0;
    double common_rows = 0.0, before = 0.0;
    bool one_common = true;
    for (std::size_t begin = 0, end = 0; begin < rows; begin = end) {
        double tied = 0.0;
        for (; end < rows && values[order[end]] == values[order[begin]]; ++end) {
            tied += root_weights_[order[end]] * root_weights_[order[end]];
        }
        const double score = weighted_ ? normal_quantile((before + 0.5 * tied + 0.125) / (effective_rows_ + 0.25))
                                       : quantiles_[begin + end - 1];  // half ranks begin + 1 + end, from 2 on
        for (std::size_t k = begin; k < end; ++k) {
            made.columns[order[k]] = score;
        }
        if (tied > common_rows) {
            common = begin;
            common_end = end;
            common_rows = tied;
            one_common = true;
        } else if (tied == common_rows) {
            one_common = false;  // so that a number and its negative have the same scores
        }
        before += tied;
        ++made.values;
    }
    made.testable = effective_rows_ - common_rows >= limits_.min_level_rows * (1.0 - 1e-9);
    made.width = 1;
    if (made.values > 2 && one_common && common_rows > common_share * effective_rows_) {
        made.width = 2;
        made.columns.resize(2 * stride_, 0.0);
        for (std::size_t k = common; k < common_end; ++k) {
            made.columns[stride_ + order[k]] = 1.0;
        }
    }
    for (std::size_t k = 0; k < made.width; ++k) {
        double* scores = made.columns.data() + k * stride_;
        for (std::size_t r = 0; r < rows; ++r) {
            scores[r] *= root_weights_[r];
        }
        centre(scores);
        const double squares = std::inner_product(scores, scores + rows, scores, 0.0);
        for (std::size_t r = 0; r < rows && squares > 0.0; ++r) {
            scores[r] /= std::sqrt(squares);
        }
    }
    polynomials_[column] = {};
    if (takes_part_[column] != 0) {
        feature_products_->clear();
        prepared_sets_->clear();
        known_outcomes_->clear();
    }
    takes_part_[column] = 1;
    bytes_ += made.columns.size() * sizeof(double);
}

std::span<const ResidualTest::Polynomial> ResidualTest::polynomials(std::size_t column, std::size_t degree) const {
    Polynomials& kept = polynomials_[column];
    degree = std::min(degree, limits_.max_degree);
    {
        const std::lock_guard lock(making_);
        if (kept.degree >= degree) {
            return std::span(kept.made).first(std::min(degree, kept.made.size()));
        }
    }
    const std::vector<Polynomial> made = made_polynomials(scores_[column], degree);
    const std::lock_guard lock(making_);
    kept.made.reserve(std::max<std::size_t>(limits_.max_degree, 1));  // what others look at stays where it is
    for (std::size_t k = kept.made.size(); k < made.size(); ++k) {
        kept.made.push_back(made[k]);
    }
    kept.degree = std::max(kept.degree, degree);
    return std::span(kept.made).first(std::min(degree, kept.made.size()));
}

// By Stieltjes' recurrence, a pass over blocks of rows for each degree, in which those of lower degree are made again.
// A number of few values has few of them, and one of which next to nothing is left by those of lower degree is not
// made.
std::vector<ResidualTest::Polynomial> ResidualTest::made_polynomials(const Scores& scores, std::size_t highest) const {
    std::vector<Polynomial> made(1);
    const double scale = std::sqrt(effective_rows_);
    Panel powers, weighted, last;
    powers.resize(highest);
    weighted.resize(1);
    last.resize(2);
    // The mean square of the polynomial of a degree before it is scaled, and its mean product with the scores.
    const auto pass = [&](std::size_t degree, double shift, double back) {
        std::array<double, 2> sums{};
        for (std::size_t begin = 0; begin < stride_; begin += panel_rows) {
            for (std::size_t r = 0; r < panel_rows; ++r) {
                powers[0][r] = scores.columns[begin + r] * scale * inverse_root_weights_[begin + r];
            }
            for (std::size_t d = 2; d <= degree; ++d) {
                const double* const before = d > 2 ? powers[d - 3] : constant_panel.data();
                const Polynomial one = d < degree ? made[d - 1] : Polynomial{shift, back};
                kernels().next_polynomial(powers[0], powers[d - 2], before, one.shift, one.back, one.scale, panel_rows,
                                          powers[d - 1]);
            }
            std::copy_n(powers[degree - 1], panel_rows, last[0]);
            kernels().multiply(last[0], powers[0], panel_rows, last[1]);
            kernels().multiply(last[0], root_weights_.data() + begin, panel_rows, weighted[0]);
            kernels().multiply(weighted[0], root_weights_.data() + begin, panel_rows, weighted[0]);
            add_products(weighted[0], 1, last[0], 2, sums.data(), 2);
        }
        return std::array{sums[0] / effective_rows_, sums[1] / effective_rows_};
    };
    // Hermite polynomials as sums of these polynomials, by degree: the recurrence of one in terms of the other.
    std::vector<double> hermite{0.0, 1.0}, hermite_before{1.0}, length{0.0, 1.0};
    double square = 1.0, product = 0.0;
    for (std::size_t degree = 2; degree <= highest && scores.values > degree; ++degree) {
        if (degree == 2) {
            product = pass(1, 0.0, 0.0)[1];
        }
        const double shift = product / square, back = length[degree - 1];
        const auto [own, with_score] = pass(degree, shift, back);
        length.push_back(std::sqrt(own));
        made.push_back({shift, back, 1.0 / length[degree], 1.0});
        square = own;
        product = with_score;
        const double root = std::sqrt(static_cast<double>(degree)), root_before = std::sqrt(root * root - 1.0);
        std::vector<double> next(degree + 1, 0.0);
        for (std::size_t k = 0; k < degree; ++k) {  // the product with the scores, of each part
            next[k + 1] += hermite[k] * length[k + 1];
            if (k > 0) {
                next[k] += hermite[k] * made[k].shift;
                next[k - 1] += hermite[k] * length[k];
            }
        }
        for (std::size_t k = 0; k + 1 < degree; ++k) {
            next[k] -= root_before * hermite_before[k];
        }
        double squares = 0.0;
        for (double& part : next) {
            part /= root;
            squares += part * part;
        }
        made[degree - 1].before = (squares - next[0] * next[0]) / (next[degree] * next[degree]);
        if (!(made[degree - 1].before * limits_.least_new < 1.0)) {
            made.pop_back();
            break;
        }
        hermite_before = std::exchange(hermite, std::move(next));
    }
    return made;
}

void ResidualTest::centre(double* column) const {
    const double mean = std::inner_product(column, column + rows(), root_weights_.begin(), 0.0) / effective_rows_;
    for (std::size_t r = 0; r < rows(); ++r) {
        column[r] -= mean * root_weights_[r];
    }
}

void ResidualTest::set_category(std::size_t column) {
    Scores& made = scores_[column];
    made.codes.assign(stride_, 0);
    table_.unpack(column, std::span(made.codes).first(rows()));
    made.level_rows.assign(table_.levels(column), 0.0);
    for (std::size_t r = 0; r < rows(); ++r) {
        made.level_rows[made.codes[r]] += root_weights_[r] * root_weights_[r];
    }
    made.levels = indicated_levels(made.level_rows, limits_.max_levels, limits_.min_level_rows);
    made.width = made.levels.size();
    made.indicator.assign(table_.levels(column), static_cast<std::uint16_t>(made.width));
    for (std::size_t k = 0; k < made.width; ++k) {
        made.indicator[made.levels[k]] = static_cast<std::uint16_t>(k);
    }
    takes_part_[column] = 1;
    bytes_ += made.codes.size() * sizeof(std::uint16_t);
}

void ResidualTest::require(std::span<const std::uint32_t> asked) const {
    if (std::any_of(asked.begin(), asked.end(), [&](auto column) { return takes_part_[column] == 0; })) {
        throw std::invalid_argument("columns that take part");
    }
}

bool ResidualTest::all_categorical(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given) const {
    return !weighted_ && !number(x) && !number(y) &&
           std::none_of(given.begin(), given.end(), [&](auto z) { return number(z); });
}

Outcome ResidualTest::test(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given) const {
    require(given);
    require(std::array{x, y});
    if (all_categorical(x, y, given)) {
        return categorical_.test(x, y, given);
    }
    CancellationToken token;
    Prepared prepared(*this, given);
    Outcome found{};
    compare(*this, y, {&x, 1}, prepared, prepared.left, false, token,
            [&](std::size_t, const ResidualComparison& comparison) { found = comparison.outcome(); });
    return found;
}

void ResidualTest::screen(std::uint32_t target, std::span<const std::uint32_t> candidates,
                          std::span<const std::uint32_t> given, std::size_t threads, CancellationToken& token,
                          Answers out) const {
    require(given);
    require(candidates);
    require({&target, 1});
    const auto put = [&](std::size_t k, double statistic, double dof, bool reliable) {
        out.statistic[k] = statistic;
        out.dof[k] = dof;
        out.reliable[k] = reliable;
    };
    std::vector<std::uint32_t> counted, others;  // positions among the candidates
    for (std::uint32_t k = 0; k < candidates.size(); ++k) {
        (all_categorical(candidates[k], target, given) ? counted : others).push_back(k);
    }
    if (!counted.empty()) {
        std::vector<std::uint32_t> columns;
        for (const std::uint32_t k : counted) {
            columns.push_back(candidates[k]);
        }
        std::vector<double> statistic(counted.size()), dof(counted.size());
        std::vector<std::uint8_t> reliable(counted.size());
        categorical_.screen(target, columns, given, threads, token, {statistic.data(), dof.data(), reliable.data()});
        for (std::size_t k = 0; k < counted.size(); ++k) {
            put(counted[k], statistic[k], dof[k], reliable[k] != 0);
        }
    }
    if (others.empty()) {
        return;
    }
    std::vector<std::uint32_t> xs;
    for (const std::uint32_t k : others) {
        xs.push_back(candidates[k]);
    }
    Prepared prepared(*this, given);
    const std::size_t fitting =
        batch_bytes / (coordinates_kept * sizeof(double) * (prepared.conditioning.length() + 1));
    const std::size_t share = (others.size() + threads - 1) / std::max<std::size_t>(threads, 1);
    const std::size_t batch = std::clamp<std::size_t>(std::min(fitting, share), 1, max_batch);
    if (threads > 1 && others.size() > batch) {  // they share what is known
        for (const std::uint32_t x : xs) {
            left_of_target(*this, x, target, prepared);
        }
        prepared.complete(token);
    }
    parallel_for(others.size(), batch, threads, token, [&](std::size_t first, std::size_t last, std::size_t) {
        LeftOfColumns left;
        compare(*this, target, std::span(xs).subspan(first, last - first), prepared, left, false, token,
                [&](std::size_t k, const ResidualComparison& comparison) {
                    const Outcome found = comparison.outcome();
                    put(others[first + k], found.statistic, found.dof, found.reliable);
                });
    });
}

void ResidualTest::effects(std::uint32_t target, std::span<const std::uint32_t> candidates,
                           std::span<const std::uint32_t> given, CancellationToken& token,
                           std::span<ResidualEffect> out) const {
    require(given);
    require(candidates);
    require({&target, 1});
    Prepared prepared(*this, given);
    for (std::size_t k = 0; k < candidates.size(); ++k) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        out[k] = {nan, nan, nan};
        if (!all_categorical(candidates[k], target, given)) {
            LeftOfColumns left;
            compare(*this, target, candidates.subspan(k, 1), prepared, left, true, token,
                    [&](std::size_t, const ResidualComparison& comparison) { out[k] = comparison.effect(); });
        }
    }
}

bool ResidualTest::divides(std::span<const std::uint32_t> given) const {
    require(given);
    std::vector<std::uint32_t> categories;
    std::copy_if(given.begin(), given.end(), std::back_inserter(categories), [&](auto z) { return !number(z); });
    if (categories.size() < 2) {
        return true;
    }
    std::sort(categories.begin(), categories.end());
    {
        const std::lock_guard lock(making_);
        if (const auto known = divides_.find(categories); known != divides_.end()) {
            return known->second;
        }
    }
    const auto cells = static_cast<double>(divide_rows(*this, categories).count);
    const std::lock_guard lock(making_);
    if (divides_.size() == max_divisions) {
        divides_.clear();
    }
    return divides_[categories] = cells <= effective_rows_ / limits_.rows_per_column;
}

std::vector<std::uint64_t> ResidualTest::row_keys() const {
    std::vector<std::uint32_t> all(columns());
    std::iota(all.begin(), all.end(), 0u);
    require(all);
    const auto mixed = [](std::uint64_t key) {  // splitmix64
        key += 0x9e3779b97f4a7c15;
        key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9;
        key = (key ^ key >> 27) * 0x94d049bb133111eb;
        return key ^ key >> 31;
    };
    std::vector<std::uint64_t> keys(rows(), 0);
    for (std::size_t column = 0; column < columns(); ++column) {
        const Scores& of = scores_[column];
        if (number(column)) {
            // Rounded, as the last bits depend on the order of rows; the same for a number and its negative.
            const double scale = std::sqrt(effective_rows_) * static_cast<double>(std::uint64_t{1} << 20);
            for (std::size_t r = 0; r < rows(); ++r) {
                keys[r] += mixed(static_cast<std::uint64_t>(std::llround(std::abs(of.columns[r]) * scale)));
            }
        } else {
            std::vector<std::uint64_t> frequency(table_.levels(column), 0);
            for (std::size_t r = 0; r < rows(); ++r) {
                ++frequency[of.codes[r]];
            }
            for (std::size_t r = 0; r < rows(); ++r) {
                keys[r] += mixed(frequency[of.codes[r]]);
            }
        }
    }
    std::vector<std::uint32_t> order(rows());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        const std::uint64_t key = keys[order[begin]];
        for (; end < order.size() && keys[order[end]] == key; ++end) {
            keys[order[end]] = mixed(key + (end - begin) * 0x9e3779b97f4a7c15);
        }
    }
    return keys;
}

// --- subsets --------------------------------------------------------------------------------------------------------

namespace {

// Answers about some rows, given one set after another.
class AskedRows {
  public:
    explicit AskedRows(const ResidualTest& test) : test_(test) {}

    const ResidualTest& test() const { return test_; }
    // Calls `put` with each x and the outcome of its test, given members in ascending order. All x share the passes.
    template <class Put>
    void ask(std::uint32_t target, std::span<const std::uint32_t> xs, const std::vector<std::uint32_t>& given,
             CancellationToken& token, const Put& put) {
        KnownOutcomes& known = test_.known_outcomes();
        std::vector<std::uint32_t> others;
        for (const std::uint32_t x : xs) {
            if (const std::optional<Outcome> found = known.find(x, target, given)) {
                put(x, *found);
            } else {
                others.push_back(x);
            }
        }
        if (others.empty()) {
            return;
        }
        std::unique_ptr<Prepared> prepared = test_.prepared_sets().take(given);
        if (prepared == nullptr) {
            prepared = std::make_unique<Prepared>(test_, given);
        }
        for (std::size_t first = 0; first < others.size(); first += max_batch) {
            const std::span some = std::span(others).subspan(first, std::min(max_batch, others.size() - first));
            compare(test_, target, some, *prepared, prepared->left, false, token,
                    [&](std::size_t k, const ResidualComparison& comparison) {
                        const Outcome found = comparison.outcome();
                        known.keep(some[k], target, given, found);
                        put(some[k], found);
                    });
        }
        test_.prepared_sets().put(given, std::move(prepared));
    }

  private:
    const ResidualTest& test_;
};

// A test that only decides whether the search goes on is first asked of the part, if there is one: what that shows
// clearly is dependence. All others are asked of all rows. The weakest association is that of all rows, so if there is
// none, the weakest one of the part is asked again.
class ResidualEvaluator {
  public:
    struct Walk : SubsetWalk {
        SubsetAnswer clear{no_outcome, {}, false};  // the weakest one that the part shows
    };
    using Walks = std::vector<Walk*>;
    struct Node {};
    static constexpr bool resumable = false;
    static constexpr std::size_t poll_every = 1;
    static constexpr std::uint64_t few_questions = 64;

    ResidualEvaluator(const ResidualRows& rows, SubsetState& state)
        : state_(state), all_(rows.all), clear_(rows.clear) {
        if (rows.part != nullptr) {
            part_.emplace(*rows.part);
        }
    }

    void start(std::vector<Walk>&) {}
    void start_size(const Walks& walks, std::size_t size) {
        if (size == 0) {
            answer_ahead(walks);
        }
    }
    bool visit_singles(const Walks&) { return false; }
    Node root() const { return {}; }
    Node child(const Node&, std::uint32_t, const Walks&) const { return {}; }
    Node leaf(const Node&, std::uint32_t, const Walks& walks) {
        answer_ahead(walks);
        return {};
    }
    bool may_test(const Walk&, const Node&, std::size_t) const { return true; }
    bool examine(Walk& walk, const Node&) {
        state_.poll_cancel<poll_every>();
        const std::vector<std::uint32_t> given = state_.given();
        const Answer found = answer(walk.x, given);
        if (!found.outcome.reliable) {
            state_.tally.add_skip(given.size());
            return false;
        }
        state_.tally.add_test(given.size());
        const bool separated = !found.of_part && separates(found.outcome);
        SubsetAnswer& best = found.of_part ? walk.clear : *walk.best;
        if (separated || !best.outcome.reliable || weaker(found.outcome, best.outcome)) {
            best = {found.outcome, given, separated};
        }
        return separated;
    }
    void finish(Walk& walk) {
        if (walk.best->outcome.reliable || !walk.clear.outcome.reliable) {
            return;
        }
        std::vector<std::uint32_t> given(walk.clear.given);
        std::sort(given.begin(), given.end());
        all_.ask(state_.query.target, {&walk.x, 1}, given, unstopped_, [&](std::uint32_t, const Outcome& found) {
            if (found.reliable) {
                *walk.best = {found, walk.clear.given, separates(found)};
            }
        });
    }

  private:
    struct Answer {
        Outcome outcome;
        bool of_part;
    };

    bool separates(const Outcome& found) const {
        const std::optional<double>& stop_above = state_.query.stop_above;
        return stop_above && found.log_p > *stop_above;
    }
    // All x that are tested given the subset at hand share the passes over the rows.
    void answer_ahead(const Walks& walks) {
        ahead_.clear();
        if (walks.size() < 2) {
            return;
        }
        const std::vector<std::uint32_t> given = state_.given();
        const std::int64_t last = state_.last();
        std::vector<std::uint32_t> xs;
        for (const Walk* walk : walks) {
            if (walk->member != last && walk->fresh(last) && state_.tries(*walk, last) &&
                !all_.test().all_categorical(walk->x, state_.query.target, given)) {
                xs.push_back(walk->x);
            }
        }
        ask(xs, given, *state_.token);
    }
    Answer answer(std::uint32_t x, const std::vector<std::uint32_t>& given) {
        if (const auto known = ahead_.find(x); known != ahead_.end()) {
            return known->second;
        }
        if (all_.test().all_categorical(x, state_.query.target, given)) {
            return {all_.test().categorical().test(x, state_.query.target, given), false};
        }
        ask({&x, 1}, given, unstopped_);
        const Answer found = ahead_.at(x);
        ahead_.erase(x);  // of this subset alone
        return found;
    }
    // Fills `ahead_`.
    void ask(std::span<const std::uint32_t> xs, std::vector<std::uint32_t> given, CancellationToken& token) {
        std::sort(given.begin(), given.end());
        std::vector<std::uint32_t> others(xs.begin(), xs.end());
        if (part_ && !others.empty() && part_follows(given)) {
            part_->ask(state_.query.target, xs, given, token, [&](std::uint32_t x, const Outcome& found) {
                if (found.reliable && found.log_p <= clear_) {
                    ahead_.insert_or_assign(x, Answer{found, true});
                }
            });
            std::erase_if(others, [&](std::uint32_t x) { return ahead_.contains(x); });
        }
        all_.ask(state_.query.target, others, given, token,
                 [&](std::uint32_t x, const Outcome& found) { ahead_.insert_or_assign(x, Answer{found, false}); });
    }
    // Whether the part can follow Z as all rows can: not if joint cells of categories divide all rows alone.
    bool part_follows(std::span<const std::uint32_t> given) const {
        return part_->test().divides(given) || !all_.test().divides(given);
    }

    SubsetState& state_;
    AskedRows all_;
    std::optional<AskedRows> part_;
    double clear_;                           // the log p up to which the part shows dependence
    CancellationToken unstopped_;            // a search is stopped between two tests
    std::map<std::uint32_t, Answer> ahead_;  // of the x given the subset at hand
};

}  // namespace

SubsetAnswers ResidualRows::search_subsets(const SubsetQuery& query, std::size_t threads,
                                           CancellationToken& token) const {
    for (const ResidualTest* const test : {&all, part}) {
        if (test != nullptr) {
            test->require(query.xs);
            test->require(query.pool);
            test->require(query.fixed);
            test->require({&query.target, 1});
        }
    }
    return drive_subsets<ResidualEvaluator>(*this, query, threads, token);
}

}  // namespace serape
