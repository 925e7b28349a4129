// Bytes that are not what was written: always an error with a sentence, or the trace as it was written; never a crash,
// and a shorter trace only where the writer of an incomplete one was cut off.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <functional>
#include <random>

#include "trace/format/directory_testing.h"
#include "trace/format/format.h"
#include "trace/format/stage_file.h"

namespace sooth {
namespace {

// A trace in a directory of its own, whole, with the bytes to damage.
class DamageTest : public ::testing::Test {
 protected:
  void write(const WholeTrace& trace) {
    std::filesystem::remove_all(path_);
    trace_ = trace;
    const Status status = write_directory(trace, path_, 1, 20);
    ASSERT_TRUE(status.ok()) << status.message();
    events_ = file_content(path_ + "/events");
    version_ = file_content(path_ + "/version");
  }
  // The same events in the stage that a killed writer leaves.
  void make_incomplete() {
    std::filesystem::remove(path_ + "/version");
    ASSERT_TRUE(write_incomplete(path_, trace_.info).ok());
    trace_.info.incomplete = true;
    trace_.info.events = 0;
  }

  // An error as it should be, or the trace as it was written.
  void expect_error_or_equal(const std::string& what) {
    const auto read = read_directory(path_);
    if (read.ok()) {
      ASSERT_EQ(difference(trace_, *read, kAllColumns), "") << what;
    } else {
      expect_error(read.status(), what);
    }
  }
  void expect_error(const Status& status, const std::string& what) {
    ASSERT_EQ(status.code(), ExitCode::kBadInput) << what << ": " << status.message();
    ASSERT_TRUE(status.message().starts_with(path_)) << what << ": " << status.message();
    ASSERT_EQ(status.message().find('\n'), std::string::npos) << what << ": " << status.message();
  }
  // Cuts the events at a byte: the trace must be that of the segments in front of it, exactly.
  void expect_prefix_at(std::size_t cut, const std::vector<PlainBlock>& blocks) {
    fill_file(path_ + "/events", events_.substr(0, cut));
    const auto read = read_directory(path_);
    ASSERT_TRUE(read.ok()) << cut << ": " << read.status().message();
    std::uint64_t complete = 0;
    for (const PlainBlock& block : blocks) {
      const bool whole = block.offset + block.size <= cut;
      complete += block.kind == format::BlockKind::kEvents && whole ? block.count : 0;
    }
    ASSERT_EQ(read->events.size(), complete) << cut;
    const auto prefix = [](const auto& part, const auto& all) {
      return part.size() <= all.size() && std::equal(part.begin(), part.end(), all.begin());
    };
    EXPECT_TRUE(prefix(read->events, trace_.events)) << cut;
    EXPECT_TRUE(prefix(read->values, trace_.values)) << cut;
    EXPECT_TRUE(prefix(read->stacks, trace_.stacks)) << cut;
    EXPECT_TRUE(prefix(read->branches, trace_.branches)) << cut;
    EXPECT_TRUE(prefix(read->reaches, trace_.reaches)) << cut;
  }

