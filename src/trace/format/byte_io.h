// Little-endian integers, varints and strings in byte buffers. Reading is bounds-checked: after a read past the
// end every further read yields zeros and ok() stays false.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sooth {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the trace format is read and written in place");

using Bytes = std::vector<std::uint8_t>;

class ByteWriter {
 public:
  explicit ByteWriter(Bytes& out) : out_(out) {}

  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) { put_array(&value, 1); }
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void put_array(const T* values, std::size_t count) {
    const std::size_t at = out_.size();
    out_.resize(at + count * sizeof(T));
    if (count != 0) {
      std::memcpy(out_.data() + at, values, count * sizeof(T));
    }
  }
  void put_varint(std::uint64_t value) {
    while (value >= 0x80) {
      out_.push_back(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    out_.push_back(static_cast<std::uint8_t>(value));
  }
  void put_string(std::string_view text) {
    put_varint(text.size());
    put_array(text.data(), text.size());
  }

 private:
  Bytes& out_;
};

class ByteReader {
 public:
  ByteReader(const std::uint8_t* begin, std::size_t size) : at_(begin), end_(begin + size) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }

  template <typename T>
    requires std::is_trivially_copyable_v<T> T get() {
      T value{};
      if (const std::uint8_t* bytes = get_bytes(sizeof(T))) {
        std::memcpy(&value, bytes, sizeof(T));
      }
      return value;
    }
  // nullptr when fewer than `count` are left.
  const std::uint8_t* get_bytes(std::size_t count) {
    if (!ok_ || remaining() < count) {
      ok_ = false;
      return nullptr;
    }
    const std::uint8_t* bytes = at_;
    at_ += count;
    return bytes;
  }
  std::uint64_t get_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = get<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    ok_ = false;
    return 0;
  }
  std::string_view get_string() {
    const std::uint64_t size = get_varint();
    const std::uint8_t* bytes = size <= remaining() ? get_bytes(size) : nullptr;
    if (bytes == nullptr) {
      ok_ = false;
      return {};
    }
    return {reinterpret_cast<const char*>(bytes), size};
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool ok_ = true;
};

}  // namespace sooth
