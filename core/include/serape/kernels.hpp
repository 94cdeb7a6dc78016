// The few loops in which the time goes, compiled for several instruction sets; the best is picked at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "serape/aligned.hpp"
#include "serape/counting/costs.hpp"

namespace serape {

// Some of the 512 bits of a line, and two limits for their counts.
struct Part {
    Line bits;
    std::uint32_t below, from;
    // Found: which counts are below the one limit or not below the other, and how many; the smallest below, the largest
    // of the others.
    Line hits;
    std::uint32_t outside, smallest, largest;
};

// The columns of a panel that all have so many levels, level by level: bit l · width + k is level l of column k. The
// last level has no bits.
struct PanelLevels {
    std::uint32_t levels;
    std::size_t width;            // a multiple of 16
    const std::uint32_t* totals;  // by bit
    const float* shares;          // by level and column: its part of the rows, aligned to lines
    const float* inverse_shares;
};
// The counts of such a panel in the levels of a target, all but the last.
struct LevelCounts {
    std::uint32_t levels;         // of the target
    const std::uint32_t* sizes;   // of its levels
    const std::uint16_t* counts;  // by level and bit, 512 a level, aligned to lines
};

struct Kernels {
    std::string_view name;

    // out[c] = popcount(plane & masks[c]); words is a multiple of 8, everything aligned to lines.
    void (*and_popcounts)(const std::uint64_t* plane, const std::uint64_t* const* masks, std::size_t count,
                          std::size_t words, std::uint32_t* out);

    // Divides a mask by the levels of a column: out[0] gets what no plane has, out[l] = mask & plane[l−1].
    // out[0] may be the mask itself. counts[l] = popcount(out[l]).
    void (*split_mask)(const std::uint64_t* mask, std::uint32_t levels, const std::uint64_t* planes, std::size_t words,
                       std::uint64_t* out, std::uint32_t* counts);

    // The codes of a column of planes, each of so many words, one after the other.
    void (*unpack_planes)(const std::uint64_t* planes, std::uint32_t levels, std::size_t words, std::size_t rows,
                          std::uint16_t* codes);

    // Whether each number is larger than the one before it.
    bool (*ascending)(const std::uint32_t* numbers, std::size_t count);

    // Positional popcount: out[b] = number of the listed lines whose bit b is set, for the 512 bits b. `count` is a
    // multiple of 8 and at most 65,528. Lines of `ahead` (the next panel) are fetched meanwhile; if null, lines to
    // come.
    void (*count_bits)(const Line* lines, const std::uint32_t* rows, std::size_t count, const Line* ahead,
                       std::uint16_t* out);

    // Positional popcounts as above, judged without being written down: see Part.
    void (*judge_bits)(const Line* lines, const std::uint32_t* rows, std::size_t count, Part* parts,
                       std::size_t part_count);

    // Which columns of a panel have a bound of G² (see dependent_pairs.hpp) that is not below a limit: bit k of out[k /
    // 16].
    void (*bound_g2)(const PanelLevels& panel, const LevelCounts& target, float limit, std::uint16_t* out);

    // Combined codes: out[i] = before[i] · levels + codes[i], below 65,536.
    void (*combine_codes)(const std::uint16_t* before, const std::uint8_t* codes, std::uint32_t levels,
                          std::size_t rows, std::uint16_t* out);

    // The joint table of combined codes and two columns: counts[(before · x_levels + x) · y_levels + y], of `cells`
    // entries. At most 65,535 rows and 65,536 cells.
    void (*count_codes)(const std::uint16_t* before, const std::uint8_t* x, std::uint32_t x_levels,
                        const std::uint8_t* y, std::uint32_t y_levels, std::size_t rows, std::size_t cells,
                        std::uint16_t* counts);

    // Σ (levels of x that occur − 1)(levels of y that occur − 1) over strata: present[(o · levels + x) · inner + i] has
    // a bit for each level of y that occurs with x in stratum (o, i).
    std::uint64_t (*adjusted_dof)(const std::uint32_t* present, std::size_t outer, std::uint32_t levels,
                                  std::size_t inner);

