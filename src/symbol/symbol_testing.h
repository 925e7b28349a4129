// For tests of symbols: programs compiled on the spot, and what other tools say about them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "trace/format/directory_testing.h"

namespace sooth {

// What the shell command prints; it must succeed.
inline std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr) << command;
  std::array<char, 4096> piece;
  for (std::size_t size; (size = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
    text.append(piece.data(), size);
  }
  EXPECT_EQ(::pclose(pipe), 0) << command << "\n" << text;
  return text;
}

inline bool has_command(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

// g++, and clang++ in the versions that are installed.
inline std::vector<std::string> installed_compilers() {
  std::vector<std::string> compilers = {"g++"};
  for (const char* name : {"clang++", "clang++-19"}) {
    if (has_command(name)) {
      compilers.push_back(name);
    }
  }
  return compilers;
}

// The number of the line with this text, from 1.
inline std::uint32_t line_of(const std::string& source, const std::string& text) {
  const std::size_t at = source.find(text);
  EXPECT_NE(at, std::string::npos) << text;
  return 1 +
         static_cast<std::uint32_t>(std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

}  // namespace sooth
