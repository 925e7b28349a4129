#include "launch/reaching_out.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sooth {
namespace {

TEST(ReachingOutTest, NamesWhatOverlappingRunsCouldShare) {
  // This program: gtest opens files.
  const std::vector<std::string> calls = calls_that_reach_out("/proc/self/exe");
  EXPECT_NE(std::find(calls.begin(), calls.end(), "fopen"), calls.end());
  EXPECT_EQ(std::find(calls.begin(), calls.end(), "bind"), calls.end());
  EXPECT_TRUE(std::is_sorted(calls.begin(), calls.end()));
}

TEST(ReachingOutTest, WhatCannotBeLookedIntoMayDoAnything) {
  EXPECT_EQ(calls_that_reach_out("/no/such/program"), std::vector<std::string>{"other programs"});
}

}  // namespace
}  // namespace sooth
