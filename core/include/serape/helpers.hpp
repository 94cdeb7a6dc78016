// Threads that wait for work: starting one takes as long as a small screen does.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace serape {

class Helpers {
  public:
    static Helpers& all();  // those of this process

    // Calls work(0) here and work(1) … work(count) on helping threads, which must not throw, and returns when all are
    // done. False, and nothing is called, if somebody else has the helpers: there would be more threads than wanted.
    bool run(std::size_t count, const std::function<void(std::size_t)>& work);

  private:
    Helpers() = default;
    void help(std::size_t number);

    std::mutex in_use_;
    std::mutex mutex_;  // guards what follows
    std::condition_variable wake_;
    std::condition_variable done_;
    std::size_t threads_ = 0;
    const std::function<void(std::size_t)>* work_ = nullptr;
    std::size_t wanted_ = 0;
    std::atomic<std::size_t> left_{0};
    std::atomic<std::uint64_t> round_{0};
};

}  // namespace serape
