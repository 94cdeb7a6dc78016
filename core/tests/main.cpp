// Runs all cases, or those whose name contains the argument.
#include <exception>
#include <iostream>
#include <string_view>

#include "harness.hpp"

int main(int count, char** words) {
    using serape::testing::Case;
    std::size_t run = 0, failed = 0;
    for (const Case* one : Case::all()) {
        if (count > 1 && std::string_view(one->name).find(words[1]) == std::string_view::npos) {
            continue;
        }
        ++run;
        try {
            one->body();
        } catch (const std::exception& error) {
            ++failed;
            std::cout << "FAILED " << one->name << "\n  " << error.what() << "\n";
        }
    }
    std::cout << run - failed << " of " << run << " cases passed\n";
    return run == 0 || failed != 0;
}
