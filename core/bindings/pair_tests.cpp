// Tests of many pairs of variables in arrays.
#include "serape/pair_tests.hpp"

#include "bindings.hpp"
#include "cancellation.hpp"
#include "conversions.hpp"

namespace nb = nanobind;

namespace serape {
namespace {

constexpr std::size_t most_variables = std::size_t{1} << 28;

template <class T>
using Kept = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<T> kept(const Kept<T>& array) {
    return {array.data(), array.size()};
}

}  // namespace

void bind_pair_tests(nb::module_& m) {
    m.def(
        "keep_weakest",
        [](const Array<std::int64_t>& pair, const Array<std::int64_t>& index, const Array<double>& log_p,
           const Array<double>& statistic, std::int64_t batch, std::int64_t added, const Kept<double>& kept_log_p,
           const Kept<double>& kept_statistic, const Kept<std::int64_t>& kept_batch,
           const Kept<std::int64_t>& kept_index, const Kept<std::int64_t>& since) {
            check_one_length(pair, index, log_p, statistic);
            check_one_length(kept_log_p, kept_statistic, kept_batch, kept_index, since);
            const auto inside = [&](std::int64_t at) { return at >= 0 && static_cast<std::size_t>(at) < since.size(); };
            if (!std::all_of(pair.data(), pair.data() + pair.size(), inside)) {
                throw nb::index_error("a pair that is not there");
            }
            keep_weakest({span(pair), span(index), span(log_p), span(statistic)}, batch, added,
                         {kept(kept_log_p), kept(kept_statistic), kept(kept_batch), kept(kept_index), kept(since)});
        },
        nb::arg("pair"), nb::arg("index"), nb::arg("log_p"), nb::arg("statistic"), nb::arg("batch"), nb::arg("added"),
        nb::arg("kept_log_p"), nb::arg("kept_statistic"), nb::arg("kept_batch"), nb::arg("kept_index"),
        nb::arg("since"), "Adds tests of pairs; by pair, the weakest stays, and of equal ones the first.");
    m.def(
        "by_strength",
        [](const Array<std::uint32_t>& x, const Array<std::uint32_t>& y, const Array<double>& log_p,
           const Array<double>& statistic, std::size_t threads) {
            check_one_length(x, y, log_p, statistic);
            check_numbers(span(log_p));
            check_numbers(span(statistic));
            std::size_t variables = 0;
            for (std::size_t k = 0; k < x.size(); ++k) {
                variables =
                    std::max<std::size_t>({variables, x.data()[k] + std::size_t{1}, y.data()[k] + std::size_t{1}});
            }
            if (variables > most_variables) {
                throw nb::value_error("too many variables");
            }
            Sides sides;
            CancellationToken token = cancellation_token(nb::none());
            run_interruptible(token, [&] {
                sides = by_strength(span(x), span(y), span(log_p), span(statistic), variables,
                                    std::clamp<std::size_t>(threads, 1, most_threads), token);
            });
            return std::make_tuple(to_numpy(std::move(sides.from)), to_numpy(std::move(sides.to)),
                                   to_numpy(std::move(sides.edge)));
        },
        nb::arg("x"), nb::arg("y"), nb::arg("log_p"), nb::arg("statistic"), nb::arg("threads") = 1,
        "Every edge from both sides: from, to and the index of the edge, by variable, the strongest first.");
    m.def(
        "statistic_each",
        [](const ContingencyTest& test, const Array<std::uint32_t>& x, const Array<std::uint32_t>& y,
           const Array<std::int64_t>& ends, const Array<std::uint32_t>& members, std::size_t threads,
           const nb::object& poll) {
            check_one_length(x, y, ends);
            std::int64_t begin = 0;
            for (const std::int64_t end : span(ends)) {
                if (end < begin || static_cast<std::size_t>(end) > members.size()) {
                    throw nb::value_error("ends must ascend within the arrays");
                }
                begin = end;
            }
            for (const auto* columns : {&x, &y, &members}) {
                check(test.table(), span(*columns));
            }
            auto out = empty_numpy<double>(x.size());
            CancellationToken token = cancellation_token(poll);
            run_interruptible(token, [&] {
                statistic_each(test, {span(x), span(y), span(ends), span(members)},
                               std::clamp<std::size_t>(threads, 1, most_threads), token, {out.data(), x.size()});
            });
            return out;
        },
        nb::arg("test"), nb::arg("x"), nb::arg("y"), nb::arg("ends"), nb::arg("members"), nb::arg("threads") = 1,
        nb::arg("poll") = nb::none(),
        "The statistic of each test of x and y given a set; the sets are one after another. Not a number where a test "
        "carries no information.");
}

}  // namespace serape
