// The Python face of the core, one file for each part. Everything here converts, checks and forwards; nothing computes.
#pragma once

#include <nanobind/nanobind.h>

namespace serape {

void bind_table(nanobind::module_& m);
void bind_screen_answers(nanobind::module_& m);
void bind_subsets(nanobind::module_& m);
void bind_contingency_test(nanobind::module_& m);
void bind_counts(nanobind::module_& m);
void bind_gaussian(nanobind::module_& m);
void bind_gaussian_score(nanobind::module_& m);
void bind_mixed(nanobind::module_& m);
void bind_mixed_score(nanobind::module_& m);
void bind_network_score(nanobind::module_& m);
void bind_order(nanobind::module_& m);
void bind_pair_tests(nanobind::module_& m);
void bind_pairs(nanobind::module_& m);
void bind_residuals(nanobind::module_& m);
void bind_score(nanobind::module_& m);
void bind_numbers(nanobind::module_& m);

}  // namespace serape