  static WholeTrace random_trace(std::uint64_t seed, ColumnSet columns) {
    for (;; seed += 1000) {
      RandomDirectoryTrace random(seed);
      WholeTrace trace = random.trace({.events = 30, .threads = 3, .sites = 4, .stacks = 4, .names = 3});
      if (trace.info.columns == columns) {
        return trace;
      }
    }
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "t";
  WholeTrace trace_;
  std::string events_, version_;
};

// --- whole traces ---

TEST_F(DamageTest, AWholeTraceCutAnywhereIsAnError) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    write(random_trace(seed, static_cast<ColumnSet>(seed == 1 ? kAllColumns : seed)));
    for (std::size_t size = 0; size < events_.size(); ++size) {
      fill_file(path_ + "/events", events_.substr(0, size));
      const auto read = read_directory(path_);
      ASSERT_FALSE(read.ok()) << size;
      expect_error(read.status(), "cut at " + std::to_string(size));
    }
    fill_file(path_ + "/events", events_);
    for (std::size_t size = 0; size < version_.size(); ++size) {
      fill_file(path_ + "/version", version_.substr(0, size));
      const auto read = read_directory(path_);
      ASSERT_FALSE(read.ok()) << size;
      expect_error(read.status(), "version cut at " + std::to_string(size));
    }
  }
}

TEST_F(DamageTest, EveryFlippedBitIsAnError) {
  for (const bool incomplete : {false, true}) {
    write(random_trace(5, kAllColumns));
    if (incomplete) {
      make_incomplete();
    }
    const std::string stage = path_ + (incomplete ? "/incomplete" : "/version");
    const std::string stage_text = file_content(stage);
    for (const auto& [file, content] : {std::pair{path_ + "/events", events_}, std::pair{stage, stage_text}}) {
      std::string damaged = content;
      for (std::size_t bit = 0; bit < 8 * content.size(); ++bit) {
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
        fill_file(file, damaged);
        const auto read = read_directory(path_);
        ASSERT_FALSE(read.ok()) << file << ": bit " << bit;
        expect_error(read.status(), file + ": bit " + std::to_string(bit));
        damaged[bit / 8] = content[bit / 8];
      }
      fill_file(file, content);
    }
  }
}

TEST_F(DamageTest, RandomBytes) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 5000);
  std::mt19937_64 random(from_environment("SOOTH_SEED", 1));
  write(random_trace(6, kAllColumns));
  for (std::uint64_t i = 0; i < cases; ++i) {
    std::string bytes = i % 2 == 0 ? events_ : std::string(random() % 200, '\0');
    for (std::size_t n = i % 2 == 0 ? 1 + random() % 8 : bytes.size(); n > 0 && !bytes.empty(); --n) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (i % 4 == 1) {
      bytes = events_ + bytes;  // garbage behind the last block
    }
    fill_file(path_ + "/events", bytes);
    ASSERT_NO_FATAL_FAILURE(expect_error_or_equal("case " + std::to_string(i)));
  }
}

// --- incomplete traces ---

TEST_F(DamageTest, AnIncompleteTraceCutAnywhereIsItsCompletePrefix) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    write(random_trace(seed, static_cast<ColumnSet>(seed == 1 ? kAllColumns : seed)));
    make_incomplete();
    const auto blocks = read_blocks(path_ + "/events");
    for (std::size_t cut = 0; cut <= events_.size(); ++cut) {
      ASSERT_NO_FATAL_FAILURE(expect_prefix_at(cut, blocks));
    }
  }
}

