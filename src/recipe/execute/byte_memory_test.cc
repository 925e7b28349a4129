#include "recipe/execute/byte_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/ids.h"
#include "base/test_environment.h"

namespace sooth {
namespace {

TEST(ByteMemory, PutsTogetherWhatWasTakenApart) {
  ExprTable table;
  const ExprId x = table.variable(32);
  std::vector<Byte> bytes(4);
  take_apart(0x01020304, x, bytes);
  const Assembled whole = assemble(table, bytes);
  EXPECT_TRUE(whole.is_known);
  EXPECT_EQ(whole.expr, x);
  EXPECT_EQ(whole.value, 0x01020304u);
  bytes[1] = {kNoExpr, 0, 9, true};
  EXPECT_EQ(table.to_string(assemble(table, bytes).expr), "x0[31:16] ++ (9 ++ x0[7:0])");
  bytes[2].is_known = false;
  EXPECT_FALSE(assemble(table, bytes).is_known);
}

TEST(ByteMemory, PinsRunsOfOneExpression) {
  ExprTable table;
  const ExprId x = table.variable(64);
  std::vector<Byte> bytes(8);
  take_apart(0x1122334455667788, x, bytes);
  ByteMemory memory(false);
  memory.store(0x1004, bytes);  // over two granules
  std::vector<std::string> pinned;
  memory.make_constant(table, 0x1006, 4, [&](ExprId e, std::uint64_t value) {
    pinned.push_back(table.to_string(e) + " " + std::to_string(value));
  });
  EXPECT_EQ(pinned,
            (std::vector<std::string>{"x0[31:16] " + std::to_string(0x5566), "x0[47:32] " + std::to_string(0x3344)}));
  EXPECT_TRUE(memory.has_expressions(0x1004, 2));
  EXPECT_FALSE(memory.has_expressions(0x1006, 4));
  EXPECT_TRUE(memory.has_expressions(0x100a, 2));
}

// Against a map of bytes.
TEST(ByteMemory, RandomOperations) {
  const std::uint64_t first = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000) / 10;
  for (std::uint64_t seed = first; seed < first + cases && !HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    ExprTable table;
    ByteMemory memory(true);
    std::map<std::uint64_t, Byte> naive;
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t address = 100 + random() % 40;
      const std::uint64_t size = 1 + random() % (random() % 4 == 0 ? 30 : 8);
      std::vector<Byte> bytes(size);
      switch (random() % 5) {
        case 0:
          memory.forget(address, size);
          for (std::uint64_t at = address; at < address + size; ++at) {
            naive.erase(at);
          }
          break;
        case 1: {
          const std::uint64_t to = 100 + random() % 40;
          memory.copy(to, address, size);
          const std::map<std::uint64_t, Byte> before = naive;
          for (std::uint64_t j = 0; j < size; ++j) {
            const auto from = before.find(address + j);
            naive[to + j] = from == before.end() ? Byte{} : from->second;
          }
          break;
        }
        case 2:
          memory.make_constant(table, address, size, [](ExprId, std::uint64_t) {});
          for (std::uint64_t at = address; at < address + size; ++at) {
            naive[at].expr = kNoExpr;
          }
          break;
        default: {
          bytes.assign(std::min<std::uint64_t>(size, 8), Byte{});
          const bool is_symbolic = random() % 2 == 0;
          take_apart(random(), is_symbolic ? table.variable(static_cast<unsigned>(8 * bytes.size())) : kNoExpr, bytes);
          memory.store(address, bytes);
          for (std::size_t j = 0; j < bytes.size(); ++j) {
            naive[address + j] = bytes[j];
          }
        }
      }
      std::vector<Byte> all(80);
      memory.load(90, all);
      for (std::size_t j = 0; j < all.size(); ++j) {
        const Byte wanted = naive[90 + j];
        ASSERT_EQ(all[j].is_known, wanted.is_known) << "SOOTH_SEED=" << seed << " byte " << 90 + j;
        ASSERT_EQ(all[j].expr, wanted.expr) << "SOOTH_SEED=" << seed << " byte " << 90 + j;
        if (wanted.is_known) {
          ASSERT_EQ(all[j].value, wanted.value) << "SOOTH_SEED=" << seed;
          ASSERT_TRUE(wanted.expr == kNoExpr || all[j].part == wanted.part) << "SOOTH_SEED=" << seed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sooth
