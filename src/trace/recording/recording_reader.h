// Reads what the run time library leaves behind: merges the streams of a recording into one trace. STREAMS.md says
// what the bytes mean and which prefix counts when the program was killed.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "trace/reader.h"
#include "trace/recording/process_file.h"
#include "trace/recording/stream_format.h"
#include "trace/recording/symbol_file.h"

namespace sooth {

// Whether the directory holds a recording rather than a trace of our own format.
bool is_recording(const std::string& directory);

// A recording whose program is over, whatever ended it. With `version` every byte is checked; without, TraceInfo says
// that it is incomplete.
Result<std::unique_ptr<TraceReader>> open_recording(const std::string& directory, const ReadOptions& options);

// A recording that is being written.
struct LiveRecording {
  // Descriptors of the three files, open for reading and writing. They stay the caller's and may be closed at once.
  int streams = -1;
  int sites = -1;
  int process = -1;
  // As RecordingNames::Source::symbols.
  std::function<RecordingSymbols(const RecordedProcess&, std::span<const stream::SiteRow>)> symbols;
  std::function<bool()> alive;  // whether the program still runs; once no, always no. Called now and then by next()
};
// next() waits for the program, and returns what there is when it would have to. Chunks that were read go back to the
// program. Waits here until the program has begun to record; an error when it ends without.
Result<std::unique_ptr<TraceReader>> follow_recording(const LiveRecording& recording, const ReadOptions& options);

}  // namespace sooth
