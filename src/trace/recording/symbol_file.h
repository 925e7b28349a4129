// The file `symbols` of a recording: what its program counters and addresses are called. STREAMS.md, "symbols".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "trace/layout.h"
#include "trace/variables.h"

namespace sooth {

// A place in the source. Empty strings and 0 where nothing is known.
struct SiteFrame {
  std::string file;
  std::string function;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  friend bool operator==(const SiteFrame&, const SiteFrame&) = default;
};

// One row of `sites`.
struct SiteSymbols {
  std::string module;                   // path; empty for code that comes from no file
  std::uint64_t offset = 0;             // address in the ELF file; the program counter itself without a module
  std::vector<SiteFrame> frames;        // innermost first: the others are functions that the first was inlined into
  TypeId allocates{};                   // what a block holds that the call here allocates; kNoType: unknown
  std::vector<ShortLived> locals = {};  // of a row for frames: the variables of the function, from its frame address

  friend bool operator==(const SiteSymbols&, const SiteSymbols&) = default;
};

// A variable with static storage, at run time addresses [begin, end).
struct GlobalSymbol {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string name;
  std::string file;
  std::uint32_t line = 0;
  TypeId type{};

  friend bool operator==(const GlobalSymbol&, const GlobalSymbol&) = default;
};

struct RecordingSymbols {
  std::vector<SiteSymbols> sites;  // by row of `sites`; rows behind the end are unknown
  std::vector<GlobalSymbol> globals;
  // Those that no symbols before these have: their numbers go on from there, and begin with 1.
  std::vector<TypeLayout> types = {};
  std::vector<ShortLived> thread_locals = {};  // from the thread pointer; those that no symbols before these have

  friend bool operator==(const RecordingSymbols&, const RecordingSymbols&) = default;
};

// What tells recordings apart, for files that come with one: its used rows of `sites`, whose addresses differ from run
// to run, and its `process`.
std::uint64_t recording_mark(std::string_view used_sites, std::string_view process);

// Written beside its place and then moved there: `symbols` is whole or not there. `recording` is the mark of the one
// that it belongs to.
Status write_symbol_file(const std::string& path, const RecordingSymbols& symbols, std::uint64_t recording);
// Damage is an error, and so are the symbols of another recording. Memory is in proportion to the length of the file.
Result<RecordingSymbols> read_symbol_file(const std::string& path, std::uint64_t recording);

}  // namespace sooth
