#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "trace/format/directory.h"
#include "trace/reader.h"
#include "trace/recording/recording_reader.h"
#include "trace/text/std_text.h"
#include "trace/writer.h"

namespace sooth {

Result<std::unique_ptr<TraceReader>> open_trace(const std::string& path, const ReadOptions& options) {
  if (path == "-") {
    return open_std_trace(path, options);
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return Status::bad_input(path + ": " + std::strerror(errno));
  }
  if (!S_ISDIR(info.st_mode)) {
    return open_std_trace(path, options);
  }
  return is_recording(path) ? open_recording(path, options) : open_trace_directory(path, options);
}

Result<std::unique_ptr<TraceWriter>> create_trace(const std::string& path, TraceFormat format, const TraceInfo& info) {
  switch (format) {
    case TraceFormat::kDirectory: return create_trace_directory(path, info);
    case TraceFormat::kStd: return create_std_trace(path, info);
    case TraceFormat::kRapid: return create_rapid_trace(path);
  }
  return Status::internal("unknown trace format");
}

}  // namespace sooth
