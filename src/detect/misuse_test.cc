#include "detect/misuse.h"

#include <gtest/gtest.h>

#include "oracle/trace_text.h"

namespace sooth {
namespace {

struct Expected {
  MisuseKind kind;
  std::uint64_t event;
  std::uint64_t times;
};

void expect_misuses(std::string_view text, const std::vector<Expected>& expected) {
  const oracle::TextTrace trace = oracle::parse_trace(text);
  // One batch for each event: what is remembered must outlive a batch.
  const auto detector = make_misuse_detector();
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    detector->consume({EventId{i}, {&trace.events[i], 1}, {}, {}, {}, {}});
  }
  detector->finish();
  const std::vector<MisuseCandidate> found = detector->misuses();
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].kind, expected[i].kind) << i;
    EXPECT_EQ(raw(found[i].call.id), expected[i].event) << i;
    EXPECT_EQ(found[i].call.event, trace.events[expected[i].event]) << i;
    EXPECT_EQ(found[i].times, expected[i].times) << i;
  }
  EXPECT_TRUE(detector->races().pairs().empty());
}

TEST(MisuseTest, CountsByKindAndSite) {
  expect_misuses(
      "T0|acq(l)|1 T0|misuse.double_lock(l)|2 T1|misuse.double_lock(m)|2 T0|misuse.unlock_unlocked(l)|2 "
      "T0|misuse.double_lock(l)|3",
      {{MisuseKind::kDoubleLock, 1, 2}, {MisuseKind::kUnlockUnlocked, 3, 1}, {MisuseKind::kDoubleLock, 4, 1}});
  expect_misuses("T0|acq(l)|1 T0|rel(l)|2", {});
}

// The program ends at one place; what tells leaks apart is where the threads were started.
TEST(MisuseTest, LeakedThreadsCountWhereTheyWereForked) {
  expect_misuses(
      "T0|fork(T1)|1 T0|fork(T2)|1 T0|fork(T3)|2 T0|misuse.thread_leak(T1)|9 T0|misuse.thread_leak(T2)|9 "
      "T0|misuse.thread_leak(T3)|9",
      {{MisuseKind::kThreadLeak, 0, 2}, {MisuseKind::kThreadLeak, 2, 1}});
  expect_misuses("T1|r(x)|1 T0|misuse.thread_leak(T1)|9", {{MisuseKind::kThreadLeak, 1, 1}});
}

TEST(MisuseTest, KnowsTheLocksHeld) {
  const oracle::TextTrace trace =
      oracle::parse_trace("T0|acq(l)|1 T0|racq(m)|2 T0|rel(l)|3 T0|misuse.bad_read_unlock(n)|4");
  const auto detector = make_misuse_detector();
  detector->consume({EventId{0}, trace.events, {}, {}, {}, {}});
  const std::vector<MisuseCandidate> found = detector->misuses();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(detector->lock_sets().locks(found[0].call.locks), (std::vector<LockMode>{{trace.events[1].object, true}}));
}

}  // namespace
}  // namespace sooth
