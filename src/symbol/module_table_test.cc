#include "symbol/module_table.h"

#include <gtest/gtest.h>

#include <random>

#include "base/test_environment.h"

namespace sooth {
namespace {

Module module_at(std::string path, std::uint64_t begin, std::uint64_t end, std::uint32_t first = 0,
                 std::uint32_t last = raw(kLastGeneration)) {
  return {.path = std::move(path),
          .build_id = "",
          .bias = begin,
          .ranges = {{begin, end}},
          .first = Generation{first},
          .last = Generation{last}};
}

TEST(ModuleTable, FindsTheModuleAndSubtractsItsBias) {
  ModuleTable table;
  Module program = module_at("prog", 0x400000, 0x401000);
  program.bias = 0;  // not position independent
  program.ranges.push_back({0x403000, 0x404000});
  ASSERT_TRUE(table.add(program).ok());
  ASSERT_TRUE(table.add(module_at("lib.so", 0x7f0000, 0x7f1000)).ok());
  EXPECT_EQ(table.find(0x400010), (ModuleAddress{ModuleId{0}, 0x400010}));
  EXPECT_EQ(table.find(0x403fff), (ModuleAddress{ModuleId{0}, 0x403fff}));
  EXPECT_EQ(table.find(0x7f0123), (ModuleAddress{ModuleId{1}, 0x123}));
  for (const std::uint64_t pc :
       {std::uint64_t{0}, std::uint64_t{0x3fffff}, std::uint64_t{0x401000}, std::uint64_t{0x402fff},
        std::uint64_t{0x404000}, std::uint64_t{0x7f1000}, ~std::uint64_t{0}}) {
    EXPECT_EQ(table.find(pc), std::nullopt) << pc;
  }
}

TEST(ModuleTable, AnAddressBelongsToTheModuleOfItsGeneration) {
  ModuleTable table;
  ASSERT_TRUE(table.add(module_at("first.so", 0x1000, 0x3000, 1, 2)).ok());
  ASSERT_TRUE(table.add(module_at("second.so", 0x2000, 0x4000, 4)).ok());
  EXPECT_EQ(table.find(0x2000, Generation{0}), std::nullopt);
  EXPECT_EQ(table.find(0x2000, Generation{1})->module, ModuleId{0});
  EXPECT_EQ(table.find(0x2000, Generation{2})->module, ModuleId{0});
  EXPECT_EQ(table.find(0x2000, Generation{3}), std::nullopt);
  EXPECT_EQ(table.find(0x2000, Generation{4})->module, ModuleId{1});
  EXPECT_EQ(table.find(0x2000)->module, ModuleId{1});
  EXPECT_EQ(table.find(0x1000), std::nullopt);
}

TEST(ModuleTable, RefusesModulesInTheSamePlaceAtTheSameTime) {
  ModuleTable table;
  ASSERT_TRUE(table.add(module_at("a.so", 0x1000, 0x3000, 1, 5)).ok());
  const auto overlapping = table.add(module_at("b.so", 0x2fff, 0x4000, 5));
  ASSERT_FALSE(overlapping.ok());
  EXPECT_EQ(overlapping.status().message(), "b.so: its address range 0x2fff-0x4000 belongs to a.so");
  const auto empty = table.add(module_at("c.so", 0x5000, 0x5000));
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.status().message(), "c.so: its address range 0x5000-0x5000 is empty");
  EXPECT_EQ(table.size(), 1u);
  EXPECT_TRUE(table.add(module_at("d.so", 0x3000, 0x4000)).ok());
}

// Against a search through all modules.
TEST(ModuleTable, RandomTables) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    std::mt19937_64 random(seed);
    ModuleTable table;
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t begin = random() % 60;
      const auto first = static_cast<std::uint32_t>(random() % 4);
      const auto last = first + static_cast<std::uint32_t>(random() % 3);
      const Module module = module_at("m", begin, begin + 1 + random() % 20, first, last);
      bool clash = false;
      for (std::uint32_t id = 0; id < table.size(); ++id) {
        const Module& other = table.module(ModuleId{id});
        clash =
            clash || (other.ranges[0].begin < module.ranges[0].end && module.ranges[0].begin < other.ranges[0].end &&
                      other.first <= module.last && module.first <= other.last);
      }
      ASSERT_EQ(table.add(module).ok(), !clash) << "seed " << seed;
    }
    for (std::uint64_t pc = 0; pc < 82; ++pc) {
      const Generation generation{static_cast<std::uint32_t>(random() % 7)};
      std::optional<ModuleAddress> expected;
      for (std::uint32_t id = 0; id < table.size(); ++id) {
        const Module& module = table.module(ModuleId{id});
        if (module.ranges[0].begin <= pc && pc < module.ranges[0].end && module.first <= generation &&
            generation <= module.last) {
          expected = ModuleAddress{ModuleId{id}, pc - module.bias};
        }
      }
      ASSERT_EQ(table.find(pc, generation), expected) << "seed " << seed << " pc " << pc;
    }
  }
}

}  // namespace
}  // namespace sooth
