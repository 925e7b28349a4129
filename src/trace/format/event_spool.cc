#include "trace/format/event_spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace sooth {
namespace {

Status failure(const std::string& what) { return Status::internal(what + ": " + std::strerror(errno)); }

bool write_all(int fd, const Bytes& bytes, std::uint64_t offset) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno != EINTR) {
      return false;
    }
    done += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  return true;
}

bool read_all(int fd, Bytes& bytes, std::size_t size, std::uint64_t offset, std::size_t slack) {
  bytes.resize(size + slack);
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = ::pread(fd, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return false;
    }
    done += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  return true;
}

bool give_back(int fd, std::uint64_t offset, std::uint64_t size) {
  return ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                     static_cast<off_t>(size)) == 0;
}

}  // namespace

EventSpool::EventSpool(std::string folder, std::uint32_t segment_events)
    : folder_(std::move(folder)), segment_events_(segment_events) {}

EventSpool::~EventSpool() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Status EventSpool::open() {
  fd_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ < 0) {
    return failure("cannot make a temporary file in " + folder_);
  }
  return give_back(fd_, 0, 4096) ? Status() : failure("the disk of " + folder_ + " cannot give back parts of files");
}

Status EventSpool::add(const Batch& batch) {
  Status written;
  for (const Event& event : batch.events) {
    threads_ = std::max<std::uint64_t>(threads_, raw(event.thread) + std::uint64_t{1});
  }
  for (std::size_t next = 0;;) {
    next = encoder_.add_from(batch, next, segment_events_);
    if (next == batch.events.size()) {
      break;
    }
    const Status segment = write_segment();
    written = written.ok() ? segment : written;
  }
  return written;
}

Status EventSpool::write(const Bytes& events, const Bytes& stacks) {
  if (fd_ < 0) {
    SOOTH_RETURN_IF_ERROR(open());
  }
  const bool fits = write_all(fd_, events, end_) && write_all(fd_, stacks, end_ + events.size());
  return fits ? Status() : failure("cannot write to a temporary file in " + folder_);
}

Status EventSpool::write_segment() {
  const Bytes& events = encoder_.events();
  const Bytes& stacks = encoder_.stacks();
  const Status written = write(events, stacks);
  Segment segment{end_, static_cast<std::uint32_t>(events.size()), static_cast<std::uint32_t>(stacks.size()),
                  encoder_.event_count()};
  if (written.ok()) {
    end_ += events.size() + stacks.size();
    bytes_ += events.size() + stacks.size();
  } else {
    segment.events = events;
    segment.events.resize(events.size() + SegmentDecoder::kSlack);
    segment.stacks = stacks;
  }
  segments_.push_back(std::move(segment));
  encoder_.reset();
  return written;
}

Status EventSpool::read_segment() {
  Segment& segment = segments_.front();
  if (!segment.events.empty()) {
    events_ = std::move(segment.events);
    stacks_ = std::move(segment.stacks);
    segment.events_bytes = segment.stacks_bytes = 0;  // of the file
  } else if (!read_all(fd_, events_, segment.events_bytes, segment.offset, SegmentDecoder::kSlack) ||
             !read_all(fd_, stacks_, segment.stacks_bytes, segment.offset + segment.events_bytes, 0)) {
    return failure("cannot read a temporary file in " + folder_);
  }
  SegmentDecoder::Payloads payloads;
  payloads.events = &events_;
  payloads.stacks = &stacks_;
  constexpr std::uint64_t kAny = std::uint64_t{1} << 32;
  SOOTH_RETURN_IF_ERROR(decoder_.start(first_, segment.count, payloads, {threads_, kAny, kAny}));
  decoding_ = true;
  return {};
}

Result<Batch> EventSpool::next() {
  if (decoding_ && decoder_.done()) {
    const Segment& over = segments_.front();
    if (const std::uint64_t size = over.events_bytes + over.stacks_bytes; size != 0) {
      (void)give_back(fd_, over.offset, size);  // it could before
      bytes_ -= size;
    }
    segments_.pop_front();
    decoding_ = false;
  }
  if (!decoding_) {
    if (segments_.empty() && !encoder_.empty()) {
      (void)write_segment();
    }
    if (segments_.empty()) {
      return Batch{};
    }
    SOOTH_RETURN_IF_ERROR(read_segment());
  }
  const Batch batch = decoder_.next();
  first_ = advance(batch.first, batch.events.size());
  return batch;
}

}  // namespace sooth
