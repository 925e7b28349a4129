#include "symbol/imported_calls.h"

#include <cstring>
#include <span>
#include <utility>

namespace sooth {
namespace {

std::uint64_t displaced(std::uint64_t next, std::span<const char> displacement) {
  std::int32_t distance = 0;
  std::memcpy(&distance, displacement.data(), sizeof distance);
  return next + static_cast<std::uint64_t>(std::int64_t{distance});
}

bool starts_with(std::span<const char> code, std::string_view bytes) {
  return code.size() >= bytes.size() && std::string_view(code.data(), bytes.size()) == bytes;
}

}  // namespace

Result<std::unique_ptr<ImportedCalls>> ImportedCalls::open(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file.ok()) {
    return std::move(file).status();
  }
  Result<ElfImage> image = ElfImage::parse(file->bytes(), path);
  if (!image.ok()) {
    return std::move(image).status();
  }
  if (image->header().e_machine != EM_X86_64) {
    return Status::usage(path + ": calls are read in code for x86-64 only");
  }
  Result<std::vector<ElfImage::Import>> imports = image->imports();
  if (!imports.ok()) {
    return std::move(imports).status();
  }
  std::unique_ptr<ImportedCalls> calls(new ImportedCalls(std::move(*file), std::move(*image)));
  for (const ElfImage::Import& import : *imports) {
    calls->imports_.try_emplace(import.slot, import.name);
  }
  return calls;
}

std::string_view ImportedCalls::imported(std::uint64_t slot) const {
  const auto it = imports_.find(slot);
  return it == imports_.end() ? std::string_view() : it->second;
}

std::string ImportedCalls::callee(std::uint64_t address) const {
  constexpr std::string_view kThroughTable("\xff\x15", 2);
  constexpr std::string_view kDirect("\xe8", 1);
  constexpr std::string_view kJumpThroughTable("\xff\x25", 2);
  constexpr std::string_view kBoundJump("\xf2\xff\x25", 3);
  constexpr std::string_view kLandingPad("\xf3\x0f\x1e\xfa", 4);
  const std::uint64_t next = address + 1;
  if (const auto code = image_.loaded(next - 6, 6); starts_with(code, kThroughTable)) {
    if (const std::string_view name = imported(displaced(next, code.subspan(2))); !name.empty()) {
      return std::string(name);
    }
  }
  const auto call = image_.loaded(next - 5, 5);
  if (!starts_with(call, kDirect)) {
    return "";
  }
  std::uint64_t target = displaced(next, call.subspan(1));
  target += starts_with(image_.loaded(target, 4), kLandingPad) ? 4 : 0;
  for (const std::string_view jump : {kJumpThroughTable, kBoundJump}) {
    const std::uint64_t size = jump.size() + 4;
    if (const auto code = image_.loaded(target, size); starts_with(code, jump)) {
      return std::string(imported(displaced(target + size, code.subspan(jump.size()))));
    }
  }
  return "";
}

}  // namespace sooth
