#include "runtime/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#include "runtime/control.h"
#include "runtime/loaded_code.h"
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

// Addresses of the ELF file.
struct CodeRange {
  u64 begin, end;
};

struct Module {
  uptr bias, begin, end;
  CodeKind kind;               // of all its code, but for
  const CodeRange* functions;  // those of it that are left out: sorted, disjoint
  u32 function_count;
  char build_id[128];
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

// They copy and free what tasks were given, ordered by means that are not seen; their entry points and callbacks are
// modelled instead (wrap_openmp.cc, ompt.cc). What unwinds stacks only looks at tables of code, which the loader may have
// put where the program had freed memory.
constexpr const char kModelled[] =
    "*/libgomp.so*,*/libomp.so*,*/libomp-*.so*,*/libomp5.so*,*/libiomp5.so*,*/libgcc_s.so*";

void write_line(const char* begin, const char* end) {
  long at = sys_call(SYS_lseek, recorder.process_fd, 0, SEEK_CUR);
  if (at < 0 || !is_file_size_allowed(static_cast<u64>(at + (end - begin)))) return;
  sys_call(SYS_write, recorder.process_fd, reinterpret_cast<long>(begin), end - begin);
}

// The build-id note of a loaded module as hexadecimal digits, or "-".
void build_id(uptr bias, const ElfW(Phdr) * headers, u32 count, char* to, char* end) {
  append_text(to, end, "-");
  for (u32 i = 0; i < count; ++i) {
    if (headers[i].p_type != PT_NOTE) continue;
    uptr p = bias + headers[i].p_vaddr, stop = p + headers[i].p_memsz;
    while (p + sizeof(ElfW(Nhdr)) <= stop) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(p);
      uptr name = p + sizeof *note, data = name + ((note->n_namesz + 3) & ~3u);
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
          text_equal(reinterpret_cast<const char*>(name), "GNU")) {
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

// SOOTH_EXCLUDE_CODE: two lines for each module, `BUILDID PATH` (`-`: it has none) and `BEGIN-END BEGIN-END ...`,
// hexadecimal.
constexpr char kFunctionsVariable[] = "SOOTH_EXCLUDE_CODE";

u64 take_hexadecimal(const char*& text) {
  u64 number = 0;
  for (;; ++text) {
    if (*text >= '0' && *text <= '9')
      number = number << 4 | static_cast<u64>(*text - '0');
    else if (*text >= 'a' && *text <= 'f')
      number = number << 4 | static_cast<u64>(*text - 'a' + 10);
    else
      return number;
  }
}

const char* next_line(const char* text) {
  while (*text != 0 && *text != '\n') ++text;
  return *text == 0 ? text : text + 1;
}

// Whether `text` begins with `word` and then `past`.
bool begins_with(const char* text, const char* word, char past) {
  while (*word != 0)
    if (*text++ != *word++) return false;
  return *text == past;
}

void read_functions(Module& m, const char* text) {
  u32 room = 1;
  for (const char* p = text; *p != 0 && *p != '\n'; ++p) room += *p == ' ' ? 1 : 0;
  auto* ranges = static_cast<CodeRange*>(map_memory(room * sizeof(CodeRange)));
  if (ranges == nullptr) fatal("out of memory for the functions that are left out");
  u32 count = 0;
  while (*text != 0 && *text != '\n' && count < room) {
    ranges[count].begin = take_hexadecimal(text);
    if (*text == '-') ++text;
    ranges[count++].end = take_hexadecimal(text);
    if (*text == ' ')
      ++text;
    else
      break;
  }
  m.functions = ranges;
  m.function_count = count;
}

// Mapped once for each time that the module is loaded, and never unmapped.
void find_functions(Module& m) {
  m.functions = nullptr;
  m.function_count = 0;
  const char* line = environment(kFunctionsVariable);
  while (line != nullptr && *line != 0) {
    const char* path = line;
    while (*path != 0 && *path != ' ') ++path;
    bool has_id = m.build_id[0] != '-' || *line != '-';
    bool same = has_id ? begins_with(line, m.build_id, ' ') : *path != 0 && begins_with(path + 1, m.path, '\n');
    const char* ranges = next_line(line);
    if (same) return read_functions(m, ranges);
    line = next_line(ranges);
  }
}

bool is_left_out_function(const Module& m, uptr pc) {
  u64 address = pc - m.bias;
  u32 low = 0, high = m.function_count;  // the first that begins behind the address
  while (low < high) {
    u32 middle = (low + high) / 2;
    if (m.functions[middle].begin <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && address < m.functions[low - 1].end;
}

void write_module(const Module& m) {
  char line[2048];
  char* end = line + sizeof line - 1;
  char* p = append_number(append_text(line, end, "module "), end, generation_);
  for (uptr n : {m.bias, m.begin, m.end}) p = append_number(append_text(p, end, " "), end, n, 16);
  p = append_text(append_text(append_text(append_text(p, end, " "), end, m.build_id), end, " "), end, m.path);
  *p++ = '\n';
  write_line(line, p);
}

Module* known_module(uptr pc) {
  for (u32 i = 0; i < module_count_; ++i)
    if (pc >= modules_[i].begin && pc < modules_[i].end) return &modules_[i];
  return nullptr;
}

// The module of a program counter, which is written down when it is the first one in it. nullptr: code that was made at
// run time. The lock is held.
Module* module_of(uptr pc) {
  if (Module* m = known_module(pc)) return m;
  LoadedCode code;
  if (module_count_ == kMaxModules || !find_loaded_code(pc, code)) return nullptr;
  Module& m = modules_[module_count_];
  m.bias = code.bias;
  m.begin = code.begin;
  m.end = code.end;
  if (code.name != nullptr) {
    append_text(m.path, m.path + sizeof m.path, code.name);
  } else {
    // The program itself has no name.
    long n = sys_call(SYS_readlinkat, AT_FDCWD, reinterpret_cast<long>("/proc/self/exe"),
                      reinterpret_cast<long>(m.path), sizeof m.path - 1);
    m.path[n > 0 ? n : 0] = 0;
  }
  build_id(m.bias, code.segments, code.segment_count, m.build_id, m.build_id + sizeof m.build_id);
  m.kind = excluded_by(kModelled, m.path) ? CodeKind::kModelled
           : is_excluded_path(m.path)     ? CodeKind::kLeftOut
                                          : CodeKind::kRecorded;
  find_functions(m);
  ++module_count_;
  write_module(m);
  return &m;
}

bool is_loaded(const Module& m) {
  LoadedCode code;
  return find_loaded_code(m.begin, code) && code.bias == m.bias && code.end == m.end;
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

// Room for more rows. False: there is none, and the recording ends.
bool reserve_rows() {
  constexpr u32 kStep = 4096;
  if (!reserve_file(recorder.sites_fd, rows_reserved_ * sizeof(SiteRow), (rows_reserved_ + kStep) * sizeof(SiteRow))) {
    stop_for_lack_of_room();
    return false;
  }
  rows_reserved_ += kStep;
  return true;
}

// The row for a new site; ~0u when there is no room for it.
u32 append_row(uptr pc, u32 generation, u32 use) {
  SpinGuard guard(rows_lock_);
  u32 number = recorder.control->sites;
  if (number >= stream::kMaxSites) {
    stop_recording(stream::StopReason::kTooManySites);
    return ~0u;
  }
  if (number >= rows_reserved_ && !reserve_rows()) return ~0u;
  rows_[number] = {pc, generation, use};
  __atomic_store_n(&recorder.control->sites, number + 1, __ATOMIC_RELEASE);
  return number;
}

}  // namespace

bool is_excluded_path(const char* path) {
  return excluded_by(kModelled, path) || excluded_by(options.exclude, path) ||
         excluded_by(environment("SOOTH_EXCLUDE"), path);
}

bool excludes_code() {
  for (const char* given : {options.exclude, environment("SOOTH_EXCLUDE"), environment(kFunctionsVariable)})
    if (given != nullptr && *given != 0) return true;
  return false;
}

CodeKind code_kind(uptr pc) {
  // By value: the table moves when modules are unloaded.
  SpinGuard guard(modules_lock_);
  const Module* m = module_of(pc);
  if (m == nullptr) return CodeKind::kRecorded;
  return m->kind == CodeKind::kRecorded && is_left_out_function(*m, pc) ? CodeKind::kLeftOut : m->kind;
}

u32 module_generation() { return __atomic_load_n(&generation_, __ATOMIC_RELAXED); }

namespace {

// What a row is for: rows of different kinds have the same program counter.
enum class RowKind : u32 { kSite = 0, kFrame = 1, kName = 2 };

u64 row_key(uptr pc, RowKind kind, u32 generation) {
  return (static_cast<u64>(pc) & ((u64{1} << 48) - 1)) |
         static_cast<u64>((generation & 0x3fff) | static_cast<u32>(kind) << 14) << 48;
}
u32 place_of(u64 key) { return static_cast<u32>((key * 0x9e3779b97f4a7c15) >> 40) & (kSiteEntries - 1); }

// RowKind::kName: a row of its own, for a function that makes no events.
u32 intern(uptr pc, RowKind kind) {
  u32 generation = module_generation();
  u64 key = row_key(pc, kind, generation);
  u32 at = place_of(key);
  for (u32 probes = 0; probes < kSiteEntries; ++probes, at = (at + 1) & (kSiteEntries - 1)) {
    SiteEntry& e = entries_[at];
    u64 found = __atomic_load_n(&e.key, __ATOMIC_ACQUIRE);
    if (found == 0 && __atomic_compare_exchange_n(&e.key, &found, key, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      bool is_out = kind != RowKind::kName && code_kind(pc) != CodeKind::kRecorded;
      u32 number = is_out ? kExcluded : append_row(pc, generation, kind == RowKind::kFrame ? stream::kFrameRow : 0);
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

}  // namespace

bool is_known_site(uptr pc) {
  u64 key = row_key(pc, RowKind::kSite, module_generation());
  u32 at = place_of(key);
  for (u32 probes = 0; probes < kSiteEntries; ++probes, at = (at + 1) & (kSiteEntries - 1)) {
    u64 found = __atomic_load_n(&entries_[at].key, __ATOMIC_ACQUIRE);
    if (found == key) return __atomic_load_n(&entries_[at].number, __ATOMIC_ACQUIRE) != 0;
    if (found == 0) return false;
  }
  return false;
}
u32 intern_site(uptr pc) { return intern(pc, RowKind::kSite); }
u32 intern_frame(uptr pc) { return intern(pc, RowKind::kFrame); }
u32 intern_function(uptr pc) { return intern(pc, RowKind::kName); }

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
  long rows = sys_call(SYS_mmap, 0, stream::kMaxSites * sizeof(SiteRow), PROT_READ | PROT_WRITE, MAP_SHARED,
                       recorder.sites_fd, 0);
  if (modules_ == nullptr) modules_ = static_cast<Module*>(map_memory(kMaxModules * sizeof(Module)));
  if (entries_ == nullptr || modules_ == nullptr || (rows < 0 && rows > -4096)) return false;
  rows_ = reinterpret_cast<SiteRow*>(rows);
  rows_reserved_ = 0;
  rows_lock_.reset();
  modules_lock_.reset();
  module_count_ = 0;
  // At once: what has no row goes under the first one.
  if (!reserve_rows()) return false;
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

uptr main_caller_ = 0;

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
