#include "trace/format/block_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace sooth {
namespace {

using format::BlockHeader;
using format::BlockKind;
using format::Codec;

// The fastest level: what varies between segments is mostly literals, which higher levels do not shrink.
constexpr int kCompressionLevel = 1;

std::uint64_t checksum(const std::uint8_t* header, const std::uint8_t* payload, std::size_t size) {
  const std::uint64_t of_header = XXH3_64bits(header, format::kChecksumOffset);
  return XXH3_64bits_withSeed(payload, size, of_header);
}

std::uint32_t header_check(const BlockHeader& header) {
  return static_cast<std::uint32_t>(XXH3_64bits(&header, format::kHeaderCheckOffset));
}

std::string system_error(const std::string& path, const char* what) {
  return path + ": " + what + ": " + std::strerror(errno);
}

}  // namespace

struct BlockWriter::Compressor {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ~Compressor() { ZSTD_freeCCtx(context); }
};

BlockWriter::BlockWriter(std::string path, int fd)
    : path_(std::move(path)), fd_(fd), compressor_(std::make_unique<Compressor>()) {}

BlockWriter::~BlockWriter() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Result<std::unique_ptr<BlockWriter>> BlockWriter::create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    return Status::internal(system_error(path, "cannot create"));
  }
  return std::unique_ptr<BlockWriter>(new BlockWriter(path, fd));
}

Status BlockWriter::write(BlockKind kind, std::uint64_t first, std::uint32_t count, const Bytes& payload) {
  if (payload.size() > format::kMaxRawBytes) {
    return Status::internal(path_ + ": a block of " + std::to_string(payload.size()) + " bytes is too large");
  }
  const std::size_t bound = ZSTD_compressBound(payload.size());
  out_.resize(sizeof(BlockHeader) + bound);
  std::uint8_t* body = out_.data() + sizeof(BlockHeader);
  std::size_t stored =
      ZSTD_compressCCtx(compressor_->context, body, bound, payload.data(), payload.size(), kCompressionLevel);
  Codec codec = Codec::kZstd;
  if (ZSTD_isError(stored) != 0 || stored >= payload.size()) {
    codec = Codec::kRaw;
    stored = payload.size();
    std::copy(payload.begin(), payload.end(), body);
  }
  BlockHeader header{format::kBlockMagic,
                     static_cast<std::uint8_t>(kind),
                     static_cast<std::uint8_t>(codec),
                     sequence_,
                     static_cast<std::uint32_t>(stored),
                     static_cast<std::uint32_t>(payload.size()),
                     first,
                     count,
                     0,
                     0};
  header.header_check = header_check(header);
  std::memcpy(out_.data(), &header, sizeof header);
  header.checksum = checksum(out_.data(), body, stored);
  std::memcpy(out_.data(), &header, sizeof header);

  const std::size_t total = sizeof header + stored;
  for (std::size_t done = 0; done < total;) {
    const ssize_t written = ::write(fd_, out_.data() + done, total - done);
    if (written < 0 && errno != EINTR) {
      return Status::internal(system_error(path_, "cannot write"));
    }
    done += written > 0 ? static_cast<std::size_t>(written) : 0;
  }
  bytes_ += total;
  ++sequence_;
  return {};
}

Status BlockWriter::close() {
  const int result = ::close(std::exchange(fd_, -1));
  return result == 0 ? Status() : Status::internal(system_error(path_, "cannot write"));
}

struct BlockReader::Decompressor {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  ~Decompressor() { ZSTD_freeDCtx(context); }
};

BlockReader::BlockReader(std::string path, int fd, std::uint64_t size, bool incomplete)
    : path_(std::move(path)),
      fd_(fd),
      size_(size),
      incomplete_(incomplete),
      decompressor_(std::make_unique<Decompressor>()) {}

BlockReader::~BlockReader() { ::close(fd_); }

