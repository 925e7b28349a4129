// The file `streams` of a recording: its first page, and where the chunks of each stream are. STREAMS.md, "streams".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "trace/recording/stream_format.h"

namespace sooth {

// Reads by copying, never through a mapping: a file that somebody cuts meanwhile is an error and not a fault, and bytes
// do not change between a check and their use. The one mapping is the first page of a recording that is being written,
// because reader and program talk through it. Not thread safe.
class ChunkSource {
 public:
  // `alive`: whether the program may still write; must say no for good once it does. Empty: it is over.
  // `fd` is taken over. Errors name `path`.
  static Result<std::unique_ptr<ChunkSource>> open(int fd, std::string path, std::function<bool()> alive);
  // The file of a program that is over.
  static Result<std::unique_ptr<ChunkSource>> open_file(const std::string& path);
  ~ChunkSource();
  ChunkSource(const ChunkSource&) = delete;
  ChunkSource& operator=(const ChunkSource&) = delete;

  // The XXH3 of each chunk. Whatever is read from now on is compared with it.
  void expect(std::vector<std::uint64_t> checksums) { checksums_ = std::move(checksums); }
  // Compares chunks that nobody has read, too.
  Status verify_rest();

  const std::string& path() const { return path_; }
  // Asks whether the program still lives. When it no longer does, everything that is there can be read.
  bool live();
  std::uint64_t file_bytes() const;
  std::uint64_t control_checksum() const;  // the XXH3 of the first page, as far as it is used
  // What the first page says, now.
  std::uint32_t flags() const { return now(control_->flags); }
  const char* filter_name() const {
    return stream::kFilterNames[(flags() & stream::kFilterBits) >> stream::kFilterShift];
  }
  std::uint64_t next_ticket() const { return now(control_->next_ticket); }
  std::uint64_t stop_ticket() const { return now(control_->stop_ticket); }
  stream::StopReason stop_reason() const { return stream::StopReason(now(control_->stop_reason)); }
  std::uint32_t sites() const { return now(control_->sites); }
  std::uint32_t chunk_count() const { return static_cast<std::uint32_t>(known_.size()); }

  // Looks for chunks that were begun since the last time; returns the streams that are new, in order.
  Result<std::vector<std::uint32_t>> scan();
  // When the program is over: that streams are numbered from 0 and have their first chunks.
  Status check_streams() const;
  // The chunk with that number of the stream, once; nullopt when there is none (yet).
  Result<std::optional<std::uint32_t>> take(std::uint32_t stream, std::uint32_t sequence);
  // How many bytes of the chunk may be read now, and whether the stream goes on in another one.
  struct Extent {
    std::uint32_t limit = 0;
    bool closed = false;
  };
  Result<Extent> extent(std::uint32_t chunk);
  // Bytes [from, to) of the chunk to buffer + from. `buffer` has room for a whole chunk.
  Status read(std::uint32_t chunk, std::uint8_t* buffer, std::uint32_t from, std::uint32_t to);

  // A chunk that is read to its end goes back to a program that has a limit.
  Status recycle(std::uint32_t chunk);
  // Nothing can be read until the program writes more: makes sure that it can. A thread that holds the next ticket may
  // be waiting for a chunk while all of them are full of what comes later.
  void relieve();

  Status damaged(const std::string& what) const;

 private:
  ChunkSource(int fd, std::string path, std::function<bool()> alive);

  template <typename T>
  static T now(const T& field) {
    return __atomic_load_n(&field, __ATOMIC_ACQUIRE);
  }
  Status map_control();
  Status read_control();
  Status check_control() const;
  Status read_bytes(void* out, std::size_t size, std::uint64_t offset, const char* what) const;
  Result<stream::ChunkHeader> header(std::uint32_t chunk) const;
  void give_back();
  void wake();

  const int fd_;
  const std::string path_;
  std::function<bool()> alive_;
  bool live_;
  stream::Control* control_ = nullptr;  // mapped, or snapshot_
  std::unique_ptr<stream::Control> snapshot_;
  std::vector<bool> known_;                         // by chunk: somebody has it; else it may be begun any time
  std::set<std::uint32_t> streams_;                 // whose first chunk was found
  std::map<std::uint64_t, std::uint32_t> pending_;  // stream << 32 | sequence: chunks that nobody took yet
  std::vector<std::uint64_t> checksums_;            // by chunk; empty: not checked
  std::vector<bool> verified_;
  std::vector<std::uint32_t> free_;  // zeroed, waiting for room in the ring
};

}  // namespace sooth
