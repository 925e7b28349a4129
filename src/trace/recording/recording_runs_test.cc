// Runs of records that a reader expects: STREAMS.md, "Runs".
#include <gtest/gtest.h>

#include <random>

#include "base/test_environment.h"
#include "trace/recording/recording_testing.h"

namespace sooth {
namespace {

constexpr std::uint32_t kFlags = stream::kExactOrder | stream::kWithValues | stream::kWithDeep;

// Two threads walk through arrays in loops, by turns, and now and then write something else; each with a stream of its
// own.
class LoopingThreads {
 public:
  LoopingThreads(std::uint64_t seed, bool runs) : random_(seed), recording_(kFlags), slots_(2, SlotTable(8)) {
    for (std::uint32_t thread = 0; thread < 2; ++thread) {
      streams_.push_back(recording_.stream(thread));
      if (runs) {
        streams_.back().use_runs();
      }
      turn(thread);
      streams_[thread].thread(thread);
      add(thread, Op::kBegin, 0, 0, 0);
      if (thread == 0) {
        add(0, Op::kFork, 0, 1, 0);
      }
    }
  }

  void work(std::uint64_t loops, std::uint64_t most_rounds) {
    for (std::uint64_t i = 0; i < loops; ++i) {
      const auto thread = static_cast<std::uint32_t>(random_() % 2);
      turn(thread);
      loop(thread, random_() % most_rounds);
      if (random_() % 4 == 0) {
        streams_[thread].publish();
      }
    }
  }

  const TestRecording& recording() const { return recording_; }
  std::uint64_t left_to_runs() const { return streams_[0].left_to_runs() + streams_[1].left_to_runs(); }

 private:
  void turn(std::uint32_t thread) { streams_[thread].ticket(ticket_++, stream::Record::kTurn); }

  void add(std::uint32_t thread, Op op, std::uint32_t site, std::uint64_t object, std::uint32_t size) {
    Event event;
    event.thread = ThreadId{thread};
    event.op = op;
    event.site = SiteId{site};
    event.object = object;
    event.size = size;
    Value value;
    if (is_access(op)) {
      std::uint64_t& content = memory_[object];
      content = op == Op::kWrite ? random_() % 3 : content;
      value = {content, 0, static_cast<std::uint8_t>(size)};
    }
    streams_[thread].event(slots_[thread].slot_for(streams_[thread], event, 0), event, 0, nullptr, value);
  }

  void loop(std::uint32_t thread, std::uint64_t rounds) {
    const std::uint64_t first = 0x10000 + 0x1000 * (random_() % 3);
    const std::uint32_t size = 1u << random_() % 5;
    const std::uint64_t noise = 2 + random_() % 40;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      add(thread, Op::kRead, 1, 0x8000, 8);
      streams_[thread].deep({.kind = DeepKind::kBranch, .value = random_() % noise == 0 ? 1u : 0u});
      add(thread, Op::kRead, 2, first + i % 32 * size, size);
      if (random_() % noise == 0) {
        streams_[thread].deep({.kind = DeepKind::kWord, .value = random_()});
        add(thread, Op::kWrite, 3, first + random_() % 32 * size, size);
      }
      streams_[thread].deep({.kind = DeepKind::kBranch, .value = i + 1 == rounds ? 600u : 0u});
    }
  }

  std::mt19937_64 random_;
  TestRecording recording_;
  std::vector<TestStream> streams_;
  std::vector<SlotTable> slots_;
  std::map<std::uint64_t, std::uint64_t> memory_;
  std::uint64_t ticket_ = 0;
};

TEST(RecordingRuns, SayTheSameAsTheirRecords) {
  const std::uint64_t first = from_environment("SOOTH_SEED", 1);
  const TemporaryDirectory directory;
  std::uint64_t left_to_runs = 0;
  for (std::uint64_t seed = first; seed < first + 200; ++seed) {
    DeepTrace read[2][2];
    for (const bool runs : {false, true}) {
      LoopingThreads threads(seed, runs);
      threads.work(seed % 20 == 0 ? 200 : 10, seed % 20 == 0 ? 400 : 100);
      left_to_runs += threads.left_to_runs();
      threads.recording().write(directory / "r");
      for (const bool deep : {false, true}) {
        Result<DeepTrace> all = read_deep(directory / "r", deep ? kAllColumns | kDeep : kAllColumns);
        ASSERT_TRUE(all.ok()) << "seed " << seed << ": " << all.status().message();
        read[runs][deep] = std::move(*all);
      }
      std::filesystem::remove_all(directory / "r");
    }
    for (const bool deep : {false, true}) {
      EXPECT_EQ(read[0][deep].events, read[1][deep].events) << "seed " << seed;
      EXPECT_EQ(read[0][deep].values, read[1][deep].values) << "seed " << seed;
      EXPECT_EQ(read[0][deep].deep, read[1][deep].deep) << "seed " << seed;
    }
    EXPECT_TRUE(read[1][0].deep.empty());
    EXPECT_FALSE(read[1][1].deep.empty());
  }
  EXPECT_GT(left_to_runs, 50'000u);
}

TEST(RecordingRuns, DamageIsReadOrRefused) {
  LoopingThreads threads(1, true);
  threads.work(20, 100);
  expect_damage_is_read_or_refused(threads.recording());
}

TEST(RecordingRuns, NamesWhatIsWrong) {
  const TemporaryDirectory directory;
  const auto complaint = [&](std::uint32_t flags, bool has_thread, std::uint32_t size) {
    TestRecording recording(flags);
    TestStream stream = recording.stream(0);
    stream.ticket(0, stream::Record::kTurn);
    if (has_thread) {
      stream.thread(0);
    }
    if (size != 0) {
      Event event;
      event.object = 0x1000;
      event.size = size;
      stream.define(1, event, 0);
      stream.event(1, event, 0, nullptr, {1, 0, static_cast<std::uint8_t>(size)});
      stream.event(1, event, 0, nullptr, {1, 0, static_cast<std::uint8_t>(size)});
    }
    stream.raw_record(static_cast<std::uint16_t>(stream::kEscapeCode << stream::kSlotBits | (stream::kRuns + 3)), "");
    recording.write(directory / "r");
    const Result<DeepTrace> read = read_deep(directory / "r");
    std::filesystem::remove_all(directory / "r");
    return read.ok() ? "" : read.status().message();
  };
  EXPECT_EQ(complaint(kFlags, true, 8), "");
  EXPECT_NE(complaint(kFlags, true, 0).find("an event of which there was none"), std::string::npos);
  EXPECT_NE(complaint(kFlags, true, 16).find("cannot have the value that is remembered"), std::string::npos);
  EXPECT_NE(complaint(kFlags, false, 0).find("nothing to go on with"), std::string::npos);
  EXPECT_NE(complaint(stream::kExactOrder, true, 0).find("nothing to go on with"), std::string::npos);
}

}  // namespace
}  // namespace sooth
