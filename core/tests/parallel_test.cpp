// The thread pool, parallel loops and cancellation.
#include "serape/parallel.hpp"

#include <array>
#include <atomic>

#include "harness.hpp"

namespace serape::testing {
namespace {

const Case pool("thread pool: this thread is called once, every other at most once", [] {
    for (int round = 0; round < 200; ++round) {
        std::array<std::atomic<int>, 5> calls{};
        const bool run = ThreadPool::shared().run(4, [&](std::size_t worker) { ++calls[worker]; });
        check(run);
        check_equal(calls[0].load(), 1);
        for (const std::atomic<int>& count : calls) {
            check(count.load() <= 1);
        }
    }
});

const Case all_called("thread pool: all threads are called while there is work", [] {
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> here{0};
        ThreadPool::shared().run(3, [&](std::size_t) {
            ++here;
            while (here.load() < 4) {
                std::this_thread::yield();
            }
        });
        check_equal(here.load(), 4);
    }
});

const Case busy("thread pool: a run within a run is refused", [] {
    std::atomic<int> called{0}, refused{0};
    ThreadPool::shared().run(2, [&](std::size_t) {
        ++called;
        if (!ThreadPool::shared().run(2, [](std::size_t) {})) {
            ++refused;
        }
    });
    check_equal(refused.load(), called.load());
});

const Case every_item("parallel loop: every item once, on any number of threads", [] {
    for (const std::size_t threads : {0, 1, 2, 4, 7}) {
        for (const std::size_t items : {0, 1, 10, 1000}) {
            std::vector<std::atomic<int>> done(items);
            CancellationToken token;
            parallel_for(items, 3, threads, token, [&](std::size_t first, std::size_t last, std::size_t) {
                for (std::size_t k = first; k < last; ++k) {
                    ++done[k];
                }
            });
            for (const std::atomic<int>& count : done) {
                check_equal(count.load(), 1);
            }
        }
    }
});

const Case errors("parallel loop: the first exception is thrown to the caller", [] {
    for (const std::size_t threads : {1, 4}) {
        CancellationToken token;
        check_throws<std::domain_error>([&] {
            parallel_for(1000, 1, threads, token, [&](std::size_t first, std::size_t, std::size_t) {
                if (first == 17) {
                    throw std::domain_error("17");
                }
            });
        });
    }
});

const Case stop("cancellation: stop ends a loop on all threads", [] {
    for (const std::size_t threads : {1, 4}) {
        CancellationToken token;
        std::atomic<std::size_t> done{0};
        check_throws<Cancelled>([&] {
            parallel_for(100'000, 1, threads, token, [&](std::size_t, std::size_t, std::size_t) {
                if (++done == 50) {
                    token.stop();
                }
            });
        });
        check(done < 100'000);
    }
});

const Case poll("cancellation: poll is called on the calling thread, and when_long before it", [] {
    const auto caller = std::this_thread::get_id();
    int polls = 0;
    bool is_long = false, fine = true;
    CancellationToken token([&] {
        fine = fine && std::this_thread::get_id() == caller && is_long;
        return ++polls == 2;
    });
    token.when_long([&] { is_long = true; });
    check_throws<Cancelled>([&] {
        parallel_for(1'000'000, 1, 3, token, [](std::size_t, std::size_t, std::size_t) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
    });
    check_equal(polls, 2);
    check(fine);
});

}  // namespace
}  // namespace serape::testing
