// A long list of numbers that differ little from one to the next, in a byte or two each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sooth {

// Append-only. Differences as variable-length integers; every kStride-th number stands where it can be found, so that
// reading any of them decodes kStride at most. Not thread safe.
class PackedColumn {
 public:
  std::size_t size() const { return size_; }
  std::size_t memory() const { return bytes_.capacity() + marks_.capacity() * sizeof(Mark); }

  void push_back(std::uint64_t number) {
    if (size_ % kStride == 0) {
      marks_.push_back({bytes_.size(), number});
    } else {
      const std::uint64_t difference = number - last_;
      // The sign goes to the lowest bit.
      std::uint64_t code = difference << 1 ^ (difference >> 63 != 0 ? ~std::uint64_t{0} : 0);
      for (; code >= 0x80; code >>= 7) {
        bytes_.push_back(static_cast<std::uint8_t>(code | 0x80));
      }
      bytes_.push_back(static_cast<std::uint8_t>(code));
    }
    last_ = number;
    ++size_;
  }

  std::uint64_t operator[](std::size_t i) const {
    const Mark& mark = marks_[i / kStride];
    std::uint64_t number = mark.number;
    std::size_t at = mark.place;
    for (std::size_t k = i % kStride; k > 0; --k) {
      std::uint64_t code = 0;
      unsigned shift = 0;
      std::uint8_t byte = 0;
      do {
        byte = bytes_[at++];
        code |= std::uint64_t{byte & 0x7fu} << shift;
        shift += 7;
      } while ((byte & 0x80) != 0);
      number += code >> 1 ^ ((code & 1) != 0 ? ~std::uint64_t{0} : 0);
    }
    return number;
  }

 private:
  static constexpr std::size_t kStride = 32;
  struct Mark {
    std::uint64_t place;  // of the next number, in bytes_
    std::uint64_t number;
  };

  std::vector<std::uint8_t> bytes_;
  std::vector<Mark> marks_;
  std::uint64_t last_ = 0;
  std::size_t size_ = 0;
};

}  // namespace sooth