    // out[i] = max(0, unit · sums[i]).
    void (*to_statistics)(const std::int64_t* sums, std::size_t count, double unit, double* out);

    // out[i] = Σ column · others[i]; `rows` is a multiple of 16, everything aligned to lines. The same bits everywhere.
    void (*dots)(const double* column, const double* const* others, std::size_t count, std::size_t rows, double* out);

    // The same of two columns at once, with the same bits.
    void (*dots_of_two)(const double* one, const double* two, const double* const* others, std::size_t count,
                        std::size_t rows, double* out_one, double* out_two);

    // column −= Σ factors[i] · others[i], in this order; as above.
    void (*subtract)(double* column, const double* const* others, const double* factors, std::size_t count,
                     std::size_t rows);

    // With v[k] = rows[k] − Σ factor[k, j] · v[j] over j < k, for k up to `count`: out = v[count]² − least · (1 − Σ
    // v[k]² · inverse[k] over k < count), column by column. `factor` is a lower half without its diagonal, row by row.
    // There are at least 32 columns; `scratch` has 32 · count values, aligned to lines.
    void (*explained)(const double* const* rows, const double* factor, const double* inverse, std::size_t count,
                      double least, std::size_t columns, double* scratch, double* out);

    // out[i · out_stride + j] += Σ ones[i] · others[j], the sums over the rows of two panels (see panel.hpp), whose
    // columns begin `stride` values apart; `rows` is a multiple of 8. The same bits everywhere.
    void (*panel_products)(const double* ones, std::size_t one_count, const double* others, std::size_t other_count,
                           std::size_t rows, std::size_t stride, double* out, std::size_t out_stride);

    // columns[j] −= Σ factors[i · factor_stride + j] · others[i]; `rows` is a multiple of 16. The same bits everywhere.
    void (*panel_subtract)(double* columns, std::size_t count, const double* others, std::size_t other_count,
                           const double* factors, std::size_t factor_stride, std::size_t rows, std::size_t stride);

    // sums[k · sum_stride + cell[r]] += columns[k][r] · root[r], row after row.
    void (*panel_cell_sums)(const std::uint32_t* cell, const double* root, const double* columns, std::size_t count,
                            std::size_t rows, std::size_t stride, double* sums, std::size_t sum_stride);

    // The same where rows of one cell are side by side: those of each are added up first.
    void (*panel_run_sums)(const std::uint32_t* cell, const double* root, const double* columns, std::size_t count,
                           std::size_t rows, std::size_t stride, double* sums, std::size_t sum_stride);

    // columns[k][r] −= means[k · mean_stride + cell[r]] · root[r], cells being from `first` up to `end`; `rows` is a
    // multiple of 8, `mean_stride` of 16. If there are at most 16 of them, 16 means are read from the first on.
    void (*panel_subtract_means)(double* columns, std::size_t count, const std::uint32_t* cell, std::size_t first,
                                 std::size_t end, const double* means, std::size_t mean_stride, const double* root,
                                 std::size_t rows, std::size_t stride);

    // out += Σ columns[k]², row by row; `rows` is a multiple of 8.
    void (*panel_add_squares)(const double* columns, std::size_t count, std::size_t rows, std::size_t stride,
                              double* out);

    // out = ((first − shift) · last − back · before) · scale, row by row; `rows` is a multiple of 8.
    void (*next_polynomial)(const double* first, const double* last, const double* before, double shift, double back,
                            double scale, std::size_t rows, double* out);

    // out = one · other, row by row; as above.
    void (*multiply)(const double* one, const double* other, std::size_t rows, double* out);

    // For choosing how counts are made.
    Costs costs;
};

// The best set of kernels this processor can run.
const Kernels& kernels();
// All sets that this processor can run, the plainest first.
std::span<const Kernels* const> available_kernels();
// Use the named set from now on (for tests and benchmarks); false if this processor cannot run it.
bool select_kernels(std::string_view name);

}  // namespace serape
