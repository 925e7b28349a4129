#include "predict/hand_over.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "oracle/trace_text.h"

namespace sooth {
namespace {

constexpr std::uint64_t kBlock = 0x5000;

// The sites of the pair in question are called `a` and `b`; values are given as (event, value).
HandOver judge(const char* text, const std::vector<std::pair<std::size_t, std::uint64_t>>& values) {
  const oracle::TextTrace trace = oracle::parse_trace(text);
  std::vector<Value> column(trace.events.size());
  for (const auto& [event, value] : values) {
    column[event] = {value, 0, static_cast<std::uint8_t>(trace.events[event].size)};
  }
  const auto site = [&](const std::string& label) {
    for (std::size_t i = 0; i < trace.labels.size(); ++i) {
      if (trace.labels[i] == label) {
        return SiteId{static_cast<std::uint32_t>(i)};
      }
    }
    ADD_FAILURE() << "there is no site " << label;
    return SiteId{0};
  };
  const TraceView view{trace.events, column, {}};
  const TraceIndex index(view, {}, KeptOrder::kMust);
  StopPoll poll;
  return HandOvers(index, view).judge(site("a"), site("b"), poll);
}

TEST(HandOver, APointerThatIsPublishedUnderALock) {
  const HandOver found = judge(
      "T0|alloc(0x5000:16)|0 T0|w(0x5008:4)|a T0|acq(m)|1 T0|w(0x100:8)|2 T0|rel(m)|3 "
      "T1|acq(m)|4 T1|r(0x100:8)|5 T1|rel(m)|6 T1|r(0x5008:4)|b",
      {{3, kBlock}, {6, kBlock}});
  EXPECT_EQ(found.verdict, HandOverVerdict::kRecognised);
  EXPECT_TRUE(found.by_pointer);
  EXPECT_EQ(found.pairs, 1u);
}

TEST(HandOver, NotWhatTheFirstThreadDoesBehindThat) {
  EXPECT_EQ(judge("T0|alloc(0x5000:16)|0 T0|acq(m)|1 T0|w(0x100:8)|2 T0|rel(m)|3 T0|w(0x5008:4)|a "
                  "T1|acq(m)|4 T1|r(0x100:8)|5 T1|rel(m)|6 T1|r(0x5008:4)|b",
                  {{2, kBlock}, {6, kBlock}})
                .verdict,
            HandOverVerdict::kContradicted);
}

TEST(HandOver, NotAPointerThatNoLockGuards) {
  EXPECT_EQ(judge("T0|alloc(0x5000:16)|0 T0|w(0x5008:4)|a T0|w(0x100:8)|2 T1|r(0x100:8)|5 T1|r(0x5008:4)|b",
                  {{2, kBlock}, {3, kBlock}})
                .verdict,
            HandOverVerdict::kContradicted);
}

TEST(HandOver, NotAPointerToSomethingElse) {
  EXPECT_NE(
      judge("T0|alloc(0x5000:16)|0 T0|alloc(0x6000:16)|7 T0|w(0x5008:4)|a T0|acq(m)|1 T0|w(0x100:8)|2 T0|rel(m)|3 "
            "T1|acq(m)|4 T1|r(0x100:8)|5 T1|rel(m)|6 T1|r(0x5008:4)|b",
            {{4, 0x6000}, {7, 0x6000}})
          .verdict,
      HandOverVerdict::kRecognised);
}

TEST(HandOver, APointerInWhatIsHandedOver) {
  EXPECT_EQ(
      judge("T0|alloc(0x5000:16)|0 T0|alloc(0x6000:16)|7 T0|w(0x6000:4)|a T0|w(0x5008:8)|8 T0|acq(m)|1 "
            "T0|w(0x100:8)|2 T0|rel(m)|3 T1|acq(m)|4 T1|r(0x100:8)|5 T1|rel(m)|6 T1|r(0x5008:8)|9 T1|r(0x6000:4)|b",
            {{3, 0x6000}, {5, kBlock}, {8, kBlock}, {10, 0x6000}})
          .verdict,
      HandOverVerdict::kRecognised);
}

TEST(HandOver, APointerThatAnotherThreadPassesOn) {
  EXPECT_EQ(judge("T0|alloc(0x5000:16)|0 T0|w(0x5008:4)|a T0|acq(m)|1 T0|w(0x100:8)|2 T0|rel(m)|3 "
                  "T2|acq(m)|4 T2|r(0x100:8)|5 T2|rel(m)|6 T2|acq(n)|7 T2|w(0x200:8)|8 T2|rel(n)|9 "
                  "T1|acq(n)|10 T1|r(0x200:8)|11 T1|rel(n)|12 T1|r(0x5008:4)|b",
                  {{3, kBlock}, {6, kBlock}, {9, kBlock}, {12, kBlock}})
                .verdict,
            HandOverVerdict::kRecognised);
}

// T1 looks at the flag twice, or once.
constexpr char kFlagTwice[] =
    "T1|acq(m)|4 T1|r(0x100:4)|5 T1|rel(m)|6 T0|w(x)|a T0|acq(m)|1 T0|w(0x100:4)|2 T0|rel(m)|3 "
    "T1|acq(m)|4 T1|r(0x100:4)|5 T1|rel(m)|6 T1|r(x)|b";
constexpr char kFlagOnce[] =
    "T0|w(x)|a T0|acq(m)|1 T0|w(0x100:4)|2 T0|rel(m)|3 T1|acq(m)|4 T1|r(0x100:4)|5 T1|rel(m)|6 T1|r(x)|b";

TEST(HandOver, AFlagIsOneIfItWasSeenToDecide) {
  const HandOver found = judge(kFlagTwice, {{1, 0}, {5, 1}, {8, 1}});
  EXPECT_EQ(found.verdict, HandOverVerdict::kRecognised);
  EXPECT_FALSE(found.by_pointer);
  EXPECT_EQ(judge(kFlagOnce, {{2, 1}, {5, 1}}).verdict, HandOverVerdict::kUnclear);
}

TEST(HandOver, NotWhenTheAccessCameWithoutTheFlag) {
  EXPECT_EQ(judge("T1|acq(m)|4 T1|r(0x100:4)|5 T1|rel(m)|6 T1|r(y)|b T0|w(x)|a T0|acq(m)|1 T0|w(0x100:4)|2 T0|rel(m)|3 "
                  "T1|acq(m)|4 T1|r(0x100:4)|5 T1|rel(m)|6 T1|r(x)|b",
                  {{1, 0}, {6, 1}, {9, 1}})
                .verdict,
            HandOverVerdict::kContradicted);
}

TEST(HandOver, NotACountThatBothThreadsKeep) {
  constexpr char kText[] =
      "T0|acq(m)|1 T0|r(0x100:4)|2 T0|w(0x100:4)|3 T0|rel(m)|4 T0|w(x)|a T1|acq(m)|1 T1|r(0x100:4)|2 T1|w(0x100:4)|3 "
      "T1|rel(m)|4 T1|w(x)|b";
  EXPECT_EQ(judge(kText, {{1, 0}, {2, 1}, {6, 1}, {7, 2}}).verdict, HandOverVerdict::kContradicted);
}

TEST(HandOver, ACountOfThoseThatAreDone) {
  // T2 has seen 0 and 2; T0 and T1 have counted.
  EXPECT_EQ(
      judge("T2|acq(m)|1 T2|r(0x100:4)|2 T2|rel(m)|3 T0|w(x)|a T0|acq(m)|4 T0|r(0x100:4)|5 T0|w(0x100:4)|6 T0|rel(m)|7 "
            "T1|acq(m)|4 T1|r(0x100:4)|5 T1|w(0x100:4)|6 T1|rel(m)|7 T2|acq(m)|1 T2|r(0x100:4)|2 T2|rel(m)|3 T2|r(x)|b",
            {{1, 0}, {5, 0}, {6, 1}, {9, 1}, {10, 2}, {13, 2}})
          .verdict,
      HandOverVerdict::kRecognised);
}

TEST(HandOver, OnePairWithoutIsEnough) {
  EXPECT_EQ(judge("T0|alloc(0x5000:16)|0 T0|w(0x5008:4)|a T0|acq(m)|1 T0|w(0x100:8)|2 T0|rel(m)|3 "
                  "T1|acq(m)|4 T1|r(0x100:8)|5 T1|rel(m)|6 T1|r(0x5008:4)|b T0|w(0x5008:4)|a T1|r(0x5008:4)|b",
                  {{3, kBlock}, {6, kBlock}})
                .verdict,
            HandOverVerdict::kContradicted);
}

TEST(HandOver, WhatIsOrderedOrLockedAnywayIsNoPair) {
  EXPECT_EQ(judge("T0|w(x)|a T0|fork(T1)|1 T1|r(x)|b", {}).pairs, 0u);
  EXPECT_EQ(judge("T0|acq(m)|1 T0|w(x)|a T0|rel(m)|2 T1|acq(m)|1 T1|r(x)|b T1|rel(m)|2", {}).pairs, 0u);
}

TEST(HandOver, MergedIsWhatNobodyContradicts) {
  const auto of = [](HandOverVerdict verdict) {
    HandOver one;
    one.verdict = verdict;
    one.pairs = 2;
    return one;
  };
  using V = HandOverVerdict;
  for (const auto& [a, b, both] : {std::tuple(V::kRecognised, V::kUnclear, V::kRecognised),
                                   std::tuple(V::kUnclear, V::kRecognised, V::kRecognised),
                                   std::tuple(V::kRecognised, V::kContradicted, V::kContradicted)}) {
    HandOver merged = of(a);
    merge_hand_over(merged, of(b));
    EXPECT_EQ(merged.verdict, both);
    EXPECT_EQ(merged.pairs, 4u);
  }
}

}  // namespace
}  // namespace sooth
