// The one way to write a trace, whatever it is stored in.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "trace/batch.h"
#include "trace/reader.h"
#include "trace/tables.h"

namespace sooth {

class TraceWriter {
 public:
  virtual ~TraceWriter() = default;

  // The tables to add names to. Whatever an event refers to must be added before the event is appended.
  virtual Tables& tables() = 0;
  // Appends in trace order; Batch::first must be the number of events appended so far.
  virtual Status append(const Batch& batch) = 0;
  // Flushes and marks the trace as whole. Nothing may be appended afterwards.
  virtual Status finish() = 0;
};

enum class TraceFormat : std::uint8_t { kDirectory, kStd, kRapid };

// Creates a trace at `path`, which must not exist yet (for texts: "-" is standard output). `info.events`,
// `info.incomplete` are ignored; `info.columns` says which columns will be given.
Result<std::unique_ptr<TraceWriter>> create_trace(const std::string& path, TraceFormat format, const TraceInfo& info);

}  // namespace sooth
