#include "trace/recording/call_reaches.h"

#include <gtest/gtest.h>

#include <cstring>

namespace sooth {
namespace {

using stream::ReachRow;
using stream::ReachRowKind;
using Ranges = std::vector<MemoryRange>;

ReachRow row(ReachRowKind kind, std::uint32_t set, std::uint64_t a, std::uint64_t b) {
  return {static_cast<std::uint32_t>(kind), set, a, b};
}

std::string bytes_of(const std::vector<ReachRow>& rows) {
  return {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(ReachRow)};
}

Ranges reach_of(const CallReaches& reaches, std::uint32_t thread, std::uint64_t call) {
  const auto span = reaches.of(ThreadId{thread}, call);
  return {span.begin(), span.end()};
}

MemoryObjects some_objects() {
  MemoryObjects objects;
  for (const MemoryRange& object :
       Ranges{{0x1000, 24}, {0x1020, 40}, {0x1000, 256}, {0x2000, 8}, {0x2008, 8}, {0x9000, 0}}) {
    objects.add(object);
  }
  objects.finish();
  return objects;
}

TEST(CallReaches, ObjectsOfAllTimesAreFoundAroundABytes) {
  const MemoryObjects objects = some_objects();
  EXPECT_EQ(objects.around({0x1010, 16}), Ranges({{0x1000, 256}}));  // one block was there before or after the other
  EXPECT_EQ(objects.around({0x2000, 4}), Ranges({{0x2000, 8}}));
  EXPECT_EQ(objects.around({0x2000, 16}), Ranges({{0x2000, 16}}));
  EXPECT_EQ(objects.around({0x10ff, 1}), Ranges({{0x1000, 256}}));
  EXPECT_EQ(objects.around({0x1100, 1}), Ranges({kEverything}));
  EXPECT_EQ(objects.around({0x9000, 1}), Ranges({kEverything}));
}

TEST(CallReaches, TouchedLinesBecomeWholeObjectsAndWhatIsWholeStays) {
  const std::string written = bytes_of({row(ReachRowKind::kNone, 0, 0, 0), row(ReachRowKind::kTouched, 0, 0x2000, 16),
                                        row(ReachRowKind::kWhole, 0, 0x7000, 100), row(ReachRowKind::kCall, 0, 1, 0),
                                        row(ReachRowKind::kCall, 0, 2, 5), row(ReachRowKind::kTouched, 1, 0x2000, 32),
                                        row(ReachRowKind::kCall, 1, 1, 1), row(ReachRowKind::kCall, 2, 3, 0),
                                        row(ReachRowKind::kNone, 0, 0, 0)});
  const Result<CallReaches> reaches = CallReaches::parse(seal_reaches(written), "reaches", some_objects());
  ASSERT_TRUE(reaches.ok()) << reaches.status().message();
  EXPECT_EQ(reach_of(*reaches, 1, 0), Ranges({{0x2000, 16}, {0x7000, 100}}));
  EXPECT_EQ(reach_of(*reaches, 2, 5), Ranges({{0x2000, 16}, {0x7000, 100}}));
  EXPECT_EQ(reach_of(*reaches, 1, 1), Ranges({kEverything}));  // its second line belongs to nothing
  EXPECT_EQ(reach_of(*reaches, 3, 0), Ranges());               // it touched nothing
  EXPECT_EQ(reach_of(*reaches, 3, 1), Ranges({kEverything}));  // nobody knows
}

TEST(CallReaches, WithoutASealEveryCallMayTouchEverything) {
  EXPECT_EQ(reach_of(CallReaches(), 0, 0), Ranges({kEverything}));
  const std::string written = bytes_of(
      {row(ReachRowKind::kNone, 0, 0, 0), row(ReachRowKind::kTouched, 0, 16, 16), row(ReachRowKind::kCall, 0, 0, 0)});
  EXPECT_FALSE(is_sealed(written));
  const Result<CallReaches> raw_file = CallReaches::parse(written, "reaches", some_objects());
  ASSERT_TRUE(raw_file.ok());
  EXPECT_EQ(reach_of(*raw_file, 0, 0), Ranges({kEverything}));
}

TEST(CallReaches, EveryDamagedByteIsFound) {
  const std::string whole =
      seal_reaches(bytes_of({row(ReachRowKind::kNone, 0, 0, 0), row(ReachRowKind::kTouched, 0, 0x2000, 16),
                             row(ReachRowKind::kCall, 0, 1, 0)}));
  EXPECT_EQ(seal_reaches(whole), whole);
  // The first four bytes say that there is a seal: without them it tells nothing.
  for (std::size_t at = 4; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_FALSE(CallReaches::parse(damaged, "reaches", some_objects()).ok()) << "byte " << at;
  }
  for (std::size_t length = sizeof(ReachRow); length < whole.size(); ++length) {
    EXPECT_FALSE(CallReaches::parse(std::string_view(whole).substr(0, length), "reaches", some_objects()).ok())
        << "length " << length;
  }
}

}  // namespace
}  // namespace sooth
