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

}  // namespace
}  // namespace sooth
