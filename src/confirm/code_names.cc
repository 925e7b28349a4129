#include "confirm/code_names.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "trace/recording/library_glue.h"

namespace sooth {
namespace {

std::string place_of(const Site& site) {
  std::string text = site.file + ":" + std::to_string(site.line);
  return site.column == 0 ? text : text + ":" + std::to_string(site.column);
}

}  // namespace

Site CodeNames::site(const std::string& module, std::uint64_t offset) {
  const bool is_program = module.empty() || module == file_name(program_);
  const std::string& path = is_program ? program_ : module;
  Site site;
  site.module = path;
  site.offset = offset;
  if (ModuleSymbols* symbols = open(path)) {
    const std::vector<Frame> frames = symbols->frames(offset);
    const auto found =
        std::find_if(frames.begin(), frames.end(), [](const Frame& frame) { return !is_library_glue(frame.file); });
    const Frame* frame = found != frames.end() ? &*found : frames.empty() ? nullptr : &frames.front();
    if (frame != nullptr) {
      site.function = frame->function;
    }
    if (frame != nullptr && frame->line != 0) {
      site.file = frame->file;
      site.line = frame->line;
      site.column = frame->column;
      site.label = place_of(site);
    }
  }
  return site;
}

std::string CodeNames::name(const std::string& module, std::uint64_t offset) {
  const Site found = site(module, offset);
  if (!found.label.empty()) {
    return found.label;
  }
  return file_name(found.module) + "+" + hexadecimal(offset);
}

ModuleSymbols* CodeNames::open(const std::string& path) {
  const auto [it, added] = opened_.try_emplace(path);
  if (added) {
    if (Result<std::unique_ptr<ModuleSymbols>> symbols = ModuleSymbols::open(path, ""); symbols.ok()) {
      it->second = std::move(*symbols);
    }
  }
  return it->second.get();
}

}  // namespace sooth
