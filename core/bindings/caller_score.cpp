#include "caller_score.hpp"

#include "conversions.hpp"

namespace nb = nanobind;

namespace serape {
namespace {

nb::object columns_of(std::span<const std::uint32_t> columns) {
    return nb::cast(to_numpy(std::vector<std::uint32_t>(columns.begin(), columns.end())));
}

nb::list list_of(std::span<const std::uint32_t> columns) {
    nb::list made;
    for (const std::uint32_t x : columns) {
        made.append(x);
    }
    return made;
}

void copy_scores(const nb::handle& scores, std::size_t size, double* out) {
    const auto found = nb::cast<std::vector<double>>(scores);
    if (found.size() != size) {
        throw nb::value_error("there must be a score for every question");
    }
    std::copy(found.begin(), found.end(), out);
}

}  // namespace

void CallerScore::additions_of_many(std::span<const AdditionQuery> queries, std::size_t threads, CancellationToken&,
                                    double* out) const {
    const nb::gil_scoped_acquire gil;
    nb::list asked;
    for (const AdditionQuery& query : queries) {
        asked.append(nb::make_tuple(query.child, columns_of(query.candidates), list_of(query.parents)));
    }
    const nb::object found = score_.attr("additions_of_many")(asked, nb::arg("threads") = threads);
    if (nb::len(found) != queries.size()) {
        throw nb::value_error("there must be scores for every question");
    }
    for (std::size_t k = 0; k < queries.size(); ++k) {
        copy_scores(found[k], queries[k].candidates.size(), out);
        out += queries[k].candidates.size();
    }
}

void CallerScore::families(std::uint32_t child, std::span<const std::vector<std::uint32_t>> parent_sets,
                           std::size_t threads, CancellationToken&, double* out) const {
    const nb::gil_scoped_acquire gil;
    nb::list sets;
    for (const std::vector<std::uint32_t>& parents : parent_sets) {
        sets.append(list_of(parents));
    }
    copy_scores(score_.attr("families")(child, sets, nb::arg("threads") = threads), parent_sets.size(), out);
}

double CallerScore::family(std::uint32_t child, std::span<const std::uint32_t> parents, CancellationToken&) const {
    const nb::gil_scoped_acquire gil;
    return nb::cast<double>(score_.attr("family")(child, list_of(parents)));
}

double CallerScore::raising(const AdditionQuery& query, double least, std::size_t threads, CancellationToken& token,
                            std::vector<Addition>& out) const {
    const double own = family(query.child, query.parents, token);
    std::vector<double> scores(query.candidates.size());
    {
        const nb::gil_scoped_acquire gil;
        copy_scores(score_.attr("additions")(query.child, columns_of(query.candidates), list_of(query.parents),
                                             nb::arg("threads") = threads),
                    scores.size(), scores.data());
    }
    for (std::size_t k = 0; k < scores.size(); ++k) {
        if (scores[k] > own + least) {
            out.push_back({query.candidates[k], scores[k]});
        }
    }
    return own;
}

}  // namespace serape
