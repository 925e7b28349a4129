#include "launch/live_run.h"
#include "launch/engine.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "launch/recording_set.h"
#include "trace/recording/recording_reader.h"
#include "trace/recording/stream_format.h"

namespace sooth {
namespace {

constexpr std::uint64_t kMinChunks = 16;
// Programs expect small numbers for the files that they open themselves.
constexpr int kFirstDescriptor = 700;

// A file in memory that the program inherits; -1 when there can be none.
int memory_file(const char* name) {
  const int fd = ::memfd_create(name, 0);
  const int high = fd < 0 ? -1 : ::fcntl(fd, F_DUPFD, kFirstDescriptor);
  if (high < 0) {
    return fd;  // a low limit on descriptors: it stays where it is
  }
  ::close(fd);
  return high;
}

}  // namespace

LiveRun::Files::~Files() {
  for (const int fd : {streams, sites, process}) {
    if (fd >= 0) {
      ::close(fd);
    }
  }
}

Status LiveRun::Files::create() {
  streams = memory_file("sooth-streams");
  sites = memory_file("sooth-sites");
  process = memory_file("sooth-process");
  // The control page is there from the start, so that both sides can map it at any time.
  if (streams < 0 || sites < 0 || process < 0 || ::ftruncate(streams, stream::kControlBytes) != 0) {
    return Status::internal(std::string("cannot make files in memory: ") + std::strerror(errno));
  }
  return {};
}

Result<std::unique_ptr<LiveRun>> LiveRun::start(const std::vector<std::string>& words, const std::string& library,
                                                const RecordingOptions& options, std::uint64_t buffer_bytes) {
  auto files = std::make_unique<Files>();
  SOOTH_RETURN_IF_ERROR(files->create());
  RecordingTarget target;
  target.streams = files->streams;
  target.sites = files->sites;
  target.process = files->process;
  const std::uint64_t chunks = buffer_bytes / stream::kChunkBytes + (buffer_bytes % stream::kChunkBytes != 0);
  target.chunk_limit = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(chunks, kMinChunks, UINT32_MAX));
  const auto environment = recording_environment(current_environment(), library, target, options);
  if (!environment.ok()) {
    return environment.status();
  }
  Result<ChildProcess> child = ChildProcess::start(started_words(words), *environment);
  if (!child.ok()) {
    return std::move(child).status();
  }
  return std::unique_ptr<LiveRun>(new LiveRun(std::move(files), std::move(*child)));
}

LiveRun::LiveRun(std::unique_ptr<Files> files, ChildProcess child)
    : files_(std::move(files)), child_(std::move(child)), waiter_([this] {
        end_ = child_.wait([this] { (void)stop_recording(files_->streams, stream::StopReason::kSignal); });
      }) {}

LiveRun::~LiveRun() { finish(); }

Result<std::unique_ptr<TraceReader>> LiveRun::open(const ReadOptions& options) {
  LiveRecording recording;
  recording.streams = files_->streams;
  recording.sites = files_->sites;
  recording.process = files_->process;
  recording.symbols = [this](const RecordedProcess& process, std::span<const stream::SiteRow> sites) {
    return symbolizer_.symbolize(process, sites);
  };
  recording.alive = [this] { return !child_.ended(); };
  return follow_recording(recording, options);
}

ProgramEnd LiveRun::finish() {
  if (waiter_.joinable()) {
    // Threads that wait for the reader must not wait for ever. It can only fail for lack of memory, and then they do.
    (void)stop_recording(files_->streams, stream::StopReason::kSignal);
    waiter_.join();
  }
  return end_;
}

}  // namespace sooth