TEST_F(DamageTest, SegmentsInFrontOfTheCutAreKept) {
  RandomDirectoryTrace random(8);
  WholeTrace trace;
  do {
    trace = random.trace({.events = format::kMaxShapes + 60, .threads = 2, .sites = 20'000, .stacks = 3, .names = 3});
  } while (trace.info.columns != kAllColumns);
  write(trace);
  make_incomplete();
  const auto blocks = read_blocks(path_ + "/events");
  std::size_t segments = 0;
  for (const PlainBlock& block : blocks) {
    const std::size_t end = block.offset + block.size;
    for (const std::size_t cut : {block.offset + 39, block.offset + 40, end - 1, end}) {
      ASSERT_NO_FATAL_FAILURE(expect_prefix_at(cut, blocks));
    }
    segments += block.kind == format::BlockKind::kEvents ? 1 : 0;
  }
  EXPECT_EQ(segments, 2u);
}

// --- blocks in the wrong places ---

TEST_F(DamageTest, BlocksMissingDoubledOrSwapped) {
  for (const bool incomplete : {false, true}) {
    write(random_trace(9, kAllColumns));
    if (incomplete) {
      make_incomplete();
    }
    const auto blocks = read_blocks(path_ + "/events");
    ASSERT_GE(blocks.size(), 6u);
    const auto bytes_of = [&](std::size_t i) { return events_.substr(blocks[i].offset, blocks[i].size); };
    const auto join = [&](const std::vector<std::size_t>& order) {
      std::string bytes;
      for (const std::size_t i : order) {
        bytes += bytes_of(i);
      }
      return bytes;
    };
    std::vector<std::size_t> order(blocks.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    const auto expect_damaged = [&](const std::vector<std::size_t>& changed, const std::string& what) {
      fill_file(path_ + "/events", join(changed));
      const auto read = read_directory(path_);
      ASSERT_FALSE(read.ok()) << what;
      expect_error(read.status(), what);
    };
    for (std::size_t i = 0; i < order.size(); ++i) {
      auto changed = order;
      if (!incomplete || i + 1 < order.size()) {  // without its last block it is a prefix, as after a kill
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
        expect_damaged(changed, "without block " + std::to_string(i));
      }
      changed = order;
      changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(i), i);
      expect_damaged(changed, "with block " + std::to_string(i) + " twice");
      for (std::size_t j = i + 1; j < order.size(); ++j) {
        changed = order;
        std::swap(changed[i], changed[j]);
        expect_damaged(changed, "with blocks " + std::to_string(i) + " and " + std::to_string(j) + " swapped");
      }
    }
  }
}

// --- behind valid checksums: what the decoders must find themselves ---

TEST_F(DamageTest, PayloadsThatSayNonsense) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 20'000);
  std::mt19937_64 random(from_environment("SOOTH_SEED", 1));
  std::uint64_t errors = 0;
  std::vector<PlainBlock> blocks;
  for (std::uint64_t i = 0; i < cases; ++i) {
    if (i % 500 == 0) {
      write(random_trace(10 + i, kAllColumns));
      blocks = read_blocks(path_ + "/events");
      make_incomplete();  // so that totals do not give it away
    }
    std::vector<PlainBlock> damaged = blocks;
    PlainBlock& block = damaged[random() % damaged.size()];
    switch (random() % 8) {
      case 0: block.count = static_cast<std::uint32_t>(random() >> random() % 64); break;
      case 1: block.first = random() >> random() % 64; break;
      case 2: block.kind = format::BlockKind(random() % 9); break;
      case 3: block.payload.resize(random() % (block.payload.size() + 20), static_cast<std::uint8_t>(random())); break;
      default:
        for (std::size_t n = 1 + random() % 4; n > 0 && !block.payload.empty(); --n) {
          std::uint8_t& byte = block.payload[random() % block.payload.size()];
          byte = static_cast<std::uint8_t>(random() % 3 == 0 ? 255 : random() >> random() % 64);
        }
    }
    write_blocks(path_ + "/events", damaged);
    const auto read = read_directory(path_);  // may be another trace: the bytes say so, and are intact
    if (read.ok()) {
      for (const Event& event : read->events) {
        ASSERT_LT(raw(event.thread), read->tables.thread_count());
        ASSERT_LT(raw(event.site), read->tables.site_count());
        ASSERT_LT(raw(event.op), kOpCount);
      }
      for (const StackId stack : read->stacks) {
        ASSERT_LT(raw(stack), read->tables.stack_count());
      }
    } else {
      ASSERT_NO_FATAL_FAILURE(expect_error(read.status(), "case " + std::to_string(i)));
      ++errors;
    }
  }
  EXPECT_GT(errors, cases / 2);
}

// A segment of one thread, two events and one shape, with nothing wrong; each case breaks one thing.
struct Nonsense {
  const char* what;
  std::size_t offset;  // into the payload of the events block
  std::uint32_t value;
  const char* sentence;
};

TEST_F(DamageTest, EachCheckOfTheSegmentDecoder) {
  WholeTrace trace;
  trace.info.events = 2;
  trace.tables.add_thread("T0");
  trace.tables.add_site({});
  trace.events.resize(2, Event{.object = 1, .size = 4, .op = Op::kWrite});
  // 0 header, 12 shape, 24 thread entry, 36 run, 40 controls, 44 deltas.
  const Nonsense table[] = {
      {"shapes", 0, 9000, "its counts are impossible"},
      {"threads", 4, 3, "its counts are impossible"},
      {"runs", 8, 3, "its counts are impossible"},
      {"no shape", 0, 0, "its runs and streams do not fit"},
      {"site", 12, 1, "a shape that does not exist"},
      {"op", 20, kOpCount, "a shape that does not exist"},
      {"order", 20, 1 | 7 << 8, "a shape that does not exist"},
      {"flags", 20, 1 | 8 << 16, "a shape that does not exist"},
      {"reserved", 20, 1 | 1 << 24, "a shape that does not exist"},
      {"thread", 24, 1, "a thread that does not exist"},
      {"events of the thread", 28, 1, "its runs and streams do not fit"},
      {"many events of the thread", 28, 0x80000001, "its runs and streams do not fit"},
      {"bytes of deltas", 32, 2, "a stream contradicts its table"},
      {"thread of the run", 36, 1 | 1 << 16, "a run names a thread that does not exist"},
      {"length of the run", 36, 2 << 16, "its runs and streams do not fit"},
      {"shape of a control word", 40, 1 | 1 << 13, "a stream contradicts its table"},
      {"length of a control word", 40, 7 << 13, "a stream contradicts its table"},
  };
  for (const Nonsense& row : table) {
    write(trace);
    auto blocks = read_blocks(path_ + "/events");
    ASSERT_EQ(blocks.size(), 2u);
    ASSERT_EQ(blocks[1].payload.size(), 45u);
    std::memcpy(blocks[1].payload.data() + row.offset, &row.value, sizeof row.value);
    write_blocks(path_ + "/events", blocks);
    const auto read = read_directory(path_);
    ASSERT_FALSE(read.ok()) << row.what;
    EXPECT_NE(read.status().message().find(row.sentence), std::string::npos)
        << row.what << ": " << read.status().message();
  }
}

TEST_F(DamageTest, EachCheckOfTheColumns) {
  const struct {
    const char* what;
    format::BlockKind kind;
    Bytes payload;  // of a segment of two events by one thread at one site, with one stack
    const char* sentence;
  } table[] = {
      {"values", format::BlockKind::kValues, {1, 7, 0}, ""},
      {"too few values", format::BlockKind::kValues, {1, 7}, "its values are cut"},
      {"a cut value", format::BlockKind::kValues, {1, 7, 2, 7}, "its values are cut"},
      {"a long value", format::BlockKind::kValues, Bytes(40, 17), "its values are cut"},
      {"too many values", format::BlockKind::kValues, {0, 0, 0}, "there are bytes behind its values"},
      {"stacks", format::BlockKind::kStacks, {0, 1, 1, 0}, ""},
      {"a stack", format::BlockKind::kStacks, {0, 2}, "a stack that does not exist"},
      {"a stack behind the end", format::BlockKind::kStacks, {2, 1}, "a stack that does not exist"},
      {"two stacks of one event", format::BlockKind::kStacks, {0, 1, 0, 0}, "a stack that does not exist"},
      {"a cut stack", format::BlockKind::kStacks, {0}, "a stack that does not exist"},
      {"branches", format::BlockKind::kBranches, {0, 0, 0, 9, 2, 0, 0, 9}, ""},
      {"a branch behind the end", format::BlockKind::kBranches, {3, 0, 0, 9}, "a branch that does not exist"},
      {"a branch of no thread", format::BlockKind::kBranches, {0, 1, 0, 9}, "a branch that does not exist"},
      {"a branch of no site", format::BlockKind::kBranches, {0, 0, 1, 9}, "a branch that does not exist"},
      {"branches in disorder", format::BlockKind::kBranches, {1, 0, 0, 9, 0, 0, 0, 9}, "a branch that does not exist"},
      {"an endless number", format::BlockKind::kBranches, Bytes(12, 0xff), "a branch that does not exist"},
      {"reaches", format::BlockKind::kReaches, {0, 1, 1, 1, 1, 1}, ""},
      {"a reach behind the end", format::BlockKind::kReaches, {2, 1, 1}, "the reach of a call that does not exist"},
      {"reaches in disorder",
       format::BlockKind::kReaches,
       {1, 1, 1, 0, 1, 1},
       "the reach of a call that does not exist"},
  };
  WholeTrace trace;
  trace.info.columns = kAllColumns;
  trace.tables.add_thread("T0");
  trace.tables.add_site({});
  trace.tables.intern_stack(kNoStack, SiteId{0});
  trace.events.resize(2, Event{.object = 1, .size = 4, .op = Op::kWrite});
  for (const auto& row : table) {
    write(trace);
    make_incomplete();
    auto blocks = read_blocks(path_ + "/events");
    std::erase_if(blocks, [](const PlainBlock& b) { return b.kind == format::BlockKind::kValues; });
    ASSERT_EQ(blocks.size(), 2u);
    blocks.insert(blocks.begin() + 1, {row.kind, 0, 2, row.payload, 0, 0});
    write_blocks(path_ + "/events", blocks);
    const auto read = read_directory(path_);
    ASSERT_EQ(read.ok(), *row.sentence == '\0') << row.what;
    if (!read.ok()) {
      EXPECT_NE(read.status().message().find(row.sentence), std::string::npos)
          << row.what << ": " << read.status().message();
    }
    blocks.insert(blocks.begin() + 1, blocks[1]);
    write_blocks(path_ + "/events", blocks);
    EXPECT_FALSE(read_directory(path_).ok()) << row.what << " twice";
    blocks.erase(blocks.begin() + 1);
    blocks[1].count = 3;
    write_blocks(path_ + "/events", blocks);
    EXPECT_FALSE(read_directory(path_).ok()) << row.what << " of other events";
  }
}

TEST_F(DamageTest, AHeaderCannotAskForMoreMemoryThanItsBytesJustify) {
  const std::string file = directory_ / "blocks";
  auto writer = BlockWriter::create(file);
  ASSERT_TRUE(writer.ok());
  // As compressible as bytes can be: must not be refused.
  const Bytes zeros(format::kMaxRawBytes);
  ASSERT_TRUE((*writer)->write(format::BlockKind::kNames, 0, 0, zeros).ok());
  const Bytes too_many(format::kMaxRawBytes + 1u);
  EXPECT_EQ((*writer)->write(format::BlockKind::kNames, 0, 0, too_many).code(), ExitCode::kInternal);
  ASSERT_TRUE((*writer)->close().ok());
  const auto blocks = read_blocks(file);
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].payload.size(), zeros.size());
  EXPECT_LT(blocks[0].size, 32'000u);

  // The same with fewer stored bytes than that takes, and every check right.
  std::string bytes = file_content(file).substr(0, sizeof(format::BlockHeader) + 100);
  format::BlockHeader header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  header.stored = 100;
  header.header_check = static_cast<std::uint32_t>(XXH3_64bits(&header, format::kHeaderCheckOffset));
  header.checksum =
      XXH3_64bits_withSeed(bytes.data() + sizeof header, 100, XXH3_64bits(&header, format::kChecksumOffset));
  std::memcpy(bytes.data(), &header, sizeof header);
  fill_file(file, bytes);
  auto reader = BlockReader::open(file, false);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ((*reader)->next().status().message(),
            file + ": the trace is damaged: block at byte 0: its length is impossible");
}

