// FORMAT.md shows a trace byte by byte. This test writes that trace and compares.
#include <gtest/gtest.h>

#include "trace/format/directory_testing.h"
#include "trace/format/document_testing.h"
#include "trace/text/std_text.h"
#include "trace/tools/copy.h"

namespace sooth {
namespace {

// The bytes of a file as the example has them: payloads decompressed, and what depends on the compressor as dots.
std::string bytes_to_show(const std::string& path) {
  const std::string file = file_content(path);
  std::string all;
  for (const PlainBlock& block : read_blocks(path)) {
    std::string header = hex_bytes(file.data() + block.offset, sizeof(format::BlockHeader));
    if (file[block.offset + offsetof(format::BlockHeader, codec)] != 0) {
      for (std::size_t i = 0; i < sizeof(format::BlockHeader); ++i) {
        const bool shown = i < offsetof(format::BlockHeader, stored) ||
                           (i >= offsetof(format::BlockHeader, raw) && i < format::kHeaderCheckOffset);
        header.replace(3 * i, shown ? 0 : 2, shown ? "" : "..");
      }
    }
    all += header + hex_bytes(block.payload.data(), block.payload.size());
  }
  return all;
}

TEST(FormatDocument, ShowsTheBytesThatAreWritten) {
  const TemporaryDirectory directory;
  auto reader = read_std_text(document_example("format/FORMAT.md", "text"), "FORMAT.md", {kAllColumns});
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  auto writer = create_trace_directory(directory / "t", (*reader)->info());
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(copy_trace(**reader, **writer).ok());
  EXPECT_EQ(file_content(directory / "t/incomplete"), document_example("format/FORMAT.md", "incomplete"));
  ASSERT_TRUE((*writer)->finish().ok());

  EXPECT_EQ(bytes_to_show(directory / "t/events"), document_bytes("format/FORMAT.md", "events"));
  const std::string version = file_content(directory / "t/version");
  const std::string totals =
      "events 3\nbytes " + std::to_string(file_content(directory / "t/events").size()) + "\ncheck ";
  EXPECT_NE(version.find(totals), std::string::npos) << version;
}

}  // namespace
}  // namespace sooth