Result<std::unique_ptr<BlockReader>> BlockReader::open(const std::string& path, bool incomplete) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // must not wait for whoever fills a pipe
  if (fd < 0) {
    return Status::bad_input(system_error(path, "cannot read"));
  }
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return Status::bad_input(path + ": cannot read: it is not a file");
  }
  return std::unique_ptr<BlockReader>(new BlockReader(path, fd, static_cast<std::uint64_t>(info.st_size), incomplete));
}

Result<std::size_t> BlockReader::read_at_offset(void* out, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(fd_, static_cast<char*>(out) + done, size - done, static_cast<off_t>(offset_ + done));
    if (got == 0) {
      break;
    }
    if (got < 0 && errno != EINTR) {
      return Status::bad_input(system_error(path_, "cannot read"));
    }
    done += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  return done;
}

Status BlockReader::corrupt(const std::string& what) const {
  return Status::bad_input(path_ + ": the trace is damaged: block at byte " + std::to_string(block_offset_) + ": " +
                           what);
}

Status BlockReader::check_header() const {
  if (header_.magic != format::kBlockMagic) {
    return corrupt("it does not start like a block");
  }
  if (header_.header_check != header_check(header_)) {
    return corrupt("its header is not what was written");
  }
  if (header_.sequence != sequence_) {
    return corrupt("it belongs to another place of the file");
  }
  const std::uint64_t most = std::uint64_t{header_.stored} / 4 * format::kMaxRawPer4Stored;
  if (header_.raw > format::kMaxRawBytes || header_.stored > header_.raw ||
      (header_.stored != header_.raw && header_.raw > most)) {
    return corrupt("its length is impossible");
  }
  return {};
}

Result<std::optional<BlockHeader>> BlockReader::next() {
  constexpr std::optional<BlockHeader> kEndOfFile;
  block_offset_ = offset_;
  Result<std::size_t> got = read_at_offset(&header_, sizeof header_);
  if (!got.ok()) {
    return std::move(got).status();
  }
  if (*got == 0) {
    return kEndOfFile;
  }
  if (*got < sizeof header_) {
    // Only a writer that died leaves half a block, and only at the end.
    return incomplete_ ? Result(kEndOfFile) : corrupt("the file ends inside the header");
  }
  SOOTH_RETURN_IF_ERROR(check_header());
  const std::uint64_t body_offset = offset_ + sizeof header_;
  if (header_.stored > size_ - std::min(size_, body_offset)) {
    return incomplete_ ? Result(kEndOfFile) : corrupt("the file ends inside it");
  }
  stored_.resize(header_.stored);
  offset_ = body_offset;
  got = read_at_offset(stored_.data(), stored_.size());
  if (!got.ok()) {
    return std::move(got).status();
  }
  if (*got < stored_.size()) {
    return corrupt("the file shrank while it was read");
  }
  const auto* header_bytes = reinterpret_cast<const std::uint8_t*>(&header_);
  if (checksum(header_bytes, stored_.data(), stored_.size()) != header_.checksum) {
    return corrupt("its checksum is wrong");
  }
  offset_ += header_.stored;
  ++sequence_;
  return std::optional(header_);
}

Status BlockReader::payload(Bytes& out, std::size_t slack) {
  out.resize(header_.raw + slack);
  std::fill_n(out.begin() + header_.raw, slack, std::uint8_t{0});
  switch (static_cast<Codec>(header_.codec)) {
    case Codec::kRaw:
      if (header_.stored != header_.raw) {
        return corrupt("its length is impossible");
      }
      std::copy(stored_.begin(), stored_.end(), out.begin());
      return {};
    case Codec::kZstd: {
      const std::size_t size =
          ZSTD_decompressDCtx(decompressor_->context, out.data(), header_.raw, stored_.data(), stored_.size());
      return size == header_.raw ? Status() : corrupt("it does not decompress");
    }
  }
  return corrupt("its compression is unknown; it was written by a newer version");
}

}  // namespace sooth
