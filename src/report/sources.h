// The source files that a report names: what they were like when it was made, and what stands around the lines in
// question.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "race/finding.h"

namespace sooth {

// Every site of a finding that people may want to look at: accesses, stacks, where things come from, the witness.
std::vector<const Site*> sites_of(const Finding& finding);

// Whether the file is as it was when the report was made.
bool is_unchanged(const SourceFile& source);

// Writes into the report what the files that its findings name are like now, if they can be read.
void note_sources(Report& report);

// The lines of source files, each file read once. Only files with a name like that of a source file, up to 8 MiB.
class SourceLines {
 public:
  // nullptr when the file cannot be read. Lines have no end; very long ones are cut.
  const std::vector<std::string>* of(const std::string& file);

 private:
  std::map<std::string, std::optional<std::vector<std::string>>> files_;
};

enum class SourceState : std::uint8_t {
  kSame,     // as it was when the report was made
  kUnknown,  // the report does not say what it was like
  kChanged,  // since the report was made, or it has fewer lines than the report names
  kMissing,  // there is no such file, or it cannot be read
  kRefused,  // it does not look like source text: reports may come from anywhere, and must not choose any file
};

struct SourceExcerpt {
  std::uint32_t first_line = 0;
  std::vector<std::string> lines;  // any bytes; very long lines are cut
};

struct SourceText {
  std::string file;  // as sites name it
  SourceState state = SourceState::kMissing;
  std::string why;                      // for kMissing and kRefused: a clause
  std::vector<SourceExcerpt> excerpts;  // around the lines that findings name, ascending, apart from each other
};

// The files that findings name with a line, by name, read now. Relative names are relative to the working directory.
// Bounded: only files with a name like that of a source file, up to 8 MiB each, the first 400 of them, `context` lines
// around each line.
std::vector<SourceText> read_sources(const Report& report, std::uint32_t context);

}  // namespace sooth
