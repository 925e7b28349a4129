#include "trace/recording/chunk_source.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <thread>
#include <utility>

#include "trace/format/stage_file.h"
#include "trace/versions.h"

namespace sooth {
namespace {

using stream::ChunkHeader;
using stream::Control;
using stream::kChunkBytes;
using stream::kControlBytes;

std::uint64_t key(std::uint32_t stream, std::uint32_t sequence) { return std::uint64_t{stream} << 32 | sequence; }

std::uint64_t offset_of(std::uint32_t chunk) { return kControlBytes + std::uint64_t{chunk} * kChunkBytes; }

}  // namespace

ChunkSource::ChunkSource(int fd, std::string path, std::function<bool()> alive)
    : fd_(fd), path_(std::move(path)), alive_(std::move(alive)), live_(static_cast<bool>(alive_)) {}

ChunkSource::~ChunkSource() {
  if (control_ != nullptr && control_ != snapshot_.get()) {
    ::munmap(control_, kControlBytes);
  }
  ::close(fd_);
}

Result<std::unique_ptr<ChunkSource>> ChunkSource::open(int fd, std::string path, std::function<bool()> alive) {
  std::unique_ptr<ChunkSource> source(new ChunkSource(fd, std::move(path), std::move(alive)));
  SOOTH_RETURN_IF_ERROR(source->live_ ? source->map_control() : source->read_control());
  SOOTH_RETURN_IF_ERROR(source->check_control());
  return source;
}

Result<std::unique_ptr<ChunkSource>> ChunkSource::open_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // must not wait for whoever fills a pipe
  if (fd < 0) {
    return Status::bad_input(path + ": cannot read: " + std::strerror(errno));
  }
  return open(fd, path, {});
}

