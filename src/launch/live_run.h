// A program that is recorded into memory while an analysis reads along.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "launch/child_process.h"
#include "launch/environment.h"
#include "launch/symbolize_recording.h"
#include "trace/reader.h"

namespace sooth {

// The program writes into three files that exist only in memory. Its threads wait while the reader is more than the
// size of the buffer behind. All functions are called from one thread; another one waits for the program.
class LiveRun {
 public:
  // `library`: path of the run time library. `buffer_bytes`: rounded up to whole chunks, at least a few.
  static Result<std::unique_ptr<LiveRun>> start(const std::vector<std::string>& words, const std::string& library,
                                                const RecordingOptions& options, std::uint64_t buffer_bytes);
  // As finish().
  ~LiveRun();
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  // The trace of the run, once. Waits until the program records; an error when it ends without. The reader must not
  // outlive the LiveRun.
  Result<std::unique_ptr<TraceReader>> open(const ReadOptions& options);
  // Nobody reads any more: what the program still does is not recorded. Waits for its end.
  ProgramEnd finish();
  // Whether the program is over. From then on nobody takes the signals that are sent to sooth: ChildProcess::start().
  bool ended() const { return child_.ended(); }
  // What the user should know of missing names, one sentence each.
  const std::vector<std::string>& notes() const { return symbolizer_.notes(); }

 private:
  struct Files {
    Files() = default;
    ~Files();
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;
    Status create();
    int streams = -1, sites = -1, process = -1;
  };

  LiveRun(std::unique_ptr<Files> files, ChildProcess child);

  std::unique_ptr<Files> files_;
  RecordingSymbolizer symbolizer_;
  ChildProcess child_;
  ProgramEnd end_;
  std::thread waiter_;  // calls child_.wait()
};

}  // namespace sooth
