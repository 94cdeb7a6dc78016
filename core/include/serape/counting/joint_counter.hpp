// Counts a target together with a set of variables: one table answers the test of each of them given the others.
//
// With f(n) = n ln n and F(S) the sum of f over the cells of the joint table of S,
//   G²/2 of x and t given Z = F(x, t, Z) − F(x, Z) − F(t, Z) + F(Z).
// The tests of every x in a set A given the rest of A share F(t, A) and F(A), and larger sets share these again; a
// search through the subsets of a neighbourhood asks for all of them. They are remembered by set, with the adjusted
// degrees of freedom of the tests. Gives the same sums, to the bit, as CandidateCounter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "serape/packed_table.hpp"
#include "serape/statistic.hpp"

namespace serape {

class JointCounter {  // of one table; for one thread at a time
  public:
    static constexpr std::size_t max_members = 7;  // of a set

    // Whether the rows, and the target, can be counted.
    static bool serves(const PackedTable& table, std::uint32_t target);

    // The target of the questions to come. The table may have moved. Forgets what is remembered if that is much.
    void take(const PackedTable& table, std::uint32_t target);

    // The sum of G² and the adjusted degrees of freedom of x and the target given a set, if they can be counted; those
    // of the other members of the set too if they will be asked about.
    std::optional<Sum> operator()(std::uint32_t x, std::span<const std::uint32_t> given, bool ask_all);

    std::size_t remembered() const { return used_; }  // sets
    std::size_t bytes() const;

  private:
    using Numbers = std::span<const std::uint16_t>;
    using Key = std::array<std::uint16_t, 1 + max_members>;  // columns by their number: the target, the others sorted
    static constexpr std::uint16_t unknown = std::numeric_limits<std::uint16_t>::max();
    struct Entry {
        Key key{};
        std::array<std::uint16_t, max_members> dof{};  // in the order of the key
        std::int64_t with_target = 0;                  // F of the set and the target
        std::int64_t without = 0;                      // F of the set
    };
    struct Column {
        std::uint32_t levels = 1;
        std::vector<std::uint8_t> codes;
    };

    void forget();
    std::uint16_t number(std::uint32_t column);
    std::size_t cells_of(Numbers members) const;
    Key key_of(Numbers members) const;
    static std::size_t place_of(const Key& key, std::uint16_t member);
    static std::size_t slot(const std::vector<Entry>& entries, const Key& key);
    const Entry* find(const Key& key) const;
    const Entry& remember(const Entry& entry);
    const Entry& counted(const Key& key, Numbers members, std::size_t first_of_dof);
    const std::uint16_t* combined(Numbers members);
    void count_table(Numbers members);
    void add_up(Entry& entry);
    void add_dof(Entry& entry, Numbers members, std::size_t first);

    const PackedTable* table_ = nullptr;
    std::uint16_t target_ = 0;
    std::vector<std::uint16_t> number_of_;  // by column of the table; 0 for none
    std::vector<Column> columns_;           // by number; the first has one level
    std::vector<Entry> entries_;            // a hash table; where the target is 0, there is none
    std::size_t used_ = 0;
    std::vector<std::uint16_t> path_;                  // the members whose codes are combined
    std::vector<std::vector<std::uint16_t>> indices_;  // by length: the combined codes of so many of them
    std::vector<std::uint16_t> counts_;                // [members][target]
    std::vector<std::uint32_t> present_;               // by cell of the members: a bit for each level of the target
};

}  // namespace serape
