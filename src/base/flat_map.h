// A hash map from 64-bit keys, for state that is looked up once per event.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sooth {

// Open addressing with linear probing in one array: a lookup is a multiplication and usually one cache line. There
// are no tombstones (erasing moves the followers back), so a map that is filled and emptied forever keeps its speed.
// Every key is allowed. V is default-constructible and movable. References and pointers to values last until
// the next insertion or erasure. Not thread safe.
template <typename V>
class FlatMap {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Bytes of the array, for memory figures; what values own is not counted.
  std::size_t memory() const { return slots_.capacity() * sizeof(Slot); }

  // nullptr when there is no such key.
  V* find(std::uint64_t key) { return const_cast<V*>(std::as_const(*this).find(key)); }
  const V* find(std::uint64_t key) const {
    if (key == kFree) [[unlikely]] {
      return has_free_key_ ? &free_key_value_ : nullptr;
    }
    if (slots_.empty()) [[unlikely]] {
      return nullptr;
    }
    const Slot& slot = slots_[probe(key)];
    return slot.key == key ? &slot.value : nullptr;
  }
  bool contains(std::uint64_t key) const { return find(key) != nullptr; }

  // The value of `key`, added as V{} when there is none.
  V& operator[](std::uint64_t key) {
    if (key == kFree) [[unlikely]] {
      size_ += has_free_key_ ? 0 : 1;
      has_free_key_ = true;
      return free_key_value_;
    }
    if (!slots_.empty()) [[likely]] {
      Slot& slot = slots_[probe(key)];
      if (slot.key == key) {
        return slot.value;
      }
    }
    return insert(key);
  }

  // Whether there was one.
  bool erase(std::uint64_t key) {
    if (key == kFree) [[unlikely]] {
      const bool had = std::exchange(has_free_key_, false);
      free_key_value_ = V{};
      size_ -= had ? 1 : 0;
      return had;
    }
    if (slots_.empty()) {
      return false;
    }
    const std::size_t slot = probe(key);
    if (slots_[slot].key != key) {
      return false;
    }
    close_gap(slot);
    --size_;
    return true;
  }

  // Keeps the array, so that filling the map again does not allocate.
  void clear() {
    for (Slot& slot : slots_) {
      slot = Slot{};
    }
    free_key_value_ = V{};
    has_free_key_ = false;
    size_ = 0;
  }

  // Makes room for `count` keys.
  void reserve(std::size_t count) {
    if (slots_.empty() || count > limit(slots_.size())) {
      rehash(std::bit_ceil(std::max<std::size_t>(kSmallest, count * 8 / 5 + 1)));
    }
  }

  // Calls visit(key, value) in ascending order of keys, whatever the history of the map, so that output made from it
  // is deterministic. O(n log n): for the end of a pass, not for its inside. `visit` must not insert or erase.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const std::uint64_t key : sorted_keys()) {
      visit(key, *find(key));
    }
  }
  template <typename Visit>
  void for_each(Visit&& visit) {
    for (const std::uint64_t key : sorted_keys()) {
      visit(key, *find(key));
    }
  }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};  // marks unused slots; as a key it lives beside the array
  static constexpr std::size_t kSmallest = 16;

  struct Slot {
    std::uint64_t key = kFree;
    V value{};
  };

  // Keys that an array of `capacity` slots takes: five eighths keep probes short.
  static constexpr std::size_t limit(std::size_t capacity) { return capacity / 8 * 5; }
  // Fibonacci hashing: the upper bits of the product depend on all bits of the key, and neighbours (addresses) spread.
  std::size_t home(std::uint64_t key) const { return (key * 0x9E3779B97F4A7C15u) >> shift_; }
  // The slot of `key`, or the unused one where it belongs.
  std::size_t probe(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = home(key);
    while (slots_[slot].key != key && slots_[slot].key != kFree) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  V& insert(std::uint64_t key) {
    reserve(size_ + 1);
    Slot& slot = slots_[probe(key)];
    slot.key = key;
    ++size_;
    return slot.value;
  }

  // Frees `gap` and moves back whatever would no longer be found behind it.
  void close_gap(std::size_t gap) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t next = (gap + 1) & mask; slots_[next].key != kFree; next = (next + 1) & mask) {
      const std::size_t from_home = (next - home(slots_[next].key)) & mask;
      const std::size_t from_gap = (next - gap) & mask;
      if (from_home >= from_gap) {
        slots_[gap] = std::move(slots_[next]);
        gap = next;
      }
    }
    slots_[gap] = Slot{};
  }

  void rehash(std::size_t capacity) {
    std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(capacity));
    shift_ = 64 - std::countr_zero(capacity);
    for (Slot& slot : old) {
      if (slot.key != kFree) {
        slots_[probe(slot.key)] = std::move(slot);
      }
    }
  }

  std::vector<std::uint64_t> sorted_keys() const {
    std::vector<std::uint64_t> keys;
    keys.reserve(size_);
    for (const Slot& slot : slots_) {
      if (slot.key != kFree) {
        keys.push_back(slot.key);
      }
    }
    if (has_free_key_) {
      keys.push_back(kFree);
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  std::vector<Slot> slots_;  // empty, or a power of two of them, at most limit() in use
  std::size_t size_ = 0;
  int shift_ = 64;  // 64 - log2(slots_.size())
  bool has_free_key_ = false;
  V free_key_value_{};
};

}  // namespace sooth
