// Discrete columns, packed.
//
// A column of at most `plane_levels` levels is kept as one bitset per level but the first (a *plane*: bit i is row i);
// level 0 is what the planes leave. A column of more levels is kept as codes of one or two bytes a row.
//
// Two further layouts of the plane columns are derived on first use, each for a kind of question (see kernels.hpp):
//   Panels  the bits of 512 plane columns of one row in one cache line, for many candidates at once;
//   Ones    row numbers of the ones of binary columns, where ones are rare.
//
// A row may stand for several: a table of distinct rows (see distinct_rows.hpp) has the frequency of each, keeps all
// columns as codes, and its counts are sums of frequencies.
//
// A table holds its columns, or uses columns that are stored elsewhere, such as in a mapped file. Stored columns are
// verified before their first use: no content of a file can lead outside the memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "serape/aligned.hpp"
#include "serape/log_table.hpp"

namespace serape {

class JointCounter;

inline constexpr std::uint32_t max_levels = 65'536;
inline constexpr std::size_t max_rows = 2'147'483'000;
inline constexpr std::size_t max_planes = 4'294'967'000;

// Row panels: panel p, row i is lines[p * (rows + 1) + i]. The last line of a panel is zero, so that lists of rows can
// be padded with it.
struct Panels {
    std::size_t rows = 0;
    std::size_t count = 0;
    UnclearedVector<Line> lines;
    std::vector<std::uint32_t> slot;          // by column: its first bit, counted over all panels, or `absent`
    std::vector<std::uint32_t> first_column;  // by panel: its first column, one more than panels
    std::vector<std::uint32_t> totals;        // by bit: number of ones
    std::vector<std::uint8_t> binary;         // by panel: 1 if all columns up to the next panel are its own and binary
    static constexpr std::uint32_t absent = 0xffffffff;

    const Line* panel(std::size_t p) const { return lines.data() + p * (rows + 1); }
};

// Row numbers of the ones of every binary column, one after the other.
struct Ones {
    std::vector<std::size_t> start;  // by column, one more than columns; empty range if the column is not binary
    std::vector<std::uint32_t> rows;
};

// Columns in memory of somebody else, laid out as a table lays them out: first come all planes, then codes of one byte,
// then codes of two.
struct StoredColumns {
    std::span<const std::uint32_t> levels;     // by column
    std::span<const std::uint32_t> totals;     // by plane: number of ones
    std::span<const std::uint64_t> checksums;  // by column: of its planes or codes
    std::span<const std::uint64_t> planes;
    std::span<const std::uint8_t> narrow;
    std::span<const std::uint16_t> wide;
    std::string name;                   // of the file, for messages
    bool trusted = false;               // from our own process: it need not be verified
    std::shared_ptr<const void> owner;  // keeps the memory
};

struct DamagedColumns : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Counters that are not in use: as many as were in use at once. A thread gets back the one that it had, whose memory is
// near, and waits for no other thread.
class CounterStore {
  public:
    CounterStore() = default;
    CounterStore(const CounterStore&) = delete;
    CounterStore& operator=(const CounterStore&) = delete;
    ~CounterStore();

    std::unique_ptr<JointCounter> take();  // null if there is none
    void put(std::unique_ptr<JointCounter> counter);
    std::size_t bytes();

  private:
    static constexpr std::size_t slots = 32;  // for more threads at once, the counters beyond are not kept
    struct alignas(line_bytes) Slot {
        std::atomic<JointCounter*> counter{nullptr};
    };
    std::array<Slot, slots> slots_;
};

class PackedTable {
  public:
    explicit PackedTable(std::size_t rows);

    // A table that uses stored columns in place; nothing can be appended to it. Throws DamagedColumns, here if sizes do
    // not agree, and later, on the first use of a column, if its content is wrong.
    static PackedTable borrow(std::size_t rows, StoredColumns stored);
    // To be called before plane() and total(); everything else verifies what it uses.
    void verify(std::size_t column) const {
        if (borrowed_) {
            verify_stored(column);
        }
    }
    void verify(std::span<const std::uint32_t> columns) const;
    void verify_all() const;

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_.size(); }
    std::size_t plane_words() const { return words_; }  // 64-bit words of a plane, a multiple of 8
    std::uint32_t levels(std::size_t column) const { return columns_[column].levels; }
    bool has_planes(std::size_t column) const {
        return columns_[column].levels <= plane_levels && frequencies_.empty();
    }
    // By row, how many rows it stands for; empty if each stands for itself.
    std::span<const std::uint32_t> frequencies() const { return frequencies_; }
    std::size_t rows_counted() const { return rows_counted_; }  // the sum of the frequencies
    std::size_t bytes() const;

    // Every code must be below `levels` (1 … max_levels); throws std::invalid_argument otherwise.
    void append(std::span<const std::uint8_t> codes, std::uint32_t levels);
    void append(std::span<const std::uint16_t> codes, std::uint32_t levels);
    // Many columns at once from an array stored row by row: code of row i, column j is data[i * stride + j].
    void append_block(const std::uint8_t* data, std::size_t stride, std::span<const std::uint32_t> levels);
    // A binary column from the row numbers of its ones.
    void append_ones(std::span<const std::int64_t> ones);