std::uint64_t ChunkSource::file_bytes() const {
  struct stat info {};
  return ::fstat(fd_, &info) == 0 && info.st_size > 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

std::uint64_t ChunkSource::control_checksum() const { return XXH3_64bits(control_, sizeof *control_); }

// Waits until the program has filled the page in; one that dies before has recorded nothing.
Status ChunkSource::map_control() {
  while (file_bytes() < kControlBytes) {
    if (!alive_()) {
      return Status::bad_input(path_ + ": the program ended before it recorded anything");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void* page = ::mmap(nullptr, kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (page == MAP_FAILED) {
    return Status::internal(path_ + ": cannot map: " + std::strerror(errno));
  }
  control_ = static_cast<Control*>(page);
  while (now(control_->magic) == 0) {
    if (!alive_() && now(control_->magic) == 0) {
      return Status::bad_input(path_ + ": the program ended before it recorded anything");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

Status ChunkSource::read_control() {
  snapshot_ = std::make_unique<Control>();
  control_ = snapshot_.get();
  return read_bytes(control_, sizeof *control_, 0, "its first page");
}

Status ChunkSource::check_control() const {
  if (control_->magic != stream::kControlMagic) {
    return damaged("it does not start like a file of streams");
  }
  SOOTH_RETURN_IF_ERROR(
      check_format_version(path_, "recording", control_->version, kOldestStreamVersion, kStreamVersion));
  constexpr std::uint32_t kKnown =
      stream::kExactOrder | stream::kWithValues | stream::kFilterBits | stream::kWithCalls | stream::kWithDeep;
  const std::uint32_t flags = control_->flags;
  const bool exact_but_filtered = (flags & stream::kExactOrder) != 0 && (flags & stream::kFilterBits) != 0;
  if (control_->chunk_bytes != kChunkBytes || (flags & ~kKnown) != 0 || exact_but_filtered ||
      control_->sites > stream::kMaxSites || control_->threads > stream::kMaxThreads) {
    return damaged("its first page contradicts itself");
  }
  return {};
}

Status ChunkSource::damaged(const std::string& what) const {
  return Status::bad_input(path_ + ": the recording is damaged: " + what);
}

Status ChunkSource::read_bytes(void* out, std::size_t size, std::uint64_t offset, const char* what) const {
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = ::pread(fd_, static_cast<char*>(out) + done, size - done, static_cast<off_t>(offset + done));
    if (got == 0) {
      return damaged("it ends inside " + std::string(what) + " at byte " + std::to_string(offset + done));
    }
    if (got < 0 && errno != EINTR) {
      return Status::bad_input(path_ + ": cannot read: " + std::strerror(errno));
    }
    done += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  return {};
}

bool ChunkSource::live() {
  if (live_ && !alive_()) {
    live_ = false;
  }
  return live_;
}

Result<ChunkHeader> ChunkSource::header(std::uint32_t chunk) const {
  ChunkHeader header{};
  Status status = read_bytes(&header, sizeof header, offset_of(chunk), "a chunk");
  return status.ok() ? Result(header) : Result<ChunkHeader>(std::move(status));
}

Result<std::vector<std::uint32_t>> ChunkSource::scan() {
  // A chunk counts only when all of it is there: the file grows before chunks are handed out.
  const std::uint64_t size = file_bytes();
  const std::uint64_t whole = size < kControlBytes ? 0 : (size - kControlBytes) / kChunkBytes;
  known_.resize(std::max<std::size_t>(known_.size(), std::min<std::uint64_t>(now(control_->chunks), whole)));
  std::vector<std::uint32_t> discovered;
  for (std::uint32_t chunk = 0; chunk < known_.size(); ++chunk) {
    if (known_[chunk]) {
      continue;
    }
    const Result<ChunkHeader> head = header(chunk);
    if (!head.ok()) {
      return head.status();
    }
    if (head->magic == 0) {
      continue;  // handed out, not begun: its owner has not come to it, or died
    }
    const std::string where = "chunk " + std::to_string(chunk) + " ";
    if (head->magic != stream::kChunkMagic || head->stream >= stream::kMaxThreads) {
      return damaged(where + "does not start like one");
    }
    if (!pending_.emplace(key(head->stream, head->sequence), chunk).second) {
      return damaged(where + "is number " + std::to_string(head->sequence) + " of stream " +
                     std::to_string(head->stream) + ", and so is another");
    }
    known_[chunk] = true;
    if (head->sequence == 0) {
      discovered.push_back(head->stream);
      streams_.insert(head->stream);
    }
  }
  std::sort(discovered.begin(), discovered.end());
  return discovered;
}

Status ChunkSource::check_streams() const {
  std::uint32_t expected = 0;
  for (const std::uint32_t stream : streams_) {
    if (stream != expected++) {
      return damaged("stream " + std::to_string(expected - 1) + " is missing");
    }
  }
  for (const auto& [number, chunk] : pending_) {
    if (!streams_.contains(static_cast<std::uint32_t>(number >> 32))) {
      return damaged("chunk " + std::to_string(chunk) + " is of stream " + std::to_string(number >> 32) +
                     ", whose first chunk is missing");
    }
  }
  return {};
}

Result<std::optional<std::uint32_t>> ChunkSource::take(std::uint32_t stream, std::uint32_t sequence) {
  const auto found = pending_.lower_bound(key(stream, sequence));
  if (found == pending_.end() || found->first >> 32 != stream) {
    return std::optional<std::uint32_t>();
  }
  if (found->first != key(stream, sequence)) {
    if (live_) {
      return std::optional<std::uint32_t>();
    }
    return damaged("number " + std::to_string(sequence) + " of the chunks of stream " + std::to_string(stream) +
                   " is missing");
  }
  const std::uint32_t chunk = found->second;
  pending_.erase(found);
  return std::optional(chunk);
}

Result<ChunkSource::Extent> ChunkSource::extent(std::uint32_t chunk) {
  if (!live_) {
    return Extent{kChunkBytes, true};
  }
  const Result<ChunkHeader> head = header(chunk);
  if (!head.ok()) {
    return head.status();
  }
  if (head->closed != 0) {
    return Extent{kChunkBytes, true};  // zeros end it
  }
  constexpr std::uint32_t kEmpty = sizeof(ChunkHeader);
  if (head->committed > kChunkBytes) {
    return damaged("chunk " + std::to_string(chunk) + " is longer than a chunk");
  }
  return Extent{std::max(head->committed, kEmpty), false};
}

Status ChunkSource::read(std::uint32_t chunk, std::uint8_t* buffer, std::uint32_t from, std::uint32_t to) {
  if (checksums_.empty()) {
    return read_bytes(buffer + from, to - from, offset_of(chunk) + from, "a chunk");
  }
  SOOTH_RETURN_IF_ERROR(read_bytes(buffer, kChunkBytes, offset_of(chunk), "a chunk"));
  if (chunk >= checksums_.size() || XXH3_64bits(buffer, kChunkBytes) != checksums_[chunk]) {
    return damaged("the checksum of chunk " + std::to_string(chunk) + " (byte " + std::to_string(offset_of(chunk)) +
                   ") is wrong");
  }
  verified_.resize(checksums_.size());
  verified_[chunk] = true;
  return {};
}

Status ChunkSource::verify_rest() {
  std::vector<std::uint8_t> buffer(kChunkBytes);
  verified_.resize(checksums_.size());
  for (std::uint32_t chunk = 0; chunk < checksums_.size(); ++chunk) {
    if (!verified_[chunk]) {
      SOOTH_RETURN_IF_ERROR(read(chunk, buffer.data(), 0, kChunkBytes));
    }
  }
  return {};
}

Status ChunkSource::recycle(std::uint32_t chunk) {
  if (!live_ || now(control_->chunk_limit) == 0) {
    return {};
  }
  static constexpr std::array<std::uint8_t, kChunkBytes> kZeros{};
  for (std::size_t done = 0; done < kChunkBytes;) {
    const ssize_t put = ::pwrite(fd_, kZeros.data(), kChunkBytes - done, static_cast<off_t>(offset_of(chunk) + done));
    if (put < 0 && errno != EINTR) {
      return Status::internal(path_ + ": cannot write: " + std::strerror(errno));
    }
    done += put > 0 ? static_cast<std::size_t>(put) : 0;
  }
  known_[chunk] = false;
  free_.push_back(chunk);
  give_back();
  return {};
}

void ChunkSource::give_back() {
  const std::uint32_t put = now(control_->ring_put);
  std::uint32_t count = 0;
  for (; !free_.empty() && put + count - now(control_->ring_taken) < stream::kRingSlots; ++count) {
    __atomic_store_n(&control_->ring[(put + count) % stream::kRingSlots], free_.back(), __ATOMIC_RELAXED);
    free_.pop_back();
    __atomic_store_n(&control_->ring_put, put + count + 1, __ATOMIC_SEQ_CST);
  }
  // Sequentially consistent on both sides: a thread that starves either sees the chunk or is seen here.
  if (count != 0 && __atomic_load_n(&control_->starving, __ATOMIC_SEQ_CST) != 0) {
    wake();
  }
}

void ChunkSource::wake() {
  // Not FUTEX_PRIVATE: the waiter is another process.
  ::syscall(SYS_futex, &control_->ring_put, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void ChunkSource::relieve() {
  if (!live_ || now(control_->starving) == 0) {
    return;
  }
  give_back();
  const bool ring_empty = now(control_->ring_put) == now(control_->ring_taken);
  if (ring_empty && now(control_->chunks) >= now(control_->chunk_limit)) {
    __atomic_fetch_add(&control_->chunk_limit, 1, __ATOMIC_SEQ_CST);
  }
  // Every time: a thread may have looked at the limit before it was raised and gone to sleep after.
  wake();
}

}  // namespace sooth
