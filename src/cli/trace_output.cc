#include "cli/trace_output.h"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <system_error>

#include "cli/usage.h"

namespace sooth {
namespace {

namespace fs = std::filesystem;

bool names_text(const std::string& path) { return path == "-" || path.ends_with(".std") || path.ends_with(".txt"); }

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  return path;
}

// May --force remove it? Nothing but files and what is recognisably a trace.
Status check_replaceable(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  const bool is_trace = fs::is_directory(status) && (fs::exists(fs::path(path) / "version", error) ||
                                                     fs::exists(fs::path(path) / "incomplete", error));
  if (fs::is_regular_file(status) || is_trace) {
    return {};
  }
  return Status::usage(path + " is neither a file nor a trace: --force does not replace it");
}

}  // namespace

TraceFormat format_for(const OutputOptions& options) {
  if (options.format == "rapid") {
    return TraceFormat::kRapid;
  }
  const bool text = options.format.empty() ? names_text(options.path) : options.format == "std";
  return text ? TraceFormat::kStd : TraceFormat::kDirectory;
}

void add_output_options(CLI::App& command, const std::string& format_flag, OutputOptions& options) {
  command
      .add_option(format_flag, options.format,
                  "Write STD text, as much of it as the RAPID tool reads, or a trace directory; by default text when "
                  "the name ends in .std or .txt")
      ->check(one_of({"std", "rapid", "sooth"}));
  command.add_flag("--force", options.force, "Replace the trace that is already there");
}

Result<std::unique_ptr<OutputTrace>> OutputTrace::create(const OutputOptions& options, const TraceInfo& info) {
  const std::string path = without_trailing_slashes(options.path);
  const TraceFormat format = format_for(options);
  std::string written = path;
  if (path.empty()) {
    return Status::usage("the name of the new trace is empty");
  }
  if (path == "-") {
    if (format == TraceFormat::kDirectory) {
      return Status::usage("a trace directory cannot be written to standard output: give -o a name");
    }
    std::signal(SIGPIPE, SIG_DFL);  // `| head` ends us, without a word, also where our parent ignores the signal
  } else if (std::error_code error; fs::exists(fs::symlink_status(path, error))) {
    if (!options.force) {
      return Status::usage(path + " exists already: give --force to replace it, or another name");
    }
    SOOTH_RETURN_IF_ERROR(check_replaceable(path));
    written += ".new-" + std::to_string(::getpid());
  }
  std::unique_ptr<OutputTrace> output(new OutputTrace(path, written));
  Result<std::unique_ptr<TraceWriter>> writer = create_trace(written, format, info);
  if (!writer.ok()) {
    output->committed_ = true;  // there is nothing to remove
    return std::move(writer).status();
  }
  output->writer_ = std::move(writer).value();
  return output;
}

OutputTrace::~OutputTrace() {
  if (!committed_ && !is_stdout()) {
    writer_.reset();
    std::error_code ignored;
    fs::remove_all(written_, ignored);
  }
}

Status OutputTrace::commit() {
  SOOTH_RETURN_IF_ERROR(writer_->finish());
  writer_.reset();
  if (written_ != path_) {
    std::error_code error;
    fs::remove_all(path_, error);
    if (!error) {
      fs::rename(written_, path_, error);
    }
    if (error) {
      return Status::internal(path_ + ": cannot be replaced: " + error.message());
    }
  }
  committed_ = true;
  return {};
}

}  // namespace sooth
