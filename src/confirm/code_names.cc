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

std::string name_of(const Site& site) {
  return !site.label.empty() ? site.label : file_name(site.module) + "+" + hexadecimal(site.offset);
}

std::vector<Site> CodeNames::sites(const std::string& module, std::uint64_t offset) {
  const bool is_program = module.empty() || module == file_name(program_);
  Site bare;
  bare.module = is_program ? program_ : module;
  bare.offset = offset;
  ModuleSymbols* const symbols = open(bare.module);
  std::vector<Site> sites;
  for (const Frame& frame : symbols == nullptr ? std::vector<Frame>() : symbols->frames(offset)) {
    Site& site = sites.emplace_back(bare);
    site.function = frame.function;
    if (frame.line != 0) {
      site.file = frame.file;
      site.line = frame.line;
      site.column = frame.column;
      site.label = place_of(site);
    }
  }
  if (sites.empty()) {
    sites.push_back(std::move(bare));
  }
  return sites;
}

Site CodeNames::site(const std::string& module, std::uint64_t offset) {
  std::vector<Site> found = sites(module, offset);
  trim_glue(found);
  return std::move(found.front());
}

std::vector<Site> CodeNames::stack(const std::vector<LoggedPlace>& places) {
  std::vector<Site> stack;
  for (const LoggedPlace& place : places) {
    for (Site& site : sites(place.module, place.offset)) {
      stack.push_back(std::move(site));
    }
  }
  trim_glue(stack);
  return stack;
}

Site CodeNames::site_of(const BlockedThread& thread) {
  if (std::vector<Site> known = stack(thread.stack); !known.empty()) {
    return std::move(known.front());
  }
  return thread.in_program && thread.offset != 0 ? site("", thread.offset) : Site();
}

std::string CodeNames::name(const std::string& module, std::uint64_t offset) { return name_of(site(module, offset)); }

std::string CodeNames::variable(std::uint64_t offset) {
  ModuleSymbols* const symbols = open(program_);
  const std::optional<GlobalVariable> global = symbols == nullptr ? std::nullopt : symbols->global(offset);
  if (!global.has_value()) {
    return "";
  }
  // As Tables::describe() calls it.
  const TypePart part = find_part(types_.types(), global->type, global->offset, 0);
  const std::uint64_t inside = part.opaque ? 0 : global->offset - part.offset;
  return global->name + part.path + (inside == 0 ? "" : "+" + std::to_string(inside));
}

ModuleSymbols* CodeNames::open(const std::string& path) {
  const auto [it, added] = opened_.try_emplace(path);
  if (added) {
    if (Result<std::unique_ptr<ModuleSymbols>> symbols = ModuleSymbols::open(path, ""); symbols.ok()) {
      it->second = std::move(*symbols);
      it->second->use_types(types_);
    }
  }
  return it->second.get();
}

}  // namespace sooth
