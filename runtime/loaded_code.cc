#include "runtime/loaded_code.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

namespace sooth::rt {

constexpr uptr kPage = 4096;

bool find_loaded_code(uptr pc, LoadedCode& code) {
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(pc), &found) != 0) return false;
  const char* name = found.dlfo_link_map->l_name;
  bool is_program = name == nullptr || name[0] == 0;
  code = {found.dlfo_link_map->l_addr,
          reinterpret_cast<uptr>(found.dlfo_map_start),
          reinterpret_cast<uptr>(found.dlfo_map_end),
          is_program ? nullptr : name,
          nullptr,
          0};
  if (is_program) {
    // glibc 2.35 tells of the one segment of it that has the address.
    code.segments = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));
    code.segment_count = code.segments == nullptr ? 0 : static_cast<u32>(getauxval(AT_PHNUM));
    for (u32 i = 0; i < code.segment_count; ++i) {
      const auto& segment = code.segments[i];
      if (segment.p_type != PT_LOAD) continue;
      uptr begin = (code.bias + segment.p_vaddr) & ~(kPage - 1), end = code.bias + segment.p_vaddr + segment.p_memsz;
      if (begin < code.begin) code.begin = begin;
      if (end > code.end) code.end = end;
    }
    return true;
  }
  // Mapped with the first segment, as the loader itself relies on.
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(code.begin);
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_phoff <= kPage) {
    code.segments = reinterpret_cast<const ElfW(Phdr)*>(code.begin + header->e_phoff);
    code.segment_count = header->e_phnum;
  }
  return true;
}

}  // namespace sooth::rt
