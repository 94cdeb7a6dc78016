// The extension module.
#include "bindings.hpp"
#include "serape/packed_table.hpp"

NB_MODULE(_core, m) {
    m.doc() = "The native core: packed columns, counting, statistics.";
    nanobind::set_leak_warnings(false);  // a table may still be held at exit
    m.attr("MAX_LEVELS") = serape::max_levels;
    m.attr("MAX_ROWS") = serape::max_rows;
    m.attr("PLANE_LEVELS") = serape::plane_levels;
    serape::bind_table(m);
    serape::bind_screen_answers(m);
    serape::bind_subsets(m);
    serape::bind_contingency_test(m);
    serape::bind_gaussian(m);
    serape::bind_mixed(m);
    serape::bind_pairs(m);
    serape::bind_residuals(m);
    serape::bind_score(m);
    serape::bind_counts(m);
    serape::bind_numbers(m);
}
