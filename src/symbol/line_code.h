// From a place in the source to its code: the way back of a line table.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "symbol/module_table.h"

namespace sooth {

// The line table of one file, opened without its functions and variables. Not thread safe.
class LineCode {
 public:
  // As DebugFile::open(). A file without debug information opens, and has no code of any line.
  static Result<std::unique_ptr<LineCode>> open(const std::string& path, const std::string& build_id);
  ~LineCode();

  // Where the instructions of the line are, in addresses of the ELF file: sorted, disjoint, neighbours merged. Inlined
  // and cloned copies are among them. A `column` of 0 stands for all columns. `file` as frames have it; if no file of
  // that path has code, one of the same name in another directory counts, as long as there is only one: sources move.
  std::vector<AddressRange> ranges(const std::string& file, std::uint32_t line, std::uint32_t column) const;

  // The instructions of the row of the table that the address lies in; the address alone when there is none.
  AddressRange row_around(std::uint64_t address) const;

 private:
  struct Tables;
  explicit LineCode(std::unique_ptr<Tables> tables);

  std::unique_ptr<Tables> tables_;
};

}  // namespace sooth
