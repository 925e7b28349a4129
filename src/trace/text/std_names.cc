#include "trace/text/std_names.h"

namespace sooth {

NameTable::NameTable() : slots_(64), mask_(slots_.size() - 1) {}

std::uint64_t NameTable::hash_long(std::string_view name) {
  std::uint64_t hash = name.size();
  std::size_t i = 0;
  for (; i + 8 <= name.size(); i += 8) {
    hash = mix(hash, load<std::uint64_t>(name.data() + i), i);
  }
  return mix(hash, load<std::uint64_t>(name.data() + name.size() - 8), i);
}

void NameTable::insert(std::string_view name, std::uint64_t number, std::uint32_t size) {
  if (2 * (used_ + 1) > slots_.size()) {
    grow();
  }
  Key key = key_of(name);
  if (name.size() > kInline) {
    key.b = long_names_.size();
    long_names_.emplace_back(name);
  }
  std::size_t i = key.hash & mask_;
  while (slots_[i].length != 0) {
    i = (i + 1) & mask_;
  }
  Entry& slot = slots_[i];
  slot.number = number;
  slot.size = size;
  slot.length = static_cast<std::uint32_t>(name.size() + 1);
  slot.a = key.a;
  slot.b = key.b;
  ++used_;
}

void NameTable::grow() {
  std::vector<Entry> old(2 * slots_.size());
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  for (const Entry& slot : old) {
    if (slot.length == 0) {
      continue;
    }
    const std::uint64_t hash = slot.length - 1 > kInline ? slot.a : mix(slot.a, slot.b, slot.length - 1);
    std::size_t i = hash & mask_;
    while (slots_[i].length != 0) {
      i = (i + 1) & mask_;
    }
    slots_[i] = slot;
  }
}

}  // namespace sooth
