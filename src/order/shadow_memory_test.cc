// Every byte must have exactly its history, whatever was accessed, freed and allocated around it.
#include "order/shadow_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "oracle/random.h"

namespace sooth {
namespace {

using History = std::vector<int>;  // numbers of the steps that touched a byte, since it was allocated

// Keeps the history of each cell and checks that ids are used as promised.
class HistoryHost {
 public:
  void on_new_cell(CellId cell) { EXPECT_TRUE(cells_.emplace(raw(cell), History{}).second) << "an id that is in use"; }
  void on_split_cell(CellId from, CellId to) {
    const History copy = cells_.at(raw(from));
    EXPECT_TRUE(cells_.emplace(raw(to), copy).second) << "an id that is in use";
  }
  void on_drop_cell(CellId cell) { EXPECT_EQ(cells_.erase(raw(cell)), 1u) << "dropped twice"; }

  History& of(CellId cell) { return cells_.at(raw(cell)); }
  std::size_t cells() const { return cells_.size(); }

 private:
  std::map<std::uint32_t, History> cells_;
};

// A window of memory; at its start, in the middle of a page, and at the end of the address space.
class ShadowMemoryTest : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(ShadowMemoryTest, EqualsAByteArray) {
  constexpr std::uint64_t kBytes = 64;
  const std::uint64_t base = GetParam();
  for (unsigned seed = 1; seed <= 60; ++seed) {
    oracle::Random random(seed);
    HistoryHost host;
    ShadowMemory<HistoryHost, 24> memory(host);  // some accesses are long
    std::vector<History> model(kBytes);
    for (int step = 0; step < 200; ++step) {
      const std::uint64_t at = random.below(kBytes);
      const std::uint64_t longest = random.below(3) == 0 ? kBytes : 9;
      const std::uint64_t size = 1 + random.below(std::min(longest, kBytes - at));
      const auto touch = [&](CellId cell) { host.of(cell).push_back(step); };
      const unsigned what = random.below(10);
      if (what == 0) {
        memory.allocate(base + at, size);
      } else if (what <= 2) {
        memory.free(base + at, size, touch);
      } else {
        // A cell that resolve() promises must be the one that is visited.
        const CellId promised = memory.resolve(base + at, size);
        std::vector<CellId> visited;
        memory.access(base + at, size, [&](CellId cell) {
          touch(cell);
          visited.push_back(cell);
        });
        if (promised != kNoCell) {
          ASSERT_EQ(visited, std::vector<CellId>{promised});
        }
      }
      for (std::uint64_t i = at; i < at + size; ++i) {
        if (what == 0) {
          model[i].clear();
        } else {
          model[i].push_back(step);
        }
      }
      ASSERT_EQ(memory.cell_count(), host.cells());
    }
    // Looking at a byte may make a cell for it, which must then have the byte's history.
    for (std::uint64_t i = 0; i < kBytes; ++i) {
      std::vector<CellId> cells;
      memory.access(base + i, 1, [&](CellId cell) { cells.push_back(cell); });
      ASSERT_EQ(cells.size(), 1u);
      ASSERT_EQ(host.of(cells[0]), model[i]) << "seed " << seed << ", byte " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Places, ShadowMemoryTest,
                         ::testing::Values(0, 4096 - 32, 0x7fff'1234'5003, ~std::uint64_t{0} - 63));

TEST(ShadowMemoryCost, AVariableIsOneCell) {
  HistoryHost host;
  ShadowMemory<HistoryHost> memory(host);
  int visits = 0;
  const auto visit = [&](CellId) { ++visits; };
  for (int i = 0; i < 10; ++i) {
    memory.access(0x1000, 8, visit);
    memory.access(0x1008, 4, visit);
  }
  EXPECT_EQ(visits, 20);
  EXPECT_EQ(memory.cell_count(), 2u);
  memory.access(0x1003, 1, visit);
  EXPECT_EQ(memory.cell_count(), 3u) << "the byte, and the rest of the variable";
}

TEST(ShadowMemoryCost, FreeingALargeBlockCostsWhatWasUsedOfIt) {
  HistoryHost host;
  ShadowMemory<HistoryHost> memory(host);
  memory.access(0x10'0000, 8, [](CellId) {});
  int visits = 0;
  memory.free(0x10'0000, 0xffff'ffff, [&](CellId) { ++visits; });
  EXPECT_EQ(visits, 2);
  EXPECT_EQ(memory.cell_count(), 2u);
  memory.allocate(0x10'0000, 0xffff'ffff);
  EXPECT_EQ(memory.cell_count(), 0u);
}

TEST(ShadowMemoryCost, ALongAccessCostsWhatIsToldApartInIt) {
  HistoryHost host;
  ShadowMemory<HistoryHost> memory(host);
  int visits = 0;
  const auto visit = [&](CellId) { ++visits; };
  memory.access(0x10'0003, 0xffff'ff00, visit);
  EXPECT_EQ(visits, 1);
  memory.access(0x80'0000, 8, visit);
  memory.access(0x10'0003, 0xffff'ff00, visit);
  EXPECT_EQ(visits, 4);
  EXPECT_EQ(memory.cell_count(), 2u);
}

TEST(ShadowMemoryVersion, ChangesWhenAResolvedCellComesToStandForOtherBytes) {
  HistoryHost host;
  ShadowMemory<HistoryHost> memory(host);
  memory.access(0x1000, 8, [](CellId) {});
  const CellId cell = memory.resolve(0x1000, 8);
  ASSERT_NE(cell, kNoCell);
  EXPECT_EQ(memory.resolve(0x1000, 4), kNoCell);
  EXPECT_EQ(memory.resolve(0x1004, 8), kNoCell) << "over two granules";
  const std::uint64_t version = memory.version();
  memory.access(0x1000, 8, [](CellId) {});
  memory.access(0x2000, 8, [](CellId) {});
  EXPECT_EQ(memory.version(), version);
  memory.access(0x1000, 4, [](CellId) {});
  EXPECT_NE(memory.version(), version);
  EXPECT_EQ(memory.resolve(0x1000, 8), kNoCell);
}

TEST(ShadowMemoryVersion, StaysWhileSmallElementsShareAGranule) {
  HistoryHost host;
  ShadowMemory<HistoryHost> memory(host);
  memory.access(0x1000, 4, [](CellId) {});
  const CellId first = memory.resolve(0x1000, 4);
  ASSERT_NE(first, kNoCell);
  const std::uint64_t version = memory.version();
  memory.access(0x1004, 4, [](CellId) {});
  EXPECT_EQ(memory.version(), version) << "the neighbour changes nothing for the first";
  EXPECT_EQ(memory.resolve(0x1000, 4), first);
  const CellId second = memory.resolve(0x1004, 4);
  EXPECT_NE(second, kNoCell);
  EXPECT_NE(second, first);
  EXPECT_EQ(memory.resolve(0x1002, 4), kNoCell) << "parts of two cells";
  memory.allocate(0x1000, 4);
  EXPECT_NE(memory.version(), version);
  EXPECT_EQ(memory.resolve(0x1000, 4), kNoCell);
  EXPECT_EQ(memory.resolve(0x1004, 4), second);
}

}  // namespace
}  // namespace sooth
