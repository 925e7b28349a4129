// Which code is the user's own: what findings point at, and what makes two of them the same.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trace/tables.h"

namespace sooth {

// Without patterns everything is the user's but the standard library, headers and libraries of the system, and our run
// time library. With patterns (as in suppressions) only code whose file, function or module matches one of them.
class UserCode {
 public:
  UserCode() = default;
  explicit UserCode(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  bool is_user(const Site& site) const;
  // The innermost frame that is the user's: 0 for the site itself, i for stack[i - 1]. 0 when none is.
  std::size_t innermost(const Site& site, const std::vector<Site>& stack) const;

 private:
  std::vector<std::string> patterns_;
};

// The name of a function as all compilers and levels of optimisation have it: without parameters, template arguments,
// return type and the classes and namespaces around it, which GCC leaves out of inlined functions. A lambda is
// "operator()".
std::string bare_function(std::string_view function);

// A variable with members, but without the place in an array and the offset that stand in its name: "accounts[].balance"
// for "accounts[3].balance", "name[]" for "name[0..11]", "table" for "table+16".
std::string bare_variable(std::string_view name);

}  // namespace sooth
