// Libraries whose functions know what they are given and keep nothing for a later call: two calls of one can only be
// ordered by memory that both were given.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace/recording/process_file.h"

namespace sooth {

using FunctionNames = std::set<std::string, std::less<>>;

class StatelessLibraries {
 public:
  // Those that are known to be like that (compression, images, mathematics), and those that the user names: `libfoo` or
  // `libfoo.so` is every version of it, `libfoo.so.1` that one; with `*` or `?` a pattern. Folders do not count.
  StatelessLibraries() = default;
  explicit StatelessLibraries(std::vector<std::string> named) : named_(std::move(named)) {}

  // `file`: the name of a file, with or without its path.
  bool contains(std::string_view file) const { return is_known(file) || name_for(file) != nullptr; }
  // The one of the user's names that means the file; nullptr: none.
  const std::string* name_for(std::string_view file) const;
  const std::vector<std::string>& named() const { return named_; }

 private:
  static bool is_known(std::string_view file);

  std::vector<std::string> named_;
};

// The functions that the process got from such libraries, by the names that the linker knows: those of which the first
// file that defines the name is one of them. The files are read as they are now; those that are gone define nothing.
FunctionNames functions_of(const StatelessLibraries& libraries, const RecordedProcess& process);
// The same of a recording's process; none of what is no recording.
FunctionNames functions_of(const StatelessLibraries& libraries, const std::string& recording);

}  // namespace sooth
