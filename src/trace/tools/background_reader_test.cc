#include "trace/tools/background_reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <random>
#include <stdexcept>
#include <thread>

#include "trace/format/directory_testing.h"
#include "trace/memory_trace.h"
#include "trace/tools/generate.h"

namespace sooth {
namespace {

using ReaderResult = Result<std::unique_ptr<TraceReader>>;

template <typename T>
bool equal(std::span<const T> a, std::span<const T> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// What both have handed out up to now; "" when it is the same.
std::string state_difference(const TraceReader& a, const TraceReader& b, bool whole) {
  const Tables& left = a.tables();
  const Tables& right = b.tables();
  if (a.info() != b.info()) return "info";
  if (a.bytes_read() != b.bytes_read() || a.bytes_total() != b.bytes_total()) return "bytes";
  if (left.threads().size() != right.threads().size() || left.sites().size() != right.sites().size() ||
      left.stacks().size() != right.stacks().size() || left.names().size() != right.names().size()) {
    return "sizes of the tables";
  }
  if (whole && (left.threads() != right.threads() || left.sites() != right.sites() || left.stacks() != right.stacks() ||
                left.names() != right.names())) {
    return "rows of the tables";
  }
  return "";
}

std::string batch_difference(const Batch& a, const Batch& b) {
  if (a.first != b.first) return "first event";
  if (!equal(a.events, b.events)) return "events";
  if (!equal(a.values, b.values)) return "values";
  if (!equal(a.stacks, b.stacks)) return "stacks";
  if (!equal(a.branches, b.branches)) return "branches";
  if (!equal(a.reaches, b.reaches)) return "reaches";
  if (!equal(a.deep, b.deep)) return "deep";
  return "";
}

struct Comparison {
  std::string difference;  // "" when there is none
  std::size_t batches = 0;
  Status end;
};

// Reads the trace both ways, in step, and asks for more when there is no more.
Comparison compare(TraceReader& direct, TraceReader& background) {
  Comparison seen;
  seen.difference = state_difference(direct, background, true);
  for (int after_end = 0; after_end < 3 && seen.difference.empty();) {
    const Result<Batch> expected = direct.next();
    const Result<Batch> actual = background.next();
    const bool last = !expected.ok() || expected->empty();
    if (expected.ok() != actual.ok()) {
      seen.difference = "an error";
    } else if (expected.ok()) {
      seen.difference = batch_difference(*expected, *actual);
    } else {
      seen.end = actual.status();
      const bool same =
          expected.status().message() == seen.end.message() && expected.status().code() == seen.end.code();
      seen.difference = same ? "" : "error: " + expected.status().message() + " / " + seen.end.message();
    }
    if (seen.difference.empty()) {
      seen.difference = state_difference(direct, background, last);
    }
    seen.batches += last ? 0 : 1;
    after_end += last ? 1 : 0;
  }
  return seen;
}

Comparison compare(const ReaderResult& direct, ReaderResult wrapped) {
  if (!direct.ok() || !wrapped.ok()) {
    return {direct.ok() == wrapped.ok() ? "" : "opening", 0, direct.ok() ? Status() : direct.status()};
  }
  return compare(**direct, *read_in_background(std::move(*wrapped)));
}

MemoryTrace in_memory(WholeTrace trace) {
  return {std::move(trace.info),   std::move(trace.tables),   std::move(trace.events), std::move(trace.values),
          std::move(trace.stacks), std::move(trace.branches), std::move(trace.reaches)};
}

TEST(BackgroundReader, GivesWhatMemoryTracesGive) {
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  for (std::uint64_t seed = first_seed; seed < first_seed + from_environment("SOOTH_CASES", 10'000); ++seed) {
    RandomDirectoryTrace random(seed);
    const MemoryTrace trace = in_memory(random.trace(random.small_shape()));
    const std::size_t batch_events = 1 + random.below(9);
    const ReadOptions options{static_cast<ColumnSet>(random.below(16))};
    MemoryTraceReader direct(trace, batch_events, options);
    const auto background = read_in_background(std::make_unique<MemoryTraceReader>(trace, batch_events, options));
    ASSERT_EQ(compare(direct, *background).difference, "") << "SOOTH_SEED=" << seed;
  }
}

TEST(BackgroundReader, GivesWhatLongTracesGive) {
  RandomDirectoryTrace random(1);
  for (const std::size_t batch_events : {1, 7, 1000, 4095, 4096, 5000, 200'000}) {
    WholeTrace whole = random.trace({.events = 120'000, .many_objects = true});
    const MemoryTrace trace = in_memory(std::move(whole));
    MemoryTraceReader direct(trace, batch_events);
    const Comparison seen =
        compare(direct, *read_in_background(std::make_unique<MemoryTraceReader>(trace, batch_events)));
    EXPECT_EQ(seen.difference, "") << batch_events;
    EXPECT_EQ(seen.batches, (120'000 + batch_events - 1) / batch_events);
  }
}

// Directories whose tables grow from batch to batch; every second has a byte changed.
TEST(BackgroundReader, GivesWhatDirectoriesGiveWholeOrDamaged) {
  const TemporaryDirectory folder;
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000) / 20;
  std::size_t errors_after_batches = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    RandomDirectoryTrace random(seed);
    RandomShape shape = random.small_shape();
    shape.events = random.one_in(20) ? 50'000 + random.below(150'000) : random.below(4000);
    const std::string path = folder / "trace";
    ASSERT_TRUE(write_directory(random.trace(shape), path, seed, 1000).ok());
    if (seed % 2 == 0) {
      const std::string file = path + "/" + format::kEventsFile;
      std::string content = file_content(file);
      if (!content.empty()) {
        content[random.below(content.size())] ^= static_cast<char>(1 + random.below(255));
        fill_file(file, content);
      }
    }
    const ReadOptions options{static_cast<ColumnSet>(random.below(16))};
    const Comparison seen = compare(open_trace(path, options), open_trace(path, options));
    ASSERT_EQ(seen.difference, "") << "SOOTH_SEED=" << seed;
    errors_after_batches += !seen.end.ok() && seen.batches > 0 ? 1 : 0;
    std::filesystem::remove_all(path);
  }
  EXPECT_TRUE(cases < 200 || errors_after_batches > 0) << "no trace was damaged in the middle";
}

// Names, sites, stacks and columns that turn up late, and now and then a line that is wrong.
std::string random_text(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  const std::uint64_t lines = below(20) == 0 ? 10'000 + below(30'000) : below(300);
  const std::uint64_t values_from = below(2 * lines + 1);
  const std::uint64_t calls_from = below(2 * lines + 1);
  const std::uint64_t wrong = below(2 * lines + 1);
  const std::uint64_t labels = 1 + below(lines + 1);
  std::string text = below(2) == 0 ? "# sooth: exact=no program=./p\n" : "";
  for (std::uint64_t i = 0; i < lines; ++i) {
    const std::string thread = "T" + std::to_string(below(3 + i / 100));
    const std::string label = std::to_string(below(labels));
    if (i == wrong && below(2) == 0) {
      text += "what is this\n";
    } else if (i >= calls_from && below(4) == 0) {
      text += thread + (below(2) == 0 ? "|enter(f" : "|exit(f") + std::to_string(below(5)) + ")|" + label + "\n";
    } else if (i >= calls_from && below(4) == 0) {
      text += thread + "|branch|" + label + "|=1\n";
    } else {
      text += thread + (below(2) == 0 ? "|r(V" : "|w(V") + std::to_string(below(1 + i)) + ")|" + label +
              (i >= values_from ? "|=7\n" : "\n");
    }
  }
  return text;
}

TEST(BackgroundReader, GivesWhatTextGivesRightOrWrong) {
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000) / 10;
  std::size_t errors_after_batches = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    std::mt19937_64 random(seed);
    const std::string text = random_text(random);
    const ReadOptions options{static_cast<ColumnSet>(random() % 16)};
    const Comparison seen = compare(read_std_text(text, "t.std", options), read_std_text(text, "t.std", options));
    ASSERT_EQ(seen.difference, "") << "SOOTH_SEED=" << seed;
    errors_after_batches += !seen.end.ok() && seen.batches > 0 ? 1 : 0;
  }
  EXPECT_TRUE(cases < 200 || errors_after_batches > 0) << "no text was wrong in the middle";
}

TEST(BackgroundReader, CarriesTenThousandThreads) {
  const TemporaryDirectory folder;
  const std::string path = folder / "trace";
  auto writer = create_trace_directory(path, {});
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(generate_trace({.events = 100'000, .threads = 10'000}, **writer).ok());
  ASSERT_TRUE((*writer)->finish().ok());
  const ReaderResult direct = open_trace(path);
  ReaderResult reader = open_trace(path);
  ASSERT_TRUE(direct.ok() && reader.ok());
  *reader = read_in_background(std::move(*reader));
  ASSERT_EQ(compare(**direct, **reader).difference, "");
  EXPECT_EQ((*reader)->tables().thread_count(), 10'000u);
}

// A reader that does as it is told at each call: `step` fills `events`, adds to the tables, throws or waits.
class ScriptedReader final : public TraceReader {
 public:
  using Step = std::function<Result<std::size_t>(std::size_t call, Tables& tables)>;  // the number of events to give
  explicit ScriptedReader(Step step) : step_(std::move(step)) {}

  Result<Batch> next() override {
    const Result<std::size_t> count = step_(call_++, tables_);
    if (!count.ok()) {
      return count.status();
    }
    const EventId first{given_};
    events_.assign(*count, Event{});
    given_ += *count;
    return Batch{first, events_, {}, {}, {}, {}};
  }
  const TraceInfo& info() const override { return info_; }
  const Tables& tables() const override { return tables_; }
  std::uint64_t bytes_read() const override { return given_; }
  std::uint64_t bytes_total() const override { return 0; }

 private:
  Step step_;
  std::size_t call_ = 0;
  std::uint64_t given_ = 0;
  TraceInfo info_;
  Tables tables_;
  std::vector<Event> events_;
};

std::unique_ptr<TraceReader> scripted(ScriptedReader::Step step) {
  return read_in_background(std::make_unique<ScriptedReader>(std::move(step)));
}

// Many names for one batch, and names behind the last event.
TEST(BackgroundReader, CarriesMoreNamesThanFitIntoASlot) {
  const auto step = [](std::size_t call, Tables& tables) -> Result<std::size_t> {
    for (int i = 0; i < (call == 1 || call == 3 ? 150'000 : 0); ++i) {
      const SiteId site = tables.add_site({"site number " + std::to_string(i), "a.c", "f", "m", 1, 2, 3});
      tables.intern_stack(StackId(tables.stack_count() - 1), site);
      tables.name_object(ObjectKind::kLock, static_cast<std::uint64_t>(i), "lock");
    }
    return call < 3 ? std::size_t{10} : std::size_t{0};
  };
  ScriptedReader direct(step);
  const auto background = scripted(step);
  const Comparison seen = compare(direct, *background);
  EXPECT_EQ(seen.difference, "");
  EXPECT_GE(background->tables().site_count(), 300'000u);
}

TEST(BackgroundReader, TurnsExceptionsIntoErrorsThatStay) {
  for (const bool memory : {true, false}) {
    const auto reader = scripted([&](std::size_t call, Tables&) -> Result<std::size_t> {
      if (call == 20) {
        memory ? throw std::bad_alloc() : throw std::runtime_error("no luck");
      }
      return std::size_t{1000};
    });
    for (int i = 0; i < 20; ++i) {
      const Result<Batch> batch = reader->next();
      ASSERT_TRUE(batch.ok());
      EXPECT_EQ(batch->events.size(), 1000u);
    }
    for (int i = 0; i < 3; ++i) {
      const Result<Batch> batch = reader->next();
      ASSERT_FALSE(batch.ok());
      EXPECT_EQ(batch.status().code(), ExitCode::kInternal);
      EXPECT_EQ(batch.status().message(),
                memory ? "out of memory while reading the trace" : "reading the trace failed: no luck");
    }
  }
}

TEST(BackgroundReader, RefusesTablesThatReferToNothing) {
  const auto reader = scripted([](std::size_t, Tables& tables) -> Result<std::size_t> {
    tables.intern_stack(kNoStack, SiteId{7});
    return std::size_t{1};
  });
  for (int i = 0; i < 2; ++i) {
    const Result<Batch> batch = reader->next();
    ASSERT_FALSE(batch.ok());
    EXPECT_EQ(batch.status().message(), "the reader's tables refer to rows that are not in them");
  }
}

// Endless traces: what is read ahead is bounded, and destruction ends it, whatever the thread is doing.
TEST(BackgroundReader, StopsWhenDestroyedEarly) {
  for (const std::size_t taken : {0, 1, 3, 100}) {
    for (const std::size_t batch_events : {1, 1024, 10'000}) {
      std::atomic<std::size_t> calls = 0;
      {
        const auto reader = scripted([&](std::size_t, Tables&) -> Result<std::size_t> {
          ++calls;
          return batch_events;
        });
        for (std::size_t i = 0; i < taken; ++i) {
          ASSERT_TRUE(reader->next().ok());
        }
        if (taken == 3) {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until the ring is full
        }
      }
      EXPECT_LE(calls, taken + 9 * (4096 / batch_events + 1));
    }
  }
}

}  // namespace
}  // namespace sooth
