#include "trace/recording/end_file.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

TEST(EndFile, TellsOfADeadlock) {
  const std::optional<RecordedEnd> end = parse_end(
      "deadlock\n"
      "thread 1 1 2 4096 7 8 9\n"
      "thread 2 4 - 0\n");
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->signal, 0u);
  ASSERT_EQ(end->threads.size(), 2u);
  EXPECT_EQ(end->threads[0].thread, 1u);
  EXPECT_EQ(end->threads[0].waits_for, 1u);
  EXPECT_EQ(end->threads[0].holder, 2u);
  EXPECT_EQ(end->threads[0].object, 4096u);
  EXPECT_EQ(end->threads[0].rows, (std::vector<std::uint32_t>{7, 8, 9}));
  EXPECT_EQ(end->threads[1].holder, std::nullopt);
  EXPECT_TRUE(end->threads[1].rows.empty());
}

TEST(EndFile, TellsOfACrashAndWhatItSaid) {
  const std::optional<RecordedEnd> end = parse_end(
      "message a.cc:3: int main(): Assertion `x == 1' failed.\n"
      "crash 6\n"
      "delay 70\n"
      "thread 3 0 - 0 5\n");
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->signal, 6u);
  EXPECT_EQ(end->message, "a.cc:3: int main(): Assertion `x == 1' failed.");
  EXPECT_EQ(end->delay, 70u);
  EXPECT_EQ(end->threads.size(), 1u);
}

TEST(EndFile, TakesAnyBytes) {
  EXPECT_EQ(parse_end(""), std::nullopt);
  EXPECT_EQ(parse_end("message alone\n"), std::nullopt) << "an assertion whose process went on, as in a forked child";
  EXPECT_EQ(parse_end("crash x\nthread 1 1 - 0\n"), std::nullopt);
  EXPECT_EQ(parse_end("deadlock"), std::nullopt) << "the line is not whole";
  constexpr char kText[] =
      "deadlock\nthread\nthread 1\nthread x y z\n\0\nthread 1 1 99999999999 0\nthread 4 1 - 0 3 x 4\n";
  const std::optional<RecordedEnd> end = parse_end(std::string_view(kText, sizeof kText - 1));
  ASSERT_TRUE(end.has_value());
  ASSERT_EQ(end->threads.size(), 1u);
  EXPECT_EQ(end->threads[0].rows, std::vector<std::uint32_t>{3});
}

}  // namespace
}  // namespace sooth
