// Names for the places that the log of a controlled run speaks of.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "schedule/run_log.h"
#include "symbol/module_symbols.h"
#include "trace/tables.h"

namespace sooth {

// "account.cc:12:3", "libqueue.so+0x1a40" when there is no debug information.
std::string name_of(const Site& site);

// Answers come from the files as they are now. Not thread safe.
class CodeNames {
 public:
  // `program`: path of the executable.
  explicit CodeNames(std::string program) : program_(std::move(program)) {}

  // name_of() of its site. `module` as in SiteCode.
  std::string name(const std::string& module, std::uint64_t offset);
  // All that is known of it.
  Site site(const std::string& module, std::uint64_t offset);
  // With what was inlined, innermost first, from the innermost place on that is the user's.
  std::vector<Site> stack(const std::vector<LoggedPlace>& places);
  // Where a thread waits, in the user's code. Empty label: nobody knows.
  Site site_of(const BlockedThread& thread);
  // The variable of the program at that place of its file, "accounts[0].lock"; empty: nobody knows.
  std::string variable(std::uint64_t offset);

 private:
  // What the instruction stands for, innermost first; at least one.
  std::vector<Site> sites(const std::string& module, std::uint64_t offset);
  // nullptr: nothing is known about it.
  ModuleSymbols* open(const std::string& path);

  std::string program_;
  TypeCatalog types_;
  std::map<std::string, std::unique_ptr<ModuleSymbols>> opened_;  // by path
};

}  // namespace sooth
