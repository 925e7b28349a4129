#include "pipeline/thread_ends.h"

#include <gtest/gtest.h>

#include "trace/text/std_testing.h"

namespace sooth {
namespace {

std::vector<std::string> sentences_of(const std::string& text) {
  const WholeTrace trace = must_read(text);
  ThreadEnds ends;
  Batch batch;
  batch.events = trace.events;
  ends.consume(batch);
  return ends.sentences(trace.tables);
}

TEST(ThreadEnds, TellsWhoNeverRanAndWhoWasCutOff) {
  EXPECT_EQ(
      sentences_of("M|begin|0\nM|fork(A)|1\nM|fork(B)|2\nM|fork(C)|3\nA|begin|4\nB|begin|5\nB|end|6\n"),
      (std::vector<std::string>{"C never ran before the process ended.",
                                "A was not over when the process ended: what would have come next is not known."}));
}

TEST(ThreadEnds, SaysNothingWhereThereIsNothingToSay) {
  EXPECT_TRUE(sentences_of("M|begin|0\nM|fork(A)|1\nA|begin|4\nA|end|6\nM|join(A)|7\n").empty());
  EXPECT_TRUE(sentences_of("M|fork(A)|1\nM|w(x)|2\n").empty()) << "the trace does not tell when threads begin";
}

TEST(ThreadEnds, ThreadsBetweenTwoParallelRegionsAreNotCutOff) {
  const auto sentences = [](std::vector<Event> more) {
    WholeTrace trace = must_read("M|begin|0\nM|fork(A)|1\nA|begin|2\n");
    for (Event& event : more) {
      event.thread = trace.events.back().thread;
    }
    Batch batch;
    trace.events.insert(trace.events.end(), more.begin(), more.end());
    batch.events = trace.events;
    ThreadEnds ends;
    ends.consume(batch);
    return ends.sentences(trace.tables).size();
  };
  Event done{}, work{};
  done.op = Op::kHappensBefore;
  done.object = (std::uint64_t{1} << 44) + 7;
  work.op = Op::kWrite;
  EXPECT_EQ(sentences({work}), 1);
  EXPECT_EQ(sentences({work, done}), 0);
  EXPECT_EQ(sentences({work, done, work}), 1);
  done.object = std::uint64_t{0x55} << 40;
  EXPECT_EQ(sentences({work, done}), 1) << "an address: an annotation of the program's";
}

}  // namespace
}  // namespace sooth
