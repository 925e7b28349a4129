#include "detect/misuse.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/test_environment.h"
#include "detect/hb.h"
#include "oracle/must_order.h"
#include "oracle/random_trace.h"
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

TEST(MisuseTest, UsesOfFreedMemory) {
  const auto uses = [](std::uint64_t event, std::uint64_t times) {
    return Expected{MisuseKind::kUseAfterFree, event, times};
  };
  expect_misuses("T0|alloc(0x1010:16)|1 T0|w(0x1010:8)|2 T0|free(0x1010:16)|3", {});
  // Once for each place, whatever orders the two.
  expect_misuses("T0|alloc(0x1010:16)|1 T0|free(0x1010:16)|2 T0|w(0x1010:8)|3 T0|r(0x1018:4)|4 T0|r(0x1018:4)|4",
                 {uses(2, 1), uses(3, 2)});
  expect_misuses("T0|acq(l)|1 T0|free(0x1010:16)|2 T0|rel(l)|3 T1|acq(l)|4 T1|r(0x100c:8)|5", {uses(4, 1)});
  // Handed out again, whole or in part; and beside it.
  expect_misuses("T0|free(0x1010:16)|1 T1|alloc(0x1010:16)|2 T1|w(0x1010:8)|3", {});
  expect_misuses("T0|free(0x1010:32)|1 T1|alloc(0x1018:8)|2 T1|w(0x1018:8)|3 T1|w(0x1010:8)|4 T1|w(0x1020:8)|5",
                 {uses(3, 1), uses(4, 1)});
  expect_misuses("T0|free(0x1010:16)|1 T1|w(0x1008:8)|2 T1|w(0x1020:8)|3", {});
  // Pages that go back to the system may come again unseen.
  expect_misuses("T0|free(0x2000:4096)|1 T1|w(0x2008:8)|2", {});
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

constexpr std::uint32_t kOwnSites = 1000;

// Judged by its definition: some section of the lock was released before, and not before it by happens-before.
TEST(MisuseTest, DestructionIsOneIfNothingOrdersItBehindASection) {
  const std::uint64_t seed = from_environment("SOOTH_SEED", 1);
  std::uint64_t found = 0, ordered = 0;
  for (std::uint64_t i = 0; i < from_environment("SOOTH_CASES", 2000); ++i) {
    const std::vector<Event> trace =
        oracle::random_trace(oracle::kProfiles[i % oracle::kProfiles.size()], seed + i).events;
    std::vector<Event> events;
    for (std::size_t k = 0; k < trace.size(); ++k) {
      events.push_back(trace[k]);
      // By a thread that lives, of a lock that nobody need hold: the order is all that counts.
      if (trace[k].op == Op::kRelease && k + 1 < trace.size() && trace[k + 1].op != Op::kBegin) {
        Event destroy = trace[k];
        destroy.op = Op::kMisuse;
        destroy.flags = 0;
        destroy.size = raw(MisuseKind::kDestroy);
        destroy.thread = trace[k + 1].thread;
        destroy.site = SiteId{static_cast<std::uint32_t>(kOwnSites + events.size())};
        events.push_back(destroy);
      }
    }
    const oracle::Relation before = oracle::happens_before(events);
    std::vector<std::uint64_t> expected;
    for (std::size_t d = 0; d < events.size(); ++d) {
      if (events[d].op != Op::kMisuse || events[d].size != raw(MisuseKind::kDestroy)) {
        continue;
      }
      const std::vector<oracle::Section> sections = oracle::sections_of(events);
      const bool unordered = std::any_of(sections.begin(), sections.end(), [&](const oracle::Section& section) {
        return section.lock == events[d].object && section.release && *section.release < d &&
               !before.ordered(*section.release, d);
      });
      (unordered ? found : ordered) += 1;
      if (unordered && events[d].site >= SiteId{kOwnSites}) {
        expected.push_back(d);
      }
    }
    const auto detector = make_hb_detector();
    detector->consume({EventId{0}, events, {}, {}, {}, {}});
    std::vector<std::uint64_t> judged;
    for (const MisuseCandidate& misuse : detector->misuses()) {
      if (misuse.call.event.site >= SiteId{kOwnSites}) {
        judged.push_back(raw(misuse.call.id));
      }
    }
    ASSERT_EQ(judged, expected) << "seed " << seed + i;
  }
  EXPECT_GT(found, 100u);
  EXPECT_GT(ordered, 100u);
}

}  // namespace
}  // namespace sooth
