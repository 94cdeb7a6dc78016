// How columns come from Python and arrays go there; checks of arguments.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "serape/kernels.hpp"
#include "serape/ranking.hpp"
#include "serape/subset_query.hpp"

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
    std::vector<std::uint32_t> vector() && {
        return array.is_valid() ? std::vector(all().begin(), all().end()) : std::move(listed);
    }
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

// A NumPy array of memory that an object keeps.
template <class T>
NumPy<const T> view(std::span<const T> memory, nanobind::handle owner) {
    return {memory.data(), {memory.size()}, owner};
}

// A NumPy array of uninitialised memory.
template <class T>
NumPy<T> empty_numpy(std::size_t size) {
    T* memory = new T[size == 0 ? 1 : size];
    const nanobind::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return NumPy<T>(memory, {size}, owner);
}

// Verifies columns of a packed table, or of the one that a test holds, before they are used.
template <class Table, class Which>
void verify(const Table& table, const Which& columns) {
    if constexpr (requires { table.verify(columns); }) {
        table.verify(columns);
    } else if constexpr (requires { table.table().verify(columns); }) {
        table.table().verify(columns);
    }
}

template <class Table>
void check_range(const Table& table, std::size_t column) {
    if (column >= table.columns()) {
        throw nanobind::index_error(
            ("column " + std::to_string(column) + " of a table of " + std::to_string(table.columns())).c_str());
    }
}

template <class Table>
void check(const Table& table, std::size_t column) {
    check_range(table, column);
    verify(table, column);
}

template <class Table>
void check(const Table& table, std::span<const std::uint32_t> columns) {
    if (!columns.empty()) {
        check_range(table, kernels().ascending(columns.data(), columns.size())
                               ? columns.back()
                               : *std::max_element(columns.begin(), columns.end()));
        verify(table, columns);
    }
}

// Values are sorted, and what is no number has no place in an order.
inline void check_numbers(std::span<const double> values) {
    if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
        throw nanobind::value_error("values must be numbers");
    }
}

// Lists that stand in one array, one after another, of which `ends` tells the ends.
inline std::vector<std::span<const std::uint32_t>> lists_of(const Array<std::uint32_t>& all,
                                                            const Array<std::int64_t>& ends) {
    std::vector<std::span<const std::uint32_t>> lists;
    std::int64_t begin = 0;
    for (const std::int64_t end : span(ends)) {
        if (end < begin || static_cast<std::size_t>(end) > all.size()) {
            throw nanobind::value_error("ends must ascend within the arrays");
        }
        lists.push_back(span(all).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
        begin = end;
    }
    return lists;
}

inline void check_distinct(std::span<const std::uint32_t> columns) {
    if (const std::optional<std::uint32_t> twice = named_twice(columns)) {
        throw nanobind::value_error(("column " + std::to_string(*twice) + " is named twice").c_str());
    }
}

template <class Table>
void check_same_rows(const Table& table, const Table& other) {
    if (table.rows() != other.rows()) {
        throw nanobind::value_error("the tables have different numbers of rows");
    }
}

template <class Table>
void check(const Table& table, const SubsetQuery& query) {
    check(table, query.target);
    for (const std::vector<std::uint32_t>& columns :
         {std::cref(query.xs), std::cref(query.pool), std::cref(query.fixed)}) {
        check(table, columns);
    }
}

template <class First, class... Others>
void check_one_length(const First& first, const Others&... others) {
    if (((others.size() != first.size()) || ...)) {
        throw nanobind::value_error("arrays must be of one length");
    }
}

template <class Value>
Value parse(const std::string& word, std::initializer_list<std::pair<const char*, Value>> meanings) {
    for (const auto& [name, value] : meanings) {
        if (word == name) {
            return value;
        }
    }
    throw nanobind::value_error(("unknown option '" + word + "'").c_str());
}

using BySize = nanobind::typed<nanobind::dict, int, int>;

// Counts by size, but for those of 0.
inline BySize by_size(const std::vector<std::uint64_t>& counts) {
    nanobind::dict found;
    for (std::size_t size = 0; size < counts.size(); ++size) {
        if (counts[size] != 0) {
            found[nanobind::int_(size)] = counts[size];
        }
    }
    return BySize(std::move(found));
}

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
