// Batches of answers: those of a screen, and those of a search through conditioning sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "serape/ranking.hpp"
#include "serape/subset_query.hpp"

namespace serape {

// Index, x, log p and statistic of a reliable answer.
using Performed = std::tuple<std::size_t, std::uint32_t, double, double>;

// The answers of a screen of contingency tables, or some of them.
class ScreenAnswers {
  public:
    explicit ScreenAnswers(std::size_t room)
        : memory_(new double[2 * room + (room + sizeof(double) - 1) / sizeof(double)]), room_(room), size_(room) {}

    Answers out() { return {memory_.get(), memory_.get() + room_, flags()}; }
    void keep_first(std::size_t asked) { size_ = asked; }

    std::size_t size() const { return size_; }
    std::span<double> statistic() const { return {memory_.get() + from_, size_}; }
    std::span<double> dof() const { return {memory_.get() + room_ + from_, size_}; }
    std::span<std::uint8_t> reliable() const { return {flags() + from_, size_}; }

    std::size_t performed() const;  // how many are reliable
    Outcome outcome(std::size_t index) const;
    std::vector<Performed> each(std::span<const std::uint32_t> xs) const;
    RankedSplit ranked_split(std::span<const std::uint32_t> xs, double log_alpha, bool with_independent) const;
    std::vector<std::int64_t> ranked(std::span<const std::int64_t> indices) const;

    // In rows of so many, one after another, which share the memory.
    std::vector<ScreenAnswers> in_rows(std::size_t length) const;
    // Those at some indices, in memory of their own.
    ScreenAnswers at(std::span<const std::uint32_t> indices) const { return chosen(indices); }
    ScreenAnswers at(std::span<const std::int64_t> indices) const { return chosen(indices); }

  private:
    template <class Index>
    ScreenAnswers chosen(std::span<const Index> indices) const;
    std::uint8_t* flags() const { return reinterpret_cast<std::uint8_t*>(memory_.get() + 2 * room_); }
    void check(std::span<const std::uint32_t> xs) const;

    std::shared_ptr<double[]> memory_;  // statistics, degrees of freedom, and a byte each for what is reliable
    std::size_t room_;
    std::size_t from_ = 0;
    std::size_t size_;
};

// Sets of variables, one after another.
struct FlatSets {
    std::vector<std::int64_t> ends;  // by set
    std::vector<std::uint32_t> members;

    std::size_t size() const { return ends.size(); }
    std::span<const std::uint32_t> operator[](std::size_t k) const {
        const auto begin = static_cast<std::size_t>(k == 0 ? 0 : ends[k - 1]);
        return std::span(members).subspan(begin, static_cast<std::size_t>(ends[k]) - begin);
    }
    void add(std::span<const std::uint32_t> given) {
        members.insert(members.end(), given.begin(), given.end());
        ends.push_back(static_cast<std::int64_t>(members.size()));
    }
};

// The answers of a search through conditioning sets, and the x that were asked about: in arrays, each set once, because
// a search through many sets keeps millions of answers until they are used.
class FoundSubsets {
  public:
    enum Verdict : std::int32_t { unreliable = 0, dependent = 1, separated = 2 };

    FoundSubsets() = default;
    FoundSubsets(std::span<const std::uint32_t> asked, SubsetAnswers&& found);

    std::size_t size() const { return xs_.size(); }
    const std::vector<std::uint32_t>& xs() const { return xs_; }
    const std::vector<double>& numbers() const { return numbers_; }        // statistics, dof, log p, one after another
    const std::vector<std::int32_t>& indices() const { return indices_; }  // verdicts, then indices of sets
    const FlatSets& sets() const { return sets_; }
    const Tally& tally() const { return tally_; }
    bool cut() const { return cut_; }  // short, by max_tests

    Outcome outcome(std::size_t index) const;
    std::span<const std::uint32_t> given(std::size_t index) const;
    bool is_separated(std::size_t index) const { return indices_[index] == separated; }
    std::vector<std::uint32_t> those(bool separated) const;  // the x that some set separates, or those that none does
    bool last_survives() const { return size() > 0 && !is_separated(size() - 1); }
    std::vector<std::size_t> above(double log_alpha) const;  // indices of reliable answers with log p above a value
    std::vector<Performed> each() const;
    std::vector<std::size_t> indices_of(std::uint32_t x) const;  // of the reliable answers about one x
    // Log p and index of the answers that show x to be dependent, then 0 and the index of the last that separates it.
    std::vector<std::pair<double, std::size_t>> shown(std::uint32_t x, double log_alpha) const;
    // Replaces known associations by weaker answers, those of batch `number`; returns the indices of the x that nothing
    // separates.
    std::vector<std::int64_t> weaken(const MinAssociations& known, std::int64_t number) const;

  private:
    void check(std::size_t index) const;

    std::vector<std::uint32_t> xs_;
    std::vector<double> numbers_;
    std::vector<std::int32_t> indices_;
    FlatSets sets_;
    Tally tally_;
    bool cut_ = false;
};

}  // namespace serape