// --- files that are no files ---

TEST_F(DamageTest, FilesThatAreMissingOrOfAnotherKind) {
  const struct {
    const char* what;
    std::function<void(const std::string&)> damage;
    const char* sentence;
  } table[] = {
      {"no stage", [](const std::string& t) { std::filesystem::remove(t + "/version"); },
       ": is a directory, but not a trace"},
      {"no events", [](const std::string& t) { std::filesystem::remove(t + "/events"); }, "cannot read: No such file"},
      {"version is a directory",
       [](const std::string& t) {
         std::filesystem::remove(t + "/version");
         std::filesystem::create_directory(t + "/version");
       },
       "cannot read: it is no regular file"},
      {"events is a directory",
       [](const std::string& t) {
         std::filesystem::remove(t + "/events");
         std::filesystem::create_directory(t + "/events");
       },
       "cannot read: it is not a file"},
      {"events is a pipe that nobody fills",
       [](const std::string& t) {
         std::filesystem::remove(t + "/events");
         ASSERT_EQ(::mkfifo((t + "/events").c_str(), 0600), 0);
       },
       "cannot read: it is not a file"},
      {"version is a pipe that nobody fills",
       [](const std::string& t) {
         std::filesystem::remove(t + "/version");
         ASSERT_EQ(::mkfifo((t + "/version").c_str(), 0600), 0);
       },
       "cannot read: it is no regular file"},
      {"version is empty", [](const std::string& t) { fill_file(t + "/version", ""); }, "is damaged"},
  };
  for (const auto& row : table) {
    write(random_trace(12, kAllColumns));
    row.damage(path_);
    const auto read = read_directory(path_);
    ASSERT_FALSE(read.ok()) << row.what;
    expect_error(read.status(), row.what);
    EXPECT_NE(read.status().message().find(row.sentence), std::string::npos)
        << row.what << ": " << read.status().message();
  }
}

}  // namespace
}  // namespace sooth
