// Names for what a recording knows by address only.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "symbol/module_table.h"
#include "symbol/symbolizer.h"
#include "trace/recording/process_file.h"
#include "trace/recording/stream_format.h"
#include "trace/recording/symbol_file.h"

namespace sooth {

// Looks into the files of the modules, which must be those that ran; where one is not, its addresses stay module +
// offset. Files stay open between calls. Not thread safe.
class RecordingSymbolizer {
 public:
  RecordingSymbolizer();
  ~RecordingSymbolizer();
  RecordingSymbolizer(const RecordingSymbolizer&) = delete;
  RecordingSymbolizer& operator=(const RecordingSymbolizer&) = delete;

  // The places of the program counters, in their order, and the variables with static storage of the instrumented
  // modules that no earlier call has met, with the types that none has told of. `process` may have grown since then.
  RecordingSymbols symbolize(const RecordedProcess& process, std::span<const stream::SiteRow> sites);

  // Instrumented modules whose names are missing, and why; one sentence each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void use_modules(const std::vector<RecordedModule>& modules);
  void meet(ModuleId id, RecordingSymbols& symbols);
  void add_thread_locals(ModuleId id, std::vector<ShortLived>& variables);

  std::vector<RecordedModule> recorded_;  // what table_ was made of
  std::unique_ptr<ModuleTable> table_;
  std::shared_ptr<TypeCatalog> types_ = std::make_shared<TypeCatalog>();
  std::unique_ptr<Symbolizer> symbolizer_;               // of table_
  std::set<std::pair<std::string, std::uint64_t>> met_;  // path and bias
  std::size_t types_told_ = 1;                           // of types_; [0] is none
  std::vector<std::string> notes_;
};

// Puts `symbols` into the directory of a recording whose program is over; `site_count` is that of its control page.
// Returns the notes.
Result<std::vector<std::string>> write_recording_symbols(const std::string& directory, std::uint32_t site_count);

}  // namespace sooth
