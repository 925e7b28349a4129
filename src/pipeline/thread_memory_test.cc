// What analyses keep of threads that are over, and of a program that does the same for ever: every byte that is allocated
// is counted.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/analysis.h"

namespace {

std::size_t live_bytes = 0, peak_bytes = 0;

void* counted_new(std::size_t size) {
  void* const block = std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) {
    throw std::bad_alloc();
  }
  live_bytes += malloc_usable_size(block);
  peak_bytes = live_bytes > peak_bytes ? live_bytes : peak_bytes;
  return block;
}

void counted_delete(void* block) noexcept {
  live_bytes -= block == nullptr ? 0 : malloc_usable_size(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return counted_new(size); }
void operator delete(void* block) noexcept { counted_delete(block); }
void operator delete(void* block, std::size_t) noexcept { counted_delete(block); }

namespace sooth {
namespace {

enum class Joined { kAtOnce, kInTheEnd, kNever };

// Threads that live one after the other. Each takes a lock, counts, and takes another one inside; every 1,000th also
// touches what is not protected.
class ShortThreads final : public TraceReader {
 public:
  ShortThreads(std::uint32_t threads, Joined joined) : threads_(threads), joined_(joined) {
    for (const char* label : {"1", "2"}) {
      Site site;
      site.label = label;
      tables_.add_site(site);
    }
    tables_.add_thread("main");
  }

  Result<Batch> next() override {
    first_ += events_.size();
    events_.clear();
    for (std::uint32_t i = 0; i < 512 && next_ <= threads_; ++i, ++next_) {
      tables_.add_thread("T" + std::to_string(next_));
      add(0, Op::kFork, next_);
      add(next_, Op::kBegin, 0);
      add(next_, Op::kAcquire, 0x100);
      add(next_, Op::kRead, 0x200, 8);
      add(next_, Op::kWrite, 0x200, 8);
      add(next_, Op::kAcquire, 0x180, 0, 1);
      add(next_, Op::kRelease, 0x180);
      add(next_, Op::kRelease, 0x100);
      if (next_ % 1000 == 0) {
        add(next_, Op::kWrite, 0x300, 8, 1);
      }
      add(next_, Op::kEnd, 0);
      if (joined_ == Joined::kAtOnce) {
        add(0, Op::kJoin, next_);
      }
    }
    for (; events_.size() < 512 && joined_ == Joined::kInTheEnd && next_ > threads_ && over_ < threads_;) {
      add(0, Op::kJoin, ++over_);
    }
    Batch batch;
    batch.first = EventId{first_};
    batch.events = events_;
    return batch;
  }
  const TraceInfo& info() const override { return info_; }
  const Tables& tables() const override { return tables_; }
  std::uint64_t bytes_read() const override { return 0; }
  std::uint64_t bytes_total() const override { return 0; }

 private:
  void add(std::uint32_t thread, Op op, std::uint64_t object, std::uint32_t size = 0, std::uint32_t site = 0) {
    events_.push_back({.object = object, .thread = ThreadId{thread}, .site = SiteId{site}, .size = size, .op = op});
  }

  const std::uint32_t threads_;
  const Joined joined_;
  std::uint32_t next_ = 1;
  std::uint32_t over_ = 0;  // joined in the end
  std::uint64_t first_ = 0;
  std::vector<Event> events_;
  Tables tables_;
  TraceInfo info_;
};

std::size_t peak_of(TraceReader& reader, const std::string& analyses, const char* filter = nullptr,
                    std::function<Result<std::unique_ptr<TraceReader>>()> reopen = nullptr) {
  AnalysisOptions options;
  options.reopen = std::move(reopen);
  options.first_look_events = 1000;  // so has what is kept of it to be looked at again
  options.detectors = *parse_detectors(analyses);
  options.proof.max_events = 1000;  // what is kept of the trace to prove things with has its own bound
  if (filter != nullptr) {
    options.filter = TreeOptions{.mode = find_tree_mode(filter)->mode, .locations = 1024};
  }
  const std::size_t before = live_bytes;
  peak_bytes = live_bytes;
  const Result<Report> report = analyze_trace(reader, options);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return peak_bytes - before;
}

std::size_t peak_of(std::uint32_t threads, Joined joined, const std::string& analyses, const char* filter = nullptr) {
  ShortThreads reader(threads, joined);
  return peak_of(reader, analyses, filter);
}

// Names, the check of the trace, the slots, the overview, who forked whom: small things that are kept of every thread.
// Vectors double, so what grows by 30 bytes may take 60 at times.
constexpr double kBytesPerThread = 64;

TEST(ThreadMemory, ThreadsThatAreJoinedCostAFewBytesEach) {
  constexpr std::uint32_t kFew = 20'000, kMany = 100'000;
  // Not syncp: it remembers what happened, whoever did it, up to a limit of its own.
  for (const char* analyses : {"none", "hb", "hybrid", "wcp", "deadlock", "lockset", "misuse"}) {
    const std::size_t few = peak_of(kFew, Joined::kAtOnce, analyses), many = peak_of(kMany, Joined::kAtOnce, analyses);
    EXPECT_LT(static_cast<double>(many) - static_cast<double>(few), kBytesPerThread * (kMany - kFew))
        << analyses << ": " << few << " and " << many << " bytes";
  }
}

// A stored trace is looked at twice, and in the first pass also for locks that the program has made.
TEST(ThreadMemory, SoDoTheyInAStoredTrace) {
  constexpr std::uint32_t kFew = 10'000, kMany = 50'000;
  const auto peak = [](std::uint32_t threads, const char* analyses) {
    const auto open = [threads]() -> Result<std::unique_ptr<TraceReader>> {
      return std::unique_ptr<TraceReader>(std::make_unique<ShortThreads>(threads, Joined::kAtOnce));
    };
    ShortThreads reader(threads, Joined::kAtOnce);
    return peak_of(reader, analyses, nullptr, open);
  };
  for (const char* analyses : {"hb", "hybrid", "wcp", "deadlock", "lockset", "misuse", "atomicity"}) {
    const std::size_t few = peak(kFew, analyses), many = peak(kMany, analyses);
    EXPECT_LT(static_cast<double>(many) - static_cast<double>(few), kBytesPerThread * (kMany - kFew))
        << analyses << ": " << few << " and " << many << " bytes";
  }
}

TEST(ThreadMemory, SoDoTheyWithAFilter) {
  constexpr std::uint32_t kFew = 20'000, kMany = 100'000;
  for (const char* filter : {"tree", "tree:hb", "tree:strict"}) {
    const std::size_t few = peak_of(kFew, Joined::kAtOnce, "hybrid", filter),
                      many = peak_of(kMany, Joined::kAtOnce, "hybrid", filter);
    EXPECT_LT(static_cast<double>(many) - static_cast<double>(few), kBytesPerThread * (kMany - kFew))
        << filter << ": " << few << " and " << many << " bytes";
  }
}

// Nobody is known to have seen the end of a thread that is never joined, so each has its component in the clocks of
// those that live; but the clocks of those that are over are packed. Without that these were n * n * 2 bytes and more
// (32 MB with hb, 128 MB with wcp and syncp, and 32 MB more with wcp and deadlock because of the nested lock), or as much
// once they are joined.
TEST(ThreadMemory, OfThreadsThatNobodyJoinsOnlyTheLivingHaveAWholeClock) {
  constexpr std::uint32_t kThreads = 4'000;
  for (const Joined joined : {Joined::kNever, Joined::kInTheEnd}) {
    for (const char* analyses : {"hb", "hybrid", "lockset", "deadlock"}) {
      EXPECT_LT(peak_of(kThreads, joined, analyses), 4'000'000u) << analyses;
    }
    // A section in which another one ended may be asked for by whoever is not known to be over: a packed clock for each.
    EXPECT_LT(peak_of(kThreads, joined, "wcp"), 8'000'000u);
    for (const char* analyses : {"ipa", "syncp"}) {  // these have a history of each thread
      EXPECT_LT(peak_of(kThreads, joined, analyses), 12'000'000u) << analyses;
    }
  }
}

// Four threads that live on and do the same again and again: each takes two locks in turn, one inside the other at times,
// counts under them, hands something to the next, and at times reads what nothing protects.
class SteadyThreads final : public TraceReader {
 public:
  explicit SteadyThreads(std::uint64_t events) : left_(events) {
    for (const char* label : {"1", "2", "3"}) {
      Site site;
      site.label = label;
      tables_.add_site(site);
    }
    for (std::uint32_t i = 0; i <= kWorkers; ++i) {
      tables_.add_thread("T" + std::to_string(i));
    }
    for (std::uint32_t i = 1; i <= kWorkers; ++i) {
      add(0, Op::kFork, i);
      add(i, Op::kBegin, 0);
    }
  }

  Result<Batch> next() override {
    if (left_ == 0) {
      return Batch{};
    }
    while (events_.size() < 2048) {
      round();
    }
    left_ -= std::min<std::uint64_t>(left_, events_.size());
    Batch batch;
    batch.first = EventId{first_};
    current_.swap(events_);
    events_.clear();
    batch.events = current_;
    first_ += current_.size();
    return batch;
  }
  const TraceInfo& info() const override { return info_; }
  const Tables& tables() const override { return tables_; }
  std::uint64_t bytes_read() const override { return 0; }
  std::uint64_t bytes_total() const override { return 0; }

 private:
  static constexpr std::uint32_t kWorkers = 4;

  void round() {
    const auto worker = static_cast<std::uint32_t>(1 + rounds_ % kWorkers);
    const std::uint64_t own = 0x1000 + 64 * worker, next = 0x1000 + 64 * (1 + worker % kWorkers);
    const bool nested = rounds_ % 3 == 0;
    add(worker, Op::kAcquire, 0x100);
    add(worker, Op::kRead, 0x200, 8);
    add(worker, Op::kWrite, 0x200, 8);
    add(worker, Op::kRead, own, 8);
    add(worker, Op::kWrite, next, 8);
    if (!nested) {
      add(worker, Op::kRelease, 0x100);
    }
    add(worker, Op::kAcquire, 0x180, 0, 1);
    add(worker, Op::kWrite, 0x280, 8, 1);
    add(worker, Op::kRelease, 0x180, 0, 1);
    if (nested) {
      add(worker, Op::kRelease, 0x100);
    }
    if (rounds_ % 100 == 0) {
      add(worker, Op::kRead, 0x200, 8, 2);
    }
    ++rounds_;
  }
  void add(std::uint32_t thread, Op op, std::uint64_t object, std::uint32_t size = 0, std::uint32_t site = 0) {
    events_.push_back({.object = object, .thread = ThreadId{thread}, .site = SiteId{site}, .size = size, .op = op});
  }

  std::uint64_t left_, rounds_ = 0, first_ = 0;
  std::vector<Event> events_, current_;
  Tables tables_;
  TraceInfo info_;
};

TEST(SteadyMemory, AfterTenMillionEventsIsThatAfterOne) {
  constexpr double kOneMoreNumber = 256;  // figures of the report get longer
  for (const char* analyses : {"hb", "wcp", "deadlock"}) {
    SteadyThreads one(1'000'000), ten(10'000'000);
    EXPECT_NEAR(static_cast<double>(peak_of(one, analyses)), static_cast<double>(peak_of(ten, analyses)),
                kOneMoreNumber)
        << analyses;
  }
  // It remembers up to eight million items as long as there is a thread that may not know of them, as the first one here.
  SteadyThreads ten(10'000'000);
  EXPECT_LT(peak_of(ten, "syncp"), 500'000'000u);
}

}  // namespace
}  // namespace sooth
