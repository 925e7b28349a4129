#include "runtime/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#include "runtime/control.h"
#include "runtime/options.h"

namespace sooth::rt {
namespace {

using stream::SiteRow;

// pc and generation -> number in `sites`, open addressing. Entries are claimed by their key and never removed.
struct SiteEntry {
  u64 key;     // pc | generation << 48; 0: free
  u32 number;  // 1 + the site's, 0 while its claimer writes the row; kExcluded
};
constexpr u32 kExcluded = ~0u;
constexpr u32 kSiteEntries = stream::kMaxSites * 2;
SiteEntry* entries_ = nullptr;
SiteRow* rows_ = nullptr;
u32 rows_reserved_ = 0;
SpinLock rows_lock_;

struct Module {
  uptr bias, begin, end;
  bool excluded;
  char path[512];
};
constexpr u32 kMaxModules = 1024;
Module* modules_ = nullptr;
u32 module_count_ = 0;
u32 generation_ = 0;
SpinLock modules_lock_;
uptr library_begin_ = 0, library_end_ = 0;  // where this library is mapped

bool matches(const char* pattern, const char* end, const char* text) {
  for (; pattern != end; ++pattern, ++text) {
    if (*pattern == '*') {
      for (;; ++text) {
        if (matches(pattern + 1, end, text)) return true;
        if (*text == 0) return false;
      }
    }
    if (*text == 0 || (*pattern != '?' && *pattern != *text)) return false;
  }
  return *text == 0;
}

bool excluded_by(const char* patterns, const char* path) {
  while (patterns != nullptr && *patterns != 0) {
    const char* end = patterns;
    while (*end != 0 && *end != ',') ++end;
    if (matches(patterns, end, path)) return true;
    patterns = *end == 0 ? end : end + 1;
  }
  return false;
}

// libgomp copies and frees what tasks were given, ordered by means that are not seen; its entry points are modelled instead (wrap_openmp.cc).
constexpr const char kAlwaysExcluded[] = "*/libgomp.so*";

void write_line(const char* begin, const char* end) {
  long at = sys_call(SYS_lseek, recorder.process_fd, 0, SEEK_CUR);
  if (at < 0 || !is_file_size_allowed(static_cast<u64>(at + (end - begin)))) return;
  sys_call(SYS_write, recorder.process_fd, reinterpret_cast<long>(begin), end - begin);
}

// The build-id note of a loaded module as hexadecimal digits, or "-".
void build_id(uptr bias, const ElfW(Phdr)* headers, u32 count, char* to, char* end) {
  append_text(to, end, "-");
  for (u32 i = 0; i < count; ++i) {
    if (headers[i].p_type != PT_NOTE) continue;
    uptr p = bias + headers[i].p_vaddr, stop = p + headers[i].p_memsz;
    while (p + sizeof(ElfW(Nhdr)) <= stop) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(p);
      uptr name = p + sizeof *note, data = name + ((note->n_namesz + 3) & ~3u);
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && text_equal(reinterpret_cast<const char*>(name), "GNU")) {
        for (u32 k = 0; k < note->n_descsz; ++k) {
          u8 byte = reinterpret_cast<const u8*>(data)[k];
          to = append_number(append_number(to, end, byte >> 4, 16), end, byte & 15, 16);
        }
        return;
      }
      p = data + ((note->n_descsz + 3) & ~3u);
    }
  }
}

void write_module(const Module& m) {
  char line[2048];
  char* end = line + sizeof line - 1;
  char id[128];
  // Mapped with the first segment, as the loader itself relies on.
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(m.begin);
  build_id(m.bias, reinterpret_cast<const ElfW(Phdr)*>(m.begin + header->e_phoff), header->e_phnum, id, id + sizeof id);
  char* p = append_number(append_text(line, end, "module "), end, generation_);
  for (uptr n : {m.bias, m.begin, m.end}) p = append_number(append_text(p, end, " "), end, n, 16);
  p = append_text(append_text(append_text(append_text(p, end, " "), end, id), end, " "), end, m.path);
  *p++ = '\n';
  write_line(line, p);
}

