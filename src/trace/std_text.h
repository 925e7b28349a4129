// STD, the text format of the RAPID tool, with our additions (docs/std-format.md): one event per line, T0|r(V1)|345.
#pragma once

#include <memory>
#include <string>

#include "trace/reader.h"
#include "trace/writer.h"

namespace sooth {

Result<std::unique_ptr<TraceReader>> open_std_trace(const std::string& path, const ReadOptions& options);
// The same on text in memory, for tests; `name` stands in errors. The text must outlive the reader.
Result<std::unique_ptr<TraceReader>> read_std_text(std::string_view text, const std::string& name,
                                                   const ReadOptions& options = {});
Result<std::unique_ptr<TraceWriter>> create_std_trace(const std::string& path, const TraceInfo& info);

}  // namespace sooth
