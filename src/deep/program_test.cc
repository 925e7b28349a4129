#include "deep/program.h"

#include <gtest/gtest.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace sooth {
namespace {

constexpr char kText[] = R"(
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

@shared = global i32 0
@elsewhere = external global i32

declare i32 @opaque(i32)

define internal i32 @callee(i32 %x) {
  %y = add i32 %x, 1
  ret i32 %y
}

define linkonce_odr i32 @inline_one() {
  ret i32 7
}

define void @skipped() "sooth-not-deep" {
  ret void
}

define i32 @_ZN1a1fEi(i32 %n) !dbg !6 {
entry:
  %v = load i32, ptr @shared, !dbg !9
  %c = icmp eq i32 %v, %n
  br i1 %c, label %yes, label %no
yes:
  %r = call i32 @callee(i32 %v)
  ret i32 %r
no:
  %o = call i32 @opaque(i32 %v)
  %i = call i32 @inline_one()
  call void @skipped()
  ret i32 %o
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: "test", isOptimized: false, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.cc", directory: "/src/prog")
!3 = !{i32 2, !"Debug Info Version", i32 3}
!6 = distinct !DISubprogram(name: "f", linkageName: "_ZN1a1fEi", scope: !1, file: !1, line: 3, type: !7, unit: !0, spFlags: DISPFlagDefinition)
!7 = !DISubroutineType(types: !8)
!8 = !{}
!9 = !DILocation(line: 5, column: 11, scope: !6)
)";

DeepProgram parsed() {
  const DeepModuleText modules[] = {{kText, {{"shared", 0x1000}, {"elsewhere", 0x2000}, {"_ZN1a1fEi", 0x400010}}},
                                    {"define void @g() {\n  ret void\n}\n", {{"g", 0x400100}}}};
  Result<DeepProgram> program = DeepProgram::parse(modules);
  EXPECT_TRUE(program.ok());
  return std::move(*program);
}

TEST(DeepProgram, NumbersDefinitionsAndInstructions) {
  const DeepProgram program = parsed();
  ASSERT_EQ(program.modules(), 2u);
  EXPECT_EQ(program.functions(0), 4u);
  EXPECT_EQ(program.functions(2), 0u);
  const llvm::Function* f = program.function(0, 3);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->getName(), "_ZN1a1fEi");
  EXPECT_EQ(program.function(0, 4), nullptr);
  EXPECT_EQ(program.function(1, 0)->getName(), "g");
  EXPECT_EQ(program.function_number(*f), 3u);
  EXPECT_EQ(program.instructions(*f), 9u);
  const llvm::Instruction* call = program.instruction(*f, 5);
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->getName(), "o");
  EXPECT_EQ(program.number(*call), 5u);
  EXPECT_EQ(program.ref(*call), (InstructionRef{0, 3, 5}));
  EXPECT_EQ(program.instruction(InstructionRef{0, 3, 5}), call);
  EXPECT_EQ(program.instruction(InstructionRef{7, 3, 5}), nullptr);
  EXPECT_EQ(program.instruction(*f, 9), nullptr);
}

TEST(DeepProgram, KnowsWhereGlobalsWere) {
  const DeepProgram program = parsed();
  EXPECT_EQ(program.address(0, *program.module(0).getNamedValue("shared")), 0x1000u);
  EXPECT_EQ(program.address(0, *program.module(0).getNamedValue("elsewhere")), 0x2000u);
  EXPECT_EQ(program.address(0, *program.module(0).getNamedValue("callee")), std::nullopt);
  EXPECT_EQ(program.address(9, *program.module(0).getNamedValue("shared")), std::nullopt);
  const std::optional<DeepProgram::Place> g = program.function_at(0x400100);
  ASSERT_TRUE(g.has_value());
  EXPECT_EQ(g->module, 1u);
  EXPECT_EQ(g->function, program.function(1, 0));
  EXPECT_FALSE(program.function_at(0x1000).has_value());
}

TEST(DeepProgram, FollowsOnlyExactRecordedDefinitions) {
  const DeepProgram program = parsed();
  const llvm::Function* f = program.function(0, 3);
  const auto is_followed = [&](std::uint32_t number) {
    return program.is_followed(*llvm::cast<llvm::CallBase>(program.instruction(*f, number)));
  };
  EXPECT_TRUE(is_followed(3));   // callee
  EXPECT_FALSE(is_followed(5));  // opaque
  EXPECT_FALSE(is_followed(6));  // inline_one: another module's may be linked
  EXPECT_FALSE(is_followed(7));  // skipped
  EXPECT_FALSE(program.is_recorded(*program.function(0, 2)));
}

TEST(DeepProgram, SpellsSitesAsRecordingsDo) {
  const DeepProgram program = parsed();
  const llvm::Function* f = program.function(0, 3);
  const Site site = program.site(*program.instruction(*f, 0));
  EXPECT_EQ(site.label, "/src/prog/a.cc:5:11");
  EXPECT_EQ(site.file, "/src/prog/a.cc");
  EXPECT_EQ(site.function, "a::f(int)");
  EXPECT_EQ(site.line, 5u);
  EXPECT_EQ(site.column, 11u);
  EXPECT_EQ(program.site(*program.instruction(*f, 1)).label, "a::f(int)");
}

TEST(DeepProgram, SaysWhatIsWrong) {
  const DeepModuleText broken[] = {{"define i32 @f() {\n  ret i64 0\n}\n", {}}};
  const Result<DeepProgram> first = DeepProgram::parse(broken);
  ASSERT_FALSE(first.ok());
  EXPECT_NE(first.status().message().find("module 0: line 2: "), std::string::npos) << first.status().message();
  const DeepModuleText unplaced[] = {{"@x = global i32 0\n", {{"y", 1}}}};
  const Result<DeepProgram> second = DeepProgram::parse(unplaced);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().message(), "module 0: it has no global @y");
}

}  // namespace
}  // namespace sooth
