#include "base/memory_use.h"

#include <gtest/gtest.h>

#include <vector>

namespace sooth {
namespace {

TEST(MemoryUseTest, GrowsWithWhatIsUsedAndShrinksAgain) {
  constexpr std::uint64_t kMuch = 64'000'000;
  const std::uint64_t before = resident_bytes();
  ASSERT_GT(before, 0u);
  {
    const std::vector<char> much(kMuch, 1);
    EXPECT_GE(resident_bytes(), before + kMuch * 9 / 10) << much.size();
  }
  give_back_memory();
  EXPECT_LT(resident_bytes(), before + kMuch / 2);
}

TEST(MemoryUseTest, TheMachineHasMoreThanThisProcessTakes) { EXPECT_GT(machine_memory(), resident_bytes()); }

}  // namespace
}  // namespace sooth
