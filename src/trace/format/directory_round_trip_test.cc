// What is written into a trace directory comes back, whatever it is and however it was cut into batches.
#include <gtest/gtest.h>

#include <iostream>

#include "trace/format/directory_testing.h"
#include "trace/format/format.h"
#include "trace/tools/copy.h"

namespace sooth {
namespace {

void expect_round_trip(const WholeTrace& trace, const std::string& path, std::uint64_t seed, std::size_t most) {
  const Status written = write_directory(trace, path, seed, most);
  ASSERT_TRUE(written.ok()) << written.message();
  const auto read = read_directory(path);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(difference(trace, *read, kAllColumns), "") << "seed " << seed;
}

std::size_t count_segments(const std::string& path) {
  const auto blocks = read_blocks(path + "/events");
  return static_cast<std::size_t>(
      std::count_if(blocks.begin(), blocks.end(), [](const auto& b) { return b.kind == format::BlockKind::kEvents; }));
}

TEST(DirectoryRoundTrip, SmallRandomTraces) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 3000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const TemporaryDirectory directory;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    RandomDirectoryTrace random(seed);
    const WholeTrace trace = random.trace(random.small_shape());
    const std::string path = directory / std::to_string(seed);
    ASSERT_NO_FATAL_FAILURE(expect_round_trip(trace, path, seed, 1 + random.below(70)));
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    const auto columns = static_cast<ColumnSet>(random.below(16));
    const auto part = read_directory(path, columns);
    ASSERT_TRUE(part.ok());
    ASSERT_EQ(difference(trace, *part, columns), "") << "seed " << seed << ", columns " << int{columns};
    std::filesystem::remove_all(path);
  }
}

TEST(DirectoryRoundTrip, EverySetOfColumnsIsReadAlone) {
  RandomDirectoryTrace random(7);
  WholeTrace trace;
  do {
    trace = random.trace({.events = 3000, .threads = 9, .sites = 40, .stacks = 60, .names = 10, .many_objects = true});
  } while (trace.info.columns != kAllColumns);
  const TemporaryDirectory directory;
  ASSERT_TRUE(write_directory(trace, directory / "t").ok());
  for (unsigned columns = 0; columns <= kAllColumns; ++columns) {
    const auto read = read_directory(directory / "t", static_cast<ColumnSet>(columns));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(difference(trace, *read, static_cast<ColumnSet>(columns)), "") << "columns " << columns;
  }
}

