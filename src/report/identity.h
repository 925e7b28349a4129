// What makes two findings the same bug, as a person would say: where in the user's own code, and on which variable.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "race/finding.h"
#include "race/user_code.h"
#include "report/sources.h"
#include "symbol/imported_calls.h"
#include "symbol/module_symbols.h"

namespace sooth {

// Of the rules below.
inline constexpr std::uint32_t kIdVersion = 3;

struct IdentityOptions {
  UserCode user_code;
  std::string source_root;  // paths are relative to it; empty: to the working copy of a version control system
};

// A line without what says nothing about it: blanks, and a comment at its end.
std::string bare_line(std::string_view line);

// What a finding is called: "2" and, each followed by a zero byte, the kind, the places (FILE, FUNCTION, TEXT, ORDINAL
// each, sorted) and the variable, hashed with FNV-1a. TEXT is the line without blanks and comment, ORDINAL counts equal
// lines in front of it in its function. The variable is a global with the members in its name, or the place in the user's
// code where the block was allocated; of a misuse the lock, of a deadlock its locks if all are globals. Where no source is known the sites alone are hashed, as
// fingerprint() says. docs/reports.md tells it to users: baselines hold these.

// The finding as controlled runs and analyses tell them apart: the sites themselves, with line and column, and the
// variable. Equal in all runs of one executable.
std::string pair_key(const Finding& finding, const UserCode& user_code);

// The locks that the threads of a deadlock wait for, as ids have them; empty when some have no name.
std::string locks_key(const Finding& deadlock);

// Gives findings their ids. Reads source files and, where equal lines stand in a file, debug information, each once.
// Not thread safe.
class Identifier {
 public:
  explicit Identifier(IdentityOptions options = {}) : options_(std::move(options)) {}

  // Files of the program, by which those of the same name are told apart where there is no source root.
  void know_files(const std::vector<Site>& sites);
  // Which frame of each access is the user's, and its line.
  void find_frames(Finding& finding);
  // The same, and the id unless it has one.
  void identify(Finding& finding);
  // All findings of a report, which may be an old one: files that have changed since give no lines.
  void identify(Report& report);

 private:
  // FILE . FUNCTION . TEXT . ORDINAL .
  std::string place_key(const Site& site);
  std::string path_key(const std::string& file);
  std::optional<std::string> repository_path(const std::string& file);
  std::uint32_t function_line(const Site& site);
  std::string line_key(const Site& site);
  bool is_on_vptr(const Site& site);
  void add_file(const std::string& file);

  IdentityOptions options_;
  SourceLines sources_;
  std::map<std::string, std::set<std::string>> by_name_;           // paths of the user's files, by file name
  std::set<std::string> changed_;                                  // files that are not as they were
  std::map<std::string, std::string> roots_;                       // by folder; empty: none
  std::map<std::string, std::unique_ptr<ModuleSymbols>> modules_;  // by path; nullptr: cannot be read
  std::map<std::string, std::unique_ptr<ImportedCalls>> calls_;    // likewise
};

}  // namespace sooth
