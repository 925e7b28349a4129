// The directories that a recorded program and the processes that it starts leave behind.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "trace/recording/stream_format.h"

namespace sooth {

// What the control page of a recording says.
struct RecordingState {
  std::uint32_t pid = 0;
  std::uint32_t threads = 0;
  std::uint32_t chunks = 0;
  std::uint32_t sites = 0;
  bool has_calls = false;  // stream::kWithCalls
  bool ended = false;      // the program came to its end in an orderly way
  stream::StopReason stop = stream::StopReason::kNone;
  std::uint64_t left_out = 0;     // accesses to memory that one thread had to itself
  std::uint64_t handed_over = 0;  // granules of it that other threads touched later

  std::uint64_t stream_bytes() const {  // of `streams` that mean something
    return stream::kControlBytes + std::uint64_t{chunks} * stream::kChunkBytes;
  }
};
Result<RecordingState> read_recording_state(const std::string& directory);

// Nothing that the program does from now on counts; it goes on. Works on a descriptor of `streams`.
Status stop_recording(int streams, stream::StopReason reason);

// A base name BASE: the first process makes BASE, others BASE.PID or BASE.PID.N.
class RecordingSet {
 public:
  // Makes BASE, which is nobody else's then, and notes what is there already and does not belong to this run. Refuses a
  // BASE that exists or that cannot be made. BASE goes away with this object as long as nobody has recorded into it.
  static Result<RecordingSet> prepare(const std::string& base);
  // The same with sooth-PROG.trace in the current directory, or the first of sooth-PROG-2.trace, sooth-PROG-3.trace, ...
  // that is free. `program` may be a path; its last part counts.
  static Result<RecordingSet> prepare_default(const std::string& program);

  ~RecordingSet();
  RecordingSet(RecordingSet&& other) noexcept
      : base_(std::move(other.base_)),
        absolute_(std::exchange(other.absolute_, {})),
        before_(std::move(other.before_)) {}
  RecordingSet& operator=(RecordingSet&&) = delete;

  const std::string& base() const { return base_; }          // as the user named it
  const std::string& absolute() const { return absolute_; }  // for the program, which may change its directory

  // Those that were made since, BASE first, then by name. Paths start as base() does.
  std::vector<std::string> made() const;
  // stop_recording() for each of them.
  void stop() const;

 private:
  RecordingSet(std::string base, std::string absolute);
  static Result<RecordingSet> claim(const std::string& name);
  std::vector<std::string> existing() const;

  std::string base_;
  std::string absolute_;
  std::set<std::string> before_;
};

}  // namespace sooth