    // A binary column from a bitset such as plane() returns.
    void append_plane(const std::uint64_t* plane);

    // A table of distinct rows without columns. `log_table` is that of the rows they stand for.
    static PackedTable of_distinct_rows(std::vector<std::uint32_t> frequencies,
                                        std::shared_ptr<const LogTable> log_table);
    // The distinct rows of this table, once the questions that would gain by them, of so many nanoseconds, add up to
    // what it takes to find them; null before that, and if they are too many.
    const PackedTable* distinct(double nanoseconds) const;
    // Appends a column of codes to a table of distinct rows; every code must be below `levels`.
    void append_codes(std::span<const std::uint16_t> codes, std::uint32_t levels);

    // A table of these columns.
    PackedTable select(std::span<const std::uint32_t> columns, std::size_t threads = 1) const;

    // The bitset of the rows in which `column` (with planes) has `level` >= 1.
    const std::uint64_t* plane(std::size_t column, std::uint32_t level) const {
        return planes_view_.data() + (columns_[column].index + (level - 1)) * words_;
    }
    // Codes of any column, written to `out` (rows() long).
    void unpack(std::size_t column, std::span<std::uint16_t> out) const;
    // The same of a column without planes that has been verified, from a row on.
    void unpack_codes(std::size_t column, std::size_t first, std::span<std::uint16_t> out) const;
    // Number of rows in which `column` (with planes) has `level` >= 1.
    std::uint32_t total(std::size_t column, std::uint32_t level) const {
        return totals_view_[columns_[column].index + (level - 1)];
    }
    // All planes, codes of one byte, codes of two, and totals, one column after the other.
    std::span<const std::uint64_t> planes() const { return planes_view_; }
    std::span<const std::uint8_t> narrow() const { return narrow_view_; }
    std::span<const std::uint16_t> wide() const { return wide_view_; }
    std::span<const std::uint32_t> totals() const { return totals_view_; }
    // The checksum of the planes or codes of a column.
    std::uint64_t checksum_of(std::size_t column) const;

    // Room for so many more planes, so that packing a wide table does not move it again and again.
    void reserve_planes(std::size_t planes) {
        planes_.reserve(planes_.size() + planes * words_);
        planes_view_ = planes_;
    }

    // Threads share the work the first time.
    const Panels& panels(std::size_t threads = 1) const;
    // Panels of some columns, which count as the columns there.
    Panels panels(std::span<const std::uint32_t> columns, std::size_t threads = 1) const;
    // Panels of these planes, in their order; null stands for one without ones. The columns must have been verified.
    Panels panels(std::span<const std::uint64_t* const> planes, std::vector<std::uint32_t> totals) const;
    const Ones& ones() const;
    // Whether lists of ones would take no more than twice the room of the bitsets.
    bool ones_are_few() const {
        return ones_ * sizeof(std::uint32_t) <= 2 * planes_view_.size() * sizeof(std::uint64_t);
    }
    // n ln n for the counts of this table.
    const LogTable& log_table() const { return *shared_log_table(); }
    std::shared_ptr<const LogTable> shared_log_table() const;
    // A counter that remembers what was counted of this table, for one thread until it is given back.
    std::unique_ptr<JointCounter> lend_joint_counter() const;
    void take_back(std::unique_ptr<JointCounter> counter) const;

  private:
    struct Column {
        std::uint32_t levels;
        std::uint32_t index;  // of its first plane, or among the columns of one byte or two bytes
    };
    void start_column(std::uint32_t levels, bool clear = true);
    void fill(Panels& made, std::vector<const std::uint64_t*> source, std::size_t threads) const;
    void fill_panel(Panels& made, std::size_t p, const std::vector<const std::uint64_t*>& source) const;
    void count_planes(std::size_t column);
    void view_own();
    void verify_stored(std::size_t column) const;
    bool codes_are_valid(std::size_t column) const;

    std::size_t rows_;
    std::size_t rows_counted_;
    std::size_t words_;
    std::vector<std::uint32_t> frequencies_;
    std::vector<Column> columns_;
    UnclearedVector<std::uint64_t> planes_;
    std::vector<std::uint32_t> totals_;  // by plane: number of ones
    std::size_t ones_ = 0;               // of all binary columns
    std::vector<std::uint8_t> narrow_;
    std::vector<std::uint16_t> wide_;
    // Where the columns lie: in the vectors above, or in memory of somebody else.
    std::span<const std::uint64_t> planes_view_;
    std::span<const std::uint32_t> totals_view_;
    std::span<const std::uint8_t> narrow_view_;
    std::span<const std::uint16_t> wide_view_;
    struct Borrowed;
    std::shared_ptr<Borrowed> borrowed_;

    // Derived layouts; guarded by the mutex, made at most once for the columns present.
    struct Derived {
        std::mutex mutex;
        std::unique_ptr<Panels> panels;
        std::unique_ptr<Ones> ones;
        std::shared_ptr<const LogTable> log_table;
        std::mutex distinct_mutex;
        std::unique_ptr<const PackedTable> distinct;
        double distinct_due = 0.0;  // nanoseconds of questions so far that would have gained by it
        bool distinct_tried = false;
        CounterStore joint_counters;
    };
    std::unique_ptr<Derived> derived_;
};

}  // namespace serape
