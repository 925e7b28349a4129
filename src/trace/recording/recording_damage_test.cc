// Recordings that are cut, flipped, or lie about themselves: a sentence or a prefix, never a crash.
#include <gtest/gtest.h>

#include <random>

#include "trace/check/validator.h"
#include "trace/recording/recording_testing.h"
#include "trace/recording/symbol_file.h"

namespace sooth {
namespace {

// Two threads that meet at tickets, with calls, values, names and a second chunk.
using Starts = std::vector<std::pair<std::uint32_t, std::size_t>>;
TestRecording small_recording(std::vector<Starts>* starts = nullptr) {
  TestRecording recording(stream::kWithValues);
  TestStream main = recording.stream(0);
  TestStream child = recording.stream(1);
  SlotTable main_slots(8);
  SlotTable child_slots(8);
  std::uint64_t ticket = 1;
  const auto put = [&](TestStream& stream, SlotTable& slots, const Event& event, bool ticketed,
                       const Value& value = {}) {
    const std::uint8_t bits = ticketed ? stream::kTicketed : 0;
    const std::uint32_t slot = slots.slot_for(stream, event, bits);
    const std::uint64_t number = ticketed ? ticket++ : 0;
    stream.event(slot, event, bits, ticketed ? &number : nullptr, value);
  };
  const auto event = [](std::uint32_t thread, Op op, std::uint64_t object, std::uint32_t size, std::uint32_t site) {
    return Event{object, ThreadId{thread}, SiteId{site}, size, op, MemoryOrder::kNotAtomic, 0, 0};
  };
  main.thread(0);
  put(main, main_slots, event(0, Op::kBegin, 0, 0, 0), true);
  main.name(ObjectKind::kLock, 0x5000, "queue mutex");
  main.stack(0, {1, 2});
  put(main, main_slots, event(0, Op::kFork, 1, 0, 3), true);
  child.thread(1);
  put(child, child_slots, event(1, Op::kBegin, 0, 0, 4), true);
  for (std::uint64_t i = 0; i < 20; ++i) {
    put(main, main_slots, event(0, Op::kWrite, 0x7fff'0000 + 4 * i, 4, 5), false, {i, 0, 4});
    put(child, child_slots, event(1, Op::kRead, 0x6000'0000'1000 - 16 * i, 8, 6), false, {~i, 0, 8});
    if (i % 5 == 0) {
      put(child, child_slots, event(1, Op::kAcquire, 0x5000, 0, 7), true);
      put(child, child_slots, event(1, Op::kRelease, 0x5000, 0, 7), true);
    }
    if (i == 10) {
      main.close_chunk();
      main.stack(1, {9});
    }
  }
  put(child, child_slots, event(1, Op::kEnd, 0, 0, 4), true);
  put(main, main_slots, event(0, Op::kJoin, 1, 0, 8), true);
  recording.control.next_ticket = ticket;
  recording.control.threads = 2;
  if (starts != nullptr) {
    *starts = {main.starts(), child.starts()};
  }
  return recording;
}

Result<WholeTrace> read_bytes(const TemporaryDirectory& directory, const std::string& streams) {
  fill_file(directory / "r/streams", streams);
  return read_recording(directory / "r");
}

// Every event of `part` must be the one that its thread made at that place of `whole`.
void expect_prefix(const WholeTrace& part, const WholeTrace& whole, const std::string& what) {
  std::map<std::uint32_t, std::size_t> next;
  for (const Event& event : part.events) {
    std::size_t& at = next[raw(event.thread)];
    while (at < whole.events.size() && whole.events[at].thread != event.thread) {
      ++at;
    }
    ASSERT_LT(at, whole.events.size()) << what;
    ASSERT_EQ(whole.events[at].op, event.op) << what;
    ASSERT_EQ(whole.events[at].object, event.object) << what;
    ++at;
  }
  TraceValidator validator;
  Batch batch = as_batch(part);
  batch.values = {};
  const Status status = validator.consume(batch, part.tables);
  ASSERT_TRUE(status.ok()) << what << ": " << status.message();
}

void expect_sentence(const Result<WholeTrace>& read, const std::string& what) {
  ASSERT_FALSE(read.ok()) << what;
  EXPECT_EQ(read.status().code(), ExitCode::kBadInput) << what;
  EXPECT_NE(read.status().message().find("damaged"), std::string::npos) << what << ": " << read.status().message();
}

TEST(RecordingDamage, ADeathAtAnyRecordLeavesAPrefix) {
  const TemporaryDirectory directory;
  std::vector<Starts> starts;
  const TestRecording recording = small_recording(&starts);
  recording.write(directory / "r");
  const std::string bytes = recording.streams_bytes();
  const Result<WholeTrace> whole = read_bytes(directory, bytes);
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  ASSERT_EQ(whole->events.size(), 53u);
  for (const Starts& stream : starts) {
    for (std::size_t i = 0; i < stream.size(); ++i) {
      std::string cut = bytes;
      const auto clear = [&cut](std::size_t at, std::size_t size) {
        std::fill_n(cut.begin() + std::ptrdiff_t(at), size, '\0');
      };
      const auto at = [](const auto& start) {
        return stream::kControlBytes + std::size_t{start.first} * stream::kChunkBytes + start.second;
      };
      // From here on the thread has written nothing; of this record everything but the control word, if `half`.
      for (const bool half : {true, false}) {
        for (std::size_t later = i + 1; later < stream.size(); ++later) {
          clear(at(stream[later]), 40);
          if (stream[later].first != stream[i].first) {
            clear(stream::kControlBytes + std::size_t{stream[later].first} * stream::kChunkBytes, 600);
          }
        }
        clear(at(stream[i]), half ? 2 : 40);
        const Result<WholeTrace> part = read_bytes(directory, cut);
        const std::string what =
            "chunk " + std::to_string(stream[i].first) + " of " + std::to_string(stream[i].second) + " bytes";
        ASSERT_TRUE(part.ok()) << what << ": " << part.status().message();
        ASSERT_LE(part->events.size(), whole->events.size());
        expect_prefix(*part, *whole, what);
      }
    }
  }
}

TEST(RecordingDamage, ACutFileIsAPrefixWhileIncompleteAndAnErrorAfterwards) {
  const TemporaryDirectory directory;
  const TestRecording recording = small_recording();
  recording.write(directory / "r");
  const std::string bytes = recording.streams_bytes();
  const Result<WholeTrace> whole = read_bytes(directory, bytes);
  ASSERT_TRUE(whole.ok());
  for (const bool finished : {false, true}) {
    if (finished) {
      fill_file(directory / "r/streams", bytes);
      ASSERT_TRUE(finish_recording(directory / "r").ok());
    }
    for (std::size_t size = 0; size < bytes.size(); size += size < 5000 ? 1 : 997) {
      const Result<WholeTrace> part = read_bytes(directory, bytes.substr(0, size));
      const std::string what = std::to_string(size) + " bytes";
      if (finished || size < sizeof(stream::Control)) {
        expect_sentence(part, what);
      } else {
        ASSERT_TRUE(part.ok()) << what << ": " << part.status().message();
        EXPECT_TRUE(part->info.incomplete);
        expect_prefix(*part, *whole, what);
      }
    }
  }
}

TEST(RecordingDamage, EveryFlippedBitOfAFinishedRecordingIsFound) {
  const TemporaryDirectory directory;
  const TestRecording recording = small_recording();
  recording.write(directory / "r");
  ASSERT_TRUE(write_symbol_file(directory / "r/symbols", {{{"/bin/prog", 0x100, {{"a.cc", "f()", 3, 4}}}}, {}},
                                recording.mark())
                  .ok());
  ASSERT_TRUE(finish_recording(directory / "r").ok());
  ASSERT_TRUE(read_recording(directory / "r").ok());
  std::mt19937_64 random(1);
  for (const char* name : {"streams", "sites", "process", "symbols", "checks", "version"}) {
    const std::string path = directory / (std::string("r/") + name);
    const std::string bytes = file_content(path);
    for (int i = 0; i < 400; ++i) {
      std::string flipped = bytes;
      // Mostly where the records are; the file of streams is zeros for the rest.
      const std::size_t chunk = random() % recording.chunks.size();
      const std::size_t at = bytes.size() > 100'000 && i % 2 == 0
                                 ? stream::kControlBytes + chunk * stream::kChunkBytes + random() % 500
                                 : random() % bytes.size();
      if (bytes.size() > 100'000 && at >= sizeof(stream::Control) && at < stream::kControlBytes) {
        continue;  // behind the last field of the first page: no meaning
      }
      flipped[at] = static_cast<char>(flipped[at] ^ 1 << random() % 8);
      fill_file(path, flipped);
      const Result<WholeTrace> read = read_recording(directory / "r");
      ASSERT_FALSE(read.ok()) << name << " byte " << at;
      ASSERT_EQ(read.status().code(), ExitCode::kBadInput) << name << " byte " << at;
    }
    fill_file(path, bytes);
  }
}

TEST(RecordingDamage, AnythingInAnUnfinishedRecordingIsReadOrRefused) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000) / 2;
  const std::uint64_t first = from_environment("SOOTH_SEED", 1);
  const TemporaryDirectory directory;
  const TestRecording recording = small_recording();
  recording.write(directory / "r");
  const std::string bytes = recording.streams_bytes();
  std::uint64_t accepted = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    std::mt19937_64 random(seed);
    std::string changed = bytes;
    for (std::uint64_t n = 1 + random() % 8; n > 0; --n) {
      const std::size_t chunk = random() % recording.chunks.size();
      const std::size_t at = random() % 8 == 0 ? random() % sizeof(stream::Control)
                                               : stream::kControlBytes + chunk * stream::kChunkBytes + random() % 400;
      changed[at] = static_cast<char>(random() % 3 == 0 ? 0xff : random() >> random() % 64);
    }
    const Result<WholeTrace> read = read_bytes(directory, changed);
    if (read.ok()) {
      ++accepted;
      TraceValidator validator;
      (void)validator.consume(as_batch(*read), read->tables);
    } else {
      ASSERT_EQ(read.status().code(), ExitCode::kBadInput) << "seed " << seed;
      ASSERT_FALSE(read.status().message().empty()) << "seed " << seed;
    }
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_LT(accepted, cases);
}

TEST(RecordingDamage, NamesWhatIsWrong) {
  const TemporaryDirectory directory;
  const auto refusal = [&](const std::function<void(TestRecording&)>& change) {
    TestRecording recording = small_recording();
    change(recording);
    recording.write(directory / "r");
    const Result<WholeTrace> read = read_recording(directory / "r");
    return read.ok() ? "" : read.status().message();
  };
  const auto header = [](TestRecording& r, std::size_t chunk) {
    return reinterpret_cast<stream::ChunkHeader*>(r.chunks[chunk].get());
  };
  const struct {
    const char* sentence;
    std::function<void(TestRecording&)> change;
  } cases[] = {
      {"does not start like a file of streams", [](TestRecording& r) { r.control.magic ^= 1; }},
      {"the recording has format 0, and this sooth reads", [](TestRecording& r) { r.control.version = 0; }},
      {"a newer sooth wrote it", [](TestRecording& r) { r.control.version = kStreamVersion + 1; }},
      {"first page contradicts itself", [](TestRecording& r) { r.control.chunk_bytes = 1; }},
      {"first page contradicts itself", [](TestRecording& r) { r.control.flags = 0x80; }},
      {"chunk 1 does not start like one", [&](TestRecording& r) { header(r, 1)->magic = 7; }},
      {"stream 0 is missing",
       [&](TestRecording& r) {
         header(r, 0)->magic = 0;
         header(r, 2)->magic = 0;
       }},
      {"and so is another", [&](TestRecording& r) { header(r, 1)->stream = 0; }},
      {"whose first chunk is missing", [&](TestRecording& r) { header(r, 2)->stream = 5; }},
      {"number 1 of the chunks of stream 0 is missing", [&](TestRecording& r) { header(r, 2)->sequence = 2; }},
      {"was never given out", [](TestRecording& r) { r.control.next_ticket = 5; }},
      {"is in no row of `sites`", [](TestRecording& r) { r.sites.resize(2); }},
      {"is not one that a program writes", [](TestRecording& r) { r.process += "nonsense\n"; }},
      {"its slot 0 was not defined",
       [](TestRecording& r) {
         r.chunks[0][33] = 0x20;
         r.chunks[0][32] = 0;
       }},
      {"its kind 2048 is unknown",
       [](TestRecording& r) {
         r.chunks[0][33] = 0xe8;
         r.chunks[0][32] = 0;
       }},
  };
  for (const auto& item : cases) {
    const std::string sentence = refusal(item.change);
    EXPECT_NE(sentence.find(item.sentence), std::string::npos) << item.sentence << ": " << sentence;
  }
  EXPECT_EQ(refusal([](TestRecording& r) { r.process += "module 0 4"; }), "") << "a line without its end is not there";
  EXPECT_EQ(refusal([](TestRecording& r) { r.chunks.clear(); }), "") << "a program that had no time";
}

TEST(RecordingDamage, StopsAtTheStopTicketAndInFrontOfAGap) {
  const TemporaryDirectory directory;
  TestRecording recording = small_recording();
  recording.control.stop_ticket = 3;
  recording.control.stop_reason = static_cast<std::uint32_t>(stream::StopReason::kDiskFull);
  recording.write(directory / "r");
  Result<WholeTrace> read = read_recording(directory / "r");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->info.stopped, "the disk was full");
  // Main's begin and fork, and what main did behind it; nothing of the child, whose begin has ticket 3.
  EXPECT_EQ(read->events.size(), 22u);

  TestRecording gap(0);
  TestStream main = gap.stream(0);
  SlotTable slots(4);
  main.thread(0);
  const Event write{0x1000, ThreadId{0}, SiteId{1}, 4, Op::kWrite, MemoryOrder::kNotAtomic, 0, 0};
  const std::uint32_t slot = slots.slot_for(main, write, 0);
  main.ticket(1);
  main.event(slot, write, 0, nullptr, {});
  main.ticket(3);  // 2 belongs to a thread that died with it
  main.event(slot, write, 0, nullptr, {});
  gap.control.next_ticket = 4;
  gap.write(directory / "gap");
  read = read_recording(directory / "gap");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->events.size(), 1u);
}

}  // namespace
}  // namespace sooth
