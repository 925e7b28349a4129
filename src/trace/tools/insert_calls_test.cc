#include "trace/tools/insert_calls.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace sooth {
namespace {

constexpr ThreadId kFirst{0}, kSecond{1};

// Six writes, of addresses 0 to 5, with a value, a branch and a deep record in front of each.
struct Small {
  Small() {
    for (std::uint64_t i = 0; i < 6; ++i) {
      events.push_back({.object = i, .thread = i % 2 == 0 ? kFirst : kSecond, .size = 1, .op = Op::kWrite});
      values.push_back({i, 0, 1});
      branches.push_back({.before = EventId{i}, .thread = events.back().thread, .site = {}, .outcome = i});
      deep.push_back({.before = EventId{i}, .thread = events.back().thread, .kind = DeepKind::kWord, .value = i});
    }
  }
  Batch part(std::size_t from, std::size_t to) const {
    return {EventId{from},
            std::span(events).subspan(from, to - from),
            std::span(values).subspan(from, to - from),
            {},
            std::span(branches).subspan(from, to - from),
            {},
            {},
            std::span(deep).subspan(from, to - from)};
  }

  std::vector<Event> events;
  std::vector<Value> values;
  std::vector<Branch> branches;
  std::vector<DeepRecord> deep;
};

CallMark begin(CallSpot spot, std::uint64_t object, std::vector<MemoryRange> reach) {
  return {spot, true, kSecond, SiteId{}, object, std::move(reach)};
}
CallMark end(CallSpot spot, std::uint64_t object) { return {spot, false, kSecond, SiteId{}, object, {}}; }

// "b0 ( w0 ...": b, d and w are branches, deep records and writes with their numbers, brackets calls; checks ids on the
// way.
std::string show(CallInserter& inserter, const Small& trace, std::size_t batch_events) {
  std::string text;
  std::uint64_t written = 0;
  const auto add = [&](const Batch& batch) {
    EXPECT_EQ(raw(batch.first), written);
    std::size_t branch = 0, deep = 0, reach = 0;
    for (std::size_t i = 0; i <= batch.events.size(); ++i, ++written) {
      for (; deep < batch.deep.size() && raw(batch.deep[deep].before) <= written; ++deep) {
        text += "d" + std::to_string(batch.deep[deep].value) + " ";
      }
      for (; branch < batch.branches.size() && raw(batch.branches[branch].before) <= written; ++branch) {
        text += "b" + std::to_string(batch.branches[branch].outcome) + " ";
      }
      if (i == batch.events.size()) {
        break;
      }
      const Event& e = batch.events[i];
      const bool is_write = e.op == Op::kWrite;
      EXPECT_EQ(batch.values[i].low, is_write ? e.object : 0);
      EXPECT_EQ(inserter.is_put_in(EventId{written}), !is_write);
      if (is_write) {
        EXPECT_EQ(inserter.original(EventId{written}), EventId{e.object});
        EXPECT_EQ(inserter.renumbered(EventId{e.object}), EventId{written});
      }
      text += is_write ? "w" + std::to_string(e.object) + " " : e.op == Op::kCallBegin ? "(" : ") ";
      for (; reach < batch.reaches.size() && raw(batch.reaches[reach].call) == written; ++reach) {
        text += std::to_string(batch.reaches[reach].begin) + ":" + std::to_string(batch.reaches[reach].length) + " ";
      }
    }
  };
  for (std::size_t from = 0; from < trace.events.size(); from += batch_events) {
    add(inserter.rewrite(trace.part(from, std::min(from + batch_events, trace.events.size()))));
  }
  add(inserter.finish());
  return text;
}

TEST(CallInserterTest, PutsMarksBetweenEventsAndRecords) {
  const Small trace;
  for (const std::size_t batch_events : {1, 2, 4, 6}) {
    CallInserter inserter({begin({1, 1}, 7, {{64, 8}, {80, 1}}),  // in front of the record of w1
                           begin({3, 4}, 8, {{96, 4}}),           // behind that of w3
                           end({4, 4}, 8),                        // in front of that of w4
                           end({4, 4}, 7),                        // at the same spot: the outer one
                           begin({6, 6}, 9, {{96, 4}})});         // at the end, where it stays open
    EXPECT_EQ(show(inserter, trace, batch_events),
              "d0 b0 w0 (64:8 80:1 d1 b1 w1 d2 b2 w2 d3 (96:4 b3 w3 ) ) d4 b4 w4 d5 b5 w5 (96:4 ")
        << batch_events;
  }
}

TEST(CallInserterTest, WithoutMarksNothingChanges) {
  const Small trace;
  CallInserter inserter({});
  EXPECT_EQ(show(inserter, trace, 4), "d0 b0 w0 d1 b1 w1 d2 b2 w2 d3 b3 w3 d4 b4 w4 d5 b5 w5 ");
}

}  // namespace
}  // namespace sooth
