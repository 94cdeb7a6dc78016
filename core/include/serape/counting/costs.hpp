// Every number that decides how counts are made, in one place, each with what it trades off and where it comes from.
//
// "Zen 4" is one core of a Zen 4 at 3.6 GHz with AVX-512; figures there repeat within 5–20 %. "Off" figures compare
// with the same build in which only that choice is never made. Where it says "not measured", a number is a guess that
// has proved harmless. `python -m benchmarks kernels strategies` prints the time of every strategy over shapes and
// marks the plan's choice: 88 % of 64 choices are the fastest or within a tenth of it, and the worst takes 1.8 times as
// long (Zen 4).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace serape {

// Nanoseconds of the kernels, for one set of instructions.
struct KernelCosts {
    double line;   // AND and popcount of a line of 512 bits
    double row;    // positional popcount: one row of a panel
    double digit;  // positional popcount: one call, to turn the digits into counts
};

// Zen 4 without its newer instructions: a line 3.6 (avx2), 19 (plain; more than assumed here); a row with adding up 4.2
// and 6.6; a call with adding up 512 candidates 640 and 3,300.
inline constexpr KernelCosts plain_costs{6.0, 5.0, 500.0};
inline constexpr KernelCosts avx2_costs{2.5, 2.0, 200.0};
// Zen 4: a line costs 0.42 ns from the first-level cache, 0.55 and 0.66 from the next two; a row 1.0 ns from the
// second-level cache, 1.4 from the third, 2.55 from memory. A call with adding up 512 candidates takes 360.
inline constexpr KernelCosts avx512_costs{0.5, 1.0, 60.0};

struct Costs {
    KernelCosts kernel = avx512_costs;

    // --- one candidate at a time, nanoseconds ---
    // A call of the kernel for one mask and plane, beside its lines. Zen 4: 1.1.
    double mask = 1.1;
    // The largest cell is not counted but is what the others leave, if that is worth moving the others: so much at
    // least, and for each cell. Zen 4: 5,000 rows, 8 cells, 438 candidates: 4 % faster without it; long bitsets gain by
    // a cell less.
    double rest = 3.0;
    double rest_cell = 0.7;
    // Adding up one count. G²: a look-up in the table of n ln n. Zen 4: 0.24 to 4,096 entries, 0.5 to 20,000. Scores
    // have tables of their own for cells and for strata. X² divides: 6 by
    // a screen of 5,000 rows and 1,728 cells.
    double g2_term = 0.4;
    double score_term = 0.8;
    double x2_term = 5.0;
    // One row in a scatter: unpacking its code and an increment. Zen 4: 0.375 for byte codes; with the unpacking 0.6 to
    // 0.8 of 1,000,000 rows.
    double scatter_row = 1.0;
    // One entry of a scatter's table, beside adding it up: clearing it, and cache misses. Zen 4: 0.4 and more.
    double scatter_term = 0.8;
    // One row counted cell by cell, keeping only the levels met: whether a level is new is hard to foretell. Zen 4: 1.7
    // where cells are few and large, 4 to 9 where a cell has one row, 10 to 15 where it has a few rows of many levels.
    double sparse_row = 12.0;
    // Making the number of every row's cell, or the lists of rows by cell, shared by all candidates. Zen 4: 2.4 a row.
    double listing_row = 3.0;
    // One of a candidate's ones, and what such a count costs at least. Zen 4: 3 a one, whatever the conditioning set.
    double one = 3.0;
    double ones_start = 10.0;

