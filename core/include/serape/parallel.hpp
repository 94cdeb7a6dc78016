// Work split over threads, with cancellation.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "serape/thread_pool.hpp"

namespace serape {

struct Cancelled : std::exception {
    const char* what() const noexcept override { return "cancelled"; }
};

// Lets a caller cancel a long call. `poll` runs now and then, on the calling thread only, and returns true to stop the
// work; `when_long` runs once, when the work has taken more than a moment.
class CancellationToken {
  public:
    CancellationToken() = default;
    explicit CancellationToken(std::function<bool()> poll)
        : poll_(std::move(poll)), caller_(std::this_thread::get_id()), last_(std::chrono::steady_clock::now()) {}
    void when_long(std::function<void()> call) { when_long_ = std::move(call); }

    // Throws Cancelled if the work has to stop. Any thread may call this.
    void check() {
        if (stopped_.load(std::memory_order_relaxed)) {
            throw Cancelled{};
        }
        if (!poll_ || std::this_thread::get_id() != caller_) {
            return;
        }
        const auto now = std::chrono::steady_clock::now();
        if (when_long_ && now - last_ >= std::chrono::microseconds(100)) {
            when_long_();
            when_long_ = nullptr;
        }
        if (now - last_ >= std::chrono::milliseconds(50)) {
            last_ = now;
            if (poll_()) {
                stop();
                throw Cancelled{};
            }
        }
    }
    void stop() { stopped_ = true; }

  private:
    std::function<bool()> poll_;
    std::function<void()> when_long_;
    std::thread::id caller_;
    std::chrono::steady_clock::time_point last_;
    std::atomic<bool> stopped_{false};
};

// Calls body(begin, end, worker) for consecutive ranges of at most `grain` items, on up to `threads` threads, the
// calling one among them; on that alone while another call uses the thread pool. The first exception stops the rest
// and is thrown here.
template <class Body>
void parallel_for(std::size_t items, std::size_t grain, std::size_t threads, CancellationToken& token,
                  const Body& body) {
    grain = std::max<std::size_t>(grain, 1);
    threads = std::clamp<std::size_t>((items + grain - 1) / grain, 1, std::max<std::size_t>(threads, 1));
    if (threads == 1) {
        for (std::size_t begin = 0; begin < items; begin += grain) {
            body(begin, std::min(begin + grain, items), std::size_t{0});
            token.check();
        }
        return;
    }
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&](std::size_t worker) {
        try {
            for (std::size_t begin = next.fetch_add(grain); begin < items; begin = next.fetch_add(grain)) {
                body(begin, std::min(begin + grain, items), worker);
                token.check();
            }
        } catch (...) {
            {
                const std::lock_guard lock(mutex);
                if (!failure) {
                    failure = std::current_exception();
                }
            }
            token.stop();  // only now, so that the first exception is the one that is kept
        }
    };
    if (!ThreadPool::shared().run(threads - 1, work)) {
        work(0);
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

}  // namespace serape
