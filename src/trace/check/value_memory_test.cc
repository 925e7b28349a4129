#include "trace/check/value_memory.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

namespace sooth {
namespace {

TEST(ValueMemoryTest, HugeBlocksAreForgottenAtOnce) {
  ValueMemory memory;
  memory.write(0x1000, 8, {5, 0, 8});
  memory.write(std::uint64_t{1} << 40, 8, {6, 0, 8});
  memory.forget(0x1004, std::uint64_t{1} << 39);
  EXPECT_EQ(memory.conflict(0x1000, {4, 0, 4})->low, 5u);
  EXPECT_FALSE(memory.conflict(0x1004, {4, 0, 4}).has_value());
  EXPECT_TRUE(memory.conflict(std::uint64_t{1} << 40, {5, 0, 8}).has_value());
  memory.forget(0, std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(memory.conflict(std::uint64_t{1} << 40, {5, 0, 8}).has_value());
}

TEST(ValueMemoryTest, ValuesPrintAsNumbers) {
  EXPECT_EQ(to_string(Value{0, 0, 8}), "0x0");
  EXPECT_EQ(to_string(Value{0x2a, 0, 1}), "0x2a");
  EXPECT_EQ(to_string(Value{0x0f, 0x1, 16}), "0x1000000000000000f");
}

// Against one map entry per byte, on ranges that straddle pages.
TEST(ValueMemoryTest, AgreesWithAMapOfBytes) {
  std::mt19937_64 random(1);
  ValueMemory memory;
  std::map<std::uint64_t, std::uint8_t> bytes;
  int conflicts = 0;
  for (int step = 0; step < 100'000; ++step) {
    const std::uint64_t begin = 4096 - 40 + random() % 80;
    const std::uint64_t length = 1 + random() % 24;
    const auto size = static_cast<std::uint8_t>(random() % (std::min<std::uint64_t>(length, 16) + 1));
    const Value value{random() & 0x0101010101010101, random() & 0x0101010101010101, size};
    const auto byte = [&](unsigned i) {
      return static_cast<std::uint8_t>((i < 8 ? value.low : value.high) >> (8 * (i % 8)));
    };
    switch (random() % 3) {
      case 0:
        memory.write(begin, length, value);
        for (unsigned i = 0; i < length; ++i) {
          bytes.erase(begin + i);
          if (i < size) {
            bytes[begin + i] = byte(i);
          }
        }
        break;
      case 1:
        memory.forget(begin, length);
        bytes.erase(bytes.lower_bound(begin), bytes.lower_bound(begin + length));
        break;
      default: {
        bool agrees = true;
        for (unsigned i = 0; i < size; ++i) {
          const auto it = bytes.find(begin + i);
          agrees = agrees && (it == bytes.end() || it->second == byte(i));
        }
        ASSERT_EQ(!memory.conflict(begin, value).has_value(), agrees);
        conflicts += agrees ? 0 : 1;
      }
    }
  }
  EXPECT_GT(conflicts, 1000);
}

}  // namespace
}  // namespace sooth
