#include "trace/text/std_syntax.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <unordered_map>

#include "trace/text/std_names.h"

namespace sooth {
namespace {

TEST(StdSyntax, EveryOpHasExactlyOneWord) {
  std::set<std::string_view> names;
  for (const StdOp& row : std_ops()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find_std_op(row.op, row.flags), &row);
  }
  for (int op = 0; op < kOpCount; ++op) {
    EXPECT_NE(find_std_op(Op(op), Op(op) == Op::kAcquireFailed ? kTry : 0), nullptr) << op_name(Op(op));
  }
  EXPECT_EQ(find_std_op(Op::kRead, kShared), nullptr);
  EXPECT_EQ(find_std_op(Op(kOpCount), 0), nullptr);
  EXPECT_EQ(find_std_op(Op::kAcquire, kTry | kTimed), nullptr);
  EXPECT_EQ(find_std_op(Op::kAcquireFailed, 0), nullptr);
  EXPECT_EQ(find_std_op(Op::kAcquire, 8), nullptr);
}

TEST(StdSyntax, EscapesWhatALineCannotCarry) {
  EXPECT_EQ(escape_std("V123.4[5]", StdPlace::kArgument), "V123.4[5]");
  EXPECT_EQ(escape_std("f(int, char)", StdPlace::kArgument), "f(int, char)");
  EXPECT_EQ(escape_std("a|b\nc\r", StdPlace::kLabel), "a%7Cb%0Ac%0D");
  EXPECT_EQ(escape_std(" a b ", StdPlace::kLabel), "%20a b%20");
  EXPECT_EQ(escape_std("50% %4", StdPlace::kLabel), "50% %4");
  EXPECT_EQ(escape_std("%41", StdPlace::kLabel), "%2541");
  EXPECT_EQ(escape_std("#1", StdPlace::kThread), "%231");
  EXPECT_EQ(escape_std("#1", StdPlace::kLabel), "#1");
  EXPECT_EQ(escape_std("0x12", StdPlace::kArgument), "%30x12");
  EXPECT_EQ(escape_std("0x12", StdPlace::kLabel), "0x12");
}

TEST(StdSyntax, UnescapeUndoesEscape) {
  std::mt19937 random(1);
  const std::string bytes = "%%%0aAfFx|# \t\n\rz()=\x7f\xc3";
  for (int i = 0; i < 20'000; ++i) {
    std::string name;
    for (std::size_t n = random() % 8; n > 0; --n) {
      name += bytes[random() % bytes.size()];
    }
    for (const StdPlace place : {StdPlace::kThread, StdPlace::kLabel, StdPlace::kArgument}) {
      const std::string text = escape_std(name, place);
      ASSERT_EQ(unescape_std(text), name);
      ASSERT_EQ(text.find_first_of("|\n\r\t"), text.npos);
      ASSERT_FALSE(text.starts_with(' ') || text.ends_with(' '));
    }
  }
}

TEST(StdSyntax, ParsesNumbers) {
  EXPECT_EQ(parse_number("0"), 0u);
  EXPECT_EQ(parse_number("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(parse_number("0xffffffffffffffff"), ~std::uint64_t{0});
  EXPECT_EQ(parse_number("0xFf"), 255u);
  for (const char* wrong :
       {"", "0x", "-1", "+1", "1 ", " 1", "1a", "0xg", "18446744073709551616", "0x10000000000000000", "0x-1", "0x 1"}) {
    EXPECT_EQ(parse_number(wrong), std::nullopt) << wrong;
  }
}

TEST(StdSyntax, ParsesAndPrintsValues) {
  EXPECT_EQ(parse_value("7", 4), (Value{7, 0, 4}));
  EXPECT_EQ(parse_value("0x7:1", 4), (Value{7, 0, 1}));
  EXPECT_EQ(parse_value("255", 1), (Value{255, 0, 1}));
  EXPECT_EQ(parse_value("0x100000000000000000", 16), (Value{0, 16, 16}));
  for (const char* wrong : {"256:1", "", ":4", "7:", "7:0", "7:17", "0x1ffffffffffffffff:8", "0x10000:2",
                            "0x1123456789abcdef0123456789abcdef0:16", "0x123456789abcdefg0:16", "7:4:4"}) {
    EXPECT_EQ(parse_value(wrong, 8), std::nullopt) << wrong;
  }
  std::mt19937_64 random(2);
  for (int i = 0; i < 10'000; ++i) {
    Value value{random() >> random() % 64, random() >> random() % 64, static_cast<std::uint8_t>(1 + random() % 16)};
    value.high = value.size <= 8    ? 0
                 : value.size == 16 ? value.high
                                    : value.high & ((1ull << 8 * (value.size - 8)) - 1);
    value.low = value.size >= 8 ? value.low : value.low & ((1ull << 8 * value.size) - 1);
    const auto default_size = static_cast<std::uint8_t>(random() % 17);
    std::string text;
    append_value(text, value, default_size);
    ASSERT_EQ(parse_value(text, default_size), value) << text;
  }
}

TEST(StdSyntax, QuotesForErrors) {
  EXPECT_EQ(quote("a b"), "`a b`");
  EXPECT_EQ(quote(std::string_view("\0\x1b", 2)), "`%00%1B`");
  EXPECT_EQ(quote(std::string(1000, 'x')).size(), 85u);
}

TEST(NameNumbering, NumbersNamesAndKeepsWrittenNumbersApart) {
  NameNumbering locks(ObjectKind::kLock);
  EXPECT_EQ(locks.next(), 1u);
  locks.take();
  EXPECT_TRUE(locks.is_named(1));
  EXPECT_TRUE(locks.write_number(0, 1));
  EXPECT_FALSE(locks.write_number(1, 1));
  EXPECT_TRUE(locks.write_number(3, 1));
  EXPECT_EQ(locks.next(), 2u);
  locks.take();
  EXPECT_EQ(locks.next(), std::nullopt);
  EXPECT_TRUE(locks.write_number(~std::uint64_t{0}, 1));
}

TEST(NameNumbering, KeepsNamedVariablesApartFromRanges) {
  NameNumbering memory(ObjectKind::kMemory);
  EXPECT_TRUE(memory.write_number(kNamedMemoryBegin - 4, 4));
  EXPECT_EQ(memory.next(), kNamedMemoryBegin);
  memory.take();
  EXPECT_FALSE(memory.write_number(kNamedMemoryBegin - 4, 5));
  EXPECT_FALSE(memory.write_number(kNamedMemoryBegin + 4, 1));
  EXPECT_TRUE(memory.write_number(kNamedMemoryBegin + 15, 1));
  EXPECT_EQ(memory.next(), std::nullopt);

  NameNumbering numbers_first(ObjectKind::kMemory);
  EXPECT_TRUE(numbers_first.write_number(kNamedMemoryBegin - 1, 2));
  EXPECT_EQ(numbers_first.next(), std::nullopt);
}

TEST(NameTable, FindsWhatWasInserted) {
  std::mt19937 random(3);
  NameTable table;
  std::unordered_map<std::string, std::uint64_t> model;
  EXPECT_EQ(table.find(""), nullptr);
  for (int i = 0; i < 100'000; ++i) {
    std::string name(random() % 24, 'a');
    for (char& c : name) {
      c = static_cast<char>('a' + random() % 3);
    }
    const auto* entry = table.find(name);
    const auto known = model.find(name);
    ASSERT_EQ(entry == nullptr, known == model.end()) << name;
    if (entry == nullptr) {
      table.insert(name, static_cast<std::uint64_t>(i), 7);
      model.emplace(name, i);
    } else {
      ASSERT_EQ(entry->number, known->second);
      ASSERT_EQ(entry->size, 7u);
    }
  }
}

}  // namespace
}  // namespace sooth
