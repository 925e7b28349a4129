#include "symbol/elf_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace sooth {
namespace {

// The string at `index` of a string table; empty when it does not end inside.
std::string_view string_in(std::span<const char> table, std::uint64_t index) {
  if (index >= table.size()) {
    return {};
  }
  const char* begin = table.data() + index;
  const std::size_t size = ::strnlen(begin, table.size() - index);
  return index + size < table.size() ? std::string_view(begin, size) : std::string_view();
}

constexpr std::uint64_t round_up_to_4(std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; }

// The descriptor of the first NT_GNU_BUILD_ID in the notes; empty when there is none or the notes are cut short.
std::span<const char> find_build_id(std::span<const char> notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof note);
    const std::uint64_t name_at = sizeof note;
    const std::uint64_t descriptor_at = name_at + round_up_to_4(note.n_namesz);
    if (descriptor_at + note.n_descsz > notes.size()) {
      return {};
    }
    const std::string_view name(notes.data() + name_at, note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4)) {
      return notes.subspan(descriptor_at, note.n_descsz);
    }
    notes = notes.subspan(std::min<std::uint64_t>(descriptor_at + round_up_to_4(note.n_descsz), notes.size()));
  }
  return {};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO must not block us
  if (fd < 0) {
    return Status::bad_input(path + ": " + std::strerror(errno));
  }
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return Status::bad_input(path + ": not a regular file");
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  void* data = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  const int error = errno;
  ::close(fd);
  if (data == MAP_FAILED) {
    return Status::internal(path + ": cannot be mapped: " + std::strerror(error));
  }
  return MappedFile(static_cast<const char*>(data), size, info.st_mode);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), mode_(other.mode_) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    ::munmap(const_cast<char*>(data_), size_);
  }
}

Result<ElfImage> ElfImage::parse(std::span<const char> bytes, const std::string& name) {
  ElfImage image(bytes, name);
  SOOTH_RETURN_IF_ERROR(image.read_headers());
  return image;
}

Status ElfImage::damaged(const std::string& what) const {
  return Status::bad_input(name_ + ": damaged ELF file: " + what);
}

Result<std::span<const char>> ElfImage::range(std::uint64_t offset, std::uint64_t size, const char* what) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) {
    return damaged(std::string(what) + " would be " + std::to_string(size) + " bytes at offset " +
                   std::to_string(offset) + ", and the file has " + std::to_string(bytes_.size()));
  }
  return bytes_.subspan(offset, size);
}

template <typename T>
Result<std::vector<T>> ElfImage::table(std::uint64_t offset, std::uint64_t count, const char* what) const {
  if (count > bytes_.size() / sizeof(T)) {
    return damaged(std::string(what) + " would be " + std::to_string(count) + " times " + std::to_string(sizeof(T)) +
                   " bytes, and the file has " + std::to_string(bytes_.size()));
  }
  const auto found = range(offset, count * sizeof(T), what);
  if (!found.ok()) {
    return found.status();
  }
  std::vector<T> entries(count);
  if (count > 0) {
    std::memcpy(entries.data(), found->data(), found->size());
  }
  return entries;
}

Status ElfImage::read_headers() {
  const auto header = table<Elf64_Ehdr>(0, 1, "the file header");
  if (!header.ok()) {
    return header.status();
  }
  header_ = header->front();
  std::uint64_t section_count = header_.e_shnum;
  std::uint64_t segment_count = header_.e_phnum;
  if (header_.e_shoff != 0 && (header_.e_shnum == 0 || header_.e_phnum == PN_XNUM)) {
    // Counts that do not fit into the file header stand in the first section header.
    const auto first = table<Elf64_Shdr>(header_.e_shoff, 1, "the first section header");
    if (!first.ok()) {
      return first.status();
    }
    section_count = header_.e_shnum == 0 ? first->front().sh_size : section_count;
    segment_count = header_.e_phnum == PN_XNUM ? first->front().sh_info : segment_count;
  }
  if ((segment_count > 0 && header_.e_phentsize != sizeof(Elf64_Phdr)) ||
      (section_count > 0 && header_.e_shentsize != sizeof(Elf64_Shdr))) {
    return damaged("its headers have an impossible size");
  }
  auto segments = table<Elf64_Phdr>(header_.e_phoff, segment_count, "the table of segments");
  if (!segments.ok()) {
    return segments.status();
  }
  auto sections = table<Elf64_Shdr>(header_.e_shoff, section_count, "the table of sections");
  if (!sections.ok()) {
    return sections.status();
  }
  segments_ = std::move(*segments);
  sections_ = std::move(*sections);
  return {};
}

Result<std::span<const char>> ElfImage::at_address(std::uint64_t address, std::uint64_t size, const char* what) const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
      return range(segment.p_offset + (address - segment.p_vaddr), size, what);
    }
  }
  return damaged(std::string(what) + " is in no segment of the file");
}

std::span<const char> ElfImage::loaded(std::uint64_t address, std::uint64_t size) const {
  for (const Elf64_Phdr& segment : segments_) {
    const std::uint64_t before = address - segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && before < segment.p_filesz &&
        size <= segment.p_filesz - before && segment.p_offset <= bytes_.size()) {
      const Result<std::span<const char>> found = range(segment.p_offset + before, size, "code");
      return found.ok() ? *found : std::span<const char>();
    }
  }
  return {};
}

