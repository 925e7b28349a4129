// STREAMS.md shows the chunks of a recording byte by byte. This test writes and reads them.
#include <gtest/gtest.h>

#include "trace/format/document_testing.h"
#include "trace/recording/recording_testing.h"
#include "trace/text/std_text.h"
#include "trace/tools/copy.h"

namespace sooth {
namespace {

Event shape(Op op, std::uint32_t size, std::uint32_t site) {
  Event event{};
  event.op = op;
  event.size = size;
  event.site = SiteId{site};
  return event;
}

// An event of a serial recording: none but turns is ticketed.
void put(TestStream& stream, std::uint32_t slot, Event event, std::uint64_t object, Value value = {}) {
  event.object = object;
  stream.event(slot, event, 0, nullptr, value);
}

TestRecording example_recording() {
  TestRecording recording(stream::kExactOrder | stream::kWithValues, 5);
  recording.control.next_ticket = 2;
  const Event begin = shape(Op::kBegin, 0, 0), write = shape(Op::kWrite, 4, 2), fork = shape(Op::kFork, 0, 3);
  TestStream first = recording.stream(0);
  first.ticket(0, stream::Record::kTurn);
  first.thread(0);
  first.define(1, begin, 0);
  put(first, 1, begin, 0);
  first.stack(0, {1});
  first.define(2, write, 0);
  put(first, 2, write, 0x1000, {7, 0, 4});
  put(first, 2, write, 0x1004, {7, 0, 4});
  put(first, 2, write, 0x1008, {8, 0, 4});
  first.define(3, fork, 0);
  put(first, 3, fork, 1);
  first.publish();
  const Event begin_there = shape(Op::kBegin, 0, 3), read = shape(Op::kRead, 4, 4);
  TestStream second = recording.stream(1);
  second.ticket(1, stream::Record::kTurn);
  second.thread(1);
  second.define(1, begin_there, 0);
  put(second, 1, begin_there, 0);
  second.name(ObjectKind::kThread, 1, "worker");
  second.define(2, read, 0);
  put(second, 2, read, 0x1008, {8, 0, 4});
  second.publish();
  return recording;
}

// A chunk up to the control word of 0 that ends it.
std::string bytes_to_show(const std::uint8_t* chunk) {
  std::uint32_t committed = 0;
  std::memcpy(&committed, chunk + offsetof(stream::ChunkHeader, committed), sizeof committed);
  return hex_bytes(chunk, committed + 2);
}

TEST(StreamsDocument, ShowsTheBytesThatAreWritten) {
  const TestRecording recording = example_recording();
  ASSERT_EQ(recording.chunks.size(), 2u);
  EXPECT_EQ(bytes_to_show(recording.chunks[0].get()), document_bytes("recording/STREAMS.md", "stream 0"));
  EXPECT_EQ(bytes_to_show(recording.chunks[1].get()), document_bytes("recording/STREAMS.md", "stream 1"));
}

TEST(StreamsDocument, ShowsTheTraceThatIsReadFromThem) {
  const TemporaryDirectory directory;
  example_recording().write(directory / "recording");
  auto reader = open_recording(directory / "recording", {kAllColumns});
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  auto writer = create_std_trace(directory / "text", (*reader)->info());
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  ASSERT_TRUE(copy_trace(**reader, **writer).ok());
  ASSERT_TRUE((*writer)->finish().ok());
  EXPECT_EQ(file_content(directory / "text"), document_example("recording/STREAMS.md", "text"));
}

}  // namespace
}  // namespace sooth
