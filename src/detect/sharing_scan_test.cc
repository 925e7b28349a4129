#include "detect/sharing_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "oracle/trace_text.h"

namespace sooth {
namespace {

// Granules of which happens-before may leave accesses unordered.
std::uint64_t unordered_in(std::string_view text) {
  const oracle::TextTrace trace = oracle::parse_trace(text);
  Batch batch;
  batch.events = trace.events;
  std::uint64_t most = 0;
  for (const ScanOrder order : {ScanOrder::kHb, ScanOrder::kWcp, ScanOrder::kReads}) {
    const std::unique_ptr<SharingScan> scan = make_sharing_scan(order);
    scan->consume(batch);
    most = std::max(most, scan->finish().granules(SharingLevel::kUnordered));
  }
  return most;
}

TEST(SharingScan, TellsVariablesThatShareAGranuleApart) {
  EXPECT_EQ(unordered_in("T0|w(0x1000:4)|a\nT1|w(0x1004:4)|a\nT0|r(0x1000:4)|a\nT1|w(0x1006:2)|a\n"), 0);
  EXPECT_EQ(unordered_in("T0|w(0x1000:1)|a\nT1|w(0x1001:1)|a\nT2|w(0x1002:2)|a\nT0|w(0x1000:1)|a\nT1|r(0x1001:1)|a\n"),
            0);
}

TEST(SharingScan, SeesTheByteThatIsShared) {
  EXPECT_EQ(unordered_in("T0|w(0x1000:4)|a\nT1|w(0x1004:4)|a\nT0|r(0x1004:1)|a\n"), 1);
  EXPECT_EQ(unordered_in("T0|w(0x1000:4)|a\nT1|w(0x1004:4)|a\nT2|r(0x1000:8)|a\n"), 1);
  // Freed by somebody who knows of one of them only.
  EXPECT_EQ(unordered_in("T0|alloc(0x1000:8)|a\nT0|w(0x1000:4)|a\nT1|w(0x1004:4)|a\nT0|free(0x1000:8)|a\n"), 1);
}

TEST(SharingScan, StartsAnewWithABlock) {
  EXPECT_EQ(
      unordered_in("T0|w(0x1000:4)|a\nT1|w(0x1004:4)|a\nT2|alloc(0x1000:8)|a\nT2|w(0x1000:8)|a\nT2|r(0x1004:4)|a\n"),
      0);
}

TEST(SharingScan, StartsAnewWithABlockAndWhatIsLeftBehindIt) {
  const std::string before = "T0|alloc(0x1000:16)|a\nT0|w(0x1008:8)|a\nT0|free(0x1000:16)|a\n";
  const std::string after = "T1|w(0x1000:8)|a\nT1|free(0x1000:16)|a\n";
  EXPECT_EQ(unordered_in(before + "T1|alloc(0x100f:1)|a\nT1|alloc(0x1000:15)|a\n" + after), 0);
  // What comes in between may access the rest.
  EXPECT_EQ(unordered_in(before + "T1|alloc(0x100f:1)|a\nT0|w(0x1008:1)|a\nT1|alloc(0x1000:15)|a\n" + after), 1);
  EXPECT_GE(unordered_in(before + "T1|alloc(0x1000:15)|a\n" + after), 1);
}

}  // namespace
}  // namespace sooth
