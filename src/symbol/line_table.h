// From the address of an instruction to its place in the source: the line tables of a whole file as one sorted array.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbol/debug_file.h"

namespace sooth {

// Built from the line program of every compile unit, so it does not need .debug_aranges, which clang leaves out.
class LineTable {
 public:
  struct Row {
    std::uint64_t address = 0;
    std::uint32_t file = 0;    // for file()
    std::uint32_t line = 0;    // 0: code that belongs to no line
    std::uint32_t unit = 0;    // index into DebugFile::units()
    std::uint16_t column = 0;  // 0: unknown
    bool end = false;          // the first address behind a sequence; says nothing about itself
  };

  explicit LineTable(DebugFile& file);

  // The row that covers the address, or nullptr. Of several rows with one address it is the last, as in addr2line.
  const Row* find(std::uint64_t address) const;
  // As CompileUnit::source_path().
  const std::string& file(const Row& row) const { return files_[row.file]; }
  // By address.
  const std::vector<Row>& rows() const { return rows_; }

 private:
  void add_unit(DebugFile& file, std::uint32_t unit);
  std::uint32_t intern(const std::string& name);
  void merge_equal_addresses();

  std::vector<Row> rows_;
  std::vector<std::string> files_;
  std::unordered_map<std::string, std::uint32_t> file_index_;
};

}  // namespace sooth
