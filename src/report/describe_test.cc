#include "report/describe.h"

#include <gtest/gtest.h>

#include "trace/text/std_syntax.h"

namespace sooth {
namespace {

TEST(PrintableTest, KeepsTextAndEscapesWhatMisleads) {
  const std::pair<std::string, std::string> cases[] = {
      {"plain \"q\" <b> \\", "plain \"q\" <b> \\"},
      {"na\xc3\xafve \xf0\x9f\xa7\xb5", "na\xc3\xafve \xf0\x9f\xa7\xb5"},
      {"a\nb\tc\r", "a\\nb\\tc\\x0d"},
      {std::string("\0", 1), "\\x00"},
      {"\x1b[31m\x7f", "\\x1b[31m\\x7f"},
      {"\xc2\x9b", "\\x9b"},          // the one-character escape sequence introducer
      {"\xe2\x80\xae", "\\u{202e}"},  // right-to-left override
      {"\xff", "\xEF\xBF\xBD"},
      {"a\xc3", "a\xEF\xBF\xBD"},                                                // cut off
      {"\xc0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"},                                  // overlong
      {"\xed\xa0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},                  // surrogate
      {"\xf4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},  // above U+10FFFF
      {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
  };
  for (const auto& [in, out] : cases) {
    EXPECT_EQ(printable(in), out);
  }
}

TEST(DescribeTest, PlacesFromBestToWorst) {
  Site site;
  EXPECT_EQ(place(site), "an unknown place");
  site.label = "345";
  EXPECT_EQ(place(site), "site 345");
  site.module = "x.so";
  site.offset = 31;
  EXPECT_EQ(place(site), "x.so+0x1f");
  site.file = "a.cc";
  EXPECT_EQ(place(site), "a.cc");
  site.line = 3;
  EXPECT_EQ(place(site), "a.cc:3");
  site.column = 4;
  EXPECT_EQ(place(site), "a.cc:3:4");
}

TEST(DescribeTest, HeadlinesSayWhoseVariableItIs) {
  Finding race;
  race.accesses.resize(2);
  race.accesses[0].variable = race.accesses[1].variable = "total";
  EXPECT_EQ(headline(race), "data race on 'total'");
  MemoryContext& memory = race.context.memory.emplace();
  memory.kind = MemoryKind::kStack;
  memory.name = "total";
  memory.thread = "T3";
  EXPECT_EQ(headline(race), "data race on 'total' of thread T3");  // thread-local
  memory.function = "main()";
  EXPECT_EQ(headline(race), "data race on 'total' of main()");
  memory = {};
  memory.kind = MemoryKind::kHeap;
  memory.type = "Account";
  memory.allocated.emplace().site.file = "bank.cc";
  memory.allocated->site.line = 7;
  race.accesses[0].variable = race.accesses[1].variable = memory.name = "Account.balance";
  EXPECT_EQ(headline(race), "data race on 'Account.balance' allocated at bank.cc:7");
  memory = {};
  memory.kind = MemoryKind::kStack;
  memory.function = "main()";
  race.on_vptr = true;
  race.accesses[0].variable = race.accesses[1].variable = memory.name = "shape.vptr";
  EXPECT_EQ(headline(race), "data race on the vptr of 'shape' of main()");
}

TEST(DescribeTest, FunctionsAsPeopleWriteThem) {
  Site site;
  site.function =
      "Registry::get(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&) const";
  EXPECT_EQ(function_text(site), "Registry::get(std::string const&) const");
}

TEST(DescribeTest, Deeds) {
  Access access;
  EXPECT_EQ(deed(access), "read");
  access.size = 1;
  access.address = 16;
  EXPECT_EQ(deed(access), "read of 1 byte from 0x10");
  access.op = Op::kAtomicRmw;
  access.order = MemoryOrder::kSeqCst;
  access.size = 4;
  access.variable = "x";
  EXPECT_EQ(deed(access), "atomic rmw (seq_cst) of 4 bytes to 'x' (0x10)");
  access.op = Op::kFree;
  access.order = MemoryOrder::kNotAtomic;
  EXPECT_EQ(deed(access), "free of 4 bytes at 'x' (0x10)");
  access.op = Op::kAcquire;
  access.size = 0;
  EXPECT_EQ(deed(access), "acquire of 'x' (0x10)");

  access.address = kNamedMemoryBegin + kNamedMemoryStride;  // what a text trace calls x has no address, and any size
  access.size = 1;
  access.op = Op::kWrite;
  EXPECT_EQ(deed(access), "write to 'x'");
  access.op = Op::kFree;
  EXPECT_EQ(deed(access), "free of 'x'");
  access.size = 4;
  EXPECT_EQ(deed(access), "free of 4 bytes at 'x' (0x1000000000008)");
}

TEST(DescribeTest, FindingsWithoutAccessesAreNoTrap) {
  EXPECT_EQ(headline(Finding()), "data race");
  EXPECT_EQ(subject(Finding()), "");
  EXPECT_TRUE(accesses_primary_first(Finding()).empty());
}

// Accesses of a deadlock are a cycle: the primary one is the last in the trace, the others follow around the cycle.
TEST(DescribeTest, DeadlocksAreToldAroundTheCycle) {
  Finding finding;
  finding.kind = FindingKind::kDeadlock;
  for (const std::uint64_t event : {3, 9, 5}) {
    Access acquire;
    acquire.op = Op::kAcquire;
    acquire.event = EventId{event};
    acquire.address = event;
    acquire.thread = "T" + std::to_string(event);
    finding.accesses.push_back(acquire);
  }
  finding.accesses[0].variable = "mu";
  finding.accesses[2].shared = true;
  EXPECT_EQ(headline(finding), "deadlock by lock order inversion '0x5' => 'mu' => '0x9' => '0x5'");
  Finding alone = finding;
  alone.accesses = {finding.accesses[0]};
  EXPECT_EQ(headline(alone), "deadlock of a thread with itself: double lock of 'mu'");
  EXPECT_EQ(&primary_access(finding), &finding.accesses[1]);
  const std::vector<const Access*> expected = {&finding.accesses[1], &finding.accesses[2], &finding.accesses[0]};
  EXPECT_EQ(accesses_primary_first(finding), expected);
  EXPECT_EQ(awaited(finding, finding.accesses[1]), ", waiting for thread T5");
  EXPECT_EQ(awaited(finding, finding.accesses[2]), ", waiting for thread T3");
  EXPECT_EQ(deed(finding.accesses[2]), "acquire (shared) of 0x5");
  finding.kind = FindingKind::kRace;
  EXPECT_EQ(awaited(finding, finding.accesses[1]), "");
}

}  // namespace
}  // namespace sooth
