// STD, the text format of the RAPID tool, with our additions (docs/std-format.md): one event per line, T0|r(V1)|345.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "trace/reader.h"
#include "trace/writer.h"

namespace sooth {

// "-" is standard input. Threads, sites and named objects are numbered in order of first appearance. info() tells what
// the text says in front and which columns its first few thousand events have; columns that turn up later are added to
// it by next(), and delivered if they were asked for.
Result<std::unique_ptr<TraceReader>> open_std_trace(const std::string& path, const ReadOptions& options);
// The same on text in memory, for tests; `name` stands in errors. The text must outlive the reader.
Result<std::unique_ptr<TraceReader>> read_std_text(std::string_view text, const std::string& name,
                                                   const ReadOptions& options = {});

// "-" is standard output; any other path must not exist, and appears when finish() succeeds. Reading back
// gives equal events, values, branches and reaches, but threads and sites are numbered by first appearance and sites
// of equal label become one. The stacks column is not written: text has stacks by its enter and exit events.
Result<std::unique_ptr<TraceWriter>> create_std_trace(const std::string& path, const TraceInfo& info);

// The same for the RAPID tool: only events that it knows (r, w, acq, rel, fork, join), threads and locations by number,
// no directives, no columns. What it does not know is left out: it sees less order than there is.
Result<std::unique_ptr<TraceWriter>> create_rapid_trace(const std::string& path);

}  // namespace sooth
