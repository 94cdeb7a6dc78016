#include "serape/answers.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_map>

#include "serape/chi_square.hpp"

namespace serape {
namespace {

// Numbers conditioning sets in the order in which they are first met.
class SetNumbers {
  public:
    explicit SetNumbers(FlatSets& sets) : sets_(sets) {}

    std::int32_t of(std::span<const std::uint32_t> given) {
        if (by_hash_.empty() && sets_.size() < few) {
            std::size_t number = 0;
            while (number < sets_.size() && !is(number, given)) {
                ++number;
            }
            if (number == sets_.size()) {
                sets_.add(given);
            }
            return static_cast<std::int32_t>(number);
        }
        for (std::size_t k = by_hash_.size(); k < sets_.size(); ++k) {
            by_hash_.emplace(hash(sets_[k]), static_cast<std::int32_t>(k));
        }
        const std::size_t key = hash(given);
        for (auto [at, end] = by_hash_.equal_range(key); at != end; ++at) {
            if (is(static_cast<std::size_t>(at->second), given)) {
                return at->second;
            }
        }
        const auto number = static_cast<std::int32_t>(sets_.size());
        by_hash_.emplace(key, number);
        sets_.add(given);
        return number;
    }

  private:
    static constexpr std::size_t few = 16;  // sets that are compared with each other

    bool is(std::size_t number, std::span<const std::uint32_t> given) const {
        const std::span<const std::uint32_t> known = sets_[number];
        return std::equal(known.begin(), known.end(), given.begin(), given.end());
    }
    static std::size_t hash(std::span<const std::uint32_t> given) {
        std::uint64_t mixed = given.size();
        for (const std::uint32_t variable : given) {
            mixed = (mixed ^ variable) * 0x9e3779b97f4a7c15ULL;
            mixed ^= mixed >> 32;
        }
        return static_cast<std::size_t>(mixed);
    }

