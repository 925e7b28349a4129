#include "run/suite_plan.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

SuitePlan sample() {
  return {.options = {"--trials", "3"},
          .environment = {"PATH=/bin"},
          .tests = {{"a", {"./a", "x y"}, "/t", {}}, {"b", {"./b"}, "/t", {"N=1"}}, {"c", {"./c"}, "/u", {}}},
          .schedules = suite_schedules(2, 7)};
}

TEST(SuitePlan, ComesBackFromItsText) {
  const Result<SuitePlan> plan = parse_plan(print_plan(sample()), "plan.json");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(*plan, sample());
}

TEST(SuitePlan, HasBeenEverywhereOnceBeforeAnywhereTwice) {
  const SuitePlan plan = sample();
  ASSERT_EQ(plan.units(), 6u);
  EXPECT_EQ(plan.unit(1).name(), "a (serial, seed 7)");
  EXPECT_EQ(plan.unit(3).name(), "c (serial, seed 7)");
  EXPECT_EQ(plan.unit(4).name(), "a (random, seed 8)");
  EXPECT_EQ(plan.unit(6).name(), "c (random, seed 8)");
}

TEST(SuitePlan, TakesSchedulesInTurn) {
  const std::vector<SuiteSchedule> schedules = suite_schedules(6, 1);
  std::string names;
  for (const SuiteSchedule& each : schedules) {
    names += each.schedule + " ";
  }
  EXPECT_EQ(names, "serial random pct:3 pos surw random ");
  EXPECT_EQ(schedules.back().seed, 6u);
}

TEST(SuitePlan, RefusesWhatIsNoPlan) {
  const auto complaint = [](std::string_view text) { return parse_plan(text, "p").status().message(); };
  EXPECT_EQ(complaint("x"), "p: the document is no JSON");
  EXPECT_NE(complaint("{}").find("schema"), std::string::npos);
  EXPECT_NE(complaint(R"({"schema":"sooth-campaign/9","tests":[],"schedules":[]})").find("sooth-campaign/1"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"schema":"sooth-campaign/1","tests":[],"schedules":[]})").find("no units"),
            std::string::npos);
  EXPECT_NE(complaint(R"({"schema":"sooth-campaign/1","tests":[{"name":"a","words":[],"directory":"/"}],)"
                      R"("schedules":[{"schedule":"os","seed":1}]})")
                .find("tests[0] has no words"),
            std::string::npos);
}

TEST(SuiteEnvironment, HasWhatTestsNeedAndNoSecrets) {
  const std::vector<std::string> current = {"TOKEN=secret", "PATH=/bin", "HOME=/me", "DATA=/d", "PATHS=x"};
  EXPECT_EQ(suite_environment(current, {}), (std::vector<std::string>{"HOME=/me", "PATH=/bin"}));
  EXPECT_EQ(suite_environment(current, {"DATA", "HOME=/you", "MODE=a=b", "UNSET"}),
            (std::vector<std::string>{"DATA=/d", "HOME=/you", "MODE=a=b", "PATH=/bin"}));
}

TEST(SuiteLines, AreCommandsAndShellsWhereNeeded) {
  const auto tests = tests_of_lines("# all of them\n\n ./a 1  2\n./b | ./c\n./a 1 2\n", "/here");
  ASSERT_TRUE(tests.ok());
  ASSERT_EQ(tests->size(), 3u);
  EXPECT_EQ((*tests)[0].words, (std::vector<std::string>{"./a", "1", "2"}));
  EXPECT_EQ((*tests)[1].words, (std::vector<std::string>{"sh", "-c", "./b | ./c"}));
  EXPECT_EQ((*tests)[1].directory, "/here");
  EXPECT_FALSE(tests_of_lines("# none\n", "/").ok());
}

TEST(SuiteLines, HaveNamesOfTheirOwn) {
  const auto tests = tests_of_lines("./a\n./a\n", "/");
  ASSERT_TRUE(tests.ok());
  EXPECT_EQ((*tests)[0].name, "./a");
  EXPECT_EQ((*tests)[1].name, "./a #2");
}

TEST(SuiteCtest, ReadsCommandsFoldersAndEnvironments) {
  const auto tests = tests_of_ctest(R"({"tests":[
    {"name":"one","command":["/b/one","-v"],"properties":[{"name":"WORKING_DIRECTORY","value":"/w"},
                                                          {"name":"ENVIRONMENT","value":["A=1","B=2"]},
                                                          {"name":"TIMEOUT","value":3.0}]},
    {"name":"not built"},
    {"name":"off","command":["/b/off"],"properties":[{"name":"DISABLED","value":true}]},
    {"name":"two","command":["/b/two"]}]})",
                                    "/build");
  ASSERT_TRUE(tests.ok()) << tests.status().message();
  const std::vector<SuiteTest> expected = {{"one", {"/b/one", "-v"}, "/w", {"A=1", "B=2"}},
                                           {"two", {"/b/two"}, "/build", {}}};
  EXPECT_EQ(*tests, expected);
  EXPECT_FALSE(tests_of_ctest("{}", "/").ok());
  EXPECT_FALSE(tests_of_ctest(R"({"tests":[]})", "/").ok());
  EXPECT_FALSE(tests_of_ctest(R"({"tests":[{"name":"x","command":3}]})", "/").ok());
}

TEST(NumberRanges, GoThereAndBack) {
  EXPECT_EQ(number_ranges({}), "");
  EXPECT_EQ(number_ranges({1, 2, 3, 7, 9, 10}), "1-3,7,9-10");
  const auto numbers = parse_ranges("9-10,1-3,7,2", 10);
  ASSERT_TRUE(numbers.ok());
  EXPECT_EQ(*numbers, (std::vector<std::uint64_t>{1, 2, 3, 7, 9, 10}));
  for (const char* wrong : {"", "0", "11", "3-2", "1-", "-1", "1,", "a", "1 2", "1-2-3"}) {
    EXPECT_FALSE(parse_ranges(wrong, 10).ok()) << wrong;
  }
}

}  // namespace
}  // namespace sooth
