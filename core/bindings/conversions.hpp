// How columns come from Python, and how batches of answers go there.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "serape/contingency_test.hpp"

namespace serape {

template <class T>
using Array = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using NumPy = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;

template <class T>
std::span<const T> span(const Array<T>& array) {
    return {array.data(), array.size()};
}

// Columns by their numbers: an array, or a list or tuple, which for a few is quicker to make and to read.
struct Columns {
    std::span<const std::uint32_t> all() const { return array.is_valid() ? span(array) : std::span(listed); }
    std::size_t size() const { return all().size(); }
    Array<std::uint32_t> array;
    std::vector<std::uint32_t> listed;
};

// A NumPy array that owns a vector's memory.
template <class T>
NumPy<T> to_numpy(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    const nanobind::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return NumPy<T>(owned->data(), {owned->size()}, owner);
}

// A NumPy array of uninitialised memory.
template <class T>
NumPy<T> empty_numpy(std::size_t size) {
    T* memory = new T[size == 0 ? 1 : size];
    const nanobind::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return NumPy<T>(memory, {size}, owner);
}

// The answers of a screen, or some of them. They stay here until Python wants to see them; many are never looked at.
class ScreenAnswers {
  public:
    explicit ScreenAnswers(std::size_t room)
        : memory_(new double[2 * room + (room + sizeof(double) - 1) / sizeof(double)]), room_(room), size_(room) {}

    Answers out() { return {memory_.get(), memory_.get() + room_, flags()}; }
    void keep_first(std::size_t asked) { size_ = asked; }

    std::size_t size() const { return size_; }
    std::span<double> statistic() const { return {memory_.get() + from_, size_}; }
    std::span<double> dof() const { return {memory_.get() + room_ + from_, size_}; }
    std::span<std::uint8_t> reliable() const { return {flags() + from_, size_}; }

    // In rows of so many, one after another, which share the memory.
    std::vector<ScreenAnswers> in_rows(std::size_t length) const {
        std::vector<ScreenAnswers> rows;
        for (std::size_t from = 0; from < size_; from += length) {
            rows.push_back(*this);
            rows.back().from_ = from_ + from;
            rows.back().size_ = length;
        }
        return rows;
    }

    // Those at some places, in memory of their own.
    template <class Place>
    ScreenAnswers at(std::span<const Place> places) const {
        ScreenAnswers chosen(places.size());
        for (std::size_t k = 0; k < places.size(); ++k) {
            const auto place = static_cast<std::size_t>(places[k]);
            if (place >= size_) {
                throw nanobind::index_error("no such answer");
            }
            chosen.statistic()[k] = statistic()[place];
            chosen.dof()[k] = dof()[place];
            chosen.reliable()[k] = reliable()[place];
        }
        return chosen;
    }

  private:
    std::uint8_t* flags() const { return reinterpret_cast<std::uint8_t*>(memory_.get() + 2 * room_); }

    std::shared_ptr<double[]> memory_;  // statistics, degrees of freedom, and a byte each for what is reliable
    std::size_t room_;
    std::size_t from_ = 0;
    std::size_t size_;
};

// The answers of a search through conditioning sets, and who was asked about.
struct FoundSubsets {
    std::vector<std::uint32_t> xs;
    SubsetAnswers found;

    const std::vector<SubsetAnswer>& answers() const { return found.answers; }
    // Statistics, degrees of freedom and log p, one after another; verdicts and places in the list of sets; that list.
    auto arrays() const {
        const std::size_t asked = answers().size();
        auto numbers = empty_numpy<double>(3 * asked);
        auto places = empty_numpy<std::int32_t>(2 * asked);
        std::map<std::vector<std::uint32_t>, std::int32_t> known;
        std::vector<std::vector<std::uint32_t>> sets;
        for (std::size_t k = 0; k < asked; ++k) {
            const SubsetAnswer& answer = answers()[k];
            numbers.data()[k] = answer.outcome.statistic;
            numbers.data()[asked + k] = answer.outcome.dof;
            numbers.data()[2 * asked + k] = answer.outcome.log_p;
            const auto [at, fresh] = known.emplace(answer.given, static_cast<std::int32_t>(sets.size()));
            if (fresh) {
                sets.push_back(answer.given);
            }
            places.data()[k] = answer.separated ? 2 : answer.outcome.reliable ? 1 : 0;
            places.data()[asked + k] = at->second;
        }
        return std::make_tuple(numbers, places, std::move(sets));
    }
};

}  // namespace serape

template <>
struct nanobind::detail::type_caster<serape::Columns> {
    NB_TYPE_CASTER(serape::Columns, const_name("Sequence[int] | numpy.typing.NDArray[numpy.uint32]"))

    bool from_python(handle source, std::uint8_t flags, cleanup_list* cleanup) noexcept {
        if (PyList_CheckExact(source.ptr()) || PyTuple_CheckExact(source.ptr())) {
            make_caster<std::vector<std::uint32_t>> listed;
            if (!listed.from_python(source, flags, cleanup)) {
                return false;
            }
            value.listed = std::move(listed.value);
            return true;
        }
        make_caster<serape::Array<std::uint32_t>> array;
        if (!array.from_python(source, flags, cleanup)) {
            return false;
        }
        value.array = std::move(array.value);
        return true;
    }
};
