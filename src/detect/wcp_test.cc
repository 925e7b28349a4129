#include "detect/wcp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sooth {
namespace {

// A program whose `main` started workers, got a signal from inside a section, and is waiting for the first of them to
// end, which is the commonest there is. The workers go round and round, do the same in every round, and each of their sections says something before it ends:
// nested locks, a lock for readers, a signal from inside a section, and hand-over-hand.
class SteadyProgram {
 public:
  explicit SteadyProgram(std::uint32_t workers) : workers_(workers) {
    for (std::uint32_t worker = 1; worker <= workers; ++worker) {
      emit(0, Op::kFork, worker);
    }
    round();
    emit(0, Op::kWait, 1);
  }

  const std::vector<Event>& round() {
    for (std::uint32_t worker = 1; worker <= workers_; ++worker) {
      emit(worker, Op::kAcquire, 1);
      emit(worker, Op::kAcquire, 2);
      emit(worker, Op::kWrite, 64);
      emit(worker, Op::kRelease, 2);
      emit(worker, Op::kRead, 72 + 8 * worker);
      emit(worker, Op::kNotify, 1);
      emit(worker, Op::kRelease, 1);
      emit(worker, Op::kAcquire, 3, kShared);
      emit(worker, Op::kAcquire, 4);
      emit(worker, Op::kRead, 64);
      emit(worker, Op::kRelease, 4);
      emit(worker, Op::kRelease, 3, kShared);
      emit(worker, Op::kAcquire, 5);
      emit(worker, Op::kAcquire, 6);
      emit(worker, Op::kRelease, 5);
      emit(worker, Op::kWrite, 128);
      emit(worker, Op::kRelease, 6);
    }
    return events_;
  }
  void forget_round() { events_.clear(); }

 private:
  void emit(std::uint32_t thread, Op op, std::uint64_t object, std::uint8_t flags = 0) {
    Event e;
    e.thread = ThreadId{thread};
    e.op = op;
    e.object = object;
    e.flags = flags;
    e.size = op == Op::kRead || op == Op::kWrite ? 8 : 0;
    events_.push_back(e);
  }

  std::uint32_t workers_;
  std::vector<Event> events_;
};

std::string figure(const Detector& detector, const std::string& label) {
  for (const auto& [name, value] : detector.stats()) {
    if (name == label) {
      return value;
    }
  }
  return "no figure " + label;
}

// The sections kept at most in so many rounds.
std::uint64_t kept(std::uint32_t workers, std::uint32_t rounds) {
  const std::unique_ptr<Detector> detector = make_wcp_detector(64);
  SteadyProgram program(workers);
  Batch batch;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    batch.events = program.round();
    detector->consume(batch);
    batch.first = advance(batch.first, batch.events.size());
    program.forget_round();
  }
  return std::stoull(figure(*detector, "sections kept at most"));
}

TEST(WcpMemory, DoesNotGrowWithASteadyProgram) {
  for (const std::uint32_t workers : {2u, 4u, 16u}) {
    const std::uint64_t short_run = kept(workers, 1'000);
    EXPECT_GT(short_run, 0u);
    EXPECT_LE(short_run, 4 * 64u + 64 * workers) << workers;
    EXPECT_EQ(kept(workers, 10'000), short_run) << workers;
  }
}

// What no section says from its inside nobody can know without knowing its end.
TEST(WcpMemory, NeedsNothingForSectionsThatSayNothing) {
  const std::unique_ptr<Detector> detector = make_wcp_detector(1'000'000);
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < 300; ++i) {
    for (const Op op : {Op::kAcquire, Op::kWrite, Op::kRelease}) {
      Event e;
      e.thread = ThreadId{i % 3};
      e.op = op;
      e.object = op == Op::kWrite ? 64 : 1;
      e.size = op == Op::kWrite ? 8 : 0;
      events.push_back(e);
    }
  }
  Batch batch;
  batch.events = events;
  detector->consume(batch);
  EXPECT_EQ(figure(*detector, "sections kept at most"), "0");
}

}  // namespace
}  // namespace sooth
