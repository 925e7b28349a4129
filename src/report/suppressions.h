// Files that say which findings are not to be reported, in ThreadSanitizer's syntax, so that one file serves both.
//
//   # comment
//   race:third_party::Counter
//   race_top:^bump(
//   called_from_lib:libfoo.so
//
// A pattern matches anywhere in a name unless anchored: `^` at its begin, `$` at its end, `*` for any text. `race`
// looks at the function, file, module and label of every frame on both stacks and on those that created the threads,
// and at the variable; `race_top` only at the two accesses themselves; `deadlock`, `mutex` (misused locks) and `thread`
// (leaked threads) like `race` at the frames; `called_from_lib` at the module of every frame of the accesses, for all
// kinds. `signal` is accepted and matches nothing: Sooth does not report that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/wildcard.h"
#include "race/finding.h"

namespace sooth {

class Suppressions {
 public:
  // Adds the rules of a file; the order of the files is the order in the report.
  Status read(const std::string& path);
  // The same from memory; `path` is what sentences and the report call it.
  Status parse(std::string_view text, const std::string& path);

  // Removes the findings that a rule matches from `report` and counts them there, with the hits of every rule: a
  // finding that two rules match is a hit for both, so that a rule without hits can be deleted safely.
  void apply(Report& report) const;

 private:
  enum class Type { kRace, kRaceTop, kDeadlock, kMutex, kThread, kSignal, kCalledFromLib };
  struct Rule {
    Type type;
    std::string pattern;
    std::string file;
    std::uint32_t line;
    std::string text;
  };

  static bool type_from_name(std::string_view name, Type& type);
  static bool matches(const Rule& rule, const Finding& finding);

  std::vector<Rule> rules_;
};

}  // namespace sooth
