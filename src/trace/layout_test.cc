// Parts of variables by offset and size, and variables that live for a time.
#include "trace/layout.h"

#include <gtest/gtest.h>

#include "trace/variables.h"

namespace sooth {
namespace {

// struct Account { int id; union { int i; float f; char c[8]; }; unsigned a : 1, b : 7; std::string s; } accounts[3];
struct AccountTypes {
  VariableTable table;
  TypeId integer = table.add_type({.name = "int", .size = 4});
  TypeId letter = table.add_type({.name = "char", .size = 1});
  TypeId letters = table.add_type({.name = "", .size = 8, .element = letter, .count = 8});
  TypeId text = table.add_type({.name = "std::string", .size = 32, .opaque = true});
  TypeId either = table.add_type(
      {.name = "",
       .size = 8,
       .is_union = true,
       .members = {{"i", 0, 4, integer, false}, {"f", 0, 4, integer, false}, {"c", 0, 8, letters, false}}});
  TypeId account = table.add_type({.name = "Account",
                                   .size = 48,
                                   .members = {{"id", 0, 4, integer, false},
                                               {"", 4, 8, either, false},
                                               {"a", 12, 1, kNoType, true},
                                               {"b", 12, 1, kNoType, true},
                                               {"s", 16, 32, text, false}}});
  TypeId accounts = table.add_type({.name = "", .size = 144, .element = account, .count = 3});

  TypePart part(std::uint64_t offset, std::uint64_t size) const {
    return find_part(table.types(), accounts, offset, size);
  }
};

TEST(Layout, NamesTheSmallestPartThatHoldsTheBytes) {
  const AccountTypes types;
  struct PartCase {
    std::uint64_t offset, size;
    const char* path;
    std::uint64_t begin, bytes;
  };
  const PartCase cases[] = {
      {0, 4, "[0].id", 0, 4},     {48, 4, "[1].id", 48, 4},   {50, 1, "[1].id", 48, 4},
      {52, 1, "[1].c[0]", 52, 1}, {54, 1, "[1].c[2]", 54, 1}, {52, 4, "[1]", 52, 8},  // i or f
      {52, 8, "[1].c", 52, 8},    {60, 1, "[1].a..b", 60, 1}, {70, 8, "[1].s", 64, 32},
      {0, 48, "[0]", 0, 48},      {48, 96, "[1..2]", 48, 96}, {0, 144, "", 0, 144},
      {61, 1, "[1]", 48, 48},     {200, 4, "", 0, 144},       {140, 8, "", 0, 144},
  };
  for (const PartCase& each : cases) {
    const TypePart part = types.part(each.offset, each.size);
    EXPECT_EQ(part.path, each.path) << each.offset << ", " << each.size;
    EXPECT_EQ(part.offset, each.begin) << each.offset << ", " << each.size;
    EXPECT_EQ(part.size, each.bytes) << each.offset << ", " << each.size;
  }
}

// struct Item { void* vptr; int base; }; struct Special : Item { int discount; char mark; }; Item is 16 bytes long.
// struct Tagged : Empty { char tag; };
TEST(Layout, MembersMayLieWhereABaseClassHasNone) {
  VariableTable table;
  const TypeId integer = table.add_type({.name = "int", .size = 4});
  const TypeId letter = table.add_type({.name = "char", .size = 1});
  const TypeId item = table.add_type(
      {.name = "Item", .size = 16, .members = {{"vptr", 0, 8, kNoType, false}, {"base", 8, 4, integer, false}}});
  const TypeId special = table.add_type(
      {.name = "Special",
       .size = 24,
       .members = {{"", 0, 16, item, false}, {"discount", 12, 4, integer, false}, {"mark", 16, 1, letter, false}}});
  EXPECT_EQ(find_part(table.types(), special, 8, 4).path, ".base");
  EXPECT_EQ(find_part(table.types(), special, 12, 4).path, ".discount");
  EXPECT_EQ(find_part(table.types(), special, 16, 1).path, ".mark");
  const TypeId empty = table.add_type({.name = "Empty", .size = 1});
  const TypeId tagged = table.add_type(
      {.name = "Tagged", .size = 1, .members = {{"", 0, 1, empty, false}, {"tag", 0, 1, letter, false}}});
  EXPECT_EQ(find_part(table.types(), tagged, 0, 1).path, ".tag");
}

TEST(Layout, TypesThatContainThemselvesEnd) {
  std::vector<TypeLayout> types(2);
  types[1] = {.name = "Loop", .size = 8, .members = {{"next", 0, 8, TypeId{1}, false}}};
  EXPECT_TRUE(find_part(types, TypeId{1}, 0, 8).path.starts_with(".next.next"));
  EXPECT_EQ(find_part(types, TypeId{7}, 0, 8).path, "");
}

TEST(Variables, LiveForATime) {
  AccountTypes types;
  VariableTable& table = types.table;
  const std::uint32_t outer =
      table.add_layout({{"x", "f()", -16, 4, types.integer}, {"all", "f()", -200, 144, types.accounts}});
  const std::uint32_t inner = table.add_layout({{"y", "g()", -8, 8, kNoType}});
  const std::uint32_t frame = table.place(outer, ThreadId{1}, 0x1000, EventId{10});
  ASSERT_TRUE(table.find(0x1000 - 16, 4, EventId{10}).has_value());
  EXPECT_FALSE(table.find(0x1000 - 16, 4, EventId{9}).has_value());
  EXPECT_EQ(table.find(0x1000 - 16, 4, EventId{10})->name, "x");
  EXPECT_EQ(table.find(0x1000 - 16, 4, EventId{10})->function, "f()");
  EXPECT_EQ(table.find(0x1000 - 200 + 48, 4, EventId{10})->name, "all[1].id");
  EXPECT_FALSE(table.find(0x1000 - 12, 1, EventId{10}).has_value());
  table.end(frame, EventId{20});
  EXPECT_TRUE(table.find(0x1000 - 16, 4, EventId{19}).has_value());
  EXPECT_FALSE(table.find(0x1000 - 16, 4, EventId{20}).has_value());
  // Another function gets the same place.
  (void)table.place(inner, ThreadId{1}, 0x1000 - 8, EventId{30});
  EXPECT_EQ(table.find(0x1000 - 16, 4, EventId{31})->name, "y");
}

}  // namespace
}  // namespace sooth
