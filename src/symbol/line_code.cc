#include "symbol/line_code.h"

#include <set>
#include <string_view>

#include "symbol/debug_file.h"
#include "symbol/line_table.h"

namespace sooth {
namespace {

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

struct LineCode::Tables {
  explicit Tables(std::unique_ptr<DebugFile> opened) : file(std::move(opened)), lines(*file) {}

  std::unique_ptr<DebugFile> file;
  LineTable lines;
};

LineCode::LineCode(std::unique_ptr<Tables> tables) : tables_(std::move(tables)) {}
LineCode::~LineCode() = default;

Result<std::unique_ptr<LineCode>> LineCode::open(const std::string& path, const std::string& build_id) {
  auto file = DebugFile::open(path, build_id);
  if (!file.ok()) {
    return file.status();
  }
  return std::unique_ptr<LineCode>(new LineCode(std::make_unique<Tables>(std::move(*file))));
}

std::vector<AddressRange> LineCode::ranges(const std::string& file, std::uint32_t line, std::uint32_t column) const {
  const LineTable& table = tables_->lines;
  const std::vector<LineTable::Row>& rows = table.rows();
  // Rows are many and files are few: each path is looked at once.
  enum class Path : std::uint8_t { kUnseen, kOther, kNamesake, kWanted };
  std::vector<Path> paths;
  bool known = false;
  std::set<std::uint32_t> namesakes;  // with code of the line
  for (const LineTable::Row& row : rows) {
    if (row.file >= paths.size()) {
      paths.resize(row.file + 1, Path::kUnseen);
    }
    Path& path = paths[row.file];
    if (path == Path::kUnseen) {
      const std::string& name = table.file(row);
      path = name == file ? Path::kWanted : name_of(name) == name_of(file) ? Path::kNamesake : Path::kOther;
      known = known || path == Path::kWanted;
    }
    if (path == Path::kNamesake && !row.end && row.line == line) {
      namesakes.insert(row.file);
    }
  }
  if (!known && namesakes.size() != 1) {
    return {};
  }
  std::vector<AddressRange> found;
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    const LineTable::Row& row = rows[i];
    if (row.end || row.line != line || (column != 0 && row.column != column) ||
        (known ? paths[row.file] != Path::kWanted : row.file != *namesakes.begin())) {
      continue;
    }
    if (!found.empty() && found.back().end == row.address) {
      found.back().end = rows[i + 1].address;
    } else {
      found.push_back({row.address, rows[i + 1].address});
    }
  }
  return found;
}

AddressRange LineCode::row_around(std::uint64_t address) const {
  const LineTable::Row* row = tables_->lines.find(address);
  if (row == nullptr || row == &tables_->lines.rows().back()) {
    return {address, address + 1};
  }
  return {row->address, (row + 1)->address};
}

}  // namespace sooth
