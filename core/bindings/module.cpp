// The extension module.
#include "bindings.hpp"
#include "serape/packed_table.hpp"

namespace {

#if defined(__clang__)
constexpr const char* compiler = __VERSION__;  // begins with its name
#elif defined(__GNUC__)
constexpr const char* compiler = "GCC " __VERSION__;
#elif defined(_MSC_VER)
#define SERAPE_TEXT(number) #number
#define SERAPE_TEXT_OF(macro) SERAPE_TEXT(macro)
constexpr const char* compiler = "MSVC " SERAPE_TEXT_OF(_MSC_FULL_VER);
#else
constexpr const char* compiler = "unknown";
#endif

// The thread pool and the kernels in use are shared by all threads of a process, whatever their interpreter.
void refuse_subinterpreters() {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        throw nanobind::import_error("serape cannot be used in a subinterpreter of Python; use a process instead");
    }
}

}  // namespace

NB_MODULE(_core, m) {
    refuse_subinterpreters();
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
    serape::bind_network_score(m);  // others derive from it
    serape::bind_gaussian_score(m);
    serape::bind_mixed(m);
    serape::bind_mixed_score(m);
    serape::bind_order(m);
    serape::bind_pair_tests(m);
    serape::bind_pairs(m);
    serape::bind_residuals(m);
    serape::bind_score(m);
    serape::bind_counts(m);
    serape::bind_numbers(m);
    m.def("compiler", [] { return compiler; }, "The compiler that made the core, with its version.");
}
