#include "symbol/line_code.h"

#include <filesystem>
#include <fstream>

#include "symbol/symbol_testing.h"
#include "symbol/symbolizer.h"

namespace sooth {
namespace {

constexpr char kSource[] = R"(int shared[4];
[[gnu::always_inline]] inline int look(int i) {
  return shared[i];  // copied into both
}
[[gnu::noinline]] int first(int i) {
  int sum = look(i) + 1;
  shared[0] = sum; shared[1] = i;
  return sum;
}
[[gnu::noinline]] int second(int i) {
  return look(i) * 2;
}
int main(int argc, char**) {
  return first(argc) + second(argc);
}
)";

class LineCodeTest : public testing::TestWithParam<std::string> {
 protected:
  // The path of the program, from a source in `directory`.
  std::string build(const std::string& directory) {
    const std::string folder = scratch_.path() + "/" + directory;
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/twice.cc") << kSource;
    output_of(GetParam() + " -g -O1 -o " + folder + "/twice " + folder + "/twice.cc 2>&1");
    return folder + "/twice";
  }

  TemporaryDirectory scratch_;
};

std::vector<AddressRange> code(const std::string& program, const std::string& file, const std::string& text,
                               std::uint32_t column = 0) {
  const auto opened = LineCode::open(program, "");
  EXPECT_TRUE(opened.ok());
  return opened.ok() ? (*opened)->ranges(file, line_of(kSource, text), column) : std::vector<AddressRange>{};
}

// Every instruction that the symbolizer puts on the line is in the ranges, and no other.
TEST_P(LineCodeTest, IsTheWayBackOfSymbolizing) {
  const std::string program = build("a");
  const std::string file = scratch_.path() + "/a/twice.cc";
  ModuleTable modules;
  const Result<ModuleId> id = modules.add({program, "", 0, {{0, 1u << 20}}, Generation{0}, kLastGeneration});
  ASSERT_TRUE(id.ok());
  Symbolizer symbolizer(modules);
  for (const char* text : {"return shared[i]", "shared[0] = sum", "look(i) * 2"}) {
    const std::vector<AddressRange> ranges = code(program, file, text);
    ASSERT_FALSE(ranges.empty()) << text;
    for (std::uint64_t address = ranges.front().begin - 32; address < ranges.back().end + 32; ++address) {
      const std::vector<Frame> frames = symbolizer.symbolize({*id, address});
      const bool there = !frames.empty() && frames[0].file == file && frames[0].line == line_of(kSource, text);
      const bool found = std::any_of(ranges.begin(), ranges.end(),
                                     [&](const AddressRange& r) { return address >= r.begin && address < r.end; });
      EXPECT_EQ(found, there) << text << " at " << std::hex << address;
    }
  }
}

TEST_P(LineCodeTest, InlinedCopiesAndColumnsAreTold) {
  const std::string program = build("a");
  const std::string file = scratch_.path() + "/a/twice.cc";
  EXPECT_GE(code(program, file, "return shared[i]").size(), 2u);
  const auto line = line_of(kSource, "shared[0] = sum");
  const auto opened = LineCode::open(program, "");
  ASSERT_TRUE(opened.ok());
  std::uint64_t all = 0, by_column = 0;
  for (const AddressRange& range : (*opened)->ranges(file, line, 0)) {
    all += range.end - range.begin;
    EXPECT_EQ((*opened)->row_around(range.begin).begin, range.begin);
  }
  for (std::uint32_t column = 1; column < 60; ++column) {
    for (const AddressRange& range : (*opened)->ranges(file, line, column)) {
      by_column += range.end - range.begin;
    }
  }
  EXPECT_GT(all, 0u);
  EXPECT_EQ(all, by_column);
}

TEST_P(LineCodeTest, SourcesThatMovedAreFoundByName) {
  const std::string program = build("b");
  const auto here = code(program, scratch_.path() + "/b/twice.cc", "look(i) * 2");
  EXPECT_EQ(code(program, "/elsewhere/twice.cc", "look(i) * 2"), here);
  EXPECT_TRUE(code(program, "/elsewhere/other.cc", "look(i) * 2").empty());
}

INSTANTIATE_TEST_SUITE_P(Compilers, LineCodeTest, testing::ValuesIn(installed_compilers()),
                         [](const auto& each) { return "Compiler" + std::to_string(each.index); });

TEST(LineCodeOpenTest, ChangedFilesAreRefused) {
  const auto opened = LineCode::open("/proc/self/exe", "0123");
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.status().message().find("changed"), std::string::npos) << opened.status().message();
}

}  // namespace
}  // namespace sooth
