#include "trace/format/small_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

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

TEST(SmallFileTest, RefusesWhatHasNoEnd) {
  const std::string path = path_of("endless");
  const auto refused = [&](const char* why, std::uint64_t most) {
    const Result<std::string> read = read_required_file(path, most);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.status().code(), ExitCode::kBadInput);
    EXPECT_NE(read.status().message().find(why), std::string::npos) << read.status().message();
  };
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/dev/zero", path);
  refused("it is no regular file", kMostSmallBytes);
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  refused("it is no regular file", kMostSmallBytes);
  std::filesystem::remove(path);
  ASSERT_TRUE(write_small_file(path, "12345678").ok());
  refused("it has more than 7 bytes", 7);
  EXPECT_EQ(read_required_file(path, 8).value(), "12345678");
  std::filesystem::resize_file(path, std::uint64_t{1} << 40);  // takes no room on the disk
  refused("it has more than", kMostSmallBytes);
  std::filesystem::remove(path);
}

TEST(SmallFileTest, FilesAreForTheirOwner) {
  const std::string path = path_of("private");
  std::filesystem::remove(path);
  const mode_t mask = ::umask(0);
  ASSERT_TRUE(replace_small_file(path, "secret").ok());
  ::umask(mask);
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0600));
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
