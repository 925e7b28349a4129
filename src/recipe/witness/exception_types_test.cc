#include "recipe/witness/exception_types.h"

#include <gtest/gtest.h>

#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

namespace sooth {
namespace {

using Answer = ExceptionTypes::Answer;

DeepProgram parse(const std::string& text) {
  DeepModuleText module;
  module.text = text;
  Result<DeepProgram> program = DeepProgram::parse(std::span(&module, 1));
  EXPECT_TRUE(program.ok());
  return std::move(*program);
}

// struct Base {}; struct Derived : Base {}; struct Refused : std::runtime_error {}; struct Both : Base, Refused {};
constexpr char kTypes[] = R"(
@_ZTVN10__cxxabiv117__class_type_infoE = external global ptr
@_ZTVN10__cxxabiv120__si_class_type_infoE = external global ptr
@_ZTVN10__cxxabiv121__vmi_class_type_infoE = external global ptr
@_ZTISt13runtime_error = external constant ptr
@_ZTIPKc = external constant ptr
@_ZTIi = external constant ptr
@_ZTI7Unknown = external constant ptr
@_ZTI4Base = linkonce_odr constant { ptr, ptr } { ptr getelementptr inbounds (ptr, ptr @_ZTVN10__cxxabiv117__class_type_infoE, i64 2), ptr null }
@_ZTI7Derived = linkonce_odr constant { ptr, ptr, ptr } { ptr getelementptr inbounds (ptr, ptr @_ZTVN10__cxxabiv120__si_class_type_infoE, i64 2), ptr null, ptr @_ZTI4Base }
@_ZTI7Refused = linkonce_odr constant { ptr, ptr, ptr } { ptr getelementptr inbounds (ptr, ptr @_ZTVN10__cxxabiv120__si_class_type_infoE, i64 2), ptr null, ptr @_ZTISt13runtime_error }
@_ZTI4Both = linkonce_odr constant { ptr, ptr, i32, i32, ptr, i64, ptr, i64 } { ptr getelementptr inbounds (ptr, ptr @_ZTVN10__cxxabiv121__vmi_class_type_infoE, i64 2), ptr null, i32 0, i32 2, ptr @_ZTI4Base, i64 2, ptr @_ZTI7Refused, i64 2 }
@_ZTIN12_GLOBAL__N_15LocalE = internal constant { ptr, ptr } { ptr getelementptr inbounds (ptr, ptr @_ZTVN10__cxxabiv117__class_type_infoE, i64 2), ptr null }
@other = global i32 0
)";

TEST(ExceptionTypes, CatchThemselvesAndWhatIsDerived) {
  const DeepProgram program = parse(kTypes);
  const ExceptionTypes types(program);
  EXPECT_EQ(types.catches("_ZTI4Base", "_ZTI4Base"), Answer::kYes);
  EXPECT_EQ(types.catches("_ZTI4Base", "_ZTI7Derived"), Answer::kYes);
  EXPECT_EQ(types.catches("_ZTI7Derived", "_ZTI4Base"), Answer::kNo);
  EXPECT_EQ(types.catches("_ZTISt9exception", "_ZTI7Refused"), Answer::kYes);
  EXPECT_EQ(types.catches("_ZTISt11logic_error", "_ZTI7Refused"), Answer::kNo);
  EXPECT_EQ(types.catches("_ZTISt9exception", "_ZTISt20bad_array_new_length"), Answer::kYes);
  EXPECT_EQ(types.catches("_ZTIi", "_ZTIi"), Answer::kYes);
  EXPECT_EQ(types.catches("_ZTIi", "_ZTIl"), Answer::kNo);
  EXPECT_EQ(types.catches("_ZTI4Base", "_ZTIi"), Answer::kNo);
  EXPECT_EQ(types.catches("_ZTI4Base", "_ZTIPKc"), Answer::kNo);
}

TEST(ExceptionTypes, WhatIsNotDescribedIsNotKnown) {
  const DeepProgram program = parse(kTypes);
  const ExceptionTypes types(program);
  EXPECT_EQ(types.catches("_ZTI4Base", "_ZTI7Unknown"), Answer::kUnknown);
  EXPECT_EQ(types.catches("_ZTI7Unknown", "_ZTI4Base"), Answer::kNo);
  EXPECT_EQ(types.catches("_ZTI4Base", "_ZTI4Both"), Answer::kUnknown);  // it may be elsewhere in the object
  EXPECT_EQ(types.catches("_ZTIPKc", "_ZTIPc"), Answer::kUnknown);       // pointers are converted
}

TEST(ExceptionTypes, NumbersAndKeysTellTypesApart) {
  const DeepProgram program = parse(kTypes), same = parse(kTypes);
  const ExceptionTypes types(program);
  EXPECT_NE(types.number("_ZTI4Base"), 0u);
  EXPECT_NE(types.number("_ZTI4Base"), types.number("_ZTI7Derived"));
  EXPECT_EQ(types.number("_ZTI6Nobody"), 0u);
  const auto key = [](const DeepProgram& from, const char* name) {
    return ExceptionTypes::key(*from.module(0).getNamedGlobal(name));
  };
  EXPECT_EQ(key(program, "_ZTI4Base"), "_ZTI4Base");
  EXPECT_EQ(key(program, "other"), "");
  // Of anonymous namespaces there may be one of that name in each module.
  EXPECT_NE(key(program, "_ZTIN12_GLOBAL__N_15LocalE"), key(same, "_ZTIN12_GLOBAL__N_15LocalE"));
}

TEST(ExceptionTypes, KnowsFunctionsOfTheLibrary) {
  EXPECT_EQ(ExceptionTypes::thrown_by("_ZSt24__throw_out_of_range_fmtPKcz"), "_ZTISt12out_of_range");
  EXPECT_EQ(ExceptionTypes::thrown_by("_ZSt9terminatev"), "");
  EXPECT_EQ(ExceptionTypes::member("_ZNSt13runtime_errorC1EPKc"), ExceptionTypes::Member::kConstructor);
  EXPECT_EQ(ExceptionTypes::member("_ZNSt9exceptionD2Ev"), ExceptionTypes::Member::kDestructor);
  EXPECT_EQ(ExceptionTypes::member("_ZNKSt13runtime_error4whatEv"), ExceptionTypes::Member::kNone);
  EXPECT_EQ(ExceptionTypes::member("_ZNSt6threadD1Ev"), ExceptionTypes::Member::kNone);
}

}  // namespace
}  // namespace sooth
