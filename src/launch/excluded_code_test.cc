#include "launch/excluded_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace sooth {
namespace {

TEST(ExcludedCode, PatternsNameFunctionsAsTheFileOrAsPeopleDo) {
  EXPECT_TRUE(names_function("hidden_*", "hidden_lock"));
  EXPECT_TRUE(names_function("hidden_lock", "hidden_lock"));
  EXPECT_TRUE(names_function("hidden_lock", "hidden_lock.cold"));
  EXPECT_TRUE(names_function("_ZN2ns5Queue4pushEi", "_ZN2ns5Queue4pushEi"));
  EXPECT_TRUE(names_function("ns::Queue::push", "_ZN2ns5Queue4pushEi"));
  EXPECT_TRUE(names_function("ns::Queue::push(int)", "_ZN2ns5Queue4pushEi"));
  EXPECT_TRUE(names_function("ns::Queue::push", "_ZN2ns5Queue4pushEi.part.0"));
  EXPECT_TRUE(names_function("ns::*", "_ZN2ns5Queue4pushEi"));
  EXPECT_TRUE(names_function("ns::Queue::operator()", "_ZN2ns5QueueclEv"));
  EXPECT_FALSE(names_function("push", "_ZN2ns5Queue4pushEi"));
  EXPECT_FALSE(names_function("hidden", "hidden_lock"));
}

TEST(ExcludedCode, OnlyPatternsOfFunctionsAreLookedFor) {
  const Result<ExcludedCode> none = find_excluded_code(ProgramInfo{}, {"*/libfoo.so"});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->ranges, "");
  EXPECT_TRUE(none->notes.empty());
}

TEST(ExcludedCode, APatternThatMatchesNothingIsTold) {
  const Result<ProgramInfo> program = inspect_program("/proc/self/exe");
  ASSERT_TRUE(program.ok()) << program.status().message();
  const Result<ExcludedCode> found = find_excluded_code(*program, {"func:no_such_function_anywhere", "func:main"});
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_EQ(found->notes.size(), 1u);
  EXPECT_NE(found->notes.front().find("func:no_such_function_anywhere"), std::string::npos);
  // One module: its line, and one of ranges.
  EXPECT_EQ(std::count(found->ranges.begin(), found->ranges.end(), '\n'), 2);
  EXPECT_NE(found->ranges.find('-'), std::string::npos);
}

}  // namespace
}  // namespace sooth
