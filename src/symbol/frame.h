// What an address is called: places in the source, and variables.
#pragma once

#include <cstdint>
#include <string>

#include "trace/layout.h"

namespace sooth {

// One level of a call stack in the source. What is unknown is empty or 0.
struct Frame {
  std::string file;
  std::string function;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t function_line = 0;  // where the function is declared

  friend bool operator==(const Frame&, const Frame&) = default;
};

// The variable that an address is in.
struct GlobalVariable {
  std::string name;
  std::string file;  // where it is declared; empty without debug information
  std::uint32_t line = 0;
  std::uint64_t offset = 0;  // of the address in the variable, in bytes
  std::uint64_t size = 0;    // 0: unknown
  TypeId type{};             // in the catalogue that was asked for

  friend bool operator==(const GlobalVariable&, const GlobalVariable&) = default;
};

// A variable and the address of its first byte in the ELF file.
struct PlacedGlobal {
  std::uint64_t address = 0;
  GlobalVariable variable;

  friend bool operator==(const PlacedGlobal&, const PlacedGlobal&) = default;
};

}  // namespace sooth
