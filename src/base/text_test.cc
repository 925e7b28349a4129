#include "base/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace sooth {
namespace {

TEST(TextTest, HexadecimalNumbers) {
  EXPECT_EQ(hex_digits(0), "0");
  EXPECT_EQ(hex_digits(0x1f, 4), "001f");
  EXPECT_EQ(hex_digits(0x12345, 4), "12345");
  EXPECT_EQ(hex_digits(std::numeric_limits<std::uint64_t>::max(), 16), "ffffffffffffffff");
  EXPECT_EQ(hexadecimal(0x1f), "0x1f");
}

TEST(TextTest, CountedThings) {
  EXPECT_EQ(counted(0, "race", "races"), "0 races");
  EXPECT_EQ(counted(1, "race", "races"), "1 race");
  EXPECT_EQ(counted(2, "race", "races"), "2 races");
}

TEST(TextTest, NamesOfFiles) {
  EXPECT_EQ(file_name("/usr/bin/sooth"), "sooth");
  EXPECT_EQ(file_name("sooth"), "sooth");
  EXPECT_EQ(file_name("bin/"), "");
}

}  // namespace
}  // namespace sooth
