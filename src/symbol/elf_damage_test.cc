// Bytes that are not those of a compiler: always a sentence or an answer, never a crash.
#include <gtest/gtest.h>

#include <random>

#include "base/test_environment.h"
#include "symbol/elf_file.h"
#include "symbol/symbol_testing.h"
#include "symbol/symbolizer.h"

namespace sooth {
namespace {

class ElfDamageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fill_file(dir_ / "p.cc",
              "static int shared; static int twice(int x) { return 2 * x + shared; }\n"
              "int main(int argc, char**) { static int calls; return twice(argc) + ++calls; }\n");
    output_of("cd " + dir_.path() + " && g++ -g -O1 -nostdlib -shared -fPIC -Wl,--build-id p.cc -o p 2>&1");
    bytes_ = file_content(dir_ / "p");
  }
  // An answer or a sentence about this file; true for an answer.
  bool inspect(const std::string& bytes, const std::string& what) {
    fill_file(path_, bytes);
    const auto info = inspect_binary(path_);
    if (!info.ok()) {
      EXPECT_EQ(info.status().code(), ExitCode::kBadInput) << what;
      EXPECT_TRUE(info.status().message().starts_with(path_ + ": damaged ELF file: "))
          << what << ": " << info.status().message();
      EXPECT_EQ(info.status().message().find('\n'), std::string::npos) << what;
    }
    return info.ok();
  }
  // Asks for everything that can be known about the file. Counts what is known.
  void symbolize(const std::string& bytes, std::size_t& lines, std::size_t& variables) {
    fill_file(path_, bytes);
    ModuleTable modules;
    const auto id = modules.add({.path = path_, .build_id = "", .bias = 0, .ranges = {{0, 0x10000}}});
    ASSERT_TRUE(id.ok());
    Symbolizer symbolizer(modules);
    for (std::uint64_t address = 0; address < 0x5000; address += 3) {
      for (const Frame& frame : symbolizer.symbolize({*id, address})) {
        ASSERT_LT(frame.function.size(), 2 * bytes_.size());  // a piece of the file, demangled
        lines += frame.line > 0 ? 1 : 0;
      }
      variables += symbolizer.global({*id, address}).has_value() ? 1 : 0;
    }
  }

  TemporaryDirectory dir_;
  const std::string path_ = dir_ / "damaged";
  std::string bytes_;
};

TEST_F(ElfDamageTest, CutAnywhere) {
  std::size_t accepted = 0;
  for (std::size_t size = 4; size < bytes_.size(); ++size) {
    accepted += inspect(bytes_.substr(0, size), "cut at " + std::to_string(size)) ? 1 : 0;
  }
  EXPECT_EQ(accepted, 0u) << "the table of sections is at the end of the file";
  EXPECT_TRUE(inspect(bytes_, "whole"));
}

TEST_F(ElfDamageTest, EveryBitOfTheHeaders) {
  const std::size_t headers = 64 + 56 * 12;
  std::size_t refused = 0;
  for (std::size_t bit = 8 * 4; bit < 8 * headers; ++bit) {
    std::string damaged = bytes_;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    refused += inspect(damaged, "bit " + std::to_string(bit)) ? 0 : 1;
  }
  EXPECT_GT(refused, 100u);
}

// Some bytes anywhere, often such that offsets and counts become huge.
std::string damage(std::string bytes, std::mt19937_64& random) {
  for (std::size_t n = 1 + random() % 16; n > 0; --n) {
    bytes[4 + random() % (bytes.size() - 4)] = static_cast<char>(random() % 3 == 0 ? 255 : random() >> random() % 64);
  }
  return bytes;
}

TEST_F(ElfDamageTest, RandomBytes) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 10'000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    std::mt19937_64 random(seed);
    inspect(damage(bytes_, random), "seed " + std::to_string(seed));
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

// The same for all that is asked of elfutils.
TEST_F(ElfDamageTest, SymbolsOfRandomBytes) {
  const std::uint64_t cases = from_environment("SOOTH_CASES", 1000);
  const std::uint64_t first_seed = from_environment("SOOTH_SEED", 1);
  std::size_t lines = 0, variables = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + cases; ++seed) {
    std::mt19937_64 random(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(symbolize(damage(bytes_, random), lines, variables));
  }
  // Not every damage keeps elfutils from reading the rest, or this would test nothing.
  EXPECT_GT(lines, cases / 4);
  EXPECT_GT(variables, cases / 4);
}

}  // namespace
}  // namespace sooth