    // --- limits, one candidate at a time ---
    // Cells for which bitsets are kept: 512 of 5,000 rows take a third of a megabyte, of 1,000,000 rows 64 megabytes.
    // Beyond it scatter is cheaper for most columns anyway: 5,000 rows, 512 cells, binary: 5.3 and 9.9 µs (Zen 4).
    std::size_t max_masks = 512;
    // What they may take: a bound of memory, not of time. It binds beyond 16 million rows.
    std::size_t max_mask_bytes = std::size_t{1} << 30;
    std::size_t masks_for(std::size_t rows) const { return std::min(max_masks, max_mask_bytes / (rows / 8 + 1)); }
    // Candidates for which bitsets of cells are made that were found row by row: one pass over the rows. Zen 4, 5,000
    // rows, target and given of 12 levels, off: 8 candidates take 1.8 times as long, 37 3.5 times.
    std::size_t min_candidates_for_masks = 8;
    // A table of counts is dense up to so many entries a row, or so many in all: a bound of memory, not of time:
    // a test needs no more than a small multiple of the rows.
    std::size_t dense_entries_per_row = 4;
    std::size_t dense_entries = 65'536;
    // Lists of ones are made once for the whole table, so they are for many candidates and cells. Zen 4, 2,000 rows, 1
    // % ones, 64 candidates, off: 2.2 times as long in 128 cells, 6 times in 1,700.
    std::size_t min_candidates_for_ones = 64;
    std::size_t min_cells_for_ones = 64;
    // Long bitsets are counted several candidates together, in stretches of so many words: eight of them fit the
    // first-level cache beside some masks. Masks are read in blocks that fit the second-level cache. Zen 4, off:
    // 300,000 rows × 37 take 1.3 times as long given nothing, 1.03 times given two. A million rows of three levels
    // gained nothing on a busy machine.
    std::size_t near_words = 512;
    std::size_t block_words = 4096;

    // --- distinct rows ---
    // Fewer rows than this are read as they are: finding the distinct ones would take as long as a few tests.
    std::size_t min_rows_for_distinct = std::size_t{1} << 15;
    // Nanoseconds a row of finding the distinct rows of some columns: reading a word of its key, and looking that up.
    // Zen 4: 5.5 for 3 to 9 columns of planes, 1.5 to 3 of codes, more where keys leave the caches.
    double distinct_word = 2.0;
    double distinct_row = 4.0;
    // The same of a whole table, with keeping them. Zen 4: 70 (Alarm, 1,000,000 rows, of which 242,297 are distinct).
    double distinct_whole_row = 60.0;
    // Distinct rows are kept if there are at least so many times as many rows.
    std::size_t rows_per_distinct = 2;
    // As many rows are expected for each before they are known.
    std::size_t expected_rows_per_distinct = 4;
    // Those of a whole table take at most so many times the bytes of its columns.
    std::size_t distinct_bytes = 2;
    // A line of bitsets that are too long for the caches: read with another, and made. Zen 4, 1,000,000 rows: 0.87 of
    // 64 cells, several candidates together.
    double tall_line = 1.0;
    double tall_line_made = 3.0;
    // A row in a division by codes, for each variable, and in its numbering of cells.
    double division_code = 0.8;
    double division_row = 4.0;

    // --- panels ---
    // Fewer candidates than this fill less than a quarter of a panel. 37 candidates are 6 times faster by planes, 441
    // as fast, 10,000 are 3 times faster by panels (Zen 4, 5,000 rows, two binary variables given).
    std::size_t min_candidates_for_panels = 128;
    // Candidates looked at to estimate what all would cost one by one. Not measured.
    std::size_t sampled_candidates = 32;
    // Beyond so many bytes of panels every line waits for memory. Zen 4: 1.4 − 2.55 ns a row, 32 MB of third-level
    // cache, some of it for others.
    double cached_bytes = 24e6;
    double memory_row = 1.5;
    // Listing the rows by cell, nanoseconds a row. Zen 4: 2.4 with what goes before it.
    double panel_listing_row = 2.0;
    // Rows of a panel that fit the second-level cache beside the next ones: longer panels are counted in blocks, so
    // that every line comes from memory once and in order. The counts of all cells are kept meanwhile, so cells must be
    // few. Off, 20,000 rows × 2,048 that fit the third-level cache take as long or a tenth less: it is for larger ones.
    std::size_t panel_block_rows = 4096;
    std::size_t max_rows_unblocked = 6000;
    std::size_t max_cells_blocked = 512;
    // Tables of f(a) + f(n − a) halve the look-ups of binary candidates; beyond so many rows they leave the cache. Zen
    // 4, 2,000 rows × 5,120, these and the next one off: 1.8 times as long given nothing, 2.4 times given two.
    std::size_t max_rows_of_pair_tables = std::size_t{1} << 17;
    // A stretch of a binary panel is added up whole if it is at most so many times the candidates wanted: it needs no
    // index.
    std::size_t max_stretch = 2;
    // Candidates that are asked about again and again get a table of their own, so that panels hold no other variable.
    // Zen 4, 2,500 of 60,000 columns, 2,000 rows, two given: 42 µs a screen, off 199, and making the table takes 600.
    std::size_t min_candidates_for_own_table = 2048;
    // Making it takes as long as so many screens of its candidates. Zen 4, 5,000 columns of 2 to 4 levels, 1,000 rows.
    double own_table = 8.0;
    // Of several groups, candidates of one group that are worth a screen of their own: as for panels.
    std::size_t min_candidates_for_own_screen = 128;

