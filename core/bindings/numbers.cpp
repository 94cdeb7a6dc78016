// Tail probabilities, lists of columns, instruction sets.
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "cancellation.hpp"
#include "conversions.hpp"
#include "serape/all_pairs.hpp"
#include "serape/chi_square.hpp"
#include "serape/critical_values.hpp"
#include "serape/kernels.hpp"
#include "serape/ranking.hpp"
#include "serape/student_t.hpp"

namespace nb = nanobind;

namespace serape {

void bind_numbers(nb::module_& m) {
    m.def(
        "log_terms",
        [](std::size_t rows) {
            if (rows > most_rows_of_pairs) {
                throw nb::value_error("too many rows");
            }
            const LogTable log(rows);
            return std::make_tuple(to_numpy(std::vector<std::int64_t>(log.data(), log.data() + rows + 1)), log.unit());
        },
        nb::arg("rows"), "n ln n of all counts up to the rows, in fixed point, and what one is worth.");
    m.def(
        "critical_sums",
        [](std::size_t rows, const Array<double>& dof, double log_alpha) {
            if (rows > most_rows_of_pairs) {
                throw nb::value_error("too many rows");
            }
            const LogTable log(rows);
            const Statistic statistic(StatisticKind::g2, rows, log);
            std::vector<std::int64_t> sums;
            for (const double one : span(dof)) {
                sums.push_back(critical_sum(statistic, static_cast<std::uint32_t>(rows), one, log_alpha));
            }
            return to_numpy(std::move(sums));
        },
        nb::arg("rows"), nb::arg("dof"), nb::arg("log_alpha"),
        "By degrees of freedom, the smallest sum of G² in fixed point whose log p is at most `log_alpha`.");

    m.def(
        "chi_square_log_sf", [](double statistic, double dof) { return chi_square_log_sf(statistic, dof); },
        nb::arg("statistic"), nb::arg("dof"), "Natural logarithm of the chi-square tail probability.");
    m.def(
        "chi_square_log_sf",
        [](const Array<double>& statistic, const Array<double>& dof, std::size_t threads) {
            check_one_length(statistic, dof);
            auto out = empty_numpy<double>(statistic.size());
            CancellationToken token = cancellation_token(nb::none());
            run_interruptible(token, [&] {
                constexpr std::size_t grain = 4096;
                parallel_for(statistic.size(), grain, std::clamp<std::size_t>(threads, 1, most_threads), token,
                             [&](std::size_t first, std::size_t last, std::size_t) {
                                 for (std::size_t k = first; k < last; ++k) {
                                     out.data()[k] = chi_square_log_sf(statistic.data()[k], dof.data()[k]);
                                 }
                             });
            });
            return out;
        },
        nb::arg("statistic"), nb::arg("dof"), nb::arg("threads") = 1);
    m.def(
        "ranked_each",
        [](const Array<std::int64_t>& ends, const Array<std::uint32_t>& xs, const Array<double>& statistic,
           const Array<double>& dof, std::size_t threads) {
            check_one_length(xs, statistic, dof);
            const std::vector<std::span<const std::uint32_t>> lists = lists_of(xs, ends);
            auto out = empty_numpy<std::uint32_t>(xs.size());
            std::copy_n(xs.data(), xs.size(), out.data());
            CancellationToken token = cancellation_token(nb::none());
            run_interruptible(token, [&] {
                parallel_for(lists.size(), 16, std::clamp<std::size_t>(threads, 1, most_threads), token,
                             [&](std::size_t k, std::size_t last, std::size_t) {
                                 for (; k < last; ++k) {
                                     const auto begin = static_cast<std::size_t>(lists[k].data() - xs.data());
                                     const auto ranking =
                                         ranked_columns(lists[k], span(statistic).subspan(begin, lists[k].size()),
                                                        span(dof).subspan(begin, lists[k].size()));
                                     std::copy(ranking.begin(), ranking.end(), out.data() + begin);
                                 }
                             });
            });
            return out;
        },
        nb::arg("ends"), nb::arg("xs"), nb::arg("statistic"), nb::arg("dof"), nb::arg("threads") = 1,
        "Lists of columns, one after another, each by the answers about them from the strongest to the weakest; "
        "ties by column.");
    m.def("student_t_log_p", &student_t_log_p, nb::arg("statistic"), nb::arg("dof"),
          "Natural logarithm of the two-sided tail probability of Student's t.");
    m.def(
        "lowest",
        [](const Array<double>& log_p, const Array<double>& statistic) {
            check_one_length(log_p, statistic);
            return lowest(span(log_p), span(statistic));
        },
        nb::arg("log_p"), nb::arg("statistic"),
        "Places of the lowest log p, and of several those of the largest statistic.");
    m.def(
        "bits_of",
        [](const Array<std::uint32_t>& columns) {
            const std::string bits = bits_of(span(columns));
            return nb::bytes(bits.data(), bits.size());
        },
        nb::arg("columns"), "A bit for each column up to the last, set where it is named, the lowest first.");
    m.def(
        "ascending",
        [](const Array<std::uint32_t>& columns) { return kernels().ascending(columns.data(), columns.size()); },
        nb::arg("columns"), "Whether each column is larger than the one before it.");
    m.def(
        "gaps", [](const Array<std::uint32_t>& columns) { return to_numpy(gaps(span(columns))); }, nb::arg("columns"),
        "The columns up to the last that are not named; the named ones must be ascending.");
    m.def(
        "without",
        [](const Array<std::uint32_t>& columns, const std::vector<std::uint32_t>& excluded, bool ascending) {
            return to_numpy(without(span(columns), excluded, ascending));
        },
        nb::arg("columns"), nb::arg("excluded"), nb::arg("ascending") = false,
        "The columns that are not excluded, in their order; quicker if that is known to be ascending.");
    m.def(
        "instruction_sets",
        [] {
            std::vector<std::string> names;
            for (const Kernels* set : available_kernels()) {
                names.emplace_back(set->name);
            }
            return names;
        },
        "Sets of kernels this processor can run, the plainest first.");
    m.def("instruction_set", [] { return std::string(kernels().name); }, "The set of kernels in use.");
    m.def("use_instruction_set", [](const std::string& name) { return select_kernels(name); }, nb::arg("name"));
}

}  // namespace serape