Module* known_module(uptr pc) {
  for (u32 i = 0; i < module_count_; ++i)
    if (pc >= modules_[i].begin && pc < modules_[i].end) return &modules_[i];
  return nullptr;
}

// The module of a program counter, which is written down when it is the first one in it. nullptr: code that was made at run time.
// Looks without locks of the loader, which another thread may hold while it runs constructors.
Module* module_of(uptr pc) {
  SpinGuard guard(modules_lock_);
  if (Module* m = known_module(pc)) return m;
  dl_find_object found;
  if (module_count_ == kMaxModules || _dl_find_object(reinterpret_cast<void*>(pc), &found) != 0) return nullptr;
  Module& m = modules_[module_count_];
  m.bias = found.dlfo_link_map->l_addr;
  m.begin = reinterpret_cast<uptr>(found.dlfo_map_start);
  m.end = reinterpret_cast<uptr>(found.dlfo_map_end);
  const char* name = found.dlfo_link_map->l_name;
  if (name != nullptr && name[0] != 0) {
    append_text(m.path, m.path + sizeof m.path, name);
  } else {
    // The program itself has no name.
    long n = sys_call(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"), reinterpret_cast<long>(m.path), sizeof m.path - 1);
    m.path[n > 0 ? n : 0] = 0;
  }
  m.excluded = is_excluded_path(m.path);
  ++module_count_;
  write_module(m);
  return &m;
}

bool is_loaded(const Module& m) {
  dl_find_object found;
  return _dl_find_object(reinterpret_cast<void*>(m.begin), &found) == 0 && found.dlfo_link_map->l_addr == m.bias &&
         reinterpret_cast<uptr>(found.dlfo_map_end) == m.end;
}

// As the shell would show it: what has no plain characters only is in quotes; line feeds become blanks.
void write_command() {
  char arguments[4096], line[8192];
  long fd = sys_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/cmdline"), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  long n = sys_call(SYS_read, fd, reinterpret_cast<long>(arguments), sizeof arguments);
  sys_call(SYS_close, fd);
  char* end = line + sizeof line - 1;
  char* p = append_text(line, end, "command");
  for (long at = 0; at < n;) {
    p = append_text(p, end, " ");
    for (; at < n && arguments[at] != 0; ++at) {
      char c[2] = {arguments[at] == '\n' ? ' ' : arguments[at], 0};
      p = append_text(p, end, c);
    }
    ++at;
  }
  *p++ = '\n';
  write_line(line, p);
}

bool in_excluded_module(uptr pc) {
  const Module* m = module_of(pc);
  return m != nullptr && m->excluded;
}

// The row for a new site; ~0u when there is no room for it.
u32 append_row(uptr pc, u32 generation) {
  SpinGuard guard(rows_lock_);
  u32 number = recorder.control->sites;
  constexpr u32 kStep = 4096;  // rows
  if (number >= stream::kMaxSites) {
    stop_recording(stream::StopReason::kTooManySites);
    return ~0u;
  }
  if (number >= rows_reserved_) {
    if (!reserve_file(recorder.sites_fd, rows_reserved_ * sizeof(SiteRow), (rows_reserved_ + kStep) * sizeof(SiteRow))) {
      stop_recording(stream::StopReason::kDiskFull);
      return ~0u;
    }
    rows_reserved_ += kStep;
  }
  rows_[number] = {pc, generation, 0};
  __atomic_store_n(&recorder.control->sites, number + 1, __ATOMIC_RELEASE);
  return number;
}

}  // namespace

bool is_excluded_path(const char* path) {
  return excluded_by(kAlwaysExcluded, path) || excluded_by(options.exclude, path) || excluded_by(environment("SOOTH_EXCLUDE"), path);
}

u32 module_generation() { return __atomic_load_n(&generation_, __ATOMIC_RELAXED); }

