// A hash that is the same everywhere and for ever: for names of files and ids.
#pragma once

#include <cstdint>
#include <string_view>

namespace sooth {

// The 64-bit hash of Fowler, Noll and Vo, version 1a.
constexpr std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace sooth
