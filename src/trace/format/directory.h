// Our trace format: a directory. FORMAT.md specifies every byte; reader and writer share it.
#pragma once

#include <memory>
#include <string>

#include "trace/reader.h"
#include "trace/writer.h"

namespace sooth {

Result<std::unique_ptr<TraceReader>> open_trace_directory(const std::string& path, const ReadOptions& options);
Result<std::unique_ptr<TraceWriter>> create_trace_directory(const std::string& path, const TraceInfo& info);

}  // namespace sooth
