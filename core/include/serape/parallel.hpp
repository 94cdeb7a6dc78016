// Work split over threads, with a way to stop it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "serape/helpers.hpp"

namespace serape {

struct Cancelled : std::exception {
    const char* what() const noexcept override { return "cancelled"; }
};

// How a long call stays in touch with its caller, on the calling thread only: `poll` is called now and then, and
// returns true to stop the work; `when_long` once, when the work has taken more than a moment.
class Control {
  public:
    Control() = default;
    explicit Control(std::function<bool()> poll)
        : poll_(std::move(poll)), caller_(std::this_thread::get_id()), last_(std::chrono::steady_clock::now()) {}
    void when_long(std::function<void()> call) { when_long_ = std::move(call); }

    // Throws Cancelled if the work is to stop. Any thread may call this.
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
// calling one among them; on that alone while another call has the helping threads. The first exception stops the rest
// and is thrown here.
template <class Body>
void parallel_for(std::size_t items, std::size_t grain, std::size_t threads, Control& control, const Body& body) {
    grain = std::max<std::size_t>(grain, 1);
    threads = std::clamp<std::size_t>((items + grain - 1) / grain, 1, std::max<std::size_t>(threads, 1));
    if (threads == 1) {
        for (std::size_t begin = 0; begin < items; begin += grain) {
            body(begin, std::min(begin + grain, items), std::size_t{0});
            control.check();
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
                control.check();
            }
        } catch (...) {
            {
                const std::lock_guard lock(mutex);
                if (!failure) {
                    failure = std::current_exception();
                }
            }
            control.stop();  // only now, so that what went wrong is kept and not what others make of the stop
        }
    };
    if (!Helpers::all().run(threads - 1, work)) {
        work(0);
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

}  // namespace serape
