#include "run/order_census.h"

#include <gtest/gtest.h>

#include "oracle/trace_text.h"
#include "trace/memory_trace.h"

namespace sooth {
namespace {

void add_bare(OrderCensus& census, const std::string& text) {
  const oracle::TextTrace parsed = oracle::parse_trace(text);
  MemoryTrace trace;
  trace.events = parsed.events;
  for (const std::string& label : parsed.labels) {
    Site site;
    site.label = label;
    trace.tables.add_site(site);
  }
  MemoryTraceReader reader(trace);
  census.add(reader);
}

// Threads are numbered as they appear: the same in all traces.
void add(OrderCensus& census, const std::string& text) { add_bare(census, "T0|r(q)|0 T1|r(q)|0 T2|r(q)|0 " + text); }

TEST(OrderCensus, AsksForTheOrderThatNobodyHasSeen) {
  OrderCensus census;
  EXPECT_EQ(census.next_schedule(), std::nullopt);
  add(census, "T0|w(x)|1 T1|r(x)|2 T1|w(y)|3 T2|r(y)|4 T1|w(z)|3 T2|r(z)|5");
  EXPECT_EQ(census.one_way(), 3u);
  EXPECT_EQ(census.next_schedule(), "first:2") << "two of them have T2 behind";
  EXPECT_EQ(census.next_schedule(), "first:1") << "each once before any twice";
  EXPECT_EQ(census.next_schedule(), "last:1") << "... and who comes last behind who comes first";
  // The other way round: nothing more to ask of these two.
  add(census, "T2|r(y)|4 T1|w(y)|3 T2|r(y)|4");
  EXPECT_EQ(census.one_way(), 3u) << "a read that nobody wrote before orders nothing";
  add(census, "T2|w(y)|4 T1|w(y)|3");
  EXPECT_EQ(census.one_way(), 2u);
}

TEST(OrderCensus, LocksCount) {
  OrderCensus census;
  add(census, "T0|acq(l)|1 T0|rel(l)|2 T1|acq(l)|3 T1|rel(l)|4");
  EXPECT_EQ(census.next_schedule(), "first:1");
  add(census, "T1|acq(l)|3 T1|rel(l)|4 T0|acq(l)|1 T0|rel(l)|2");
  EXPECT_EQ(census.one_way(), 0u);
  EXPECT_EQ(census.next_schedule(), std::nullopt);
}

TEST(OrderCensus, WhatCannotBeTurnedAroundDoesNotCount) {
  OrderCensus census;
  add_bare(census, "T0|w(x)|1 T0|fork(T1)|2 T1|w(x)|3 T0|join(T1)|4 T0|r(x)|5");
  EXPECT_EQ(census.one_way(), 0u);
  add_bare(census, "T0|fork(T1)|2 T0|astore.release(f)|6 T1|aload.acquire(f)|7");
  EXPECT_EQ(census.one_way(), 1u) << "the load might have come first";
}

TEST(OrderCensus, KnowsWhetherAnybodyWaitsForACondition) {
  OrderCensus census;
  add_bare(census, "T0|acq(l)|1 T0|rel(l)|2 T0|condtimeout(c)|3 T0|acq(l)|4 T0|rel(l)|5");
  EXPECT_FALSE(census.has_condition_waits()) << "it was over by itself";
  add_bare(census, "T0|acq(l)|1 T0|rel(l)|2 T1|notifyone(c)|6 T0|condwait(c)|3 T0|acq(l)|4 T0|rel(l)|5");
  EXPECT_TRUE(census.has_condition_waits());
}

TEST(OrderCensus, KnowsWhetherAtomicsMaySeeOldValues) {
  const auto has = [](const std::string& text) {
    OrderCensus census;
    add(census, text);
    return census.has_weak_atomics();
  };
  EXPECT_TRUE(has("T0|astore.relaxed(f)|1 T1|aload.relaxed(f)|2"));
  EXPECT_TRUE(has("T0|astore.seq_cst(f)|1 T1|aload.acquire(f)|2")) << "one that is weaker is enough";
  EXPECT_TRUE(has("T1|aload.acquire(f)|2 T0|astore.release(f)|1"));
  EXPECT_FALSE(has("T0|astore.seq_cst(f)|1 T1|aload.seq_cst(f)|2"));
  EXPECT_FALSE(has("T0|astore.relaxed(f)|1 T0|aload.relaxed(f)|2")) << "its own";
  EXPECT_FALSE(has("T0|armw.relaxed(f)|1 T1|armw.relaxed(f)|2")) << "a counter that nobody looks at";
  EXPECT_FALSE(has("T0|aload.acquire(f)|1 T1|aload.acquire(f)|2")) << "nobody changes it";
  EXPECT_FALSE(has("T0|astore.relaxed(f)|1 T1|aload.relaxed(g)|2"));
}

}  // namespace
}  // namespace sooth
