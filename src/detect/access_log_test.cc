#include "detect/access_log.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>
#include <utility>

#include "detect/epoch_summary.h"
#include "oracle/random.h"

namespace sooth {
namespace {

constexpr Op kAccessOps[] = {Op::kRead, Op::kWrite, Op::kAtomicLoad, Op::kAtomicStore, Op::kAtomicRmw, Op::kFree};

TEST(AccessKindTest, ConflictsAsSection1OfSemanticsSays) {
  for (const Op a : kAccessOps) {
    for (const Op b : kAccessOps) {
      const bool expected = (is_write(a) || is_write(b)) && !(is_atomic(a) && is_atomic(b));
      EXPECT_EQ(conflict(access_kind(a), access_kind(b)), expected) << op_name(a) << ", " << op_name(b);
      EXPECT_EQ((conflicting_kinds(access_kind(a)) >> raw(access_kind(b)) & 1) != 0, expected);
    }
  }
  Event a;
  a.op = Op::kWrite;
  EXPECT_FALSE(conflict(a, a)) << "of one thread";
}

// (thread, site, kind, locks): the key of an entry.
using Key = std::tuple<std::uint32_t, std::uint32_t, unsigned, std::uint32_t>;
using Cell = std::map<Key, AccessRecord>;

class AccessLogTest : public ::testing::TestWithParam<AccessLog::Keys> {};

TEST_P(AccessLogTest, EqualsAMapOfTheLatestAccesses) {
  const bool by_locks = GetParam() == AccessLog::Keys::kByLocks;
  oracle::Random random(1);
  AccessLog log(GetParam());
  std::map<std::uint32_t, Cell> model;
  const auto locks_key = [&](const AccessRecord& r) { return by_locks ? raw(r.locks) : 0; };
  for (std::uint64_t step = 0; step < 60'000; ++step) {
    const std::uint32_t cell = random.below(300);
    const auto known = model.find(cell);
    const unsigned what = random.below(100);
    if (known == model.end()) {
      const std::uint32_t from = random.below(300);
      if (what < 50 && model.contains(from)) {
        log.copy_cell(CellId{from}, CellId{cell});
        model[cell] = model[from];
      } else {
        log.add_cell(CellId{cell});
        model[cell] = {};
      }
    } else if (what == 0) {
      log.drop_cell(CellId{cell});
      model.erase(known);
    } else {
      AccessRecord record;
      record.event.thread = ThreadId(random.below(4));
      record.event.site = SiteId(random.below(8));
      record.event.op = kAccessOps[random.below(std::size(kAccessOps))];
      const std::uint32_t lock_sets = cell % 2 == 0 ? 3 : 24;  // more than a chain of groups takes without an index
      record.locks = LockSetId(random.below(lock_sets));
      record.id = EventId{step};
      record.time = static_cast<Time>(step);
      record.stack = StackId(random.below(2) * random.below(3));
      // Of some bytes of the cell's granule: what a cell stands for may change.
      record.event.object = std::uint64_t{cell} * 8 + random.below(2) * 4;
      record.event.size = 1 + random.below(4);
      if (record.event.op <= Op::kWrite && random.below(4) != 0) {
        const LockSetId guess{random.below(4) != 0 ? raw(record.locks) : random.below(lock_sets)};
        const AccessLog::Place place = log.place_of(CellId{cell}, record.event, guess);
        log.prefetch_bucket(place);
        log.prefetch_entry(place);
        log.record_at(place, CellId{cell}, record);
      } else {
        record.event.order = is_atomic(record.event.op) ? MemoryOrder::kAcqRel : MemoryOrder::kNotAtomic;
        record.event.size += 8 * random.below(2);
        log.record(CellId{cell}, record);
      }
      known->second[{raw(record.event.thread), raw(record.event.site), raw(access_kind(record.event.op)),
                     locks_key(record)}] = record;
    }
    if (step % 1000 != 999) {
      continue;
    }
    std::size_t entries = 0;
    for (const auto& [id, expected] : model) {
      Cell all;
      Cell without_group_1;
      const auto put_into = [&](Cell& into) {
        return [&](const AccessRecord& r) {
          const Key key{raw(r.event.thread), raw(r.event.site), raw(access_kind(r.event.op)), locks_key(r)};
          EXPECT_TRUE(into.emplace(key, r).second) << "one entry for each key";
        };
      };
      log.walk(CellId{id}, put_into(all));
      log.walk(
          CellId{id}, [](LockSetId locks) { return raw(locks) == 1; }, put_into(without_group_1));
      ASSERT_EQ(all, expected) << "cell " << id << " after step " << step;
      std::erase_if(all, [](const auto& entry) { return std::get<3>(entry.first) == 1; });
      ASSERT_EQ(without_group_1, all);
      // Of each site the latest write that is no longer ago than half of the steps.
      std::map<std::uint32_t, AccessRecord> latest;
      for (const auto& [key, r] : all) {
        if ((std::get<2>(key) & 1) != 0 && r.time >= step / 2) {
          AccessRecord& known_latest = latest.try_emplace(std::get<1>(key), r).first->second;
          known_latest = known_latest.id < r.id ? r : known_latest;
        }
      }
      std::map<std::uint32_t, AccessRecord> found;
      log.walk_latest(
          CellId{id}, [](LockSetId locks) { return raw(locks) == 1; },
          [&](ThreadId, AccessKind kind, Time time) { return (raw(kind) & 1) != 0 && time >= step / 2; },
          [&](const AccessRecord& r) { EXPECT_TRUE(found.emplace(raw(r.event.site), r).second); });
      ASSERT_EQ(found, latest);
      entries += expected.size();
    }
    ASSERT_EQ(log.entry_count(), entries);
  }
  EXPECT_GT(log.entry_count(), 4096u) << "enough to make the table grow";
}

INSTANTIATE_TEST_SUITE_P(Keys, AccessLogTest, ::testing::Values(AccessLog::Keys::kPlain, AccessLog::Keys::kByLocks));

// Sets of up to six locks, one of which nearly all accesses to a cell hold, some of them shared: leaving out what a lock
// protects at once is leaving it out set by set.
TEST(AccessLogFamilies, LeaveOutWhatIsProtectedAndNothingElse) {
  oracle::Random random(1);
  LockSets sets;
  LockSetTable& table = sets.table();
  AccessLog log(AccessLog::Keys::kByLocks);
  AccessLog plain(AccessLog::Keys::kByLocks);
  log.group_by_lock(&table);
  constexpr std::uint32_t kCells = 4;  // the last one has no lock of its own
  const auto any_locks = [&](std::uint32_t cell) {
    LockSetId locks = kNoLocks;
    for (std::uint32_t count = random.below(6); count != 0; --count) {
      const std::uint64_t lock = 100 + random.below(12);
      locks = table.with(table.without(locks, lock), {lock, random.below(3) == 0});
    }
    const bool own = cell + 1 < kCells && random.below(20) != 0;
    return own ? table.with(locks, {cell, random.below(3) == 0}) : locks;
  };
  for (std::uint32_t cell = 0; cell < kCells; ++cell) {
    log.add_cell(CellId{cell});
    plain.add_cell(CellId{cell});
  }
  std::uint64_t skipped = 0;
  for (std::uint64_t step = 0; step < 6'000; ++step) {
    const std::uint32_t cell = random.below(kCells);
    if (step % 2'000 == 1'999) {  // what was there before must be forgotten, and a copy be as good
      const std::uint32_t from = (cell + 1) % kCells;
      for (AccessLog* each : {&log, &plain}) {
        each->drop_cell(CellId{cell});
        each->copy_cell(CellId{from}, CellId{cell});
      }
    }
    AccessRecord record;
    record.event.thread = ThreadId(random.below(3));
    record.event.site = SiteId(random.below(5));
    record.event.op = kAccessOps[random.below(std::size(kAccessOps))];
    record.event.size = 1;
    record.id = EventId{step};
    record.locks = any_locks(cell);
    log.record(CellId{cell}, record);
    plain.record(CellId{cell}, record);
    if (step % 8 != 0) {
      continue;
    }
    const LockSetId held = any_locks(cell);
    std::uint64_t asked = 0;
    const auto protects = [&](LockSetId locks) {
      ++asked;
      return table.protects(locks, held);
    };
    const auto walked = [&](AccessLog& of) {
      std::map<Key, AccessRecord> all;
      of.walk(CellId{cell}, protects, [&](const AccessRecord& r) {
        const Key key{raw(r.event.thread), raw(r.event.site), raw(access_kind(r.event.op)), raw(r.locks)};
        EXPECT_TRUE(all.emplace(key, r).second) << "one entry for each key";
      });
      return all;
    };
    const auto latest = [&](AccessLog& of) {
      std::map<std::uint32_t, AccessRecord> sites;
      of.walk_latest(
          CellId{cell}, protects, [](ThreadId thread, AccessKind, Time) { return thread != ThreadId{0}; },
          [&](const AccessRecord& r) { EXPECT_TRUE(sites.emplace(raw(r.event.site), r).second); });
      return sites;
    };
    const std::map<Key, AccessRecord> found = walked(log);
    const std::uint64_t with_families = std::exchange(asked, 0);
    ASSERT_EQ(found, walked(plain)) << "step " << step;
    skipped += 2 * with_families < asked ? 1 : 0;
    ASSERT_EQ(latest(log), latest(plain)) << "step " << step;
  }
  EXPECT_GT(skipped, 100u) << "most sets are not looked at where a lock protects most";
}

// One variable, three threads that learn from each other at random: whenever the summary is sure, all conflicting
// accesses must be known; and when it is not although they are, an earlier race or a concurrent pair must have made it
// forget.
TEST(EpochSummaryTest, IsSureOnlyOfWhatIsKnown) {
  std::uint64_t sure = 0;
  std::uint64_t unsure = 0;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    oracle::Random random(seed);
    VectorClock clocks[3];
    for (std::uint32_t t = 0; t < 3; ++t) {
      clocks[t].set(ThreadId{t}, 1);
    }
    EpochSummary summary;
    std::vector<std::pair<AccessKind, Epoch>> accesses;
    for (int step = 0; step < 30; ++step) {
      const std::uint32_t t = random.below(3);
      VectorClock& clock = clocks[t];
      if (random.below(2) == 0) {  // t learns from another thread, which goes on
        const std::uint32_t other = random.below(3);
        clock.join(clocks[other]);
        clocks[other].set(ThreadId{other}, clocks[other][ThreadId{other}] + 1);
        continue;
      }
      const AccessKind kind = AccessKind(random.below(4));
      bool all_known = true;
      for (const auto& [earlier, epoch] : accesses) {
        all_known = all_known && (!conflict(kind, earlier) || clock.knows(epoch));
      }
      if (summary.surely_known(kind, clock)) {
        ASSERT_TRUE(all_known) << "seed " << seed << ", step " << step;
        ++sure;
      } else {
        unsure += all_known ? 1 : 0;
      }
      const Epoch now(ThreadId{t}, clock[ThreadId{t}]);
      summary.add(kind, now, clock, all_known);
      accesses.emplace_back(kind, now);
    }
  }
  EXPECT_GT(sure, 4 * unsure) << "a summary that is never sure is right, but useless";
}

TEST(EpochSummaryTest, AnOrderedWriteSpeaksForAllKinds) {
  VectorClock a;
  VectorClock b;
  a.set(ThreadId{0}, 1);
  b.set(ThreadId{1}, 1);
  EpochSummary summary;
  summary.add(AccessKind::kRead, {ThreadId{0}, 1}, a, true);
  summary.add(AccessKind::kRead, {ThreadId{1}, 1}, b, true);
  EXPECT_TRUE(summary.surely_known(AccessKind::kRead, a)) << "reads do not conflict";
  a.join(b);
  EXPECT_FALSE(summary.surely_known(AccessKind::kWrite, a)) << "concurrent reads: the log must decide";
  summary.add(AccessKind::kWrite, {ThreadId{0}, 1}, a, true);
  EXPECT_TRUE(summary.surely_known(AccessKind::kWrite, a));
  EXPECT_FALSE(summary.surely_known(AccessKind::kRead, b));
}

}  // namespace
}  // namespace sooth
