#include "confirm/site_code.h"

#include <gtest/gtest.h>

#include <fstream>

#include "symbol/symbol_testing.h"

namespace sooth {
namespace {

TEST(PairCodeTest, KindsOfOps) {
  EXPECT_EQ(access_kinds(Op::kRead), control::kReads);
  EXPECT_EQ(access_kinds(Op::kFree), control::kWrites);
  EXPECT_EQ(access_kinds(Op::kAtomicRmw), control::kReads | control::kWrites | control::kAtomics);
  EXPECT_TRUE(same_kinds(control::kReads, control::kReads | control::kWrites));
  EXPECT_FALSE(same_kinds(control::kReads, control::kWrites));
  EXPECT_FALSE(same_kinds(control::kReads, control::kReads | control::kAtomics));
}

TEST(PairCodeTest, OverlapsBelongToBothPlaces) {
  const PairCode pair = pair_code({"", {{10, 30}, {50, 60}}}, control::kReads, {"", {{20, 40}}}, control::kWrites);
  const std::vector<SiteCode> wanted = {{"", 10, 20, 1, control::kReads},
                                        {"", 20, 30, 3, control::kReads | control::kWrites},
                                        {"", 30, 40, 2, control::kWrites},
                                        {"", 50, 60, 1, control::kReads}};
  EXPECT_EQ(pair.sites, wanted);
}

TEST(PairCodeTest, ModulesAreKeptApartAndSorted) {
  const PairCode pair = pair_code({"libb.so", {{1, 5}}}, control::kWrites, {"", {{1, 5}}}, control::kWrites);
  ASSERT_EQ(pair.sites.size(), 2u);
  EXPECT_EQ(pair.sites[0].module, "");
  EXPECT_EQ(pair.sites[0].sites, 2u);
  EXPECT_EQ(pair.sites[1].module, "libb.so");
  std::vector<std::uint32_t> order;
  RunPlan plan;
  plan.sites = pair.sites;
  encode_control(plan, &order);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 1})) << "ranges of the log are numbered as the pair's";
}

TEST(PairCodeTest, MetByOneThreadAtEachPlaceInEitherOrder) {
  const PairCode pair = pair_code({"", {{10, 20}}}, control::kReads, {"", {{10, 20}, {30, 40}}}, control::kWrites);
  const RacingThread reader{
      .thread = 1, .offset = 12, .range = 0, .variable = {}, .bytes = 4, .kinds = control::kReads};
  const RacingThread writer{
      .thread = 2, .offset = 12, .range = 0, .variable = {}, .bytes = 4, .kinds = control::kWrites};
  const RacingThread other_writer{
      .thread = 2, .offset = 32, .range = 1, .variable = {}, .bytes = 4, .kinds = control::kWrites};
  EXPECT_TRUE(pair.is_met_by(reader, writer));
  EXPECT_TRUE(pair.is_met_by(other_writer, reader));
  EXPECT_FALSE(pair.is_met_by(writer, other_writer)) << "a race, but of the second place with itself";
  EXPECT_FALSE(pair.is_met_by(reader, {.thread = 3, .range = 7, .variable = {}, .kinds = control::kWrites}));
}

class CodeFinderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(scratch_ / "a.cc") << "int x;\nint main(int argc, char**) {\n  x = argc;\n  return x;\n}\n";
    build("-g");
  }
  void build(const std::string& flags) {
    output_of("g++ -O0 " + flags + " -o " + scratch_ / "prog " + scratch_ / "a.cc 2>&1");
  }
  Site site(std::uint32_t line) {
    Site site;
    site.label = "a.cc:" + std::to_string(line);
    site.file = scratch_ / "a.cc";
    site.line = line;
    site.module = "/where/it/was/prog";
    return site;
  }

  TemporaryDirectory scratch_;
};

TEST_F(CodeFinderTest, TheProgramMayHaveMoved) {
  CodeFinder finder(scratch_ / "prog", "./prog 1", "");
  Site at = site(3);
  const auto lines = LineCode::open(scratch_ / "prog", "");
  ASSERT_TRUE(lines.ok());
  at.offset = (*lines)->ranges(at.file, 3, 0).front().begin;
  const Result<PlaceCode> code = finder.find(at);
  ASSERT_TRUE(code.ok()) << code.status().message();
  EXPECT_EQ(code->module, "");
  EXPECT_EQ(code->ranges, (*lines)->ranges(at.file, 3, 0));
}

TEST_F(CodeFinderTest, WithoutDebugInformationTheRecordedPlaceIsAll) {
  build("-s");
  CodeFinder finder(scratch_ / "prog", "./prog", "");
  Site at = site(3);
  at.offset = 0x1234;
  const Result<PlaceCode> code = finder.find(at);
  ASSERT_TRUE(code.ok());
  EXPECT_EQ(code->ranges, (std::vector<AddressRange>{{0x1234, 0x1235}}));
}

TEST_F(CodeFinderTest, AChangedProgramIsSearchedByLine) {
  std::filesystem::create_directories(scratch_ / "trace");
  std::ofstream(scratch_ / "trace/process") << "command ./prog\n"
                                            << "module 0 0 1000 2000 0123456789abcdef /where/it/was/prog\n";
  CodeFinder finder(scratch_ / "prog", "./prog", scratch_ / "trace");
  Site at = site(3);
  at.offset = 0x1234;
  const Result<PlaceCode> code = finder.find(at);
  ASSERT_TRUE(code.ok()) << code.status().message();
  EXPECT_FALSE(code->ranges.empty());
  for (const AddressRange& range : code->ranges) {
    EXPECT_FALSE(range.begin <= 0x1234 && 0x1234 < range.end);
  }
  ASSERT_EQ(finder.notes().size(), 1u);
  EXPECT_NE(finder.notes()[0].find("has changed"), std::string::npos);
  EXPECT_FALSE(finder.find(site(1000)).ok());
}

TEST_F(CodeFinderTest, CodeThatWasNotExecutedIsFoundByLine) {
  CodeFinder finder(scratch_ / "prog", "./prog", "");
  const auto lines = LineCode::open(scratch_ / "prog", "");
  ASSERT_TRUE(lines.ok());
  Site at = site(3);
  at.module.clear();
  at.column = 77;  // as if the line table had no columns
  const Result<PlaceCode> code = finder.find_unexecuted(at);
  ASSERT_TRUE(code.ok()) << code.status().message();
  EXPECT_EQ(code->module, "");
  EXPECT_EQ(code->ranges, (*lines)->ranges(at.file, 3, 0)) << "the offset says nothing";

  Finding race;
  for (const std::uint32_t line : {3u, 4u}) {
    Access& access = race.accesses.emplace_back();
    access.executed = false;
    access.site = site(line);
    access.site.module.clear();
  }
  const Result<PairCode> pair = finder.find_pair(race);
  ASSERT_TRUE(pair.ok()) << pair.status().message();
  EXPECT_EQ(pair->sites.front().begin, code->ranges.front().begin);
  EXPECT_FALSE(finder.find_unexecuted(site(1000)).ok());
}

TEST_F(CodeFinderTest, PlacesOfTextTracesHaveNoCode) {
  CodeFinder finder(scratch_ / "prog", "", "");
  Site at;
  at.label = "17";
  EXPECT_FALSE(finder.find(at).ok());
}

}  // namespace
}  // namespace sooth
