#include "trace/recording/recording_checks.h"

#include <fcntl.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "trace/format/byte_io.h"
#include "trace/format/small_file.h"
#include "trace/format/stage_file.h"
#include "trace/recording/process_file.h"

namespace sooth {
namespace {

using stream::kChunkBytes;
using stream::kControlBytes;

constexpr std::size_t kLeading = 3;  // checksums in front of those of the chunks

std::uint64_t hash_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

// The rows that count: a program makes the file larger than it needs.
std::string_view used_sites(std::string_view bytes, const ChunkSource& source) {
  return bytes.substr(0, std::size_t{source.sites()} * sizeof(stream::SiteRow));
}

// The checksums of the chunks, in order.
Result<std::vector<std::uint64_t>> chunk_checksums(ChunkSource& source) {
  if (Result<std::vector<std::uint32_t>> scanned = source.scan(); !scanned.ok()) {
    return std::move(scanned).status();
  }
  std::vector<std::uint64_t> sums;
  std::vector<std::uint8_t> buffer(kChunkBytes);
  for (std::uint32_t chunk = 0; chunk < source.chunk_count(); ++chunk) {
    SOOTH_RETURN_IF_ERROR(source.read(chunk, buffer.data(), 0, kChunkBytes));
    sums.push_back(XXH3_64bits(buffer.data(), buffer.size()));
  }
  return sums;
}

}  // namespace

Status finish_recording(const std::string& directory) {
  auto source = ChunkSource::open_file(directory + "/" + stream::kStreamsFile);
  if (!source.ok()) {
    return std::move(source).status();
  }
  const Result<std::string> sites = read_required_file(directory + "/" + stream::kSitesFile);
  const Result<std::string> process = read_required_file(directory + "/" + stream::kProcessFile);
  if (!sites.ok() || !process.ok()) {
    return sites.ok() ? process.status() : sites.status();
  }
  const Result<RecordedProcess> parsed = parse_process(*process, directory + "/" + stream::kProcessFile);
  if (!parsed.ok()) {
    return parsed.status();
  }
  const Result<std::vector<std::uint64_t>> chunks = chunk_checksums(**source);
  if (!chunks.ok()) {
    return chunks.status();
  }
  Bytes checks;
  ByteWriter out(checks);
  out.put((*source)->control_checksum());
  out.put(hash_of(used_sites(*sites, **source)));
  out.put(hash_of(*process));
  out.put_array(chunks->data(), chunks->size());
  const std::string_view text(reinterpret_cast<const char*>(checks.data()), checks.size());
  SOOTH_RETURN_IF_ERROR(replace_small_file(directory + "/" + kChecksFile, text));

  Stage stage;
  stage.kind = StageKind::kRecording;
  stage.info.exact = ((*source)->flags() & stream::kExactOrder) != 0;
  stage.info.columns = recording_columns((*source)->flags());
  stage.info.program = parsed->command;
  stage.info.filtered = (*source)->filter_name();
  stage.chunks = chunks->size();
  stage.bytes = kControlBytes + chunks->size() * kChunkBytes;
  stage.checks = hash_of(text);
  return write_version(directory, stage);
}

ColumnSet recording_columns(std::uint32_t flags) {
  return static_cast<ColumnSet>(kStacks | ((flags & stream::kWithValues) != 0 ? kValues : 0) |
                                ((flags & stream::kWithCalls) != 0 ? kReaches : 0) |
                                ((flags & stream::kWithDeep) != 0 ? kDeep : 0));
}

Result<RecordingChecks> read_recording_checks(const std::string& directory) {
  Result<std::optional<Stage>> stage = read_recording_stage(directory);
  if (!stage.ok()) {
    return std::move(stage).status();
  }
  RecordingChecks checks;
  if (!stage->has_value()) {
    return checks;
  }
  const std::string path = directory + "/" + kChecksFile;
  const Result<std::string> text = read_required_file(path);
  if (!text.ok()) {
    return text.status();
  }
  if (hash_of(*text) != (*stage)->checks || text->size() != ((*stage)->chunks + kLeading) * sizeof(std::uint64_t)) {
    return Status::bad_input(path + ": the recording is damaged: these are not the checksums that were written");
  }
  ByteReader in(reinterpret_cast<const std::uint8_t*>(text->data()), text->size());
  checks.whole = true;
  checks.bytes = (*stage)->bytes;
  checks.control = in.get<std::uint64_t>();
  checks.sites = in.get<std::uint64_t>();
  checks.process = in.get<std::uint64_t>();
  checks.chunks.resize((*stage)->chunks);
  for (std::uint64_t& sum : checks.chunks) {
    sum = in.get<std::uint64_t>();
  }
  return checks;
}

Status RecordingChecks::verify(const std::string& directory, ChunkSource& source, std::string_view site_bytes,
                               std::string_view process_bytes) const {
  if (!whole) {
    return {};
  }
  if (source.control_checksum() != control) {
    return source.damaged("the checksum of its first page is wrong");
  }
  if (source.file_bytes() < bytes) {
    return source.damaged("it has " + std::to_string(source.file_bytes()) + " bytes where " + std::to_string(bytes) +
                          " were written");
  }
  const auto wrong = [&](const char* file) {
    return Status::bad_input(directory + "/" + file + ": the recording is damaged: its checksum is wrong");
  };
  if (hash_of(used_sites(site_bytes, source)) != sites) {
    return wrong(stream::kSitesFile);
  }
  if (hash_of(process_bytes) != process) {
    return wrong(stream::kProcessFile);
  }
  source.expect(chunks);
  return {};
}

}  // namespace sooth
