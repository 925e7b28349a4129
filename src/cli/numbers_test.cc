#include "cli/numbers.h"

#include <gtest/gtest.h>

#include <limits>

namespace sooth {
namespace {

TEST(NumbersTest, CountsHaveSuffixes) {
  struct Case {
    const char* text;
    std::uint64_t count;
  };
  const Case good[] = {{"0", 0},
                       {"1500", 1500},
                       {"10k", 10'000},
                       {"10K", 10'000},
                       {"10M", 10'000'000},
                       {"2.5M", 2'500'000},
                       {"1.25k", 1'250},
                       {"3G", 3'000'000'000},
                       {"0.001k", 1},
                       {"18446744073709551615", std::numeric_limits<std::uint64_t>::max()}};
  for (const Case& c : good) {
    const Result<std::uint64_t> count = parse_count(c.text);
    ASSERT_TRUE(count.ok()) << c.text;
    EXPECT_EQ(*count, c.count) << c.text;
  }
  for (const char* bad : {"", "k", "M", "-1", "+1", "1.5", "1.", "1.k", ".5k", "1..5k", "1.2345k", "1x", "1e6", "0x10",
                          " 1", "1 ", "18446744073709551616", "99999999999999999999G", "20000000000G"}) {
    const Result<std::uint64_t> count = parse_count(bad);
    ASSERT_FALSE(count.ok()) << bad;
    EXPECT_EQ(count.status().code(), ExitCode::kUsage);
  }
  EXPECT_EQ(parse_count("many").status().message(),
            "\"many\" is not a count: write digits and perhaps k, M or G, like 10M");
}

TEST(NumbersTest, ShortFormsAreShort) {
  EXPECT_EQ(short_count(0), "0");
  EXPECT_EQ(short_count(999), "999");
  EXPECT_EQ(short_count(1000), "1.0k");
  EXPECT_EQ(short_count(12'345), "12.3k");
  EXPECT_EQ(short_count(999'999), "1.0M");
  EXPECT_EQ(short_count(31e6), "31.0M");
  EXPECT_EQ(short_count(2.5e9), "2.5G");
  EXPECT_EQ(short_duration(0.2), "0 s");
  EXPECT_EQ(short_duration(59.4), "59 s");
  EXPECT_EQ(short_duration(59.6), "1 min 0 s");
  EXPECT_EQ(short_duration(125), "2 min 5 s");
  EXPECT_EQ(short_duration(3780), "1 h 3 min");
}

TEST(Durations, AreReadWithTheirUnits) {
  const std::pair<const char*, int> cases[] = {{"30", 30'000},    {"30s", 30'000},   {"500ms", 500}, {"1.5m", 90'000},
                                               {"2min", 120'000}, {"2h", 7'200'000}, {"0", 0},       {"0.25", 250}};
  for (const auto& [text, milliseconds] : cases) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(parsed->count(), milliseconds) << text;
  }
  for (const char* text : {"", "s", "-1", "1d", "1 s", "1.2.3", "9999999999h", "1e3"}) {
    EXPECT_FALSE(parse_duration(text).ok()) << text;
  }
}

}  // namespace
}  // namespace sooth
