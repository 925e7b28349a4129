#include "trace/recording/recording_names.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "trace/recording/library_glue.h"
#include "trace/thread_label.h"

namespace sooth {
namespace {

std::string frame_label(const SiteFrame& frame) {
  std::string label = frame.file;
  if (frame.line != 0) {
    label += ":" + std::to_string(frame.line);
  }
  if (frame.line != 0 && frame.column != 0) {
    label += ":" + std::to_string(frame.column);
  }
  return label;
}

// "libqueue.so+0x1234", as backtraces print it.
std::string offset_label(const std::string& module, std::uint64_t offset) {
  if (module.empty() && offset == stream::kNoSite) {
    return "outside";
  }
  return module.empty() ? hexadecimal(offset) : module.substr(module.rfind('/') + 1) + "+" + hexadecimal(offset);
}

// Takes headers that only pass things on off the inner end, as long as a place remains that they were inlined into.
void trim_glue(SiteSymbols& symbols) {
  const auto first = std::find_if(symbols.frames.begin(), symbols.frames.end(),
                                  [](const SiteFrame& frame) { return !is_library_glue(frame.file); });
  if (first != symbols.frames.end()) {
    symbols.frames.erase(symbols.frames.begin(), first);
  }
}

std::uint64_t key(StackId stack, std::uint32_t row) { return std::uint64_t{raw(stack)} << 32 | row; }

}  // namespace

RecordingNames::RecordingNames(RecordedProcess process, RecordingSymbols symbols, bool with_stacks, Source source)
    : process_(std::move(process)), with_stacks_(with_stacks), source_(std::move(source)) {
  add_symbols(std::move(symbols));
}

void RecordingNames::add_symbols(RecordingSymbols symbols) {
  VariableTable& variables = tables_.variables();
  for (TypeLayout& type : symbols.types) {
    (void)variables.add_type(std::move(type));
  }
  for (SiteSymbols& site : symbols.sites) {
    trim_glue(site);
    layouts_.push_back(site.locals.empty() ? kNoLayout : variables.add_layout(std::move(site.locals)));
    symbols_.push_back(std::move(site));
  }
  for (const GlobalSymbol& global : symbols.globals) {
    tables_.name_range(ObjectKind::kMemory, global.begin, global.end - global.begin, global.name, global.type);
  }
  if (!symbols.thread_locals.empty()) {
    thread_layouts_.push_back(variables.add_layout(std::move(symbols.thread_locals)));
  }
}

bool RecordingNames::has_site(std::uint64_t row) {
  if (row >= rows_.size() && row < stream::kMaxSites) {
    const std::vector<stream::SiteRow> more = source_.sites(rows_.size());
    rows_.insert(rows_.end(), more.begin(), more.end());
    innermost_.resize(rows_.size(), kNotYet);
    if (source_.symbols && !more.empty()) {
      process_ = source_.process();
      add_symbols(source_.symbols(process_, more));
    }
  }
  return row < rows_.size();
}

SiteId RecordingNames::add_site(std::uint32_t row) {
  const SiteSymbols* symbols = row < symbols_.size() ? &symbols_[row] : nullptr;
  SiteId site{};
  if (symbols == nullptr) {
    site = add_unknown(row);
  } else if (symbols->frames.empty()) {
    site = add_module_offset(symbols->module, symbols->offset);
  } else {
    site = add_frame(*symbols, symbols->frames.front());
  }
  innermost_[row] = site;
  if (symbols != nullptr && symbols->allocates != kNoType) {
    tables_.variables().set_allocated(site, symbols->allocates);
  }
  return site;
}

// Without a line a place says too little to tell two of them apart: then the offset counts.
SiteId RecordingNames::add_frame(const SiteSymbols& symbols, const SiteFrame& frame) {
  const bool known = frame.line != 0;
  if (!known && &frame == symbols.frames.data()) {
    const auto [it, added] = offsets_.try_emplace({symbols.module, symbols.offset}, SiteId{});
    if (added) {
      it->second = tables_.add_site({offset_label(symbols.module, symbols.offset), frame.file, frame.function,
                                     symbols.module, symbols.offset, 0, 0});
    }
    return it->second;
  }
  const auto [it, added] = places_.try_emplace({frame.file, frame.line, frame.column, frame.function}, SiteId{});
  if (added) {
    it->second = tables_.add_site(
        {frame_label(frame), frame.file, frame.function, symbols.module, symbols.offset, frame.line, frame.column});
  }
  return it->second;
}

SiteId RecordingNames::add_unknown(std::uint32_t row) {
  const stream::SiteRow& site = rows_[row];
  const RecordedModule* module = process_.find(site.pc, site.generation);
  if (module == nullptr || site.generation > process_.generation) {
    process_ = source_.process();
    module = process_.find(site.pc, site.generation);
  }
  return module == nullptr ? add_module_offset("", site.pc) : add_module_offset(module->path, site.pc - module->bias);
}

SiteId RecordingNames::add_module_offset(const std::string& module, std::uint64_t offset) {
  const auto [it, added] = offsets_.try_emplace({module, offset}, SiteId{});
  if (added) {
    it->second = tables_.add_site({offset_label(module, offset), "", "", module, offset, 0, 0});
  }
  return it->second;
}

bool RecordingNames::use_thread(std::uint64_t thread) {
  if (thread >= stream::kMaxThreads) {
    return false;
  }
  while (tables_.thread_count() <= thread) {
    tables_.add_thread(thread_label(tables_.thread_count()));
  }
  places_of_calls_.resize(tables_.thread_count(), kInNoCall);
  return true;
}

void RecordingNames::name(ObjectKind kind, std::uint64_t object, std::string_view name) {
  const bool thread = kind == ObjectKind::kThread;
  if (thread && !use_thread(object)) {
    return;
  }
  tables_.name_object(kind, object, thread ? thread_label(object) + " (" + std::string(name) + ")" : std::string(name));
}

void RecordingNames::name_call(SiteId site) {
  const std::string& function = tables_.site(site).function;
  if (!function.empty() && tables_.object_name(ObjectKind::kCall, raw(site)) == nullptr) {
    tables_.name_object(ObjectKind::kCall, raw(site), function);
  }
}

bool RecordingNames::pop_calls(ThreadId thread, std::uint64_t count) {
  std::uint32_t& place = places_of_calls_[raw(thread)];
  Calls& calls = calls_[place];
  if (count > calls.depth) {
    return false;
  }
  if (count == 0) {
    return true;
  }
  calls.depth -= count;
  for (; !calls.placed.empty() && calls.placed.back().first > calls.depth; calls.placed.pop_back()) {
    tables_.variables().end(calls.placed.back().second, now_);
  }
  if (with_stacks_) {
    calls.top = calls.below[calls.depth];
    calls.below.resize(calls.depth);
  }
  if (calls.depth == 0) {  // most likely the thread is over
    free_calls_.push_back(place);
    place = kInNoCall;
  }
  return true;
}

bool RecordingNames::place_frame(ThreadId thread, std::uint64_t depth, std::uint64_t row, std::uint64_t base) {
  Calls& calls = calls_[places_of_calls_[raw(thread)]];
  if (depth == 0 || depth > calls.depth || !has_site(row)) {
    return false;
  }
  if (row < layouts_.size() && layouts_[row] != kNoLayout) {
    calls.placed.emplace_back(depth, tables_.variables().place(layouts_[row], thread, base, now_));
  }
  return true;
}

void RecordingNames::place_thread_locals(ThreadId thread, std::uint64_t thread_pointer) {
  for (const std::uint32_t layout : thread_layouts_) {
    (void)tables_.variables().place(layout, thread, thread_pointer, now_);
  }
}

void RecordingNames::push_call(ThreadId thread, std::uint32_t row) {
  std::uint32_t& place = places_of_calls_[raw(thread)];
  if (place == kInNoCall) {
    if (free_calls_.empty()) {
      free_calls_.push_back(static_cast<std::uint32_t>(calls_.size()));
      calls_.emplace_back();
    }
    place = free_calls_.back();
    free_calls_.pop_back();
  }
  Calls& calls = calls_[place];
  ++calls.depth;
  if (!with_stacks_) {
    return;
  }
  calls.below.push_back(calls.top);
  StackId& pushed = pushed_[key(calls.top, row)];
  if (pushed == kNoStack) {  // a stack with a call on it is never the empty one
    const StackId callers = inlined(row) ? with_inlined(calls.top, row) : calls.top;
    pushed = tables_.intern_stack(callers, site(row));
  }
  calls.top = pushed;
}

StackId RecordingNames::with_inlined(StackId stack, std::uint32_t row) {
  StackId& known = inlined_[key(stack, row)];
  if (known == kNoStack) {
    const SiteSymbols& symbols = symbols_[row];
    known = stack;
    for (std::size_t i = symbols.frames.size(); i-- > 1;) {
      known = tables_.intern_stack(known, add_frame(symbols, symbols.frames[i]));
    }
  }
  return known;
}

}  // namespace sooth