u32 intern_site(uptr pc) {
  u32 generation = module_generation();
  u64 key = (static_cast<u64>(pc) & ((u64{1} << 48) - 1)) | static_cast<u64>(generation & 0xffff) << 48;
  u32 at = static_cast<u32>((key * 0x9e3779b97f4a7c15) >> 40) & (kSiteEntries - 1);
  for (u32 probes = 0; probes < kSiteEntries; ++probes, at = (at + 1) & (kSiteEntries - 1)) {
    SiteEntry& e = entries_[at];
    u64 found = __atomic_load_n(&e.key, __ATOMIC_ACQUIRE);
    if (found == 0 && __atomic_compare_exchange_n(&e.key, &found, key, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      u32 number = in_excluded_module(pc) ? kExcluded : append_row(pc, generation);
      __atomic_store_n(&e.number, number == ~0u ? kExcluded : number + 1, __ATOMIC_RELEASE);
      return number;
    }
    if (found != key) continue;
    u32 number;
    while ((number = __atomic_load_n(&e.number, __ATOMIC_ACQUIRE)) == 0) cpu_relax();
    return number == kExcluded ? ~0u : number - 1;
  }
  return ~0u;
}

void modules_unloaded() {
  if (recorder.controlled) return controlled::modules_changed();
  if (!recording()) return;
  SpinGuard guard(modules_lock_);
  __atomic_fetch_add(&generation_, 1, __ATOMIC_ACQ_REL);
  for (u32 i = module_count_; i-- > 0;) {
    if (is_loaded(modules_[i])) continue;
    char line[1024];
    char* end = line + sizeof line - 1;
    char* p = append_number(append_text(line, end, "unload "), end, generation_);
    p = append_number(append_text(p, end, " "), end, modules_[i].bias, 16);
    p = append_text(append_text(p, end, " "), end, modules_[i].path);
    *p++ = '\n';
    write_line(line, p);
    modules_[i] = modules_[--module_count_];
  }
}

bool start_modules() {
  // Also in the child of a fork, whose sites start afresh.
  if (entries_ != nullptr) unmap_memory(entries_, kSiteEntries * sizeof(SiteEntry));
  entries_ = static_cast<SiteEntry*>(map_memory(kSiteEntries * sizeof(SiteEntry)));
  if (rows_ != nullptr) unmap_memory(rows_, stream::kMaxSites * sizeof(SiteRow));
  long rows = sys_call(SYS_mmap, 0, stream::kMaxSites * sizeof(SiteRow), PROT_READ | PROT_WRITE, MAP_SHARED, recorder.sites_fd, 0);
  if (modules_ == nullptr) modules_ = static_cast<Module*>(map_memory(kMaxModules * sizeof(Module)));
  if (entries_ == nullptr || modules_ == nullptr || (rows < 0 && rows > -4096)) return false;
  rows_ = reinterpret_cast<SiteRow*>(rows);
  rows_reserved_ = 0;
  rows_lock_.reset();
  modules_lock_.reset();
  module_count_ = 0;
  write_command();
  find_own_code();
  return true;
}

void find_own_code() {
  dl_find_object own;
  if (_dl_find_object(reinterpret_cast<void*>(&find_own_code), &own) != 0) return;
  library_begin_ = reinterpret_cast<uptr>(own.dlfo_map_start);
  library_end_ = reinterpret_cast<uptr>(own.dlfo_map_end);
}

bool is_library_code(uptr pc) { return pc >= library_begin_ && pc < library_end_; }

int copy_descriptor(int fd) {
  long copy = -1;
  // A low limit on descriptors, or many that are open already: then as high as can be.
  for (long lowest = 700; copy < 0 && lowest > 3; lowest /= 2) copy = sys_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest);
  return static_cast<int>(copy);
}

int move_descriptor(int fd) {
  int high = copy_descriptor(fd);
  if (high < 0) return fd;
  sys_call(SYS_close, fd);
  return high;
}

}  // namespace sooth::rt
