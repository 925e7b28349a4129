#include "schedule/spin.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

// Whether the watch finds, within two windows of accesses, that a loop over so many places spins.
bool finds(std::uint64_t places, std::uint64_t step) {
  SpinWatch watch;
  watch.start();
  for (std::uint64_t i = 0; i < 2 * SpinWatch::kWindow; ++i) {
    if (watch.reads(1000 + i % places * step, 5000 + i % places)) {
      return true;
    }
  }
  return false;
}

TEST(SpinWatch, FindsLoopsThatLookAtFewPlaces) {
  EXPECT_TRUE(finds(1, 8));
  EXPECT_TRUE(finds(3, 8));
  EXPECT_TRUE(finds(SpinWatch::kPlaces, 8));
  EXPECT_FALSE(finds(SpinWatch::kPlaces + 1, 8));
  EXPECT_FALSE(finds(1000, 8)) << "a walk through memory";
}

TEST(SpinWatch, TakesAWholeWindow) {
  SpinWatch watch;
  EXPECT_FALSE(watch.is_watching());
  EXPECT_FALSE(watch.reads(1, 2)) << "not started";
  watch.start();
  for (std::uint32_t i = 1; i < SpinWatch::kWindow; ++i) {
    ASSERT_FALSE(watch.reads(1, 2));
    ASSERT_TRUE(watch.is_watching());
  }
  EXPECT_TRUE(watch.reads(1, 2));
  EXPECT_FALSE(watch.is_watching());
}

TEST(SpinWatch, StopsWhenTheThreadDoesSomething) {
  SpinWatch watch;
  watch.start();
  watch.stop();
  for (std::uint32_t i = 0; i < 2 * SpinWatch::kWindow; ++i) {
    ASSERT_FALSE(watch.reads(1, 2));
  }
  watch.start();
  for (std::uint64_t i = 0; i <= SpinWatch::kPlaces; ++i) {
    ASSERT_FALSE(watch.reads(8 * i, 2));
  }
  EXPECT_FALSE(watch.is_watching()) << "too many places";
  watch.start();
  for (std::uint32_t i = 1; i < SpinWatch::kWindow; ++i) {
    ASSERT_FALSE(watch.reads(7, 2));
  }
  EXPECT_TRUE(watch.reads(7, 2)) << "the places of the last window are forgotten";
}

}  // namespace
TEST(SpinWatch, LetsACompareExchangeSayWhatItExpects) {
  SpinWatch watch;
  watch.start();
  watch.fails(100);
  for (std::uint32_t i = 1; i < SpinWatch::kWindow; ++i) {
    ASSERT_FALSE(watch.reads(1, 2));
    watch.writes(100);
  }
  EXPECT_TRUE(watch.reads(1, 2));
  watch.start();
  watch.writes(104);
  EXPECT_FALSE(watch.is_watching());
}

}  // namespace sooth
