#include "recipe/witness/initial_memory.h"

#include <gtest/gtest.h>

#include "recipe/judge/concrete_memory.h"

namespace sooth {
namespace {

std::optional<std::uint64_t> number(const InitialMemory& memory, std::uint64_t address, unsigned size) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < size; ++i) {
    const std::optional<std::uint8_t> byte = memory(address + i);
    if (!byte) {
      return std::nullopt;
    }
    value |= std::uint64_t{*byte} << (8 * i);
  }
  return value;
}

TEST(InitialMemoryTest, KnowsInitialisers) {
  const DeepModuleText text{R"(
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
%pair = type { i8, i32, ptr }
@zero = global i32 0
@number = internal global i32 -3
@real = global double 1.0
@array = global [4 x i16] [i16 1, i16 2, i16 3, i16 4]
@pair = global %pair { i8 7, i32 9, ptr getelementptr (i8, ptr @array, i64 4) }
@text = private constant [3 x i8] c"ab\00"
@elsewhere = external global i32
@replaceable = weak global i32 5
@own = thread_local global i32 6
@nothing = global i32 undef
@half = global { i32, i8, [3 x i8] } { i32 undef, i8 1, [3 x i8] undef }
)",
                            {{"zero", 0x1000},
                             {"number", 0x1004},
                             {"real", 0x1008},
                             {"array", 0x1010},
                             {"pair", 0x1020},
                             {"text", 0x1040},
                             {"elsewhere", 0x1050},
                             {"replaceable", 0x1054},
                             {"nothing", 0x1058},
                             {"half", 0x1060}}};
  const Result<DeepProgram> program = DeepProgram::parse(std::span(&text, 1));
  ASSERT_TRUE(program.ok()) << program.status().message();
  const InitialMemory memory(*program);
  EXPECT_EQ(number(memory, 0x1000, 4), 0u);
  EXPECT_EQ(number(memory, 0x1004, 4), 0xfffffffdu);
  EXPECT_EQ(number(memory, 0x1008, 8), 0x3ff0000000000000u);
  EXPECT_EQ(number(memory, 0x1012, 2), 2u);
  EXPECT_EQ(number(memory, 0x1020, 1), 7u);
  EXPECT_EQ(number(memory, 0x1020, 8), 0x900000007u) << "padding is zero";
  EXPECT_EQ(number(memory, 0x1024, 4), 9u);
  EXPECT_EQ(number(memory, 0x1028, 8), 0x1014u);
  EXPECT_EQ(number(memory, 0x1040, 3), 0x6261u);
  EXPECT_EQ(number(memory, 0x1050, 4), std::nullopt);
  EXPECT_EQ(number(memory, 0x1054, 4), std::nullopt);
  EXPECT_EQ(number(memory, 0x1058, 4), 0u) << "in the file as well";
  EXPECT_EQ(number(memory, 0x1060, 8), 0x100000000u) << "half of an optional";
  EXPECT_EQ(number(memory, 0x2000, 1), std::nullopt);

  // The judge reads the file for itself. Where this has something, it has the same.
  const GlobalContents judged(*program);
  for (std::uint64_t address = 0x1000; address < 0x1068; ++address) {
    if (const std::optional<std::uint8_t> byte = memory(address)) {
      EXPECT_EQ(judged.byte(address), byte) << std::hex << address;
    }
  }
}

}  // namespace
}  // namespace sooth
