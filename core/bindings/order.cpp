// The order of variables that BOSS improves.
#include <nanobind/stl/pair.h>

#include "bindings.hpp"
#include "conversions.hpp"
#include "serape/order_search.hpp"

namespace nb = nanobind;

namespace serape {
namespace {

using Grown = std::pair<std::vector<std::uint32_t>, std::vector<double>>;
using Left = std::pair<std::vector<std::uint32_t>, double>;
using List = std::vector<std::uint32_t>;

void check_all(const OrderSearch& search, std::span<const std::uint32_t> variables) {
    for (const std::uint32_t x : variables) {
        if (x >= search.variables()) {
            throw nb::index_error("there is no such variable");
        }
    }
}

}  // namespace

void bind_order(nb::module_& m) {
    nb::class_<OrderSearch>(m, "OrderSearch", "An order of variables, and the parents of each among those before it.")
        .def(
            "__init__",
            [](OrderSearch* self, std::size_t variables, nb::typed<nb::callable, Grown(std::uint32_t, List)> grow,
               nb::typed<nb::callable, Left(std::uint32_t, List)> shrink) {
                auto grown = [self, grow](std::uint32_t child, std::span<const std::uint32_t> parents) {
                    const auto [xs, scores] = nb::cast<Grown>(grow(child, List(parents.begin(), parents.end())));
                    check_one_length(xs, scores);
                    check_all(*self, xs);
                    std::vector<Branch> branches;
                    for (std::size_t k = 0; k < xs.size(); ++k) {
                        if (xs[k] == child || std::find(parents.begin(), parents.end(), xs[k]) != parents.end()) {
                            throw nb::value_error("a further parent is in the family already");
                        }
                        branches.push_back({xs[k], scores[k]});
                    }
                    return branches;
                };
                auto shrunk = [self, shrink](std::uint32_t child, std::span<const std::uint32_t> parents) {
                    auto [xs, score] = nb::cast<Left>(shrink(child, List(parents.begin(), parents.end())));
                    check_all(*self, xs);
                    return Shrunk{std::move(xs), score};
                };
                new (self) OrderSearch(variables, std::move(grown), std::move(shrunk));
            },
            nb::arg("variables"), nb::arg("grow"), nb::arg("shrink"),
            "`grow(child, parents)` returns the further parents that raise the score, the best first, and the scores "
            "with them; `shrink(child, parents)` returns the parents that remain, and the score.")
        .def(
            "set_order",
            [](OrderSearch& search, const List& order) {
                List sorted(order);
                std::sort(sorted.begin(), sorted.end());
                for (std::uint32_t k = 0; k < sorted.size(); ++k) {
                    if (sorted[k] != k || sorted.size() != search.variables()) {
                        throw nb::value_error("an order has every variable once");
                    }
                }
                search.set_order(order);
            },
            nb::arg("order"), "Begins with an order, the first one or another.")
        .def(
            "best_move",
            [](OrderSearch& search, std::uint32_t variable, double least) {
                check_all(search, {&variable, 1});
                if (search.order().empty()) {
                    throw nb::value_error("there is no order yet");
                }
                return search.best_move(variable, least);
            },
            nb::arg("variable"), nb::arg("least"),
            "Moves a variable to where the score is highest, if that raises it by more than `least`; by how much.")
        .def_prop_ro("order", &OrderSearch::order)
        .def_prop_ro("total", &OrderSearch::total, "The score.")
        .def(
            "parents",
            [](const OrderSearch& search, std::uint32_t child) {
                check_all(search, {&child, 1});
                return search.parents(child);
            },
            nb::arg("child"));
}

}  // namespace serape
