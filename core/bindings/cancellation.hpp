// Interruption of long calls of the core by Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

#include "serape/parallel.hpp"

namespace serape {

inline constexpr std::size_t most_threads = 512;

// Asks Python, every so often, whether Ctrl-C was pressed, and calls `poll` if there is one.
inline CancellationToken cancellation_token(const nanobind::object& poll) {
    return CancellationToken([poll_pointer = poll.ptr()] {
        const nanobind::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) {
            return true;
        }
        if (poll_pointer != Py_None) {
            PyObject* answer = PyObject_CallNoArgs(poll_pointer);
            if (answer == nullptr) {
                return true;
            }
            Py_DECREF(answer);
        }
        return false;
    });
}

// Runs a computation. It releases the GIL once it has taken more than a moment: handing it back and forth for short
// ones would make two threads slower than one. A cancelled one raises what Python wants raised.
template <class Work>
void run_interruptible(CancellationToken& token, const Work& work) {
    PyThreadState* released = nullptr;
    const auto take_back = [&] {
        if (released != nullptr) {
            PyEval_RestoreThread(released);
        }
    };
    token.when_long([&] { released = PyEval_SaveThread(); });
    bool stopped = false;
    try {
        work();
    } catch (const Cancelled&) {
        stopped = true;
    } catch (...) {
        take_back();
        throw;
    }
    take_back();
    if (stopped) {
        if (PyErr_Occurred() == nullptr) {
            PyErr_SetNone(PyExc_KeyboardInterrupt);
        }
        throw nanobind::python_error();
    }
}

}  // namespace serape
