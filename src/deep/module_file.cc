#include "deep/module_file.h"

#include <xxhash.h>

#include <cstring>
#include <optional>
#include <utility>

#include "trace/small_file.h"
#include "trace/stream_format.h"

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

}  // namespace

Result<ModuleFile> ModuleFile::read(const std::string& recording) {
  const std::string path = recording + "/" + stream::kDeepFile;
  Result<std::optional<std::string>> bytes = read_small_file(path);
  if (!bytes.ok()) {
    return std::move(bytes).status();
  }
  if (!bytes->has_value()) {
    return Status::bad_input(recording + ": has no code of the program: build it with `sooth c++ --deep`, and record it with "
                                         "`sooth record --schedule serial`");
  }
  return parse(std::move(**bytes), path);
}

Result<ModuleFile> ModuleFile::parse(std::string bytes, std::string path) {
  ModuleFile file;
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
    if (body.size() - at < sizeof(stream::DeepModule)) {
      return damaged(file.path_, "a module is cut");
    }
    const auto header = load<stream::DeepModule>(body, at);
    at += sizeof header;
    const std::size_t room = body.size() - at;
    if (header.magic != stream::kDeepModuleMagic || header.module != file.modules_.size() || header.addresses > room / 8 ||
        header.bitcode_bytes > room - 8 * header.addresses) {
      return damaged(file.path_, "module " + std::to_string(file.modules_.size()) + " is not whole");
    }
    KeptModule module;
    module.addresses.resize(header.addresses);
    if (!module.addresses.empty()) {
      std::memcpy(module.addresses.data(), body.data() + at, 8 * module.addresses.size());
    }
    at += 8 * module.addresses.size();
    module.bitcode = {body.data() + at, header.bitcode_bytes};
    at += header.bitcode_bytes;
    file.modules_.push_back(std::move(module));
  }
  return file;
}

}  // namespace sooth
