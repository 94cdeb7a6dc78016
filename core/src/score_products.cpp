#include "serape/score_products.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unordered_map>

#include "panel.hpp"

namespace serape {
namespace {

constexpr std::size_t tile_scores = 256;              // of either side: their panels and sums stay in the cache
constexpr std::size_t range_rows = 128 * panel_rows;  // whose sums are added up before they join the others
constexpr std::size_t strip = 16;                     // scores of either side whose panels stay in the nearest cache
constexpr std::size_t few = 4;                        // of a strip, whose products with itself are halved

// Some scores, and how they are made: columns one after another, each with its scores.
struct ScoreGroup {
    struct Member {
        const ScoreSource* source;
        std::size_t highest = 1;                // degree
        std::vector<std::size_t> of_degree;     // by degree, its place in the panel; none is `nowhere`
        std::size_t common;                     // its place
        std::vector<std::size_t> of_indicator;  // by indicator, its place
        std::vector<double> with, without;      // by indicator, the score of a row with the level and of others
    };
    std::size_t begin, end;  // in the list of scores
    std::vector<Member> members;

    std::size_t size() const { return end - begin; }
};
constexpr std::size_t nowhere = ~std::size_t{0};

ScoreGroup grouped(std::span<const ScoreSource> sources, std::span<const ColumnScore> scores, std::size_t begin,
                   std::size_t end) {
    ScoreGroup made{begin, end, {}};
    std::unordered_map<std::uint32_t, std::size_t> member_of;
    for (std::size_t k = begin; k < end; ++k) {
        const ColumnScore& score = scores[k];
        const auto [at, is_new] = member_of.try_emplace(score.column, made.members.size());
        if (is_new) {
            const ScoreSource& source = sources[score.column];
            const std::size_t levels = source.levels.size();
            made.members.push_back({&source,
                                    1,
                                    std::vector(source.polynomials.size() + 1, nowhere),
                                    nowhere,
                                    std::vector(levels, nowhere),
                                    {},
                                    {}});
            for (const double share : source.shares) {
                const double scale = 1.0 / std::sqrt(share * (1.0 - share));
                made.members.back().with.push_back((1.0 - share) * scale);
                made.members.back().without.push_back(-share * scale);
            }
        }
        ScoreGroup::Member& member = made.members[at->second];
        switch (score.kind) {
            case ColumnScore::Kind::score: member.of_degree.at(1) = k - begin; break;
            case ColumnScore::Kind::power:
                member.of_degree.at(score.value) = k - begin;
                member.highest = std::max<std::size_t>(member.highest, score.value);
                break;
            case ColumnScore::Kind::common: member.common = k - begin; break;
            case ColumnScore::Kind::level: {
                member.of_indicator.at(member.source->indicator[score.value]) = k - begin;
                break;
            }
        }
    }
    return made;
}

bool has(const ScoreSource& source, const ColumnScore& score) {
    switch (score.kind) {
        case ColumnScore::Kind::score: return source.scores != nullptr;
        case ColumnScore::Kind::common: return source.common != nullptr;
        case ColumnScore::Kind::power: return score.value >= 2 && score.value <= source.polynomials.size();
        case ColumnScore::Kind::level:
            return score.value < source.indicator.size() && source.indicator[score.value] < source.levels.size();
    }
    return false;
}

// The scores of a group in the block of rows that begins here.
void make(const ScoredRows& rows, const ScoreGroup& group, std::size_t begin, Panel& powers, Panel& out) {
    const double* const root = rows.root_weights + begin;
    const double* const inverse = rows.inverse_root_weights + begin;
    out.resize(group.size());
    for (const ScoreGroup::Member& member : group.members) {
        const ScoreSource& source = *member.source;
        if (source.scores != nullptr) {
            const auto scaled = [&](const double* scores, std::size_t place) {
                for (std::size_t r = 0; r < panel_rows; ++r) {
                    out[place][r] = scores[begin + r] * rows.scale;
                }
            };
            if (member.of_degree[1] != nowhere) {
                scaled(source.scores, member.of_degree[1]);
            }
            if (member.common != nowhere) {
                scaled(source.common, member.common);
            }
            if (member.highest == 1) {
                continue;
            }
            powers.resize(member.highest);
            for (std::size_t r = 0; r < panel_rows; ++r) {
                powers[0][r] = source.scores[begin + r] * rows.scale * inverse[r];
            }
            for (std::size_t degree = 2; degree <= member.highest; ++degree) {
                const ResidualTest::Polynomial& made = source.polynomials[degree - 1];
                const double* const before = degree > 2 ? powers[degree - 3] : constant_panel.data();
                kernels().next_polynomial(powers[0], powers[degree - 2], before, made.shift, made.back, made.scale,
                                          panel_rows, powers[degree - 1]);
                if (member.of_degree[degree] != nowhere) {
                    kernels().multiply(powers[degree - 1], root, panel_rows, out[member.of_degree[degree]]);
                }
            }
            continue;
        }
        for (std::size_t k = 0; k < member.of_indicator.size(); ++k) {
            if (member.of_indicator[k] != nowhere) {
                double* const column = out[member.of_indicator[k]];
                for (std::size_t r = 0; r < panel_rows; ++r) {
                    column[r] = member.without[k] * root[r];
                }
            }
        }
        for (std::size_t r = 0; r < panel_rows; ++r) {
            const std::size_t k = source.indicator[source.codes[begin + r]];
            if (k < member.of_indicator.size() && member.of_indicator[k] != nowhere) {
                out[member.of_indicator[k]][r] = member.with[k] * root[r];
            }
        }
    }
}

// Two groups whose scores are multiplied; of one group with itself the upper triangle, and a little of the lower one.
struct Tile {
    const ScoreGroup* one;
    const ScoreGroup* other;

