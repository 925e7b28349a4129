#include "detect/atomicity.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/test_environment.h"
#include "oracle/random_trace.h"
#include "oracle/serializability.h"
#include "oracle/trace_text.h"

namespace sooth {
namespace {

DetectorOptions with_blocks(std::function<bool(SiteId)> is_atomic) {
  DetectorOptions options;
  options.is_atomic = std::move(is_atomic);
  return options;
}

bool every_function(SiteId) { return true; }

std::vector<AtomicityCandidate> found_in(std::span<const Event> events, const DetectorOptions& options) {
  const std::unique_ptr<Detector> detector = make_atomicity_detector(options);
  Batch batch;
  batch.events = events;
  detector->consume(batch);
  detector->finish();
  return detector->atomicity();
}

std::vector<AtomicityCandidate> violated_in(const std::string& text) {
  const oracle::TextTrace parsed = oracle::parse_trace(text);
  std::vector<AtomicityCandidate> found = found_in(parsed.events, with_blocks(every_function));
  std::erase_if(found, [](const AtomicityCandidate& each) { return !each.observed; });
  return found;
}

TEST(Atomicity, AWriteBetweenALookAndADeed) {
  const std::string text = "T0|enter(f)|1 T0|r(x)|2 T1|w(x)|3 T0|w(x)|4 T0|exit(f)|5";
  const std::vector<AtomicityCandidate> found = violated_in(text);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first.id, EventId{0});
  EXPECT_EQ(found[0].other.id, EventId{2});
  EXPECT_EQ(found[0].second.id, EventId{3});
  EXPECT_TRUE(found[0].declared);
}

TEST(Atomicity, LocksDoNotMakeItWhole) {
  EXPECT_EQ(violated_in("T0|enter(f)|0 T0|acq(l)|0 T0|r(x)|0 T0|rel(l)|0 T1|acq(l)|0 T1|w(x)|0 T1|rel(l)|0 "
                        "T0|acq(l)|0 T0|w(x)|0 T0|rel(l)|0 T0|exit(f)|0")
                .size(),
            1u);
  EXPECT_TRUE(violated_in("T1|acq(l)|0 T1|w(x)|0 T1|rel(l)|0 T0|enter(f)|0 T0|acq(l)|0 T0|r(x)|0 T0|rel(l)|0 "
                          "T0|acq(l)|0 T0|w(x)|0 T0|rel(l)|0 T0|exit(f)|0 T1|acq(l)|0 T1|w(x)|0 T1|rel(l)|0")
                  .empty())
      << "the other's sections came before and after";
}

TEST(Atomicity, OneOfTwoBlocksMayHaveEndedWhenTheCycleCloses) {
  // T1's block goes from y to x, T0's from x to y; T0's is over when T1 takes up what it wrote.
  EXPECT_EQ(violated_in("T0|enter(f)|0 T1|enter(g)|0 T1|w(y)|0 T0|w(x)|0 T0|r(y)|0 T0|exit(f)|0 T1|r(x)|0 T1|exit(g)|0")
                .size(),
            1u);
}

TEST(Atomicity, WhoCameAfterTheBeginningComesAfterTheEnd) {
  // T1 reads x of T0's block; T0 then learns of T2's block, which has read what T1 wrote before it read x... and goes on.
  EXPECT_EQ(violated_in("T0|enter(f)|0 T0|w(x)|0 T1|r(x)|0 T1|w(z)|0 T2|enter(g)|0 T2|w(y)|0 T0|r(y)|0 T0|exit(f)|0 "
                        "T2|r(z)|0 T2|exit(g)|0")
                .size(),
            1u);
}

TEST(Atomicity, BlocksThatNobodyDeclaresAreNone) {
  const oracle::TextTrace parsed = oracle::parse_trace("T0|enter(f)|1 T0|r(x)|2 T1|w(x)|3 T0|w(x)|4 T0|exit(f)|5");
  EXPECT_TRUE(found_in(parsed.events, {}).empty());
}

TEST(Atomicity, ASplitInsideADeclaredBlockIsDeclared) {
  const std::string text =
      "T0|enter(f)|0 T0|acq(l)|1 T0|r(x)|0 T0|rel(l)|0 T0|acq(l)|2 T0|w(x)|0 T0|rel(l)|0 T0|exit(f)|0 "
      "T1|acq(l)|3 T1|w(x)|0 T1|rel(l)|0";
  const oracle::TextTrace parsed = oracle::parse_trace(text);
  const std::vector<AtomicityCandidate> found = found_in(parsed.events, with_blocks(every_function));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].observed);
  EXPECT_TRUE(found[0].declared);
  EXPECT_TRUE(found[0].checks);
  const std::vector<AtomicityCandidate> guessed = found_in(parsed.events, {});
  ASSERT_EQ(guessed.size(), 1u);
  EXPECT_FALSE(guessed[0].declared);
}

TEST(Atomicity, ALoopIsNoSplit) {
  const std::string section = "T0|acq(l)|1 T0|r(x)|0 T0|w(x)|0 T0|rel(l)|0 ";
  const oracle::TextTrace parsed = oracle::parse_trace(section + section + "T1|acq(l)|3 T1|w(x)|0 T1|rel(l)|0");
  EXPECT_TRUE(found_in(parsed.events, {}).empty());
}

std::string text_of(std::span<const Event> events) {
  std::string text;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& e = events[i];
    text += std::to_string(i) + ": T" + std::to_string(raw(e.thread)) + " " + std::string(op_name(e.op)) + " " +
            std::to_string(e.object) + "+" + std::to_string(e.size) + (is_shared(e) ? " (shared)\n" : "\n");
  }
  return text;
}

// Something is reported exactly if some block is on a cycle, and every block that is reported is on one.
TEST(Atomicity, IsThatOfTheDefinition) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  std::uint64_t violated = 0, serialisable = 0, blocks = 0;
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    oracle::RandomTraceOptions options =
        oracle::random_options(oracle::kProfiles[seed % oracle::kProfiles.size()], seed);
    options.weights[raw(oracle::Action::kEnter)] = 2 + static_cast<std::uint32_t>(seed % 5);
    options.weights[raw(oracle::Action::kExit)] = 3 + static_cast<std::uint32_t>(seed % 7);
    const oracle::RandomTrace trace = oracle::random_trace(options, seed);
    const auto is_atomic = [](SiteId site) { return raw(site) % 2 == 0; };
    const std::set<EventId> expected = oracle::violated_blocks(trace.events, is_atomic);
    std::vector<AtomicityCandidate> found = found_in(trace.events, with_blocks(is_atomic));
    std::erase_if(found, [](const AtomicityCandidate& each) { return !each.observed; });
    ASSERT_EQ(found.empty(), expected.empty()) << "seed " << seed << "\n" << text_of(trace.events);
    for (const AtomicityCandidate& each : found) {
      // Where its sections are split, it is told by these.
      ASSERT_TRUE(each.first.event.op == Op::kAcquire || expected.contains(each.first.id))
          << "seed " << seed << ", block at " << raw(each.first.id);
    }
    violated += expected.empty() ? 0 : 1;
    serialisable += expected.empty() ? 1 : 0;
    blocks += expected.size();
  }
  EXPECT_GT(violated, cases / 20);
  EXPECT_GT(serialisable, cases / 20);
  EXPECT_GT(blocks, violated);
}

}  // namespace
}  // namespace sooth
