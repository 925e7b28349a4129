#include "trace/tables.h"

#include <iterator>
#include <utility>

#include "base/text.h"

namespace sooth {
namespace {

// Recorded programs call such objects by their address.
bool lives_in_memory(ObjectKind kind) {
  return kind == ObjectKind::kLock || kind == ObjectKind::kSignal || kind == ObjectKind::kBarrier ||
         kind == ObjectKind::kSemaphore;
}

std::string numbered_thread(std::uint64_t thread) { return "T" + std::to_string(thread); }

}  // namespace

Tables::Tables() : stacks_(1) {}

ThreadId Tables::add_thread(std::string name) {
  set_thread_name(thread_count_, name);
  return ThreadId(thread_count_++);
}

void Tables::set_thread_name(std::uint64_t thread, const std::string& name) {
  if (name == numbered_thread(thread)) {
    thread_names_.erase(thread);
  } else {
    thread_names_[thread] = name;
  }
}

std::string Tables::thread_name(ThreadId thread) const {
  const std::string* name = thread_names_.find(raw(thread));
  return name == nullptr ? numbered_thread(raw(thread)) : *name;
}

std::vector<std::string> Tables::threads() const {
  std::vector<std::string> names;
  for (std::uint64_t thread = 0; thread < thread_count_; ++thread) {
    names.push_back(thread_name(ThreadId(thread)));
  }
  return names;
}

SiteId Tables::add_site(Site site) {
  sites_.push_back(std::move(site));
  return SiteId(sites_.size() - 1);
}

StackId Tables::intern_stack(StackId parent, SiteId call) {
  const std::uint64_t key = std::uint64_t{raw(parent)} << 32 | raw(call);
  const auto [it, added] = stack_index_.try_emplace(key, StackId(stacks_.size()));
  if (added) {
    stacks_.push_back({parent, call});
  }
  return it->second;
}

void Tables::name_object(ObjectKind kind, std::uint64_t object, std::string name) {
  if (kind == ObjectKind::kThread && object < thread_count_) {
    set_thread_name(object, name);
  }
  name_index_[raw(kind)][object] = static_cast<std::uint32_t>(names_.size());
  names_.push_back({kind, object, std::move(name), 0, kNoType});
}

void Tables::name_range(ObjectKind kind, std::uint64_t begin, std::uint64_t length, std::string name, TypeId type) {
  range_index_[raw(kind)][begin] = static_cast<std::uint32_t>(names_.size());
  names_.push_back({kind, begin, std::move(name), length, type});
}

std::vector<SiteId> Tables::frames(StackId stack) const {
  std::vector<SiteId> out;
  for (; stack != kNoStack; stack = stacks_[raw(stack)].parent) {
    out.push_back(stacks_[raw(stack)].call);
  }
  return out;
}

const std::string* Tables::object_name(ObjectKind kind, std::uint64_t object) const {
  const auto& index = name_index_[raw(kind)];
  const auto it = index.find(object);
  return it == index.end() ? nullptr : &names_[it->second].name;
}

const ObjectName* Tables::named_range(ObjectKind kind, std::uint64_t object) const {
  const auto& ranges = range_index_[raw(kind)];
  const auto behind = ranges.upper_bound(object);
  if (behind == ranges.begin()) {
    return nullptr;
  }
  const ObjectName& range = names_[std::prev(behind)->second];
  return object - range.object < range.length ? &range : nullptr;
}

std::string Tables::describe(ObjectKind kind, std::uint64_t object, std::uint64_t size) const {
  if (kind == ObjectKind::kThread && object < thread_count_) {
    return thread_name(ThreadId(object));
  }
  if (kind == ObjectKind::kFunction && object < sites_.size()) {
    const Site& site = sites_[object];
    return site.function.empty() ? site.label : site.function;
  }
  if (const std::string* name = object_name(kind, object)) {
    return *name;
  }
  const ObjectName* range = named_range(kind, object);
  if (range == nullptr && lives_in_memory(kind)) {
    range = named_range(ObjectKind::kMemory, object);
  }
  if (range != nullptr) {
    const TypePart part = find_part(variables_.types(), range->type, object - range->object, size);
    const std::uint64_t offset = part.opaque ? 0 : object - range->object - part.offset;
    return range->name + part.path + (offset == 0 ? "" : "+" + std::to_string(offset));
  }
  return hexadecimal(object);
}

std::optional<NamedPart> Tables::find_variable(std::uint64_t address, std::uint64_t size, EventId at) const {
  const ObjectName* range = named_range(ObjectKind::kMemory, address);
  if (range == nullptr) {
    return variables_.find(address, size, at);
  }
  const TypePart part = find_part(variables_.types(), range->type, address - range->object, size);
  NamedPart named;
  named.name = range->name + part.path;
  named.address = range->object + part.offset;
  named.size = part.path.empty() ? range->length : part.size;
  named.type = part.type;
  named.is_bit_field = part.is_bit_field;
  return named;
}

}  // namespace sooth
