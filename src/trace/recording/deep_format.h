// What the LLVM pass of `sooth c++ --deep` (src/instrument/) puts into a program, and the run time library and readers
// of recordings find there. Freestanding.
#pragma once

#include <cstdint>

namespace sooth::deep {

// On functions of the kept code that have no hooks: the user excluded them, they ask for no instrumentation, or they
// contain what cannot be followed (naked functions, coroutines, musttail, indirectbr, callbr).
inline constexpr char kNotDeep[] = "sooth-not-deep";
// Named metadata of the kept code: the globals whose addresses are in Descriptor::addresses, one per node.
inline constexpr char kPlacedGlobals[] = "sooth.placed";
inline constexpr char kCodeSection[] = ".sooth_deep";

// One per object file, in its data. The constructor of the object file hands it to the run time library.
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kSilent = 0xffffffff;
struct Descriptor {
  std::uint32_t number;   // kSilent, or that of the module in the recording
  std::uint32_t version;  // kVersion
  Descriptor* next;       // of the run time library
  const void* code;       // bitcode
  std::uint64_t code_bytes;
  const void* const* addresses;
  std::uint64_t address_count;
};
static_assert(sizeof(Descriptor) == 48);

}  // namespace sooth::deep
