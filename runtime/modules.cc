#include "runtime/modules.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

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
  bool present;   // seen by the current walk
  bool excluded;
  char path[512];
};
constexpr u32 kMaxModules = 1024;
Module* modules_ = nullptr;
u32 module_count_ = 0;
u32 generation_ = 0;
SpinLock modules_lock_;

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

bool is_excluded_path(const char* path) {
  return excluded_by(options.exclude, path) || excluded_by(environment("SOOTH_EXCLUDE"), path);
}

void write_line(const char* begin, const char* end) {
  sys_call(SYS_write, recorder.process_fd, reinterpret_cast<long>(begin), end - begin);
}

// The build-id note of a loaded module as hexadecimal digits, or "-".
void build_id(const dl_phdr_info* info, char* to, char* end) {
  append_text(to, end, "-");
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    uptr p = info->dlpi_addr + header.p_vaddr, stop = p + header.p_memsz;
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

void write_module(const dl_phdr_info* info, const Module& m) {
  char line[2048];
  char* end = line + sizeof line - 1;
  char id[128];
  build_id(info, id, id + sizeof id);
  char* p = append_number(append_text(line, end, "module "), end, generation_);
  for (uptr n : {m.bias, m.begin, m.end}) p = append_number(append_text(p, end, " "), end, n, 16);
  p = append_text(append_text(append_text(append_text(p, end, " "), end, id), end, " "), end, m.path);
  *p++ = '\n';
  write_line(line, p);
}

const char* path_of(const dl_phdr_info* info, char* own, u64 room) {
  if (info->dlpi_name != nullptr && info->dlpi_name[0] != 0) return info->dlpi_name;
  // The program itself has no name.
  long n = sys_call(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"), reinterpret_cast<long>(own), static_cast<long>(room - 1));
  own[n > 0 ? n : 0] = 0;
  return own;
}

int visit_module(dl_phdr_info* info, std::size_t, void*) {
  uptr begin = ~uptr{0}, end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    uptr from = info->dlpi_addr + header.p_vaddr;
    if (from < begin) begin = from;
    if (from + header.p_memsz > end) end = from + header.p_memsz;
  }
  if (end == 0) return 0;
  for (u32 i = 0; i < module_count_; ++i) {
    if (modules_[i].begin == begin && modules_[i].end == end) {
      modules_[i].present = true;
      return 0;
    }
  }
  if (module_count_ == kMaxModules) return 0;
  Module& m = modules_[module_count_++];
  char own[512];
  m.bias = info->dlpi_addr;
  m.begin = begin;
  m.end = end;
  m.present = true;
  append_text(m.path, m.path + sizeof m.path, path_of(info, own, sizeof own));
  m.excluded = is_excluded_path(m.path);
  write_module(info, m);
  return 0;
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
  for (u32 i = 0; i < module_count_; ++i)
    if (pc >= modules_[i].begin && pc < modules_[i].end) return modules_[i].excluded;
  return false;
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
    long r = sys_call(SYS_fallocate, recorder.sites_fd, 0, static_cast<long>(rows_reserved_ * sizeof(SiteRow)),
                      static_cast<long>(kStep * sizeof(SiteRow)));
    if (r != 0 && !(r == -95 && sys_call(SYS_ftruncate, recorder.sites_fd, static_cast<long>((rows_reserved_ + kStep) * sizeof(SiteRow))) == 0)) {
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

void modules_changed(bool unloaded) {
  if (!recording()) return;
  SpinGuard guard(modules_lock_);
  for (u32 i = 0; i < module_count_; ++i) modules_[i].present = false;
  if (unloaded) __atomic_fetch_add(&generation_, 1, __ATOMIC_ACQ_REL);
  dl_iterate_phdr(visit_module, nullptr);
  for (u32 i = module_count_; i-- > 0;) {
    if (modules_[i].present) continue;
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
  modules_changed(false);
  return true;
}

int move_descriptor(int fd) {
  long high = sys_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 700);
  if (high < 0) return fd;  // a low limit on descriptors: it stays where it is
  sys_call(SYS_close, fd);
  return static_cast<int>(high);
}

}  // namespace sooth::rt
