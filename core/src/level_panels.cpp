#include "level_panels.hpp"

#include <algorithm>
#include <tuple>

#include "serape/bits.hpp"

namespace serape::pairs {
namespace {

constexpr std::size_t together = 16;  // columns that the kernel looks at side by side

// The columns of so many levels whose planes fill a panel.
std::size_t width_of(std::uint32_t levels) {
    return line_bits / (levels - 1) / together * together;
}

// Of all levels of a column, those that do not occur included.
std::vector<std::uint32_t> sizes_of_levels(const PackedTable& table, std::size_t column) {
    std::vector<std::uint32_t> sizes{static_cast<std::uint32_t>(table.rows())};
    for (std::uint32_t level = 1; level < table.levels(column); ++level) {
        sizes.push_back(table.total(column, level));
        sizes[0] -= sizes.back();
    }
    return sizes;
}

}  // namespace

std::uint32_t occurring_levels(const PackedTable& table, std::size_t column) {
    const std::vector<std::uint32_t> sizes = sizes_of_levels(table, column);
    return static_cast<std::uint32_t>(sizes.size() - std::count(sizes.begin(), sizes.end(), 0u));
}

LevelPanels::LevelPanels(const PackedTable& table, std::span<const std::uint32_t> columns) : table_(table) {
    table.verify(columns);
    sort(columns);
    lay_out();
}

void LevelPanels::sort(std::span<const std::uint32_t> columns) {
    struct Sorted {
        std::uint32_t occurring, levels, column;
    };
    std::vector<Sorted> all;
    for (const std::uint32_t column : columns) {
        if (const std::uint32_t occurring = occurring_levels(table_, column); occurring > 1) {
            all.push_back({occurring, table_.levels(column), column});
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Sorted& a, const Sorted& b) {
        return std::tuple(a.occurring, a.levels) > std::tuple(b.occurring, b.levels);
    });
    std::size_t panels = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (k == 0 || all[k].occurring != kinds_.back().occurring || all[k].levels != kinds_.back().levels) {
            kinds_.push_back({all[k].levels, all[k].occurring, k, k, panels, width_of(all[k].occurring)});
        }
        Kind& kind = kinds_.back();
        panels += (k - kind.begin) % kind.width == 0;
        kind.end = k + 1;
        order_.push_back(all[k].column);
        kind_of_.push_back(static_cast<std::uint32_t>(kinds_.size() - 1));
    }
}

// The planes of a panel: the first levels of all its columns, then the second ones, and so on. Of the levels that occur
// one has no plane: level 0, or the first.
void LevelPanels::lay_out() {
    const auto rows = static_cast<float>(table_.rows());
    std::vector<const std::uint64_t*> planes;
    std::vector<std::uint32_t> totals;
    for (const Kind& kind : kinds_) {
        const std::size_t shares = kind.occurring * kind.width;
        for (std::size_t first = kind.begin; first < kind.end; first += kind.width) {
            const std::size_t bit = planes.size(), share = shares_.size();
            planes.resize(bit + line_bits, nullptr);
            totals.resize(bit + line_bits, 0);
            shares_begin_.push_back(share);
            shares_.resize(share + 2 * shares, 1.0F);
            for (std::size_t k = 0; k < std::min(kind.width, kind.end - first); ++k) {
                const std::uint32_t column = order_[first + k];
                std::size_t place = k;
                const auto set_share = [&](std::uint32_t size) {
                    shares_[share + place] = static_cast<float>(size) / rows;
                    shares_[share + shares + place] = rows / static_cast<float>(size);
                };
                auto rest = static_cast<std::uint32_t>(table_.rows());
                for (std::uint32_t level = kind.levels; --level > 0 && place + kind.width < shares;) {
                    if (const std::uint32_t size = table_.total(column, level); size != 0) {
                        planes[bit + place] = table_.plane(column, level);
                        totals[bit + place] = size;
                        set_share(size);
                        rest -= size;
                        place += kind.width;
                    }
                }
                set_share(rest);
            }
        }
    }
    panels_ = table_.panels(planes, std::move(totals));
}

void LevelPanels::list_rows(std::size_t at, Rows& out) const {
    const std::uint32_t column = order_[at];
    const std::uint32_t occurring = kinds_[kind_of_[at]].occurring;
    const std::vector<std::uint32_t> sizes = sizes_of_levels(table_, column);
    std::vector<std::uint32_t> levels;
    for (std::uint32_t level = 0; level < sizes.size(); ++level) {
        if (sizes[level] != 0) {
            levels.push_back(level);
        }
    }
    const auto smaller = [&](std::uint32_t a, std::uint32_t b) { return sizes[a] < sizes[b]; };
    const auto largest = std::max_element(levels.begin(), levels.end(), smaller);
    std::rotate(largest, largest + 1, levels.end());
    out.rows.clear();
    const std::size_t words = (rows() + 63) / 64;
    std::vector<std::uint64_t> zero;
    for (std::uint32_t k = 0; k < occurring; ++k) {
        out.sizes[k] = sizes[levels[k]];
        out.begin[k] = out.rows.size();
        if (k + 1 == occurring) {
            break;
        }
        const std::uint64_t* bits = zero.data();
        if (levels[k] > 0) {
            bits = table_.plane(column, levels[k]);
        } else {
            zero.assign(words, ~std::uint64_t{0});
            if (rows() % 64 != 0) {
                zero.back() = (std::uint64_t{1} << rows() % 64) - 1;
            }
            for (std::uint32_t level = 1; level < table_.levels(column); ++level) {
                const std::uint64_t* plane = table_.plane(column, level);
                for (std::size_t word = 0; word < words; ++word) {
                    zero[word] &= ~plane[word];
                }
            }
            bits = zero.data();
        }
        for_each_one(bits, 0, words, [&](std::uint32_t row) { out.rows.push_back(row); });
        out.rows.resize((out.rows.size() + 7) / 8 * 8, static_cast<std::uint32_t>(rows()));
    }
}

PanelLevels LevelPanels::levels_of(const Kind& kind, std::size_t p) const {
    const float* const shares = shares_.data() + shares_begin_[p];
    return {kind.occurring, kind.width, panels_.totals.data() + p * line_bits, shares,
            shares + kind.occurring * kind.width};
}

}  // namespace serape::pairs
