#include "schedule/follow.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sooth {
namespace {

using control::Divergence;
using control::kAnyAccesses;
using control::StretchEnd;
using Verdict = StretchFollower::Verdict;

control::Stretch stretch(std::uint32_t thread, std::uint64_t events, std::uint64_t accesses, StretchEnd end,
                         std::uint32_t hash = 0) {
  return {thread, end, events, accesses, hash, 0};
}

class Following {
 public:
  explicit Following(std::vector<control::Stretch> stretches, std::vector<control::ThreadOrigin> threads = {},
                     bool has_sites = false)
      : stretches_(std::move(stretches)),
        threads_(std::move(threads)),
        follower(stretches_.data(), static_cast<std::uint32_t>(stretches_.size()), threads_.data(),
                 static_cast<std::uint32_t>(threads_.size()), has_sites) {}

 private:
  std::vector<control::Stretch> stretches_;
  std::vector<control::ThreadOrigin> threads_;

 public:
  StretchFollower follower;
};

TEST(StretchFollower, StopsAThreadAtItsPosition) {
  Following f({stretch(0, 5, 3, StretchEnd::kPreempted)});
  StretchFollower& s = f.follower;
  EXPECT_EQ(s.look({4, 9}, StretchEnd::kPreempted, 1, true), Verdict::kGoesOn);
  EXPECT_EQ(s.look({5, 2}, StretchEnd::kPreempted, 1, true), Verdict::kGoesOn);
  EXPECT_EQ(s.look({5, 2}, StretchEnd::kYielded, 1, true), Verdict::kGoesOn);
  EXPECT_EQ(s.look({5, 3}, StretchEnd::kPreempted, 1, false), Verdict::kIsOver);
  EXPECT_EQ(s.look({5, 4}, StretchEnd::kPreempted, 1, false), Verdict::kIsOver) << "there was no point in between";
  EXPECT_EQ(s.look({6, 0}, StretchEnd::kPreempted, 1, true), Verdict::kIsOver);
  EXPECT_EQ(s.accesses_left({4, 9}), kAnyAccesses);
  EXPECT_EQ(s.accesses_left({5, 0}), 3u);
  EXPECT_EQ(s.accesses_left({5, 3}), 0u);
  EXPECT_EQ(s.accesses_left({6, 0}), 0u);
  EXPECT_FALSE(s.is_over());
  s.advance();
  EXPECT_TRUE(s.is_over());
}

TEST(StretchFollower, AnyAccessesMeanTheNextOperation) {
  Following f({stretch(0, 5, kAnyAccesses, StretchEnd::kPreempted)});
  EXPECT_EQ(f.follower.look({5, 7}, StretchEnd::kPreempted, 1, false), Verdict::kGoesOn) << "in front of an access";
  EXPECT_EQ(f.follower.look({5, 7}, StretchEnd::kPreempted, 1, true), Verdict::kIsOver);
  EXPECT_EQ(f.follower.accesses_left({5, 0}), kAnyAccesses);
}

TEST(StretchFollower, LeavesAThreadToBlockWhereItIsToBlock) {
  for (StretchEnd end : {StretchEnd::kBlocked, StretchEnd::kOutside, StretchEnd::kTaken, StretchEnd::kYielded}) {
    Following f({stretch(0, 5, 3, end)});
    EXPECT_EQ(f.follower.look({5, 3}, StretchEnd::kPreempted, 1, true), Verdict::kGoesOn);
    EXPECT_EQ(f.follower.look({5, 3}, end, 1, true), Verdict::kIsOver);
    EXPECT_EQ(f.follower.look({6, 0}, StretchEnd::kPreempted, 1, true), Verdict::kIsOver) << "it did not, and went on";
  }
}

TEST(StretchFollower, WaitsForAThreadThatWaitsForTheWorld) {
  for (StretchEnd how : {StretchEnd::kOutside, StretchEnd::kTaken}) {
    Following f({stretch(0, 5, 3, StretchEnd::kPreempted)});
    EXPECT_EQ(f.follower.look({4, 0}, how, 1, true), Verdict::kGoesOn) << "it comes back, and goes on";
    EXPECT_EQ(f.follower.look({5, 3}, how, 1, true), Verdict::kIsOver);
  }
}

TEST(StretchFollower, DivergesWhenAThreadStopsEarly) {
  Following f({stretch(0, 5, 3, StretchEnd::kPreempted)});
  EXPECT_EQ(f.follower.look({5, 2}, StretchEnd::kBlocked, 1, true), Verdict::kDiverges);
  EXPECT_EQ(f.follower.divergence(), Divergence::kEarly);
  EXPECT_EQ(f.follower.found(), static_cast<std::uint64_t>(StretchEnd::kBlocked));
  EXPECT_EQ(f.follower.look({5, 3}, StretchEnd::kBlocked, 1, true), Verdict::kIsOver)
      << "it has come as far as it was to";
}

TEST(StretchFollower, DivergesWhenOtherOperationsWereDone) {
  Following f({stretch(0, 5, 3, StretchEnd::kPreempted, 77)});
  EXPECT_EQ(f.follower.look({5, 3}, StretchEnd::kPreempted, 77, false), Verdict::kIsOver);
  EXPECT_EQ(f.follower.look({5, 3}, StretchEnd::kPreempted, 78, true), Verdict::kGoesOn)
      << "a call without an event may come first";
  EXPECT_EQ(f.follower.look({5, 3}, StretchEnd::kYielded, 78, true), Verdict::kGoesOn);
  EXPECT_EQ(f.follower.look({5, 3}, StretchEnd::kBlocked, 78, true), Verdict::kDiverges);
  EXPECT_EQ(f.follower.look({6, 0}, StretchEnd::kPreempted, 78, true), Verdict::kDiverges);
  EXPECT_EQ(f.follower.divergence(), Divergence::kOtherHash);
  EXPECT_EQ(f.follower.found(), 78u);
}

TEST(StretchFollower, FindsThreadsByTheirOrigin) {
  // The schedule numbers them as they began, this run as they were created.
  Following f({stretch(2, 1, 0, StretchEnd::kPreempted), stretch(3, 1, 0, StretchEnd::kPreempted),
               stretch(9, 1, 0, StretchEnd::kPreempted)},
              {{1, 0, 0, 0}, {2, 1, 0, 0}, {3, 0, 1, 0}});
  StretchFollower& s = f.follower;
  EXPECT_EQ(s.id_of(0), 0u);
  EXPECT_EQ(s.wanted(), control::kNone);
  s.created(1, 0, 0);
  EXPECT_EQ(s.wanted(), control::kNone);
  s.created(2, 0, 1);
  s.created(3, 1, 0);
  s.created(4, 1, 1);  // of no interest
  EXPECT_EQ(s.id_of(1), 1u);
  EXPECT_EQ(s.wanted(), 3u);
  s.advance();
  EXPECT_EQ(s.wanted(), 2u);
  s.advance();
  EXPECT_EQ(s.wanted(), control::kNone);
}

TEST(StretchFollower, PostponesAtTheEndOnlyWhereThereAreSites) {
  for (bool has_sites : {false, true}) {
    Following f({stretch(0, 5, 3, StretchEnd::kPostponed)}, {}, has_sites);
    EXPECT_EQ(f.follower.look({5, 3}, StretchEnd::kPreempted, 1, false),
              has_sites ? Verdict::kGoesOn : Verdict::kIsOver);
    EXPECT_EQ(f.follower.look({5, 3}, StretchEnd::kPostponed, 1, false), Verdict::kIsOver);
    EXPECT_FALSE(f.follower.wants_postponed({5, 2}));
    EXPECT_EQ(f.follower.wants_postponed({5, 3}), has_sites);
  }
  Following any({stretch(0, 5, kAnyAccesses, StretchEnd::kPostponed)}, {}, true);
  EXPECT_FALSE(any.follower.wants_postponed({4, 3}));
  EXPECT_TRUE(any.follower.wants_postponed({5, 0}));
}

struct FollowEntry {
  FollowEntry* next = nullptr;
  std::uint32_t id = 0;
};

TEST(ChoiceFollower, TakesTheListThenStays) {
  FollowEntry one{nullptr, 1}, two{&one, 2}, three{nullptr, 3};
  const std::vector<std::uint16_t> list = {2, 3, 1};
  ChoiceFollower c(list.data(), static_cast<std::uint32_t>(list.size()));
  EXPECT_EQ(c.choose<FollowEntry>(nullptr, &three, SchedulingPoint::kOperation), &three) << "no choice at all";
  EXPECT_EQ(c.choose<FollowEntry>(&one, nullptr, SchedulingPoint::kBlocked), &one);
  EXPECT_EQ(c.index(), 0u);
  EXPECT_EQ(c.choose(&two, &three, SchedulingPoint::kOperation), &two);
  EXPECT_EQ(c.choose(&two, &three, SchedulingPoint::kYield), &three);
  EXPECT_EQ(c.choose<FollowEntry>(&two, nullptr, SchedulingPoint::kBlocked), &one);
  EXPECT_EQ(c.index(), 3u);
  EXPECT_EQ(c.choose(&two, &three, SchedulingPoint::kOperation), &three);
  EXPECT_EQ(c.choose<FollowEntry>(&two, nullptr, SchedulingPoint::kBlocked), &one);
  EXPECT_EQ(c.choose(&two, &three, SchedulingPoint::kYield), &one) << "round and round";
  three.next = nullptr;
  two.next = &three;
  EXPECT_EQ(c.choose(&two, &one, SchedulingPoint::kQuantum), &two);
  EXPECT_FALSE(c.has_failed());
}

TEST(ChoiceFollower, MayChooseAThreadWhoseTimeHasNotCome) {
  FollowEntry one{nullptr, 1}, two{nullptr, 2}, five{nullptr, 5}, four{&five, 4};
  const auto can_fire = [](const FollowEntry* entry) { return entry->id == 4; };
  const std::vector<std::uint16_t> list = {4, 1, 5};
  ChoiceFollower c(list.data(), static_cast<std::uint32_t>(list.size()));
  const auto choose = [&](FollowEntry* ready, FollowEntry* running) {
    return c.choose(ready, running, SchedulingPoint::kOperation, &four, can_fire);
  };
  EXPECT_EQ(choose(nullptr, nullptr), &four) << "there is nobody else, so nothing to choose";
  EXPECT_EQ(c.index(), 0u);
  EXPECT_EQ(choose(nullptr, &one), &four);
  EXPECT_EQ(choose(&two, &one), &one);
  EXPECT_EQ(choose(&two, &one), &one) << "the other waits for somebody";
  EXPECT_TRUE(c.has_failed());
  EXPECT_EQ(choose(nullptr, &one), &one) << "behind the list time passes when nobody can run";
  EXPECT_EQ(choose(&two, nullptr), &two);
}

TEST(ChoiceFollower, FailsOnceWhenAThreadIsNotReady) {
  FollowEntry one{nullptr, 1}, two{&one, 2}, three{nullptr, 3};
  const std::vector<std::uint16_t> list = {7, 2};
  ChoiceFollower c(list.data(), static_cast<std::uint32_t>(list.size()));
  EXPECT_EQ(c.choose(&two, &three, SchedulingPoint::kOperation), &three);
  EXPECT_TRUE(c.has_failed());
  EXPECT_EQ(c.wanted(), 7u);
  EXPECT_EQ(c.choose(&two, &three, SchedulingPoint::kOperation), &three) << "what follows means nothing any more";
  EXPECT_FALSE(c.has_failed());
}

}  // namespace
}  // namespace sooth
