#include "confirm/output_mask.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

using Lines = std::vector<std::string>;

TEST(OutputMask, TheOrderOfLinesDoesNotCount) {
  const OutputMask mask;
  EXPECT_EQ(mask.apply("two\none\n"), mask.apply("one\ntwo\n"));
  EXPECT_NE(mask.apply("one\none\n"), mask.apply("one\n"));
  EXPECT_TRUE(mask.apply("").empty());
}

TEST(OutputMask, LearnsWhatVariesInOneSchedule) {
  OutputMask mask;
  EXPECT_TRUE(mask.learn("took 12 ms\nbalance: 100\n", "took 17 ms\nbalance: 100\n"));
  EXPECT_EQ(mask.apply("balance: 50\ntook 99 ms\n"), (Lines{"balance: 50", "took * ms"}));
  EXPECT_EQ(mask.apply("took 99 s\n"), (Lines{"took 99 s"})) << "another line";
  EXPECT_FALSE(mask.learn("one\n", "one\ntwo\n"));
  EXPECT_FALSE(mask.learn("one two\n", "one\n"));
}

TEST(OutputMask, TakesPatterns) {
  const Result<OutputMask> mask = OutputMask::of({"0x[0-9a-f]+", "pid \\d+"});
  ASSERT_TRUE(mask.ok());
  EXPECT_EQ(mask->apply("at 0x7f01 pid 77\n"), (Lines{"at * *"}));
  const Result<OutputMask> none = OutputMask::of({"("});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.status().message().find("\"(\" is no regular expression"), std::string::npos);
}

TEST(DifferenceOf, NamesTheLines) {
  EXPECT_EQ(difference_of({"a", "balance: 50"}, {"a", "balance: 100"}),
            "printed \"balance: 50\" instead of \"balance: 100\"");
  EXPECT_EQ(difference_of({"a"}, {"a", "b"}), "did not print \"b\"");
  EXPECT_EQ(difference_of({"a", "b"}, {"a"}), "printed \"b\"");
  EXPECT_EQ(difference_of({"1", "2", "3", "4"}, {}), "printed \"1\", \"2\", \"3\", ...");
}

}  // namespace
}  // namespace sooth
