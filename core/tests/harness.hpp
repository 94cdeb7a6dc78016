// A small harness for unit tests: cases that register themselves, and checks that throw.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "serape/packed_table.hpp"

namespace serape::testing {

struct Case {
    Case(const char* its_name, void (*its_body)()) : name(its_name), body(its_body) { all().push_back(this); }
    static std::vector<const Case*>& all() {
        static std::vector<const Case*> cases;
        return cases;
    }
    const char* name;
    void (*body)();
};

[[noreturn]] inline void fail(const std::string& what, const char* file, int line) {
    throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

inline void check(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (!holds) {
        fail("does not hold", file, line);
    }
}

template <class A, class B>
void check_equal(const A& found, const B& expected, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (!(found == expected)) {
        std::ostringstream text;
        if constexpr (requires { text << found << expected; }) {
            text.precision(17);
            text << "found " << found << ", expected " << expected;
        } else {
            text << "not equal";
        }
        fail(text.str(), file, line);
    }
}

// Equal up to a relative error.
inline void check_close(double found, double expected, double relative, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE()) {
    if (!(std::fabs(found - expected) <= relative * std::fabs(expected))) {
        check_equal(found, expected, file, line);
    }
}

template <class Error, class Body>
void check_throws(const Body& body, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    try {
        body();
    } catch (const Error&) {
        return;
    }
    fail("nothing was thrown", file, line);
}

using Random = std::mt19937_64;

inline std::uint32_t below(Random& random, std::uint32_t bound) {
    return static_cast<std::uint32_t>(random() % bound);
}

inline double uniform(Random& random) {
    return static_cast<double>(random() >> 11) * 0x1p-53;
}

// A table whose columns depend on one another, of 2 … max_levels levels each; its codes by column.
struct RandomTable {
    RandomTable(std::uint64_t seed, std::size_t rows, std::size_t columns, std::uint32_t max_levels) : table(rows) {
        Random random(seed);
        for (std::size_t j = 0; j < columns; ++j) {
            const std::uint32_t levels = 2 + below(random, max_levels - 1);
            std::vector<std::uint16_t> column(rows);
            const std::size_t cause = j == 0 ? 0 : below(random, static_cast<std::uint32_t>(j));
            for (std::size_t i = 0; i < rows; ++i) {
                const bool copied = j > 0 && below(random, 3) == 0;
                column[i] = static_cast<std::uint16_t>(copied ? codes[cause][i] % levels : below(random, levels));
            }
            table.append(column, levels);
            codes.push_back(std::move(column));
        }
    }
    PackedTable table;
    std::vector<std::vector<std::uint16_t>> codes;
};

}  // namespace serape::testing
