// How types lay out their bytes, so that an address in a variable gets the name that the source has for it:
// `accounts[0].balance`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sooth {

enum class TypeId : std::uint32_t {};  // dense, in a table of types; 0 is none
inline constexpr TypeId kNoType{0};

struct TypeMember {
  std::string name;          // empty: a base class, or what has no name; its members count as the type's own
  std::uint64_t offset = 0;  // bytes
  std::uint64_t size = 0;    // of a bit-field the bytes that hold it
  TypeId type{};
  bool is_bit_field = false;

  friend bool operator==(const TypeMember&, const TypeMember&) = default;
};

// A scalar has neither elements nor members. Types whose inside means nothing to users (a mutex, a std::string) have
// none either, and `opaque` set: whatever lies in them is called by the name of the whole.
struct TypeLayout {
  std::string name;  // as people write it
  std::uint64_t size = 0;
  bool opaque = false;
  bool is_union = false;
  TypeId element{};         // of an array
  std::uint64_t count = 0;  // elements
  std::vector<TypeMember> members = {};

  friend bool operator==(const TypeLayout&, const TypeLayout&) = default;
};

// A part of a variable.
struct TypePart {
  std::string path;           // behind the name of the variable: "[0].balance"; empty: the variable itself
  std::uint64_t offset = 0;   // of its first byte in the variable
  std::uint64_t size = 0;     // 0: unknown
  bool opaque = false;        // where in it an access lies has no name
  TypeId type{};              // kNoType: unknown, several elements, or bit-fields
  bool is_bit_field = false;  // one or several
};

// The smallest part of a variable of that type that contains the `size` bytes at `offset`. Several elements of an array
// are "[2..5]". Of a union it is the one member that has just that size, or the union; bit-fields that share their bytes are
// "ready..done". Time is that of the depth of the type, times the members on each level.
TypePart find_part(std::span<const TypeLayout> types, TypeId type, std::uint64_t offset, std::uint64_t size);

}  // namespace sooth
