#include "schedule/control_file.h"

#include <gtest/gtest.h>

#include <cstring>

namespace sooth {
namespace {

template <typename T>
T row(const std::string& bytes, std::size_t offset, std::size_t index = 0) {
  T value;
  EXPECT_LE(offset + (index + 1) * sizeof(T), bytes.size());
  std::memcpy(&value, bytes.data() + offset + index * sizeof(T), sizeof(T));
  return value;
}

std::string text_at(const std::string& bytes, std::uint32_t offset) {
  EXPECT_LT(offset, bytes.size());
  return bytes.c_str() + offset;
}

RunPlan full_plan() {
  RunPlan plan;
  plan.plan = control::Plan::kStretches;
  plan.strategy = "pct:3";
  plan.seed = 0x123456789abcdef0;
  plan.quantum = 17;
  plan.patience = 1'000'000'000'000;
  plan.flags = control::kStopAtRace | control::kEveryAccess;
  plan.sites = {{"b.so", 0x20, 0x30, 1, control::kReads},
                {"b.so", 0x10, 0x20, 2, control::kWrites},
                {"", 0x50, 0x60, 3, control::kAtomics}};
  plan.stretches = {{1, control::StretchEnd::kBlocked, 14, 3, 0xdeadbeef, 0},
                    {2, control::StretchEnd::kEnded, 1, control::kAnyAccesses, 0, 1}};
  plan.threads = {{1, 0, 0, 0}, {2, 1, 0, 0}};
  plan.choices = {3, 1, 2};
  return plan;
}

TEST(ControlFile, HoldsThePlan) {
  const RunPlan plan = full_plan();
  const std::string bytes = encode_control(plan);
  const auto header = row<control::ControlHeader>(bytes, 0);
  EXPECT_EQ(header.magic, control::kControlMagic);
  EXPECT_EQ(header.bytes, bytes.size());
  EXPECT_EQ(header.flags, plan.flags);
  EXPECT_EQ(header.plan, control::Plan::kStretches);
  EXPECT_EQ(header.quantum, 17u);
  EXPECT_EQ(header.seed, plan.seed);
  EXPECT_EQ(header.patience, plan.patience);
  EXPECT_EQ(text_at(bytes, header.strategy), "pct:3");
  ASSERT_EQ(header.stretch_count, 2u);
  EXPECT_EQ(row<control::Stretch>(bytes, header.stretches).hash, 0xdeadbeef);
  EXPECT_EQ(row<control::Stretch>(bytes, header.stretches, 1).timed_out, 1u);
  ASSERT_EQ(header.thread_count, 2u);
  EXPECT_EQ(row<control::ThreadOrigin>(bytes, header.threads, 1).parent, 1u);
  ASSERT_EQ(header.choice_count, 3u);
  EXPECT_EQ(row<std::uint16_t>(bytes, header.choices, 2), 2u);
}

TEST(ControlFile, SortsTheSitesAndTellsWhichIsWhich) {
  std::vector<std::uint32_t> order;
  const std::string bytes = encode_control(full_plan(), &order);
  const auto header = row<control::ControlHeader>(bytes, 0);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{2, 1, 0}));
  ASSERT_EQ(header.range_count, 3u);
  const auto first = row<control::SiteRange>(bytes, header.ranges);
  EXPECT_EQ(text_at(bytes, first.module), "");
  EXPECT_EQ(first.sites, 3u);
  EXPECT_EQ(first.kinds, control::kAtomics);
  const auto second = row<control::SiteRange>(bytes, header.ranges, 1);
  const auto third = row<control::SiteRange>(bytes, header.ranges, 2);
  EXPECT_EQ(second.begin, 0x10u);
  EXPECT_EQ(third.end, 0x30u);
  EXPECT_EQ(text_at(bytes, second.module), "b.so");
  EXPECT_EQ(second.module, third.module) << "each string once";
}

TEST(ControlFile, AlignsItsRows) {
  for (std::size_t choices = 0; choices < 5; ++choices) {
    RunPlan plan = full_plan();
    plan.choices.assign(choices, 1);
    const std::string bytes = encode_control(plan);
    const auto header = row<control::ControlHeader>(bytes, 0);
    EXPECT_EQ(header.ranges % alignof(control::SiteRange), 0u);
    EXPECT_EQ(header.stretches % alignof(control::Stretch), 0u);
    EXPECT_EQ(header.threads % alignof(control::ThreadOrigin), 0u);
    EXPECT_EQ(header.choices % alignof(std::uint16_t), 0u);
    EXPECT_EQ(header.older % alignof(control::MemoryChoice), 0u);
  }
}

TEST(ControlFile, OfAnEmptyPlanIsItsHeaderAndTheStrategy) {
  const std::string bytes = encode_control({});
  const auto header = row<control::ControlHeader>(bytes, 0);
  EXPECT_EQ(header.range_count + header.stretch_count + header.thread_count + header.choice_count, 0u);
  EXPECT_EQ(bytes.size(), sizeof(control::ControlHeader) + std::strlen("random") + 1);
}

}  // namespace
}  // namespace sooth
