// From the functions that the user wants left out (`--exclude func:PATTERN`) to the code that the run time library
// leaves out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "symbol/elf_file.h"

namespace sooth {

inline constexpr std::string_view kFunctionPrefix = "func:";

struct ExcludedCode {
  std::string ranges;              // the value of SOOTH_EXCLUDE_CODE; empty: no function is named
  std::vector<std::string> notes;  // what the user should know, one sentence each
};

// Looks for the functions in the symbol tables of the program and of the libraries that it needs; `patterns` without
// kFunctionPrefix are not for us. A pattern is for the name of a function as the file has it or as people read it, with
// parameters or without; parts that the compiler has split off (`f.cold`) go with the function. What is inlined is part
// of the function that it is in, and libraries that the program loads by itself later are not looked at: a note says so
// when a pattern matches nothing. Fails when they are too many.
Result<ExcludedCode> find_excluded_code(const ProgramInfo& program, const std::vector<std::string>& patterns);

// Whether the pattern names the function.
bool names_function(std::string_view pattern, std::string_view symbol);

}  // namespace sooth
