#include "symbol/line_table.h"

#include <dwarf.h>

#include <algorithm>
#include <set>

namespace sooth {
namespace {

// Where the line program of the unit starts in .debug_line; units can share one.
bool line_program_offset(Dwarf_Die& unit, Dwarf_Word& offset) {
  Dwarf_Attribute attribute;
  return dwarf_attr(&unit, DW_AT_stmt_list, &attribute) != nullptr && dwarf_formudata(&attribute, &offset) == 0;
}

using Ranges = std::vector<std::pair<Dwarf_Addr, Dwarf_Addr>>;

// Where the code of the unit is.
Ranges ranges_of(Dwarf_Die& unit) {
  Ranges ranges;
  Dwarf_Addr base = 0, begin = 0, end = 0;
  for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&unit, at, &base, &begin, &end)) > 0;) {
    ranges.emplace_back(begin, end);
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

bool contains(const Ranges& ranges, Dwarf_Addr address) {
  auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                [](Dwarf_Addr value, const auto& range) { return value < range.first; });
  return after != ranges.begin() && address < std::prev(after)->second;
}

}  // namespace

LineTable::LineTable(DebugFile& file) {
  std::set<Dwarf_Word> seen;
  for (std::uint32_t unit = 0; unit < file.units().size(); ++unit) {
    Dwarf_Word offset = 0;
    if (line_program_offset(file.units()[unit].skeleton, offset) && seen.insert(offset).second) {
      add_unit(file, unit);
    }
  }
  // An end comes before the begin of a sequence that follows without a gap.
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
    return a.address != b.address ? a.address < b.address : a.end > b.end;
  });
  merge_equal_addresses();
}

void LineTable::add_unit(DebugFile& file, std::uint32_t unit) {
  Dwarf_Lines* lines = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrclines(&file.units()[unit].skeleton, &lines, &count) != 0) {
    return;  // damaged, or none: the symbol table still names functions
  }
  const Ranges ranges = ranges_of(file.units()[unit].skeleton);
  // libdw remembers names by pointer, so most rows need no look into the table of names.
  const char* last_name = nullptr;
  std::uint32_t last_file = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Dwarf_Line* line = dwarf_onesrcline(lines, i);
    Dwarf_Addr address = 0;
    bool end = false;
    int number = 0, column = 0;
    const char* name = dwarf_linesrc(line, nullptr, nullptr);
    if (dwarf_lineaddr(line, &address) != 0 || dwarf_lineendsequence(line, &end) != 0 ||
        dwarf_lineno(line, &number) != 0 || dwarf_linecol(line, &column) != 0) {
      continue;
    }
    // Code that the linker dropped is left at address 0 or so; an end stands behind code.
    if (!file.is_code(end && address > 0 ? address - 1 : address)) {
      continue;
    }
    // GCC writes rows at the very end of a sequence, which libdw sorts behind the end: they would reach to the next
    // one.
    if (!end && !ranges.empty() && !contains(ranges, address)) {
      continue;
    }
    if (name != last_name || i == 0) {
      last_name = name;
      last_file = intern(file.units()[unit].source_path(name));
    }
    rows_.push_back({.address = address,
                     .file = last_file,
                     .line = static_cast<std::uint32_t>(number),
                     .unit = unit,
                     .column = static_cast<std::uint16_t>(std::min(column, 0xffff)),
                     .end = end});
  }
}

std::uint32_t LineTable::intern(const std::string& name) {
  const auto [at, added] = file_index_.try_emplace(name, static_cast<std::uint32_t>(files_.size()));
  if (added) {
    files_.push_back(at->first);
  }
  return at->second;
}

void LineTable::merge_equal_addresses() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (i + 1 < rows_.size() && rows_[i + 1].address == rows_[i].address) {
      continue;  // the last one counts
    }
    rows_[kept++] = rows_[i];
  }
  rows_.resize(kept);
  rows_.shrink_to_fit();
}

const LineTable::Row* LineTable::find(std::uint64_t address) const {
  auto row = std::upper_bound(rows_.begin(), rows_.end(), address,
                              [](std::uint64_t value, const Row& r) { return value < r.address; });
  if (row == rows_.begin()) {
    return nullptr;
  }
  --row;
  return row->end ? nullptr : &*row;
}

}  // namespace sooth