    std::size_t size() const { return one->size() * other->size(); }
};

struct Scratch {
    Panel powers, one, other;
};

void add_range(const ScoredRows& rows, const Tile& tile, std::size_t begin, std::size_t end, CancellationToken& token,
               Scratch& scratch, double* out) {
    const std::size_t ones = tile.one->size(), others = tile.other->size();
    const bool is_square = tile.one == tile.other;
    for (; begin < end; begin += panel_rows) {
        token.check();
        make(rows, *tile.one, begin, scratch.powers, scratch.one);
        if (!is_square) {
            make(rows, *tile.other, begin, scratch.powers, scratch.other);
        }
        const Panel& other = is_square ? scratch.one : scratch.other;
        const auto multiply = [&](std::size_t i, std::size_t count, std::size_t j, std::size_t end_j) {
            add_products(scratch.one[i], count, other[j], end_j - j, out + i * others + j, others);
        };
        for (std::size_t i = 0; i < ones; i += strip) {
            const std::size_t end_i = std::min(i + strip, ones);
            for (std::size_t k = i; k < end_i && is_square; k += few) {
                multiply(k, std::min(few, end_i - k), k, end_i);
            }
            for (std::size_t j = is_square ? end_i : 0; j < others; j += strip) {
                multiply(i, end_i - i, j, std::min(j + strip, others));
            }
        }
    }
}

// Copies the upper triangle of a matrix to the lower one, in squares that stay in the cache.
void mirror(double* matrix, std::size_t size, std::size_t stride) {
    constexpr std::size_t side = 32;
    for (std::size_t first = 0; first < size; first += side) {
        for (std::size_t begin = 0; begin <= first; begin += side) {
            for (std::size_t i = first; i < std::min(first + side, size); ++i) {
                for (std::size_t j = begin; j < std::min(begin + side, i); ++j) {
                    matrix[i * stride + j] = matrix[j * stride + i];
                }
            }
        }
    }
}

}  // namespace

std::vector<ColumnScore> scores_of(const ResidualTest& test, std::uint32_t column, std::size_t degree) {
    std::vector<ColumnScore> found;
    const ResidualTest::Scores& scores = test.scores(column);
    if (!test.number(column)) {
        for (const std::uint32_t level : scores.levels) {
            found.push_back({ColumnScore::Kind::level, column, level});
        }
        return found;
    }
    if (scores.values < 2 || !scores.testable) {
        return found;
    }
    found.push_back({ColumnScore::Kind::score, column, 1});
    if (scores.width > 1) {
        found.push_back({ColumnScore::Kind::common, column, 1});
    }
    // A number of few values has one score less than values, so that none is a sum of the others.
    const std::size_t most = std::min(degree, scores.values - scores.width);
    const std::size_t highest = most > 1 ? test.polynomials(column, most).size() : 1;
    for (std::uint32_t power = 2; power <= highest; ++power) {
        found.push_back({ColumnScore::Kind::power, column, power});
    }
    return found;
}

std::vector<ColumnScore> scores_of(const ResidualTest& test, std::span<const std::uint32_t> columns, std::size_t degree,
                                   std::size_t threads, CancellationToken& token) {
    std::vector<std::vector<ColumnScore>> by_column(columns.size());
    parallel_for(columns.size(), 1, threads, token,
                 [&](std::size_t k, std::size_t, std::size_t) { by_column[k] = scores_of(test, columns[k], degree); });
    std::vector<ColumnScore> found;
    for (const auto& own : by_column) {
        found.insert(found.end(), own.begin(), own.end());
    }
    return found;
}

ScoreSource score_source(const ResidualTest& test, std::uint32_t column, std::size_t degree) {
    const ResidualTest::Scores& scores = test.scores(column);
    ScoreSource made;
    if (scores.columns.empty() && scores.codes.empty()) {
        return made;  // it takes no part
    }
    if (test.number(column)) {
        made.scores = scores.columns.data();
        made.common = scores.width > 1 ? scores.columns.data() + test.stride() : nullptr;
        made.polynomials = test.polynomials(column, degree);
        return made;
    }
    made.codes = scores.codes.data();
    made.levels = scores.levels;
    made.indicator = scores.indicator;
    std::vector<double> rows(scores.levels.size() + 1, 0.0);
    for (std::size_t r = 0; r < test.rows(); ++r) {
        rows[scores.indicator[scores.codes[r]]] += test.root_weight(r) * test.root_weight(r);
    }
    for (std::size_t k = 0; k < scores.levels.size(); ++k) {
        made.shares.push_back(rows[k] / test.effective_rows());
    }
    return made;
}

void score_products(const ScoredRows& rows, std::span<const ScoreSource> sources, std::span<const ColumnScore> scores,
                    std::size_t known, std::size_t threads, CancellationToken& token, double* out) {
    if (std::any_of(scores.begin(), scores.end(), [&](const auto& score) {
            return score.column >= sources.size() || !has(sources[score.column], score);
        })) {
        throw std::invalid_argument("scores that their columns have");
    }
    const std::size_t fresh = scores.size() - known;
    std::vector<ScoreGroup> groups;
    const auto divide = [&](std::size_t first, std::size_t last) {
        const std::size_t count = (last - first + tile_scores - 1) / tile_scores;
        for (std::size_t k = 0; k < count; ++k) {
            groups.push_back(
                grouped(sources, scores, first + (last - first) * k / count, first + (last - first) * (k + 1) / count));
        }
        return count;
    };
    const std::size_t known_groups = divide(0, known);
    divide(known, scores.size());
    std::vector<Tile> tiles;
    for (std::size_t b = known_groups; b < groups.size(); ++b) {
        for (std::size_t a = 0; a <= b; ++a) {
            tiles.push_back({&groups[a], &groups[b]});
        }
    }
    std::fill_n(out, scores.size() * fresh, 0.0);
    // Sums of ranges are made side by side, and join the others in their order.
    const std::size_t ranges = (rows.stride + range_rows - 1) / range_rows, tasks = tiles.size() * ranges;
    const std::size_t together = threads > 1 ? std::min(tasks, 4 * threads) : 1;
    std::vector<UnclearedVector<double>> sums(together);
    std::vector<Scratch> scratch(std::max<std::size_t>(threads, 1));
    for (std::size_t first = 0; first < tasks; first += together) {
        const std::size_t some = std::min(together, tasks - first);
        parallel_for(some, 1, threads, token, [&](std::size_t k, std::size_t, std::size_t worker) {
            const Tile& tile = tiles[(first + k) / ranges];
            const std::size_t range = (first + k) % ranges;
            sums[k].assign(tile.size(), 0.0);
            add_range(rows, tile, range * range_rows, std::min(rows.stride, (range + 1) * range_rows), token,
                      scratch[worker], sums[k].data());
        });
        for (std::size_t k = 0; k < some; ++k) {
            const Tile& tile = tiles[(first + k) / ranges];
            const std::size_t others = tile.other->size();
            for (std::size_t i = 0; i < tile.one->size(); ++i) {
                double* const row = out + (tile.one->begin + i) * fresh + tile.other->begin - known;
                for (std::size_t j = tile.one == tile.other ? i : 0; j < others; ++j) {
                    row[j] += sums[k][i * others + j];
                }
            }
        }
    }
    mirror(out + known * fresh, fresh, fresh);
}

void score_products(const ResidualTest& test, std::span<const ColumnScore> scores, std::size_t known,
                    std::size_t threads, CancellationToken& token, double* out) {
    std::vector<ScoreSource> sources;
    std::vector<ColumnScore> of_sources(scores.begin(), scores.end());
    std::unordered_map<std::uint32_t, std::uint32_t> place;
    std::vector<std::size_t> degree;
    for (ColumnScore& score : of_sources) {
        if (score.column >= test.columns()) {
            throw std::invalid_argument("scores of columns");
        }
        score.column = place.try_emplace(score.column, static_cast<std::uint32_t>(place.size())).first->second;
        degree.resize(place.size(), 1);
        if (score.kind == ColumnScore::Kind::power) {
            degree[score.column] = std::max<std::size_t>(degree[score.column], score.value);
        }
    }
    sources.resize(place.size());
    for (const auto& [column, at] : place) {
        sources[at] = score_source(test, column, degree[at]);
    }
    const ScoredRows rows{test.stride(), test.root_weights(), test.inverse_root_weights(),
                          std::sqrt(test.effective_rows())};
    score_products(rows, sources, of_sources, known, threads, token, out);
}

ScoredPart::ScoredPart(std::size_t rows)
    : rows_(rows), stride_((rows + panel_rows - 1) / panel_rows * panel_rows), ones_(stride_, 0.0) {
    std::fill_n(ones_.begin(), rows, 1.0);
}

void ScoredPart::add_number(std::span<const double> scores, std::span<const double> common,
                            std::vector<ResidualTest::Polynomial> polynomials) {
    Column& made = columns_.emplace_back();
    made.polynomials = std::move(polynomials);
    made.scores.assign(scores.begin(), scores.end());
    made.scores.resize(stride_, 0.0);
    if (!common.empty()) {
        made.common.assign(common.begin(), common.end());
        made.common.resize(stride_, 0.0);
    }
}

void ScoredPart::add_category(std::span<const std::uint16_t> codes, std::size_t all_levels,
                              std::vector<std::uint32_t> levels, std::vector<double> shares) {
    Column& made = columns_.emplace_back();
    made.codes.assign(codes.begin(), codes.end());
    made.codes.resize(stride_, 0);
    made.indicator.assign(all_levels, static_cast<std::uint16_t>(levels.size()));
    for (std::size_t k = 0; k < levels.size(); ++k) {
        made.indicator.at(levels[k]) = static_cast<std::uint16_t>(k);
    }
    made.levels = std::move(levels);
    made.shares = std::move(shares);
}

void ScoredPart::products(std::span<const ColumnScore> scores, std::size_t known, std::size_t threads,
                          CancellationToken& token, double* out) const {
    std::vector<ScoreSource> sources;
    for (const Column& column : columns_) {
        ScoreSource& source = sources.emplace_back();
        if (column.codes.empty()) {
            source.scores = column.scores.data();
            source.common = column.common.empty() ? nullptr : column.common.data();
            source.polynomials = column.polynomials;
        } else {
            source.codes = column.codes.data();
            source.levels = column.levels;
            source.indicator = column.indicator;
            source.shares = column.shares;
        }
    }
    const ScoredRows rows{stride_, ones_.data(), ones_.data(), 1.0};
    score_products(rows, sources, scores, known, threads, token, out);
}

}  // namespace serape
