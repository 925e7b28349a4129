// Names for the places that the log of a controlled run speaks of.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "symbol/module_symbols.h"
#include "trace/tables.h"

namespace sooth {

// Answers come from the files as they are now. Not thread safe.
class CodeNames {
 public:
  // `program`: path of the executable.
  explicit CodeNames(std::string program) : program_(std::move(program)) {}

  // "account.cc:12:3", "libqueue.so+0x1a40" when there is no debug information. `module` as in SiteCode.
  std::string name(const std::string& module, std::uint64_t offset);
  // All that is known of it.
  Site site(const std::string& module, std::uint64_t offset);

 private:
  // nullptr: nothing is known about it.
  ModuleSymbols* open(const std::string& path);

  std::string program_;
  std::map<std::string, std::unique_ptr<ModuleSymbols>> opened_;  // by path
};

}  // namespace sooth
