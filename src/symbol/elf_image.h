// The bytes of an ELF file, read without trusting any of them.
//
// libelf is not used here: whether a program can be recorded is decided before anything else looks at it, for files
// that users name by mistake too, so every offset is checked against the size of the file in one place.
#pragma once

#include <elf.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace sooth {

// A file mapped for reading. Movable; unmapped in the end. The file must not be truncated meanwhile.
class MappedFile {
 public:
  // Regular files only, also empty ones.
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::span<const char> bytes() const { return {data_, size_}; }
  // st_mode of the file.
  std::uint32_t mode() const { return mode_; }

 private:
  MappedFile(const char* data, std::size_t size, std::uint32_t mode) : data_(data), size_(size), mode_(mode) {}

  const char* data_;
  std::size_t size_;
  std::uint32_t mode_;
};

// The headers of a 64-bit little-endian ELF file. Views into `bytes`, which must outlive it.
class ElfImage {
 public:
  struct Symbol {
    std::string_view name;
    bool defined = false;
    bool local = false;  // no other file can mean it
  };
  struct Import {
    std::uint64_t slot = 0;
    std::string_view name;
  };

  // `name` is what errors call the file.
  static Result<ElfImage> parse(std::span<const char> bytes, const std::string& name);

  const Elf64_Ehdr& header() const { return header_; }
  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }

  // The entries of PT_DYNAMIC up to DT_NULL; none in a static program.
  Result<std::vector<Elf64_Dyn>> dynamic() const;
  // The strings that entries with this tag name (DT_NEEDED, DT_SONAME, DT_RPATH...), in the order of the entries.
  Result<std::vector<std::string>> dynamic_strings(std::span<const Elf64_Dyn> entries, std::int64_t tag) const;
  // The symbols of .symtab and .dynsym that have a name.
  Result<std::vector<Symbol>> symbols() const;
  // What the file takes from others: the place that holds the address of each, and its name.
  Result<std::vector<Import>> imports() const;
  // The bytes that the file puts at an address; none where it has fewer.
  std::span<const char> loaded(std::uint64_t address, std::uint64_t size) const;
  // The GNU build id in hexadecimal; empty when there is none.
  Result<std::string> build_id() const;
  // The string of PT_INTERP; empty when there is none.
  Result<std::string> interpreter() const;

 private:
  ElfImage(std::span<const char> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  Status damaged(const std::string& what) const;
  Result<std::span<const char>> range(std::uint64_t offset, std::uint64_t size, const char* what) const;
  // `count` structures of type T at `offset`.
  template <typename T>
  Result<std::vector<T>> table(std::uint64_t offset, std::uint64_t count, const char* what) const;
  Result<std::span<const char>> at_address(std::uint64_t address, std::uint64_t size, const char* what) const;
  Status read_headers();
  Status add_symbols(const Elf64_Shdr& section, std::vector<Symbol>& symbols) const;

  std::span<const char> bytes_;
  std::string name_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
};

// Bytes as lower-case hexadecimal, the way build ids are written.
std::string to_hex(std::span<const char> bytes);

}  // namespace sooth
