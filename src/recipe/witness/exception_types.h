// Which handlers catch what, by the descriptions of types that are in programs (Itanium C++ ABI, section 2.9).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <llvm/ADT/StringRef.h>

#include "deep/program.h"

namespace llvm {
class LandingPadInst;
class Value;
}  // namespace llvm

namespace sooth {

// Read-only once made. Types are told apart by *keys*: the name of the description, and its module where others may have
// another type of that name.
class ExceptionTypes {
 public:
  explicit ExceptionTypes(const DeepProgram& program);

  // Empty: that is no description of a type.
  static std::string key(const llvm::Value& description);
  // What `llvm.eh.typeid.for` says of a type that is in the program; 0: it is not.
  std::uint32_t number(const std::string& key) const;

  enum class Answer : std::uint8_t { kNo, kYes, kUnknown };
  // Whether a handler for the one type catches the other, without moving the pointer to it.
  Answer catches(const std::string& handler, const std::string& thrown) const;

  struct Landing {
    enum class Kind : std::uint8_t { kPasses, kCleans, kCatches, kUnknown };
    Kind kind = Kind::kPasses;
    std::uint32_t selector = 0;  // the second part of what the landingpad results in
  };
  Landing landing(const llvm::LandingPadInst& pad, const std::string& thrown) const;

  // The key of what std::__throw_out_of_range() and its like throw; empty: it is none of those.
  static std::string thrown_by(llvm::StringRef function);
  // The member functions of the exceptions of the standard library that are in libstdc++.so. They touch nothing but the
  // object.
  enum class Member : std::uint8_t { kNone, kConstructor, kDestructor };
  static Member member(llvm::StringRef function);

 private:
  struct Type {
    std::uint32_t number = 0;
    std::string base;           // the only one, at the same address
    bool is_described = false;  // false: it is not known whether it has any
  };
  std::map<std::string, Type> types_;  // by key
};

// Of what such a constructor makes: a pointer to virtual functions, and one to a text.
inline constexpr std::uint64_t kStandardExceptionBytes = 16;

}  // namespace sooth
