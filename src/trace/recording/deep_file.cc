#include "trace/recording/deep_file.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "trace/format/small_file.h"
#include "trace/recording/stream_format.h"

namespace sooth {
namespace {

Status damaged(const std::string& path, const std::string& what) {
  return Status::bad_input(path + ": the recording is damaged: " + what);
}

template <typename T>
T load(std::span<const char> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// The module at `at`, which is moved behind it; nothing when it is not whole.
std::optional<KeptModule> take_module(std::span<const char> body, std::size_t number, std::size_t& at) {
  if (body.size() - at < sizeof(stream::DeepModule)) {
    return std::nullopt;
  }
  const auto header = load<stream::DeepModule>(body, at);
  const std::size_t begin = at + sizeof header;
  const std::size_t room = body.size() - begin;
  if (header.magic != stream::kDeepModuleMagic || header.module != number || header.addresses > room / 8 ||
      header.bitcode_bytes > room - 8 * header.addresses) {
    return std::nullopt;
  }
  KeptModule module;
  module.addresses.resize(header.addresses);
  const std::size_t address_bytes = 8 * module.addresses.size();
  if (address_bytes != 0) {
    std::memcpy(module.addresses.data(), body.data() + begin, address_bytes);
  }
  module.bitcode = {body.data() + begin + address_bytes, header.bitcode_bytes};
  at = begin + address_bytes + header.bitcode_bytes;
  return module;
}

}  // namespace

std::string seal_deep_file(std::string bytes) {
  bytes.resize(std::max(bytes.size(), sizeof(stream::DeepSeal)));
  const std::span<const char> body = std::span<const char>(bytes).subspan(sizeof(stream::DeepSeal));
  std::size_t whole = 0;
  for (std::size_t number = 0; take_module(body, number, whole).has_value();) {
    ++number;
  }
  const stream::DeepSeal seal{stream::kDeepSealMagic, whole, XXH3_64bits(body.data(), whole)};
  std::memcpy(bytes.data(), &seal, sizeof seal);
  bytes.resize(sizeof seal + whole);
  return bytes;
}

Result<DeepFile> DeepFile::read(const std::string& recording) {
  const std::string path = recording + "/" + stream::kDeepFile;
  Result<std::optional<std::string>> bytes = read_small_file(path);
  if (!bytes.ok()) {
    return std::move(bytes).status();
  }
  if (!bytes->has_value()) {
    return Status::bad_input(recording +
                             ": has no code of the program: build it with `sooth c++ --deep`, and record it with "
                             "`sooth record --schedule serial`");
  }
  return parse(std::move(**bytes), path);
}

Result<DeepFile> DeepFile::parse(std::string bytes, std::string path) {
  DeepFile file;
  file.path_ = std::move(path);
  file.bytes_.assign(bytes.begin(), bytes.end());
  const std::span<const char> all(file.bytes_);
  if (all.size() < sizeof(stream::DeepSeal) || load<stream::DeepSeal>(all, 0).magic != stream::kDeepSealMagic) {
    return Status::bad_input(file.path_ + ": was never sealed: `sooth record` did not see the end of the program");
  }
  const auto seal = load<stream::DeepSeal>(all, 0);
  const std::span<const char> body = all.subspan(sizeof seal);
  if (seal.bytes != body.size() || seal.checksum != XXH3_64bits(body.data(), body.size())) {
    return damaged(file.path_, "these are not the bytes that were sealed");
  }
  for (std::size_t at = 0; at < body.size();) {
    std::optional<KeptModule> module = take_module(body, file.modules_.size(), at);
    if (!module) {
      return damaged(file.path_, "module " + std::to_string(file.modules_.size()) + " is not whole");
    }
    file.modules_.push_back(std::move(*module));
  }
  return file;
}

}  // namespace sooth
