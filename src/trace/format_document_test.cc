// FORMAT.md shows a trace byte by byte. This test writes that trace and compares.
#include <gtest/gtest.h>

#include <sstream>

#include "trace/copy.h"
#include "trace/directory_testing.h"
#include "trace/std_text.h"

namespace sooth {
namespace {

// The text between the fences behind `<!-- example: NAME -->`.
std::string example(const std::string& name) {
  const std::string document = file_content(std::string(SOOTH_SOURCE_DIR) + "/src/trace/FORMAT.md");
  const std::string marker = "<!-- example: " + name + " -->\n```\n";
  const std::size_t begin = document.find(marker);
  EXPECT_NE(begin, std::string::npos) << "FORMAT.md has no example `" << name << "`";
  if (begin == std::string::npos) {
    return "";
  }
  const std::size_t text = begin + marker.size();
  return document.substr(text, document.find("```\n", text) - text);
}

std::string hex(const void* bytes, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    char two[4];
    std::snprintf(two, sizeof two, "%02x ", static_cast<const unsigned char*>(bytes)[i]);
    text += two;
  }
  return text;
}

// The bytes of the example: two digits each, up to the `;` of every line.
std::string example_bytes() {
  std::istringstream lines(example("events"));
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find(';')));
    for (std::string word; words >> word;) {
      all += word + " ";
    }
  }
  return all;
}

// The same for a file: payloads decompressed, and what depends on the compressor as dots.
std::string bytes_to_show(const std::string& path) {
  const std::string file = file_content(path);
  std::string all;
  for (const PlainBlock& block : read_blocks(path)) {
    std::string header = hex(file.data() + block.offset, sizeof(format::BlockHeader));
    if (file[block.offset + offsetof(format::BlockHeader, codec)] != 0) {
      for (std::size_t i = 0; i < sizeof(format::BlockHeader); ++i) {
        const bool shown = i < offsetof(format::BlockHeader, stored) ||
                           (i >= offsetof(format::BlockHeader, raw) && i < format::kHeaderCheckOffset);
        header.replace(3 * i, shown ? 0 : 2, shown ? "" : "..");
      }
    }
    all += header + hex(block.payload.data(), block.payload.size());
  }
  return all;
}

TEST(FormatDocument, ShowsTheBytesThatAreWritten) {
  const TemporaryDirectory directory;
  auto reader = read_std_text(example("text"), "FORMAT.md", {kAllColumns});
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  auto writer = create_trace_directory(directory / "t", (*reader)->info());
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(copy_trace(**reader, **writer).ok());
  EXPECT_EQ(file_content(directory / "t/incomplete"), example("incomplete"));
  ASSERT_TRUE((*writer)->finish().ok());

  EXPECT_EQ(bytes_to_show(directory / "t/events"), example_bytes());
  const std::string version = file_content(directory / "t/version");
  const std::string totals = "events 3\nbytes " + std::to_string(file_content(directory / "t/events").size()) + "\ncheck ";
  EXPECT_NE(version.find(totals), std::string::npos) << version;
}

}  // namespace
}  // namespace sooth
