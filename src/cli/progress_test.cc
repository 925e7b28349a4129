#include "cli/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace sooth {
namespace {

class ProgressTest : public ::testing::Test {
 protected:
  Progress::Screen screen() {
    return {&out_, [this] { return now_; }};
  }
  // What was printed since the last call.
  std::string printed() {
    std::string text = out_.str();
    out_.str("");
    return text;
  }

  std::ostringstream out_;
  double now_ = 100;
};

TEST_F(ProgressTest, AppearsAfterASecondAndClearsItsLine) {
  {
    Progress progress("analyzing", screen());
    now_ = 100.9;
    progress.update(1'000'000, 10, 100);
    EXPECT_EQ(printed(), "");
    now_ = 102;
    progress.update(62'000'000, 45, 100);
    EXPECT_EQ(printed(), "\ranalyzing 45% 62.0M events, 31.0M events/s, 2 s left\x1b[K");
  }
  EXPECT_EQ(printed(), "\r\x1b[K");
}

TEST_F(ProgressTest, RedrawsAtMostTenTimesASecond) {
  Progress progress("checking", screen());
  int drawn = 0;
  for (int i = 0; i < 10'000; ++i) {
    now_ = 101 + i / 10'000.0;
    progress.update(1, 1, 2);
    drawn += printed().empty() ? 0 : 1;
  }
  EXPECT_GE(drawn, 9);
  EXPECT_LE(drawn, 10);
}

TEST_F(ProgressTest, UnknownWholeHasNoShare) {
  Progress progress("reading", screen());
  now_ = 102;
  progress.update(4'000, 0, 0);
  EXPECT_EQ(printed(), "\rreading 4.0k events, 2.0k events/s\x1b[K");
}

TEST_F(ProgressTest, NothingDoneYetHasNoTimeLeft) {
  Progress progress("reading", screen());
  now_ = 102;
  progress.update(0, 0, 100);
  EXPECT_EQ(printed(), "\rreading 0% 0 events, 0 events/s\x1b[K");
}

TEST_F(ProgressTest, ShortWorkPrintsNothing) {
  {
    Progress progress("checking", screen());
    now_ = 100.5;
    progress.update(1, 1, 1);
  }
  EXPECT_EQ(printed(), "");
}

TEST_F(ProgressTest, InAPipeNothingHappens) {
  Progress progress("checking", Progress::none());
  progress.update(1, 1, 1);
  progress.clear();
}

TEST_F(ProgressTest, ClearedLineComesBack) {
  Progress progress("checking", screen());
  now_ = 102;
  progress.update(2, 1, 2);
  printed();
  progress.clear();
  EXPECT_EQ(printed(), "\r\x1b[K");
  progress.clear();
  EXPECT_EQ(printed(), "");
  now_ = 104;
  progress.update(4, 2, 2);
  EXPECT_EQ(printed(), "\rchecking 100% 4 events, 1 events/s, 0 s left\x1b[K");
}

}  // namespace
}  // namespace sooth
