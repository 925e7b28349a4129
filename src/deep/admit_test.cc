#include "deep/admit.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBufferRef.h>
#include <llvm/Support/SourceMgr.h>

namespace sooth {
namespace {

constexpr char kMachine[] =
    "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n";

std::string why_not(const std::string& text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const auto module = llvm::parseAssembly(llvm::MemoryBufferRef(text, "module"), diagnostic, context);
  return module == nullptr ? "no text of LLVM: " + diagnostic.getMessage().str() : why_not_admitted(*module);
}

// Constants that use each other twice: 2^depth parts in depth lines.
std::string doubling(int depth) {
  std::string text = "ptrtoint (ptr @g to i64)";
  for (int i = 0; i < depth; ++i) {
    text = "add (i64 " + text + ", i64 " + text + ")";
  }
  return "@g = global i64 0\ndefine i64 @f() {\n  ret i64 " + text + "\n}\n";
}

TEST(Admit, TakesWhatCompilersMake) {
  EXPECT_EQ(why_not(std::string(kMachine) + R"(
%node = type { ptr, i64, [4 x i8] }
@table = global [1048576 x %node] zeroinitializer
@text = constant [3 x i8] c"ab\00"
@alias = alias i8, getelementptr inbounds ([3 x i8], ptr @text, i64 0, i64 1)
define <4 x float> @f(i128 %a, <4 x float> %b, ptr byval(%node) %c) {
  %local = alloca [100000 x i64]
  %one = getelementptr [100000 x i64], ptr %local, i64 0, i64 1
  store i64 ptrtoint (ptr getelementptr (%node, ptr @table, i64 7) to i64), ptr %one
  %pair = insertvalue { i64, ptr } undef, i64 1, 0
  ret <4 x float> %b
})"),
            "");
  EXPECT_EQ(why_not(kMachine + doubling(8)), "");
}

TEST(Admit, RefusesWhatNobodyCanWorkWith) {
  const struct {
    std::string text;
    const char* why;
  } cases[] = {
      {"target datalayout = \"E\"\n", "in the other order"},
      {"target datalayout = \"e-p:32:32\"\n", "pointers have not 64 bits"},
      {"@g = global i65537 0\n", "more than 65536 bits"},
      {"@g = external global [1152921504606846976 x i64]\n", "no memory can hold"},
      {"@g = external global [4294967296 x [4294967296 x i8]]\n", "no memory can hold"},
      {"@g = external global [1099511627776 x {}]\n", "no memory can hold"},
      {"define void @f() {\n  %v = alloca [576460752303423488 x i64]\n  ret void\n}\n", "no memory can hold"},
      {"define [5000 x i8] @f([5000 x i8] %v) {\n  ret [5000 x i8] %v\n}\n", "more than 4096 scalars"},
      {"define void @f(ptr %p) {\n  %v = load [5000 x i64], ptr %p\n  ret void\n}\n", "more than 4096 scalars"},
      {"define void @f(<vscale x 4 x i32> %v) {\n  ret void\n}\n", "size is not known"},
      {doubling(17), "constants without end"},
      {"target datalayout = \"e-p1:128:128\"\n@g = external global ptr addrspace(1)\n",
       "pointers of more than 64 bits"},
  };
  for (const auto& c : cases) {
    const std::string text = c.text.starts_with("target") ? c.text : kMachine + c.text;
    EXPECT_NE(why_not(text).find(c.why), std::string::npos) << c.text.substr(0, 200) << "\n" << why_not(text);
  }
}

// LLVM's reader of text refuses such code; its reader of bitcode and its verifier do not.
TEST(Admit, RefusesStepsOverThingsWithoutASize) {
  llvm::LLVMContext context;
  llvm::Type* const byte = llvm::Type::getInt8Ty(context);
  llvm::Type* const strides[] = {byte, llvm::FunctionType::get(byte, false),
                                 llvm::StructType::create(context, "opaque"),
                                 llvm::StructType::get(context, {byte, llvm::StructType::create(context, "inside")})};
  for (llvm::Type* stride : strides) {
    for (const bool is_initialiser : {true, false}) {
      llvm::Module module("module", context);
      module.setDataLayout("e-m:e-i64:64-n8:16:32:64-S128");
      auto* function = llvm::Function::Create(llvm::FunctionType::get(llvm::PointerType::get(context, 0), false),
                                              llvm::Function::ExternalLinkage, "f", module);
      llvm::Constant* const stepped = llvm::ConstantExpr::getGetElementPtr(
          stride, static_cast<llvm::Constant*>(function), llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), 1));
      auto* const global =
          new llvm::GlobalVariable(module, stepped->getType(), false, llvm::GlobalValue::ExternalLinkage,
                                   is_initialiser ? stepped : function, "g");
      llvm::ReturnInst::Create(context, is_initialiser ? static_cast<llvm::Value*>(global) : stepped,
                               llvm::BasicBlock::Create(context, "", function));
      EXPECT_EQ(why_not_admitted(module), stride == byte ? "" : "it has types whose size is not known")
          << is_initialiser << " " << stride->getTypeID();
    }
  }
}

// The same of names: LLVM takes whatever stands in their place for text.
TEST(Admit, RefusesNamesThatAreNoText) {
  const std::string text = std::string(kMachine) + R"(
define void @f() !dbg !6 {
  ret void, !dbg !9
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: "test", emissionKind: FullDebug)
!1 = distinct !DIFile(filename: "a.cc", directory: "/src/prog")
!3 = !{i32 2, !"Debug Info Version", i32 3}
!6 = distinct !DISubprogram(name: "f", scope: !1, file: !1, type: !7, unit: !0, spFlags: DISPFlagDefinition)
!7 = !DISubroutineType(types: !8)
!8 = !{null}
!9 = !DILocation(line: 5, column: 11, scope: !6)
)";
  for (const std::string_view wrong : {"nothing", "filename", "directory", "function"}) {
    llvm::LLVMContext context;
    llvm::SMDiagnostic diagnostic;
    const auto module = llvm::parseAssembly(llvm::MemoryBufferRef(text, "module"), diagnostic, context);
    ASSERT_NE(module, nullptr) << diagnostic.getMessage().str();
    llvm::DISubprogram* const function = module->getFunction("f")->getSubprogram();
    llvm::MDNode* const other = llvm::MDTuple::get(context, {});
    if (wrong == "function") {
      function->replaceOperandWith(2, other);
    } else if (wrong != "nothing") {
      function->getFile()->replaceOperandWith(wrong == "filename" ? 0 : 1, other);
    }
    EXPECT_EQ(why_not_admitted(*module), wrong == "nothing" ? "" : "its debug information names no place") << wrong;
  }
}

TEST(Admit, BytesThatAreNoCodeAreASentence) {
  const KeptModule unloaded;
  EXPECT_TRUE(admit(std::span(&unloaded, 1)).ok());
  const std::string bytes = "BC\xc0\xde" + std::string(64, '\x5a');
  KeptModule module;
  module.bitcode = bytes;
  const KeptModule modules[] = {unloaded, module};
  const Status status = admit(modules);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ExitCode::kBadInput);
  EXPECT_NE(status.message().find("this is no code that a compiler has made: "), std::string::npos) << status.message();
}

}  // namespace
}  // namespace sooth