    // --- one x with each member of a pool ---
    // Members of the pool, and x: fewer leave a panel mostly empty, and the lists of rows are made for each x. Zen 4,
    // 1,000 rows, sets of one: 150 x with 149 members take 1.3 times as long off; 64 with 64 0.8 times, so the limit is
    // low where no x is separated.
    std::size_t min_pairs = 64;
    // Levels of x times cells: each is a call of the kernel. Not measured.
    std::size_t max_pair_lists = 64;
    // Panels of the pool and what it has in each cell: a bound of memory, as several searches may go on at once.
    std::size_t max_pair_bytes = std::size_t{64} << 20;

    // Members of a pool, the first, that are tried for all x together before anything is shared between members: they
    // separate most x. Zen 4: 0, 4 and 16 are within 2 % on Alarm (hiton-mb), Insurance (mmmb) and 1,000 rows × 2,000.
    std::uint32_t first_members = 4;
    // Counts kept for larger subsets and for the x to come, and tables of scores: bounds of memory, not of time.
    std::size_t max_kept_bytes = std::size_t{64} << 20;

    // A set of variables counted together with the target, nanoseconds. Zen 4: a row takes 0.32 to 0.4 and 0.04 for
    // each variable whose codes are combined; a cell is cleared, added up and looked at for degrees of freedom.
    double joint_row = 0.45;
    double joint_cell = 0.8;
    double joint_start = 200.0;
    // Looking up what is remembered of two sets: mostly cache misses.
    double joint_look_up = 250.0;
    // How often such a set is asked about, at a guess: for larger sets, by its other members, and in searches for other
    // targets; most often where members are eliminated one by one. And what making cells takes beside their bitsets.
    // Zen 4, 5,000 rows, off: Hailfinder, hiton-pc of all variables, takes 20 times as long, Pigs, 20 variables, 6
    // times. With 4 uses rather than 2, pcmb takes 0.7 times as long on Hailfinder and 3.6 times on Pigs.
    double joint_uses = 2.0;
    double joint_uses_one_by_one = 6.0;
    double cells_start = 300.0;
    // What is remembered of such sets, for a table and thread.
    std::size_t max_joint_bytes = std::size_t{32} << 20;

    // --- all pairs ---
    // Columns asked about together, so that a panel is read once for all of them; fewer share the work of threads
    // better. Zen 4, 1,000 rows × 20,000: 32 together take 1.09 times as
    // long as 512, 64 1.07 times, 2,048 1.02 times.
    std::size_t min_columns_together = 32;
    std::size_t max_columns_together = 512;
    std::size_t pieces_per_thread = 16;

    // The same for columns of several levels, whose rows are listed: 64 lists of 1,000 rows fit the second-level cache
    // beside a panel.
    std::size_t min_targets_together = 8;
    std::size_t max_targets_together = 64;

    // --- threads ---
    // A piece of work for one thread, nanoseconds, and what a candidate costs beside its counts: handing a piece out
    // should cost nothing beside it. Not measured.
    double piece = 50'000.0;
    // Threads for so much work, nanoseconds: waking one takes a few thousand.
    std::size_t threads_for(double work, std::size_t threads) const {
        return work >= piece * static_cast<double>(threads) ? threads : static_cast<std::size_t>(work / piece) + 1;
    }
    double candidate = 20.0;
    std::size_t max_candidates_per_piece = 4096;
    // Subset searches of fewer tests are done before another thread has started. Not measured.
    std::size_t min_tests_for_threads = 4096;
};

inline constexpr Costs default_costs{};

constexpr Costs costs_of(const KernelCosts& kernel) {
    Costs made;
    made.kernel = kernel;
    return made;
}

// The kernel of positional popcounts counts in 16 bits, eight rows at a time: a limit, not a cost.
inline constexpr std::size_t max_rows_in_16_bits = 65'528;

}  // namespace serape
