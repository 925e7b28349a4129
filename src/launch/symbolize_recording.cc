#include "launch/symbolize_recording.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "launch/emulator.h"
#include "launch/engine.h"
#include "launch/preflight.h"
#include "symbol/elf_file.h"
#include "trace/format/small_file.h"

namespace sooth {
namespace {

SiteSymbols symbols_of(const Module& module, std::uint64_t address, const std::vector<Frame>& frames) {
  SiteSymbols symbols{module.path, address, {}, kNoType, {}};
  for (const Frame& frame : frames) {
    symbols.frames.push_back({frame.file, frame.function, frame.line, frame.column});
  }
  return symbols;
}

void add_note(Symbolizer& symbolizer, const Module& module, ModuleId id, std::vector<std::string>& notes) {
  switch (symbolizer.level(id)) {
    case SymbolLevel::kLines: return;
    case SymbolLevel::kSymbols:
      notes.push_back(module.path + " has no debug information: findings in it are without lines. Compile it with -g");
      return;
    case SymbolLevel::kNothing: {
      const Status& status = symbolizer.status(id);
      notes.push_back(status.ok()
                          ? module.path + " has no symbols: findings in it are without names. Compile it with -g"
                          : status.message());
      return;
    }
  }
}

// Where the file is that the program knows by `path`: an emulator looks below its root first.
std::string path_of_module(const std::string& path) {
  std::error_code error;
  if (emulator().has_value() && !emulator()->root.empty() && std::filesystem::exists(emulator()->root + path, error)) {
    return emulator()->root + path;
  }
  return path;
}

}  // namespace

RecordingSymbolizer::RecordingSymbolizer() = default;
RecordingSymbolizer::~RecordingSymbolizer() = default;

void RecordingSymbolizer::use_modules(const std::vector<RecordedModule>& modules) {
  if (table_ != nullptr && modules == recorded_) {
    return;
  }
  recorded_ = modules;
  table_ = std::make_unique<ModuleTable>();
  for (const RecordedModule& each : modules) {
    Module module;
    module.path = path_of_module(each.path);
    module.build_id = each.build_id;
    module.bias = each.bias;
    module.ranges = {{each.begin, each.end}};
    module.first = Generation{each.loaded};
    module.last = each.unloaded == raw(kLastGeneration) ? kLastGeneration : Generation{each.unloaded - 1};
    // One that is refused (where another is) stays without names, as code that comes from no file does.
    if (const Result<ModuleId> id = table_->add(std::move(module)); !id.ok()) {
      notes_.push_back(id.status().message());
    }
  }
  symbolizer_ = std::make_unique<Symbolizer>(*table_, SeparateDebug::kOfInstrumented, types_);
}

void RecordingSymbolizer::meet(ModuleId id, RecordingSymbols& symbols) {
  const Module& module = table_->module(id);
  if (!met_.emplace(module.path, module.bias).second) {
    return;
  }
  // Libraries of the system have places too, from which they call libc; their variables are not recorded. Under Valgrind
  // those of all others are.
  const Result<BinaryInfo> file = inspect_binary(module.path);
  const bool is_plain = file.ok() && file->tsan == Tsan::kNone;
  if (is_plain && (engine() != Engine::kValgrind || !is_unseen_library(module.path, file->tsan)) &&
      file->linking != Linking::kDynamic) {
    return;
  }
  for (const PlacedGlobal& global : symbolizer_->globals(id)) {
    const std::uint64_t begin = global.address + module.bias;
    symbols.globals.push_back({begin, begin + std::max<std::uint64_t>(global.variable.size, 1), global.variable.name,
                               global.variable.file, global.variable.line, global.variable.type});
  }
  if (file.ok() && file->linking == Linking::kDynamic) {
    add_thread_locals(id, symbols.thread_locals);
  }
  if (!is_plain) {
    add_note(*symbolizer_, module, id, notes_);
  }
}

// Those of the program itself lie next to the thread pointer; where libraries have theirs differs from run to run.
void RecordingSymbolizer::add_thread_locals(ModuleId id, std::vector<ShortLived>& variables) {
  const Result<std::int64_t> block = thread_local_offset(table_->module(id).path);
  if (!block.ok()) {
    return;
  }
  for (ShortLived& variable : symbolizer_->thread_locals(id)) {
    variable.offset += *block;
    variables.push_back(std::move(variable));
  }
}

RecordingSymbols RecordingSymbolizer::symbolize(const RecordedProcess& process,
                                                std::span<const stream::SiteRow> sites) {
  use_modules(process.modules);
  RecordingSymbols symbols;
  symbols.sites.resize(sites.size());
  std::map<ModuleId, std::vector<std::size_t>> rows_of;
  for (std::size_t row = 0; row < sites.size(); ++row) {
    symbols.sites[row].offset = sites[row].pc;
    if (const auto place = table_->find(sites[row].pc, Generation{sites[row].generation})) {
      symbols.sites[row].offset = place->address;
      rows_of[place->module].push_back(row);
    }
  }
  for (const auto& [id, rows] : rows_of) {
    std::vector<ModuleAddress> addresses;
    for (const std::size_t row : rows) {
      addresses.push_back({id, symbols.sites[row].offset});
    }
    const std::vector<std::vector<Frame>> frames = symbolizer_->symbolize(addresses);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      SiteSymbols& site = symbols.sites[rows[i]];
      site = symbols_of(table_->module(id), addresses[i].address, frames[i]);
      if (sites[rows[i]].use == stream::kFrameRow) {
        site.locals = symbolizer_->locals(addresses[i]);
      } else {
        site.allocates = symbolizer_->allocated_type(addresses[i]);
      }
    }
    meet(id, symbols);
  }
  const std::vector<TypeLayout>& types = types_->types();
  symbols.types.assign(types.begin() + static_cast<std::ptrdiff_t>(types_told_), types.end());
  types_told_ = types.size();
  return symbols;
}

Result<std::vector<std::string>> write_recording_symbols(const std::string& directory, std::uint32_t site_count) {
  const std::string process_path = directory + "/" + stream::kProcessFile;
  const Result<std::string> text = read_required_file(process_path);
  if (!text.ok()) {
    return text.status();
  }
  const Result<RecordedProcess> process = parse_process(*text, process_path);
  if (!process.ok()) {
    return process.status();
  }
  const Result<std::string> bytes = read_required_file(directory + "/" + stream::kSitesFile);
  if (!bytes.ok()) {
    return bytes.status();
  }
  std::vector<stream::SiteRow> sites(std::min<std::size_t>(bytes->size() / sizeof(stream::SiteRow), site_count));
  std::memcpy(sites.data(), bytes->data(), sites.size() * sizeof(stream::SiteRow));
  const std::string_view used = std::string_view(*bytes).substr(0, sites.size() * sizeof(stream::SiteRow));
  RecordingSymbolizer symbolizer;
  SOOTH_RETURN_IF_ERROR(write_symbol_file(directory + "/" + stream::kSymbolsFile, symbolizer.symbolize(*process, sites),
                                          recording_mark(used, *text)));
  return symbolizer.notes();
}

}  // namespace sooth
