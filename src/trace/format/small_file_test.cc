#include "trace/format/small_file.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace sooth {
namespace {

std::string path_of(const std::string& name) { return testing::TempDir() + "small_file_test_" + name; }

TEST(SmallFileTest, TellsAMissingFileFromAnEmptyOne) {
  const std::string path = path_of("empty");
  std::filesystem::remove(path);
  EXPECT_EQ(read_small_file(path).value(), std::nullopt);
  EXPECT_FALSE(read_required_file(path).ok());
  ASSERT_TRUE(write_small_file(path, "").ok());
  EXPECT_EQ(read_small_file(path).value(), "");
  EXPECT_EQ(read_required_file(path).value(), "");
}

TEST(SmallFileTest, SealsWithTheFirstBytesAndCutsWhatIsBehind) {
  const std::string path = path_of("sealed");
  const std::string body(100'000, 'b');
  ASSERT_TRUE(write_small_file(path, "...." + body + "rest").ok());
  ASSERT_TRUE(seal_file(path, "seal" + body, 4).ok());
  EXPECT_EQ(read_required_file(path).value(), "seal" + body);
  // What was too short for a seal has room for one.
  ASSERT_TRUE(write_small_file(path, "").ok());
  ASSERT_TRUE(seal_file(path, "seal", 4).ok());
  EXPECT_EQ(read_required_file(path).value(), "seal");
  EXPECT_FALSE(seal_file(path_of("missing/file"), "seal", 4).ok());
}

}  // namespace
}  // namespace sooth