TEST(DirectoryRoundTrip, EventsFillSeveralSegments) {
  const TemporaryDirectory directory;
  RandomDirectoryTrace random(11);
  // Shapes are (site, size, op, order, flags): few sites and one in ten sizes still give a cut by shapes; so both cuts.
  const WholeTrace trace = random.trace({.events = 200'000, .threads = 16, .sites = 3, .many_objects = true});
  expect_round_trip(trace, directory / "t", 1, 5000);
  EXPECT_GE(count_segments(directory / "t"), 200'000 / format::kMaxSegmentEvents);
}

TEST(DirectoryRoundTrip, ShapesCutASegmentEarly) {
  const TemporaryDirectory directory;
  RandomDirectoryTrace random(12);
  const WholeTrace trace = random.trace({.events = 20'000, .threads = 4, .sites = 100'000});
  expect_round_trip(trace, directory / "t", 1, 3000);
  EXPECT_GE(count_segments(directory / "t"), 3u) << "each has at most " << format::kMaxShapes << " shapes";
}

TEST(DirectoryRoundTrip, TenThousandThreads) {
  const TemporaryDirectory directory;
  RandomDirectoryTrace random(13);
  const WholeTrace trace = random.trace({.events = 100'000, .threads = 10'000, .sites = 2});
  expect_round_trip(trace, directory / "t", 1, 4096);
}

TEST(DirectoryRoundTrip, ASegmentFullToTheLastEvent) {
  for (const std::size_t events :
       {format::kMaxSegmentEvents - 1, format::kMaxSegmentEvents, format::kMaxSegmentEvents + 1}) {
    const TemporaryDirectory directory;
    WholeTrace trace;
    trace.info.columns = kBranches;
    trace.info.events = events;
    trace.tables.add_thread("T0");
    trace.tables.add_site({});
    trace.events.resize(events);
    for (Event& event : trace.events) {
      event.size = 1;
    }
    for (const std::size_t before : {std::size_t{0}, events - 1, events, events}) {
      trace.branches.push_back({EventId{before}, {}, {}, 1});
    }
    expect_round_trip(trace, directory / "t", 1, 70'000);
    EXPECT_EQ(count_segments(directory / "t"), events > format::kMaxSegmentEvents ? 2u : 1u);
  }
}

TEST(DirectoryRoundTrip, BranchesCutASegmentToo) {
  const TemporaryDirectory directory;
  WholeTrace trace;
  trace.info.columns = kBranches;
  trace.info.events = 10;
  trace.tables.add_thread("T0");
  trace.tables.add_site({});
  trace.events.resize(10, Event{.size = 1});
  for (std::uint64_t i = 0; i < 2'000'000; ++i) {
    trace.branches.push_back({EventId{i / 200'000}, {}, {}, ~i});
  }
  expect_round_trip(trace, directory / "t", 1, 100);
  EXPECT_GE(count_segments(directory / "t"), 4u);
}

TEST(DirectoryRoundTrip, ColumnsThatAreNotAnnouncedAreNotWritten) {
  RandomDirectoryTrace random(14);
  WholeTrace trace;
  do {
    trace = random.trace({.events = 100});
  } while (trace.info.columns != kAllColumns);
  trace.info.columns = kNoColumns;
  const TemporaryDirectory directory;
  ASSERT_TRUE(write_directory(trace, directory / "t").ok());
  for (const PlainBlock& block : read_blocks(directory / "t/events")) {
    EXPECT_TRUE(block.kind == format::BlockKind::kNames || block.kind == format::BlockKind::kEvents);
  }
}

TEST(DirectoryRoundTrip, ABatchOutOfOrderIsRefused) {
  const TemporaryDirectory directory;
  auto writer = create_trace_directory(directory / "t", {});
  ASSERT_TRUE(writer.ok());
  const Event event;
  const Status status = (*writer)->append({EventId{1}, {&event, 1}, {}, {}, {}, {}});
  EXPECT_EQ(status.code(), ExitCode::kInternal);
}

TEST(DirectoryRoundTrip, NothingIsOverwritten) {
  const TemporaryDirectory directory;
  const auto writer = create_trace_directory(directory.path(), {});
  EXPECT_EQ(writer.status().code(), ExitCode::kBadInput);
  EXPECT_EQ(writer.status().message(), directory.path() + ": already exists");
}

// --- between the two formats ---

Status convert(const std::string& from, const std::string& to, TraceFormat format) {
  auto reader = open_trace(from, {kAllColumns});
  if (!reader.ok()) {
    return reader.status();
  }
  auto writer = create_trace(to, format, (*reader)->info());
  if (!writer.ok()) {
    return writer.status();
  }
  SOOTH_RETURN_IF_ERROR(copy_trace(**reader, **writer));
  return (*writer)->finish();
}

// Everything that text can say, in the form in which the writer writes it.
const char kText[] =
    "# sooth: exact=no filtered=tree:hb columns=values,branches,reaches program=./server -p 80\n"
    "T0|fork(T1)|a.c:1\n"
    "T1|begin()|a.c:20\n"
    "T0|enter(main)|a.c:2\n"
    "T0|acq(L)|a.c:3\n"
    "T0|branch|a.c:4|=1\n"
    "T0|w(x)|a.c:5|=7\n"
    "T0|w(0x7ffd10:16)|a.c:6|=0x112233445566778899aabbccddeeff\n"
    "T0|rel(L)|a.c:7\n"
    "T1|racq(M)|a.c:21\n"
    "T1|rrel(M)|a.c:22\n"
    "T1|astore.release(f)|a.c:23\n"
    "T0|aload.acquire(f)|a.c:8\n"
    "T0|armw.acq_rel(f)|a.c:9\n"
    "T0|fence.seq_cst()|a.c:10\n"
    "T0|notify(s)|a.c:11\n"
    "T1|wait(s)|a.c:24\n"
    "T0|arrive(b)|a.c:12\n"
    "T1|arrive(b)|a.c:25\n"
    "T0|leave(b)|a.c:13\n"
    "T1|leave(b)|a.c:26\n"
    "T0|post(q)|a.c:14\n"
    "T1|sem_wait(q)|a.c:27\n"
    "T0|alloc(0x1000:64)|a.c:15\n"
    "T0|free(0x1000:64)|a.c:16\n"
    "T0|hb(m)|a.c:17\n"
    "T1|ha(m)|a.c:28\n"
    "T0|callbegin(c)|a.c:18|=0x1000:64,0x2000:8\n"
    "T0|callend(c)|a.c:18\n"
    "T1|end()|a.c:29\n"
    "T0|join(T1)|a.c:19\n"
    "T0|exit(main)|a.c:19\n"
    "T0|branch|a.c:19\n";

TEST(DirectoryAndText, TextComesBackByteForByte) {
  const TemporaryDirectory directory;
  fill_file(directory / "a.std", kText);
  Status status = convert(directory / "a.std", directory / "t", TraceFormat::kDirectory);
  ASSERT_TRUE(status.ok()) << status.message();
  status = convert(directory / "t", directory / "b.std", TraceFormat::kStd);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(file_content(directory / "b.std"), kText);
}

TEST(DirectoryAndText, TheDirectoryComesBackWithAllThatTextSays) {
  const TemporaryDirectory directory;
  fill_file(directory / "a.std", kText);
  ASSERT_TRUE(convert(directory / "a.std", directory / "t", TraceFormat::kDirectory).ok());
  ASSERT_TRUE(convert(directory / "t", directory / "b.std", TraceFormat::kStd).ok());
  ASSERT_TRUE(convert(directory / "b.std", directory / "u", TraceFormat::kDirectory).ok());
  EXPECT_EQ(file_content(directory / "t/events"), file_content(directory / "u/events"));
  EXPECT_EQ(file_content(directory / "t/version"), file_content(directory / "u/version"));
}

}  // namespace
}  // namespace sooth