Result<std::vector<ElfImage::Import>> ElfImage::imports() const {
  std::vector<Import> found;
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != SHT_RELA || section.sh_link >= sections_.size() ||
        sections_[section.sh_link].sh_type != SHT_DYNSYM || sections_[section.sh_link].sh_link >= sections_.size()) {
      continue;
    }
    const Elf64_Shdr& symbol_section = sections_[section.sh_link];
    const Elf64_Shdr& name_section = sections_[symbol_section.sh_link];
    const auto rows = table<Elf64_Rela>(section.sh_offset, section.sh_size / sizeof(Elf64_Rela), "a relocation table");
    const auto symbols =
        table<Elf64_Sym>(symbol_section.sh_offset, symbol_section.sh_size / sizeof(Elf64_Sym), "the symbol table");
    const auto names = range(name_section.sh_offset, name_section.sh_size, "the names of symbols");
    if (!rows.ok() || !symbols.ok() || !names.ok()) {
      return !rows.ok() ? rows.status() : !symbols.ok() ? symbols.status() : names.status();
    }
    for (const Elf64_Rela& row : *rows) {
      const std::uint64_t type = ELF64_R_TYPE(row.r_info);
      const std::uint64_t symbol = ELF64_R_SYM(row.r_info);
      if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) && symbol < symbols->size()) {
        found.push_back({row.r_offset, string_in(*names, (*symbols)[symbol].st_name)});
      }
    }
  }
  return found;
}

Result<std::vector<Elf64_Dyn>> ElfImage::dynamic() const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_DYNAMIC) {
      continue;
    }
    auto entries = table<Elf64_Dyn>(segment.p_offset, segment.p_filesz / sizeof(Elf64_Dyn), "the dynamic segment");
    if (!entries.ok()) {
      return entries;
    }
    for (std::size_t i = 0; i < entries->size(); ++i) {
      if ((*entries)[i].d_tag == DT_NULL) {
        entries->resize(i);
        return entries;
      }
    }
    return damaged("the dynamic segment has no end");
  }
  return std::vector<Elf64_Dyn>();
}

Result<std::vector<std::string>> ElfImage::dynamic_strings(std::span<const Elf64_Dyn> entries, std::int64_t tag) const {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  for (const Elf64_Dyn& entry : entries) {
    address = entry.d_tag == DT_STRTAB ? entry.d_un.d_ptr : address;
    size = entry.d_tag == DT_STRSZ ? entry.d_un.d_val : size;
  }
  std::vector<std::string> strings;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag != tag) {
      continue;
    }
    const auto table = at_address(address, size, "the string table of the dynamic segment");
    if (!table.ok()) {
      return table.status();
    }
    const std::string_view text = string_in(*table, entry.d_un.d_val);
    if (text.empty()) {
      return damaged("entry " + std::to_string(tag) + " of the dynamic segment names no string");
    }
    strings.emplace_back(text);
  }
  return strings;
}

Status ElfImage::add_symbols(const Elf64_Shdr& section, std::vector<Symbol>& symbols) const {
  if (section.sh_link >= sections_.size()) {
    return damaged("a symbol table has no string table");
  }
  const Elf64_Shdr& link = sections_[section.sh_link];
  const auto names = range(link.sh_offset, link.sh_size, "the string table of a symbol table");
  if (!names.ok()) {
    return names.status();
  }
  const auto entries = table<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym), "a symbol table");
  if (!entries.ok()) {
    return entries.status();
  }
  for (const Elf64_Sym& entry : *entries) {
    const std::string_view name = string_in(*names, entry.st_name);
    if (!name.empty()) {
      symbols.push_back({name, entry.st_shndx != SHN_UNDEF, ELF64_ST_BIND(entry.st_info) == STB_LOCAL});
    }
  }
  return {};
}

Result<std::vector<ElfImage::Symbol>> ElfImage::symbols() const {
  std::vector<Symbol> symbols;
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) {
      SOOTH_RETURN_IF_ERROR(add_symbols(section, symbols));
    }
  }
  return symbols;
}

Result<std::string> ElfImage::build_id() const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_NOTE) {
      continue;
    }
    const auto notes = range(segment.p_offset, segment.p_filesz, "a segment of notes");
    if (!notes.ok()) {
      return notes.status();
    }
    if (const auto id = find_build_id(*notes); !id.empty()) {
      return to_hex(id);
    }
  }
  return std::string();
}

Result<std::string> ElfImage::interpreter() const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_INTERP) {
      continue;
    }
    const auto text = range(segment.p_offset, segment.p_filesz, "the name of the dynamic linker");
    if (!text.ok()) {
      return text.status();
    }
    const std::string_view name = string_in(*text, 0);
    return name.empty() ? Result<std::string>(damaged("the name of the dynamic linker has no end")) : std::string(name);
  }
  return std::string();
}

std::string to_hex(std::span<const char> bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += "0123456789abcdef"[value >> 4];
    text += "0123456789abcdef"[value & 15];
  }
  return text;
}

}  // namespace sooth
