#include "serape/answers.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

#include "serape/chi_square.hpp"

namespace serape {

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

FoundSubsets::FoundSubsets(std::span<const std::uint32_t> asked, SubsetAnswers&& answers)
    : xs(asked.begin(), asked.begin() + static_cast<std::ptrdiff_t>(answers.answers.size())),
      found(std::move(answers)) {}

const SubsetAnswer& FoundSubsets::at(std::size_t index) const {
    if (index >= answers().size()) {
        throw std::out_of_range("no such answer");
    }
    return answers()[index];
}

std::vector<std::uint32_t> FoundSubsets::those(bool separated) const {
    std::vector<std::uint32_t> those;
    for (std::size_t k = 0; k < answers().size(); ++k) {
        if (answers()[k].separated == separated) {
            those.push_back(xs[k]);
        }
    }
    return those;
}

std::vector<std::size_t> FoundSubsets::above(double log_alpha) const {
    std::vector<std::size_t> indices;
    for (std::size_t k = 0; k < answers().size(); ++k) {
        if (const Outcome& outcome = answers()[k].outcome; outcome.reliable && outcome.log_p > log_alpha) {
            indices.push_back(k);
        }
    }
    return indices;
}

std::vector<Performed> FoundSubsets::each() const {
    std::vector<Performed> performed;
    for (std::size_t k = 0; k < answers().size(); ++k) {
        if (const Outcome& outcome = answers()[k].outcome; outcome.reliable) {
            performed.emplace_back(k, xs[k], outcome.log_p, outcome.statistic);
        }
    }
    return performed;
}

std::vector<std::size_t> FoundSubsets::indices_of(std::uint32_t x) const {
    std::vector<std::size_t> indices;
    for (std::size_t k = 0; k < answers().size(); ++k) {
        if (xs[k] == x && answers()[k].outcome.reliable) {
            indices.push_back(k);
        }
    }
    return indices;
}

FoundSubsets::Arrays FoundSubsets::arrays() const {
    const std::size_t asked = answers().size();
    Arrays made{std::vector<double>(3 * asked), std::vector<std::int32_t>(2 * asked), {}};
    std::map<std::vector<std::uint32_t>, std::int32_t> known;
    for (std::size_t k = 0; k < asked; ++k) {
        const SubsetAnswer& answer = answers()[k];
        made.numbers[k] = answer.outcome.statistic;
        made.numbers[asked + k] = answer.outcome.dof;
        made.numbers[2 * asked + k] = answer.outcome.log_p;
        const auto [at, fresh] = known.emplace(answer.given, static_cast<std::int32_t>(made.sets.size()));
        if (fresh) {
            made.sets.push_back(answer.given);
        }
        made.indices[k] = answer.separated ? 2 : answer.outcome.reliable ? 1 : 0;
        made.indices[asked + k] = at->second;
    }
    return made;
}

}  // namespace serape