    FlatSets& sets_;
    std::unordered_multimap<std::size_t, std::int32_t> by_hash_;
};

}  // namespace

std::size_t ScreenAnswers::performed() const {
    return static_cast<std::size_t>(std::count(reliable().begin(), reliable().end(), 1));
}

void ScreenAnswers::check(std::span<const std::uint32_t> xs) const {
    if (xs.size() != size_) {
        throw std::invalid_argument("arrays must be of one length");
    }
}

Outcome ScreenAnswers::outcome(std::size_t index) const {
    if (index >= size_) {
        throw std::out_of_range("no such answer");
    }
    const bool performed = reliable()[index] != 0;
    const double log_p =
        performed ? chi_square_log_sf(statistic()[index], dof()[index]) : std::numeric_limits<double>::quiet_NaN();
    return {statistic()[index], dof()[index], log_p, performed};
}

std::vector<Performed> ScreenAnswers::each(std::span<const std::uint32_t> xs) const {
    check(xs);
    std::vector<Performed> performed;
    for (std::size_t k = 0; k < size_; ++k) {
        if (reliable()[k] != 0) {
            performed.emplace_back(k, xs[k], chi_square_log_sf(statistic()[k], dof()[k]), statistic()[k]);
        }
    }
    return performed;
}

RankedSplit ScreenAnswers::ranked_split(std::span<const std::uint32_t> xs, double log_alpha,
                                        bool with_independent) const {
    check(xs);
    return serape::ranked_split(xs, statistic(), dof(), reliable(), log_alpha, with_independent);
}

std::vector<std::int64_t> ScreenAnswers::ranked(std::span<const std::int64_t> indices) const {
    for (const std::int64_t index : indices) {
        if (index < 0 || static_cast<std::size_t>(index) >= size_) {
            throw std::out_of_range("no such answer");
        }
    }
    return serape::ranked(statistic(), dof(), indices);
}

std::vector<ScreenAnswers> ScreenAnswers::in_rows(std::size_t length) const {
    std::vector<ScreenAnswers> rows;
    for (std::size_t from = 0; from < size_; from += length) {
        rows.push_back(*this);
        rows.back().from_ = from_ + from;
        rows.back().size_ = length;
    }
    return rows;
}

template <class Index>
ScreenAnswers ScreenAnswers::chosen(std::span<const Index> indices) const {
    ScreenAnswers some(indices.size());
    for (std::size_t k = 0; k < indices.size(); ++k) {
        const auto index = static_cast<std::size_t>(indices[k]);
        if (index >= size_) {
            throw std::out_of_range("no such answer");
        }
        some.statistic()[k] = statistic()[index];
        some.dof()[k] = dof()[index];
        some.reliable()[k] = reliable()[index];
    }
    return some;
}

template ScreenAnswers ScreenAnswers::chosen(std::span<const std::uint32_t>) const;
template ScreenAnswers ScreenAnswers::chosen(std::span<const std::int64_t>) const;

FoundSubsets::FoundSubsets(std::span<const std::uint32_t> asked, SubsetAnswers&& found)
    : xs_(asked.begin(), asked.begin() + static_cast<std::ptrdiff_t>(found.answers.size())),
      numbers_(3 * xs_.size()),
      indices_(2 * xs_.size()),
      tally_(std::move(found.tally)),
      cut_(found.cut) {
    SetNumbers numbers(sets_);
    const std::size_t asked_about = size();
    for (std::size_t k = 0; k < asked_about; ++k) {
        const SubsetAnswer& answer = found.answers[k];
        numbers_[k] = answer.outcome.statistic;
        numbers_[asked_about + k] = answer.outcome.dof;
        numbers_[2 * asked_about + k] = answer.outcome.log_p;
        indices_[k] = answer.separated ? separated : answer.outcome.reliable ? dependent : unreliable;
        indices_[asked_about + k] = numbers.of(answer.given);
    }
}

void FoundSubsets::check(std::size_t index) const {
    if (index >= size()) {
        throw std::out_of_range("no such answer");
    }
}

Outcome FoundSubsets::outcome(std::size_t index) const {
    check(index);
    return {numbers_[index], numbers_[size() + index], numbers_[2 * size() + index], indices_[index] != unreliable};
}

std::span<const std::uint32_t> FoundSubsets::given(std::size_t index) const {
    check(index);
    return sets_[static_cast<std::size_t>(indices_[size() + index])];
}

std::vector<std::uint32_t> FoundSubsets::those(bool are_separated) const {
    std::vector<std::uint32_t> those;
    for (std::size_t k = 0; k < size(); ++k) {
        if (is_separated(k) == are_separated) {
            those.push_back(xs_[k]);
        }
    }
    return those;
}

std::vector<std::size_t> FoundSubsets::above(double log_alpha) const {
    std::vector<std::size_t> indices;
    for (std::size_t k = 0; k < size(); ++k) {
        if (indices_[k] != unreliable && numbers_[2 * size() + k] > log_alpha) {
            indices.push_back(k);
        }
    }
    return indices;
}

std::vector<Performed> FoundSubsets::each() const {
    std::vector<Performed> performed;
    for (std::size_t k = 0; k < size(); ++k) {
        if (indices_[k] != unreliable) {
            performed.emplace_back(k, xs_[k], numbers_[2 * size() + k], numbers_[k]);
        }
    }
    return performed;
}

std::vector<std::size_t> FoundSubsets::indices_of(std::uint32_t x) const {
    std::vector<std::size_t> indices;
    for (std::size_t k = 0; k < size(); ++k) {
        if (xs_[k] == x && indices_[k] != unreliable) {
            indices.push_back(k);
        }
    }
    return indices;
}

std::vector<std::pair<double, std::size_t>> FoundSubsets::shown(std::uint32_t x, double log_alpha) const {
    std::vector<std::pair<double, std::size_t>> found;
    std::size_t separates = size();
    for (std::size_t k = 0; k < size(); ++k) {
        if (xs_[k] == x && indices_[k] != unreliable) {
            const double log_p = numbers_[2 * size() + k];
            if (log_p <= log_alpha) {
                found.emplace_back(log_p, k);
            }
            separates = is_separated(k) ? k : separates;
        }
    }
    if (separates < size()) {
        found.emplace_back(0.0, separates);
    }
    return found;
}

std::vector<std::int64_t> FoundSubsets::weaken(const MinAssociations& known, std::int64_t number) const {
    std::vector<std::int64_t> kept;
    for (std::size_t k = 0; k < size(); ++k) {
        if (is_separated(k)) {
            continue;
        }
        kept.push_back(static_cast<std::int64_t>(k));
        const Outcome found = outcome(k);
        if (found.reliable && weaker(found, {known.statistic[k], known.dof[k], known.log_p[k], true})) {
            known.statistic[k] = found.statistic;
            known.dof[k] = found.dof;
            known.log_p[k] = found.log_p;
            known.batch[k] = number;
            known.index[k] = static_cast<std::int64_t>(k);
        }
    }
    return kept;
}

}  // namespace serape
