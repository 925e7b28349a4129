// Spelling -> number, the table that the speed of reading text stands on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace sooth {

// Open addressing over names that are copied in. Names of up to 16 bytes lie in the slots themselves, so finding one
// touches one cache line. Pointers to entries are valid until the next insert. Not thread safe.
class NameTable {
 public:
  class Entry {
   public:
    std::uint64_t number = 0;
    std::uint32_t size = 0;

   private:
    friend class NameTable;
    std::uint32_t length = 0;  // of the name, + 1; 0 marks a free slot
    std::uint64_t a = 0;       // as in Key
    std::uint64_t b = 0;
  };

  NameTable();

  // nullptr when there is none.
  const Entry* find(std::string_view name) const {
    const Key key = key_of(name);
    for (std::size_t i = key.hash & mask_;; i = (i + 1) & mask_) {
      const Entry& slot = slots_[i];
      if (slot.length == 0) {
        return nullptr;
      }
      if (holds(slot, key, name)) {
        return &slot;
      }
    }
  }

  // `name` must not be in the table yet, and be shorter than 4 GiB.
  void insert(std::string_view name, std::uint64_t number, std::uint32_t size = 0);

 private:
  static constexpr std::size_t kInline = 16;

  struct Key {
    std::uint64_t a;  // of a short name, its bytes; of a long one, its hash
    std::uint64_t b;  // of a short name, its bytes; of a long one, its place in long_names_
    std::uint64_t hash;
  };

  template <typename Word>
  static std::uint64_t load(const char* p) {
    Word word;
    std::memcpy(&word, p, sizeof word);
    return word;
  }

  static std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t length) {
    std::uint64_t h = (a ^ (b << 29 | b >> 35)) * 0x9e3779b97f4a7c15u + (b ^ length) * 0xc2b2ae3d27d4eb4fu;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
  }

  // Short names: both ends of the name, overlapping, which together with the length tells all its bytes and never
  // reads outside of it.
  static Key key_of(std::string_view name) {
    const char* p = name.data();
    const std::size_t n = name.size();
    Key key{};
    if (n > kInline) {
      key.a = hash_long(name);
      key.hash = key.a;
      return key;
    }
    if (n >= 8) {
      key.a = load<std::uint64_t>(p);
      key.b = load<std::uint64_t>(p + n - 8);
    } else if (n >= 4) {
      key.a = load<std::uint32_t>(p) << 32 | load<std::uint32_t>(p + n - 4);
    } else if (n > 0) {
      key.a = load<std::uint8_t>(p) << 16 | load<std::uint8_t>(p + n / 2) << 8 | load<std::uint8_t>(p + n - 1);
    }
    key.hash = mix(key.a, key.b, n);
    return key;
  }

  static std::uint64_t hash_long(std::string_view name);

  bool holds(const Entry& slot, const Key& key, std::string_view name) const {
    if (slot.a != key.a || slot.length != name.size() + 1) {
      return false;
    }
    return name.size() <= kInline ? slot.b == key.b : long_names_[slot.b] == name;
  }

  void grow();

  std::vector<Entry> slots_;  // 32 bytes each; at most half of them used
  std::size_t mask_;
  std::size_t used_ = 0;
  std::deque<std::string> long_names_;
};

}  // namespace sooth
