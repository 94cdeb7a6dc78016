// The likelihood-ratio test of the conditional Gaussian model, for any mix of categorical and continuous columns.
//
// A question needs the rows, means and scatters of its continuous variables in the cells of its categorical ones. Both
// are remembered: how a set of categorical columns divides the rows, and the moments in the cells. A search through
// subsets asks for the same ones again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "serape/kd_tree.hpp"
#include "serape/packed_table.hpp"

namespace serape {

struct MixedOutcome {
    double statistic;
    double dof;
    std::size_t rows;  // that take part
    bool reliable;
};

class MixedTest {  // not to be shared by threads
  public:
    // `continuous`: by column of the table, whether it is; the table's codes of such a column are not looked at.
    MixedTest(const PackedTable& table, std::vector<std::uint8_t> continuous, double minimum, std::size_t most_bytes);
    ~MixedTest();

    std::size_t columns() const { return continuous_.size(); }
    std::size_t rows() const { return table_.rows(); }
    bool continuous(std::size_t column) const { return continuous_[column] != 0; }
    bool has_values(std::size_t column) const { return !values_[column].empty(); }
    // The values of a continuous column, about 0 and of a spread about 1; needed before any question about it.
    void set_values(std::size_t column, std::span<const double> values);
    std::size_t bytes() const { return bytes_; }  // remembered

    // x, y and the given ones have to differ and not all be categorical. Unless `thorough`, a question that cannot be
    // reliable is not worked out. Unless `remember`, the moments of x are not kept.
    MixedOutcome test(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given, bool thorough,
                      bool remember);

  private:
    using Columns = std::vector<std::uint32_t>;
    struct Division;
    class Moments;
    struct Question;

    void check(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given) const;
    std::shared_ptr<Division> divided(const Columns& categories);
    std::shared_ptr<Division> divided(const Columns& categories, std::uint32_t more);
    std::shared_ptr<Division> divide(const Columns& categories);
    void forget();
    double full_dof(const Question& question) const;

    MixedOutcome two_continuous(const Question& question);
    MixedOutcome one_continuous(const Question& question);
    MixedOutcome none_continuous(const Question& question);
    Columns undetermined(const Question& question);
    const KdTree& tree_of(const Columns& categories, const Columns& numbers);

    const PackedTable& table_;
    std::vector<std::uint8_t> continuous_;
    std::vector<std::vector<double>> values_;
    std::vector<std::vector<std::uint32_t>> ranks_;
    double minimum_;
    std::size_t most_bytes_;
    std::size_t bytes_ = 0;
    std::uint64_t clock_ = 0;
    std::map<Columns, std::shared_ptr<Division>> known_;
};

}  // namespace serape
