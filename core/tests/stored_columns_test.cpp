// Columns in memory of somebody else, and checksums.
#include <memory>

#include "harness.hpp"
#include "serape/checksum.hpp"
#include "serape/copies.hpp"
#include "serape/packed_table.hpp"

namespace serape::testing {
namespace {

// The columns of a table, copied to memory of their own, as a file would hold them.
struct Stored {
    explicit Stored(const PackedTable& table)
        : rows(table.rows()),
          planes(table.planes().begin(), table.planes().end()),
          narrow(table.narrow().begin(), table.narrow().end()),
          wide(table.wide().begin(), table.wide().end()),
          totals(table.totals().begin(), table.totals().end()) {
        for (std::size_t column = 0; column < table.columns(); ++column) {
            levels.push_back(table.levels(column));
            checksums.push_back(table.checksum_of(column));
        }
    }
    PackedTable borrow() const { return PackedTable::borrow(rows, columns()); }
    StoredColumns columns() const { return {levels, totals, checksums, planes, narrow, wide, "x.srp", false, nullptr}; }
    // As if whoever wrote the file had meant this.
    void sign() { checksums = Stored(PackedTable::borrow(rows, columns())).checksums; }

    std::size_t rows;
    LineVector<std::uint64_t> planes;
    std::vector<std::uint8_t> narrow;
    std::vector<std::uint16_t> wide;
    std::vector<std::uint32_t> totals, levels;
    std::vector<std::uint64_t> checksums;
};

bool verifies(const Stored& stored) {
    try {
        stored.borrow().verify_all();
        return true;
    } catch (const DamagedColumns&) {
        return false;
    }
}

const Case same("stored columns: codes, panels, ones, selections and copies are those of the table", [] {
    const RandomTable random(1, 700, 30, 300);
    const Stored stored(random.table);
    const PackedTable borrowed = stored.borrow();
    check_equal(borrowed.bytes(), random.table.bytes());
    std::vector<std::uint16_t> codes(700);
    const std::vector<std::uint32_t> chosen{3, 0, 29};
    const PackedTable some = borrowed.select(chosen);
    for (std::size_t j = 0; j < 30; ++j) {
        borrowed.unpack(j, codes);
        check_equal(codes, random.codes[j]);
    }
    for (std::size_t k = 0; k < chosen.size(); ++k) {
        some.unpack(k, codes);
        check_equal(codes, random.codes[chosen[k]]);
    }
    check_equal(borrowed.panels().totals, random.table.panels().totals);
    check_equal(borrowed.ones().rows, random.table.ones().rows);
    check_equal(borrowed.ones_are_few(), random.table.ones_are_few());
    CancellationToken token([] { return false; });
    check_equal(first_copies(borrowed, token), first_copies(random.table, token));
});

const Case trusted("stored columns: trusted ones need no checksums, and may begin anywhere", [] {
    const RandomTable random(3, 700, 20, 300);
    const Stored stored(random.table);
    std::vector<std::uint64_t> shifted(stored.planes.size() + line_words);
    auto* begin = shifted.data();
    while (reinterpret_cast<std::uintptr_t>(begin) % line_bytes != sizeof(std::uint64_t)) {
        ++begin;
    }
    std::copy(stored.planes.begin(), stored.planes.end(), begin);
    StoredColumns columns = stored.columns();
    columns.planes = {begin, stored.planes.size()};
    columns.checksums = {};
    columns.trusted = true;
    const PackedTable borrowed = PackedTable::borrow(700, columns);
    borrowed.verify_all();
    std::vector<std::uint16_t> codes(700);
    for (std::size_t j = 0; j < 20; ++j) {
        borrowed.unpack(j, codes);
        check_equal(codes, random.codes[j]);
    }
    check_equal(borrowed.panels().totals, random.table.panels().totals);
});

const Case kept("stored columns: the memory lives as long as the table, and nothing can be appended", [] {
    const RandomTable random(2, 70, 5, 4);
    auto owned = std::make_shared<Stored>(random.table);
    StoredColumns columns = owned->columns();
    columns.owner = owned;
    const std::weak_ptr<Stored> watched = owned;
    {
        PackedTable table = PackedTable::borrow(70, std::move(columns));
        owned.reset();
        check(!watched.expired());
        PackedTable moved = std::move(table);
        std::vector<std::uint16_t> codes(70);
        moved.unpack(4, codes);
        check_equal(codes, random.codes[4]);
        check_throws<std::invalid_argument>([&] { moved.append(std::vector<std::uint8_t>(70), 1); });
    }
    check(watched.expired());
});

const Case sizes("stored columns: parts of the wrong size are refused at once", [] {
    const RandomTable random(3, 70, 20, 300);
    const Stored right(random.table);
    const auto refused = [&](auto change) {
        Stored wrong = right;
        change(wrong);
        check_throws<DamagedColumns>([&] { wrong.borrow(); });
    };
    refused([](Stored& s) { s.planes.resize(s.planes.size() + 8); });
    refused([](Stored& s) { s.narrow.push_back(0); });
    refused([](Stored& s) { s.wide.pop_back(); });
    refused([](Stored& s) { s.totals.push_back(0); });
    refused([](Stored& s) { s.checksums.pop_back(); });
    refused([](Stored& s) { s.levels[0] = 0; });
    refused([](Stored& s) { s.levels[0] = max_levels + 1; });
    refused([](Stored& s) { s.levels[0] = s.levels[0] == 2 ? 3 : 2; });
});

const Case content("stored columns: wrong content is refused before use, even if its checksum is right", [] {
    const RandomTable random(4, 70, 40, 300);
    const Stored right(random.table);
    check(verifies(right));
    const auto refused = [&](auto change) {
        Stored wrong = right;
        change(wrong);
        check(!verifies(wrong));
        wrong.sign();
        check(!verifies(wrong));
    };
    refused([](Stored& s) { s.narrow[0] = 255; });
    refused([](Stored& s) { s.wide[0] = 65'535; });
    PackedTable three(70);
    three.append(std::vector<std::uint8_t>(70, 1), 3);
    const Stored of_three(three);
    const auto refused_three = [&](auto change) {
        Stored wrong = of_three;
        change(wrong);
        wrong.sign();
        check(!verifies(wrong));
    };
    check(verifies(of_three));
    refused_three([](Stored& s) { s.planes[1] |= std::uint64_t{1} << 6; });  // row 70 of 70
    refused_three([](Stored& s) { s.planes[2] |= 1; });                      // a word behind the rows
    refused_three([](Stored& s) { s.planes[8] |= 1; });                      // row 0 in two planes
    refused_three([](Stored& s) { s.totals[0] = 69; });
});

const Case sums("checksum: known values, and every changed byte changes it", [] {
    check_equal(checksum(nullptr, 0), std::uint64_t{8391324214924212279u});
    std::vector<unsigned char> bytes(200);
    for (std::size_t k = 0; k < bytes.size(); ++k) {
        bytes[k] = static_cast<unsigned char>(k);
    }
    const std::uint64_t whole = checksum(bytes.data(), bytes.size());
    check_equal(whole, std::uint64_t{13415809384403318668u});
    check(whole != checksum(bytes.data(), bytes.size() - 1));
    for (unsigned char& byte : bytes) {
        byte ^= 1;
        check(checksum(bytes.data(), bytes.size()) != whole);
        byte ^= 1;
    }
    check_equal(checksum(bytes.data(), bytes.size()), whole);
});

}  // namespace
}  // namespace serape::testing
