// Where commands that make a trace put it.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "base/status.h"
#include "trace/writer.h"

namespace sooth {

struct OutputOptions {
  std::string path;    // "-" is standard output
  std::string format;  // "std", "rapid", "sooth", or empty: decided by the name
  bool force = false;  // replace what is there
};

// STD text for names that end in .std or .txt and for "-", else a directory.
TraceFormat format_for(const OutputOptions& options);
// Adds `format_flag` and --force. `options` must live as long as `command`.
void add_output_options(CLI::App& command, const std::string& format_flag, OutputOptions& options);

// A trace in the making. Until commit() nothing that was at its path is touched, and what was written is removed
// when commit() is never reached.
class OutputTrace {
 public:
  // `info.columns`, `info.exact` and `info.program` are those of the new trace.
  static Result<std::unique_ptr<OutputTrace>> create(const OutputOptions& options, const TraceInfo& info);
  ~OutputTrace();
  OutputTrace(const OutputTrace&) = delete;
  OutputTrace& operator=(const OutputTrace&) = delete;

  TraceWriter& writer() { return *writer_; }
  bool is_stdout() const { return path_ == "-"; }
  // Finishes the trace and puts it in its place.
  Status commit();

 private:
  OutputTrace(std::string path, std::string written) : path_(std::move(path)), written_(std::move(written)) {}

  const std::string path_;
  const std::string written_;  // where it is until commit(): at `path_`, or beside it when that is taken
  std::unique_ptr<TraceWriter> writer_;
  bool committed_ = false;
};

}  // namespace sooth
