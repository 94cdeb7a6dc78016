// The order of variables that BOSS improves.
#include "bindings.hpp"
#include "cancellation.hpp"
#include "conversions.hpp"
#include "serape/order_search.hpp"

namespace nb = nanobind;

namespace serape {
namespace {

using List = std::vector<std::uint32_t>;
using Lists = std::vector<List>;

void check_all(std::size_t variables, std::span<const std::uint32_t> named) {
    for (const std::uint32_t x : named) {
        if (x >= variables) {
            throw nb::index_error("there is no such variable");
        }
    }
}

// Lists of other variables, one for each: as they are given, or empty.
Lists checked(Lists lists, std::size_t variables) {
    if (lists.empty()) {
        lists.resize(variables);
    }
    if (lists.size() != variables) {
        throw nb::value_error("there must be a list for every variable");
    }
    for (std::uint32_t k = 0; k < variables; ++k) {
        check_all(variables, lists[k]);
        check_distinct(lists[k]);
        if (std::find(lists[k].begin(), lists[k].end(), k) != lists[k].end()) {
            throw nb::value_error("a variable is in its own list");
        }
    }
    return lists;
}

}  // namespace

void bind_order(nb::module_& m) {
    nb::class_<OrderSearch>(m, "OrderSearch", "An order of variables, and the parents of each among those before it.")
        .def(
            "__init__",
            [](OrderSearch* self, const NetworkScore& score, Lists allowed, std::size_t max_parents, double rounding,
               Lists required, Lists earlier, std::size_t threads, std::size_t most_bytes) {
                const std::size_t n = score.columns();
                if (allowed.size() != n) {
                    throw nb::value_error("there must be a list for every variable");
                }
                OrderRules rules{checked(std::move(allowed), n), checked(std::move(required), n),
                                 checked(std::move(earlier), n), max_parents, rounding};
                for (List& parents : rules.allowed) {
                    std::sort(parents.begin(), parents.end());
                    score.verify(parents);
                }
                new (self) OrderSearch(score, std::move(rules), std::min(threads, most_threads), most_bytes);
            },
            nb::arg("score"), nb::arg("allowed"), nb::arg("max_parents"), nb::arg("rounding"),
            nb::arg("required") = Lists(), nb::arg("earlier") = Lists(), nb::arg("threads") = 1,
            nb::arg("most_bytes") = OrderSearch::default_bytes, nb::keep_alive<1, 2>(),
            "By child, the parents that it may have, and those that it has whatever the score; by variable, those that "
            "come before it in every order. No gain is up to `rounding`. The trees take up to `most_bytes`.")
        .def(
            "set_order",
            [](OrderSearch& search, const List& order, const nb::object& poll) {
                CancellationToken token = cancellation_token(poll);
                run_interruptible(token, [&] { search.set_order(order, token); });
            },
            nb::arg("order"), nb::arg("poll") = nb::none(), "Begins with an order, the first one or another.")
        .def(
            "best_move",
            [](OrderSearch& search, std::uint32_t variable, const nb::object& poll) {
                check_all(search.variables(), {&variable, 1});
                CancellationToken token = cancellation_token(poll);
                double gain = 0.0;
                run_interruptible(token, [&] { gain = search.best_move(variable, token); });
                return gain;
            },
            nb::arg("variable"), nb::arg("poll") = nb::none(),
            "Moves a variable to where the score is highest, if that raises it; by how much.")
        .def(
            "improve",
            [](OrderSearch& search, const nb::object& moved, const nb::object& poll) {
                CancellationToken token = cancellation_token(poll);
                const auto tell = [&] {
                    if (!moved.is_none()) {
                        const nb::gil_scoped_acquire gil;
                        moved(search.arcs(), search.total());
                    }
                };
                run_interruptible(token, [&] { search.improve(tell, token); });
            },
            nb::arg("moved") = nb::none(), nb::arg("poll") = nb::none(),
            "Moves each variable in turn until no move raises the score; calls moved(arcs, score) after each.")
        .def_prop_ro("order", &OrderSearch::order)
        .def_prop_ro("arcs", &OrderSearch::arcs)
        .def_prop_ro("total", &OrderSearch::total, "The score.")
        .def(
            "parents",
            [](const OrderSearch& search, std::uint32_t child) {
                check_all(search.variables(), {&child, 1});
                return search.parents(child);
            },
            nb::arg("child"));
}

}  // namespace serape
