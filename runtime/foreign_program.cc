#include "runtime/foreign_program.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace sooth::rt {
namespace {

// A file in memory. What it says of itself is not trusted.
class Image {
 public:
  explicit Image(const char* path) {
    long file = sys_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status;
    if (sys_call(SYS_fstat, file, reinterpret_cast<long>(&status)) == 0 && S_ISREG(status.st_mode) &&
        status.st_size >= static_cast<long>(sizeof(Elf64_Ehdr))) {
      long at = sys_call(SYS_mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
      if (at > 0) {
        begin_ = reinterpret_cast<const char*>(at);
        size_ = static_cast<u64>(status.st_size);
      }
    }
    sys_call(SYS_close, file);
  }
  ~Image() {
    if (begin_ != nullptr) sys_call(SYS_munmap, reinterpret_cast<long>(begin_), static_cast<long>(size_));
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  // nullptr: there are not so many.
  template <typename T>
  const T* array(u64 offset, u64 count) const {
    bool fits =
        begin_ != nullptr && offset <= size_ && count <= (size_ - offset) / sizeof(T) && offset % alignof(T) == 0;
    return fits ? reinterpret_cast<const T*>(begin_ + offset) : nullptr;
  }

 private:
  const char* begin_ = nullptr;
  u64 size_ = 0;
};

struct Tables {
  u64 names = 0, names_size = 0, symbols = 0;  // addresses
  const Elf64_Dyn* entries = nullptr;
  u64 count = 0;
};

struct Segments {
  const Elf64_Phdr* first = nullptr;
  u64 count = 0;

  // Where in the file the address is; ~0: nowhere.
  u64 offset_of(u64 address) const {
    for (u64 i = 0; i < count; ++i) {
      const Elf64_Phdr& s = first[i];
      if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
        return address - s.p_vaddr + s.p_offset;
    }
    return ~u64{0};
  }
};

bool begins_with(const char* text, u64 room, const char* start) {
  u64 length = text_length(start);
  if (length > room) return false;
  for (u64 i = 0; i < length; ++i)
    if (text[i] != start[i]) return false;
  return true;
}

struct Sanitizer {
  const char* name;
  const char* symbol;     // that its run time library has, linked into the program
  const char* libraries;  // what file names of it begin with; nullptr: as a library it gives way to ours
  const char* clangs;
};
constexpr Sanitizer kSanitizers[] = {
    {"ThreadSanitizer", "__tsan_init", nullptr, nullptr},
    {"AddressSanitizer", "__asan_init", "libasan.so", "libclang_rt.asan"},
    {"LeakSanitizer", "__lsan_init", "liblsan.so", "libclang_rt.lsan"},
    {"MemorySanitizer", "__msan_init", "libmsan.so", "libclang_rt.msan"},
    {"HWAddressSanitizer", "__hwasan_init", "libhwasan.so", "libclang_rt.hwasan"},
};

// Defined by one of the symbols. nullptr: none is, or there are no symbols.
const char* sanitizer_among(const Elf64_Sym* symbols, u64 count, const char* names, u64 names_size) {
  for (u64 i = 0; symbols != nullptr && i < count; ++i) {
    if (symbols[i].st_shndx == SHN_UNDEF || symbols[i].st_name >= names_size) continue;
    for (const Sanitizer& each : kSanitizers) {
      u64 room = names_size - symbols[i].st_name, length = text_length(each.symbol);
      if (begins_with(names + symbols[i].st_name, room, each.symbol) && length < room &&
          names[symbols[i].st_name + length] == 0)
        return each.name;
    }
  }
  return nullptr;
}

// What programs do not export is there as long as they are not stripped.
const char* sanitizer_in_sections(const Image& image, const Elf64_Ehdr& header) {
  const auto* sections = image.array<Elf64_Shdr>(header.e_shoff, header.e_shnum);
  for (u64 i = 0; sections != nullptr && i < header.e_shnum; ++i) {
    const Elf64_Shdr& section = sections[i];
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= header.e_shnum) continue;
    const Elf64_Shdr& text = sections[section.sh_link];
    u64 count = section.sh_size / sizeof(Elf64_Sym);
    const char* names = image.array<char>(text.sh_offset, text.sh_size);
    if (names == nullptr) continue;
    return sanitizer_among(image.array<Elf64_Sym>(section.sh_offset, count), count, names, text.sh_size);
  }
  return nullptr;
}

}  // namespace

const char* foreign_sanitizer(const char* path) {
  Image image(path);
  const auto* header = image.array<Elf64_Ehdr>(0, 1);
  if (header == nullptr || !begins_with(reinterpret_cast<const char*>(header), sizeof *header, ELFMAG) ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(Elf64_Phdr))
    return nullptr;
  Segments segments{image.array<Elf64_Phdr>(header->e_phoff, header->e_phnum), header->e_phnum};
  if (segments.first == nullptr) return nullptr;
  Tables tables;
  for (u64 i = 0; i < segments.count; ++i) {
    if (segments.first[i].p_type != PT_DYNAMIC) continue;
    tables.count = segments.first[i].p_filesz / sizeof(Elf64_Dyn);
    tables.entries = image.array<Elf64_Dyn>(segments.first[i].p_offset, tables.count);
  }
  if (tables.entries == nullptr) return nullptr;
  for (u64 i = 0; i < tables.count; ++i) {
    const Elf64_Dyn& entry = tables.entries[i];
    if (entry.d_tag == DT_STRTAB) tables.names = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) tables.names_size = entry.d_un.d_val;
    if (entry.d_tag == DT_SYMTAB) tables.symbols = entry.d_un.d_ptr;
  }
  const char* names = image.array<char>(segments.offset_of(tables.names), tables.names_size);
  if (names == nullptr) return nullptr;
  for (u64 i = 0; i < tables.count; ++i) {
    u64 at = tables.entries[i].d_un.d_val;
    if (tables.entries[i].d_tag != DT_NEEDED || at >= tables.names_size) continue;
    for (const Sanitizer& each : kSanitizers) {
      if (each.libraries != nullptr && (begins_with(names + at, tables.names_size - at, each.libraries) ||
                                        begins_with(names + at, tables.names_size - at, each.clangs)))
        return each.name;
    }
  }
  // Linkers put the names right behind the symbols.
  u64 count = tables.names > tables.symbols ? (tables.names - tables.symbols) / sizeof(Elf64_Sym) : 0;
  const char* found = sanitizer_among(image.array<Elf64_Sym>(segments.offset_of(tables.symbols), count), count, names,
                                      tables.names_size);
  return found != nullptr ? found : sanitizer_in_sections(image, *header);
}

}  // namespace sooth::rt
