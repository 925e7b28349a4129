#include "runtime/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "runtime/calls.h"
#include "runtime/control.h"
#include "runtime/deep.h"
#include "runtime/modules.h"
#include "runtime/options.h"
#include "runtime/ownership.h"
#include "runtime/signals.h"
#include "runtime/stream_writer.h"
#include "runtime/turn.h"
#include "trace/versions.h"

namespace sooth::rt {

Recorder recorder{};

namespace {

using stream::ChunkHeader;
using stream::Control;
using stream::kChunkBytes;
using stream::StopReason;

constexpr u64 kPathRoom = 4096;
char directory_[kPathRoom];       // of this process's recording
char base_directory_[kPathRoom];  // SOOTH_RECORD: what the names of further ones start with
u64 max_bytes_ = 0;               // --max-trace; 0: none
u64 reserved_bytes_ = 0;          // of `streams`, on the disk
const u8 kZeros[kChunkBytes] = {};
SpinLock growth_;
u32 next_stream_ = 0;
int last_failure_ = 0;  // errno of what did not give the recording room

// `r`: what a system call has returned.
void note_failure(long r) {
  if (r < 0) __atomic_store_n(&last_failure_, static_cast<int>(-r), __ATOMIC_RELAXED);
}

long open_file(const char* directory, const char* name, int how = O_EXCL) {
  char path[kPathRoom + 16];
  char* end = path + sizeof path;
  append_text(append_text(append_text(path, end, directory), end, "/"), end, name);
  return sys_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDWR | O_CREAT | how | O_CLOEXEC, 0600);
}

void* map_file(int fd, u64 offset, u64 bytes, int extra) {
  long r = sys_call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | extra, fd,
                    static_cast<long>(offset));
  bool failed = r < 0 && r > -4096;
  if (failed) note_failure(r == -EAGAIN ? -ENOMEM : r);  // locked memory is memory, too
  return failed ? nullptr : reinterpret_cast<void*>(r);
}

long claimed_streams_ = -1;  // a descriptor: `streams` in a directory that was there

// Makes the directory: `base` itself, or a free name that starts with it. Whoever started the program may have made
// `base` already, so that nobody else takes the name: then it is for the first process that puts `streams` into it.
bool make_directory(const char* base, bool beside) {
  u64 pid = static_cast<u64>(sys_call(SYS_getpid));
  for (u32 attempt = beside ? 1 : 0; attempt < 1000; ++attempt) {
    char* end = directory_ + sizeof directory_;
    char* p = append_text(directory_, end, base);
    if (attempt >= 1) p = append_number(append_text(p, end, "."), end, pid);
    if (attempt >= 2) append_number(append_text(p, end, "."), end, attempt);
    long r = sys_call(SYS_mkdirat, AT_FDCWD, reinterpret_cast<long>(directory_), 0700);
    if (r == 0) return true;
    if (r == -17 && attempt == 0) {
      claimed_streams_ = open_file(directory_, stream::kStreamsFile);
      if (claimed_streams_ >= 0) return true;
    }
    if (r != -17) {  // EEXIST
      warn("cannot make the directory ", directory_, ": nothing is recorded");
      return false;
    }
  }
  return false;
}

bool open_directory() {
  struct {
    const char* name;
    int* fd;
  } files[] = {{stream::kStreamsFile, &recorder.streams_fd},
               {stream::kSitesFile, &recorder.sites_fd},
               {stream::kProcessFile, &recorder.process_fd}};
  for (auto& file : files) {
    long fd = claimed_streams_ >= 0 ? claimed_streams_ : open_file(directory_, file.name);
    claimed_streams_ = -1;  // the first of them
    if (fd < 0) {
      warn("cannot create ", file.name, " in ", directory_);
      return false;
    }
    *file.fd = move_descriptor(static_cast<int>(fd));
  }
  recorder.directory = directory_;
  return true;
}

// "a,b,c" in SOOTH_RECORD_FDS. Only the first process that claims the control page records.
bool open_descriptors(const char* text) {
  int fds[3] = {0, 0, 0};
  for (int& fd : fds) {
    while (*text >= '0' && *text <= '9') fd = fd * 10 + (*text++ - '0');
    if (*text == ',') ++text;
  }
  recorder.streams_fd = fds[0];
  recorder.sites_fd = fds[1];
  recorder.process_fd = fds[2];
  recorder.directory = nullptr;
  for (int fd : fds) sys_call(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
  return true;
}

u64 number_of(const char* name) {
  const char* text = environment(name);
  u64 n = 0;
  while (text != nullptr && *text >= '0' && *text <= '9') n = n * 10 + static_cast<u64>(*text++ - '0');
  return n;
}

const char* why_no_room() {
  switch (__atomic_load_n(&last_failure_, __ATOMIC_RELAXED)) {
    case ENOSPC: return "the disk is full";
    case EDQUOT: return "the disk quota is used up";
    case EFBIG: return "files may not grow so large (ulimit -f)";
    case EIO: return "the disk reported an error";
  }
  return "there is no room for it";
}

bool open_control() {
  reserved_bytes_ = stream::kControlBytes + 4 * u64{kChunkBytes};
  next_stream_ = 0;
  if (!reserve_file(recorder.streams_fd, 0, reserved_bytes_)) {
    warn("cannot begin the recording: ", why_no_room());
    return false;
  }
  auto* control = static_cast<Control*>(map_file(recorder.streams_fd, 0, stream::kControlBytes, MAP_POPULATE));
  if (control == nullptr) return false;
  u32 pid = static_cast<u32>(sys_call(SYS_getpid));
  u32 nobody = 0;
  if (!__atomic_compare_exchange_n(&control->pid, &nobody, pid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return false;
  control->version = kStreamVersion;
  control->chunk_bytes = kChunkBytes;
  control->flags = (recorder.serial ? stream::kExactOrder | stream::kWithValues : 0) |
                   static_cast<u32>(recorder.filter) << stream::kFilterShift |
                   (recorder.watches_calls ? stream::kWithCalls : 0);
  control->stop_ticket = stream::kNeverStopped;
  control->chunk_limit = recorder.directory == nullptr ? static_cast<u32>(number_of("SOOTH_CHUNK_LIMIT")) : 0;
  __atomic_store_n(&control->magic, stream::kControlMagic, __ATOMIC_RELEASE);
  recorder.control = control;
  return true;
}

// What a process that is controlled and not recorded has in the place of a recording: one that has stopped before it
// began.
bool open_nothing() {
  auto* control = static_cast<Control*>(map_memory(stream::kControlBytes));
  if (control == nullptr) return false;
  recorder.streams_fd = recorder.sites_fd = recorder.process_fd = kNoDescriptor;
  recorder.directory = nullptr;
  control->stop_ticket = 0;
  recorder.control = control;
  find_own_code();
  return true;
}

bool is_text(const char* text, const char* expected) { return text != nullptr && text_equal(text, expected); }

// A chunk of a live recording: one that the reader has given back, or a new one as long as there may be more.
long live_chunk(Control* c) {
  for (;;) {
    u32 put = __atomic_load_n(&c->ring_put, __ATOMIC_ACQUIRE);
    u32 taken = __atomic_load_n(&c->ring_taken, __ATOMIC_RELAXED);
    while (taken != put) {
      u32 index = __atomic_load_n(&c->ring[taken % stream::kRingSlots], __ATOMIC_RELAXED);
      if (__atomic_compare_exchange_n(&c->ring_taken, &taken, taken + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return index;
    }
    u32 chunks = __atomic_load_n(&c->chunks, __ATOMIC_RELAXED);
    while (chunks < __atomic_load_n(&c->chunk_limit, __ATOMIC_RELAXED)) {
      if (__atomic_compare_exchange_n(&c->chunks, &chunks, chunks + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return chunks;
    }
    if (__atomic_load_n(&c->stop_ticket, __ATOMIC_RELAXED) != stream::kNeverStopped) return -1;
    // The analysis is slower than the program. Wait for it; it raises the limit when it waits for us.
    __atomic_fetch_add(&c->starving, 1, __ATOMIC_ACQ_REL);
    struct {
      long seconds, nanoseconds;
    } timeout = {0, 10'000'000};
    sys_call(SYS_futex, reinterpret_cast<long>(&c->ring_put), FUTEX_WAIT, put, reinterpret_cast<long>(&timeout));
    __atomic_fetch_sub(&c->starving, 1, __ATOMIC_ACQ_REL);
  }
}

long next_chunk_index() {
  Control* c = recorder.control;
  if (c->chunk_limit != 0) return live_chunk(c);
  u32 index = __atomic_fetch_add(&c->chunks, 1, __ATOMIC_ACQ_REL);
  if (max_bytes_ != 0 && (u64{index} + 1) * kChunkBytes > max_bytes_) {
    stop_recording(StopReason::kSizeLimit);
    return -1;
  }
  ownership::grown((u64{index} + 1) * kChunkBytes);
  return index;
}

// Chunks of live recordings come back again and again, so they stay mapped: so many of them together.
constexpr u32 kWindowChunks = 64;
constexpr u32 kWindows = 1024;
constexpr u64 kWindowBytes = u64{kWindowChunks} * kChunkBytes;
struct Window {
  u8* chunks;       // nullptr: not mapped
  u64 were_opened;  // by chunk
};
Window windows_[kWindows];

// Where a chunk of a live recording is; nullptr: nowhere yet. `is_new`: it was not used before. Under growth_.
u8* place_in_window(u32 index, bool& is_new) {
  if (recorder.control->chunk_limit == 0 || index / kWindowChunks >= kWindows) return nullptr;
  Window& window = windows_[index / kWindowChunks];
  u64 first = u64{index / kWindowChunks} * kWindowBytes;
  if (window.chunks == nullptr)
    window.chunks = static_cast<u8*>(map_file(recorder.streams_fd, stream::kControlBytes + first, kWindowBytes, 0));
  if (window.chunks == nullptr) return nullptr;
  u64 bit = u64{1} << index % kWindowChunks;
  is_new = (window.were_opened & bit) == 0;
  window.were_opened |= bit;
  return window.chunks + index % kWindowChunks * kChunkBytes;
}

void unmap_chunk(u8* chunk) {
  if (windows_[0].chunks != nullptr)
    for (const Window& window : windows_)
      if (window.chunks != nullptr && chunk >= window.chunks && chunk < window.chunks + kWindowBytes) return;
  unmap_memory(chunk, kChunkBytes);
}

u8* open_chunk(u32 index) {
  u64 offset = stream::kControlBytes + u64{index} * kChunkBytes;
  u8* chunk = nullptr;
  bool is_new = true;
  {
    SpinGuard guard(growth_);
    if (offset + kChunkBytes > reserved_bytes_) {
      // Double up to steps of 16 MB: short runs stay short, long ones rarely come here.
      u64 step = reserved_bytes_ < (u64{16} << 20) ? reserved_bytes_ : u64{16} << 20;
      u64 wanted = (reserved_bytes_ + step) & ~u64{4095};
      if (wanted < offset + kChunkBytes) wanted = offset + kChunkBytes;
      if (!reserve_file(recorder.streams_fd, reserved_bytes_, wanted) &&
          !reserve_file(recorder.streams_fd, reserved_bytes_, wanted = offset + kChunkBytes)) {
        return nullptr;
      }
      reserved_bytes_ = wanted;
    }
    chunk = place_in_window(index, is_new);
  }
  if (!is_new) return chunk;
  // File systems make pages that are written more cheaply than those that are touched. The program may have lowered its
  // limit since the room was reserved.
  if (is_file_size_allowed(offset + kChunkBytes))
    sys_call(SYS_pwrite64, recorder.streams_fd, reinterpret_cast<long>(kZeros), kChunkBytes, static_cast<long>(offset));
  if (chunk == nullptr) chunk = static_cast<u8*>(map_file(recorder.streams_fd, offset, kChunkBytes, 0));
  // All its pages at once, writable: a fault for each costs more. Kernels before 5.14 cannot, and fault.
  constexpr int kPopulateWrite = 23;
  if (chunk != nullptr) sys_call(SYS_madvise, reinterpret_cast<long>(chunk), kChunkBytes, kPopulateWrite);
  return chunk;
}

// The last resort of threads that find no memory.
alignas(8) u8 common_bucket_[kChunkBytes];

// Where threads write when nothing counts any more.
void use_bucket(Thread* t) {
  t->special |= kStopped;
  t->chunk = static_cast<u8*>(map_memory(kChunkBytes));
  if (t->chunk == nullptr) t->chunk = common_bucket_;
  t->cursor = t->chunk + sizeof(ChunkHeader);
  t->limit = t->chunk + kChunkBytes - kRecordRoom;
}

// SOOTH_SCHEDULE and SOOTH_SEED: `os`, the default, or how threads take turns.
void read_schedule() {
  const char* schedule = environment("SOOTH_SCHEDULE");
  if (schedule == nullptr || is_text(schedule, "os")) return;
  StrategySpec spec;
  if (!parse_strategy(schedule, spec)) {
    warn("bad value of SOOTH_SCHEDULE: ", schedule, "; threads run as they would alone");
    return;
  }
  recorder.serial = true;
  turn::set_strategy(spec, number_of("SOOTH_SEED"));
}

}  // namespace

long open_recording_file(const char* name) { return open_file(directory_, name); }
long append_recording_file(const char* name) { return open_file(directory_, name, O_APPEND); }

bool is_file_size_allowed(u64 bytes) {
  rlimit limit;
  return sys_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, reinterpret_cast<long>(&limit)) < 0 || bytes <= limit.rlim_cur;
}

bool reserve_file(int fd, u64 from, u64 to) {
  if (!is_file_size_allowed(to)) {
    note_failure(-EFBIG);
    return false;
  }
  long r = sys_call(SYS_fallocate, fd, 0, static_cast<long>(from), static_cast<long>(to - from));
  // Some file systems cannot; then the mapping has to do with a longer file.
  if (r == -EOPNOTSUPP) r = sys_call(SYS_ftruncate, fd, static_cast<long>(to));
  note_failure(r);
  return r == 0;
}

void stop_for_lack_of_room() {
  switch (__atomic_load_n(&last_failure_, __ATOMIC_RELAXED)) {
    case EFBIG: return stop_recording(StopReason::kFileTooLarge);
    case EDQUOT: return stop_recording(StopReason::kQuota);
    case EIO: return stop_recording(StopReason::kInputOutput);
    case ENOMEM: return stop_recording(StopReason::kNoMemory);
    default: return stop_recording(StopReason::kDiskFull);
  }
}

void vacate_descriptor(int fd) {
  if (!is_own_descriptor(fd)) return;
  SpinGuard guard(growth_);
  for (int* own : {&recorder.streams_fd, &recorder.sites_fd, &recorder.process_fd, &recorder.reaches_fd}) {
    if (*own != fd) continue;
    int moved = copy_descriptor(fd);
    if (moved < 0) stop_recording(StopReason::kNoDescriptor);
    __atomic_store_n(own, moved, __ATOMIC_RELAXED);
  }
}

void drop_chunk(Thread* t) {
  if (t->chunk != nullptr && t->chunk != common_bucket_) unmap_chunk(t->chunk);
  t->chunk = nullptr;
}

void stop_recording(StopReason reason) {
  Control* c = recorder.control;
  u32 none = 0;
  if (__atomic_compare_exchange_n(&c->stop_reason, &none, static_cast<u32>(reason), false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_RELAXED))
    __atomic_store_n(&c->stop_ticket, __atomic_load_n(&c->next_ticket, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

void attend(Thread* t) {
  // A signal asked for attention; the handler runs when this hook is over (signals.cc looks at pending_signals).
  if (t->limit == nullptr && t->chunk != nullptr) {
    t->limit = t->chunk + kChunkBytes - kRecordRoom;
    deliver_pending_signals(t);
    if (t->cursor <= t->limit) return;
  }
  if ((t->special & kStopped) != 0 && t->chunk != nullptr) {
    t->cursor = t->chunk + sizeof(ChunkHeader);
    return;
  }
  Busy busy(t);  // a signal that comes before the new limit stands is not forgotten
  u8* old = t->chunk;
  t->run_end = nullptr;  // a later chunk may lie where this one lies
  bool stopped = __atomic_load_n(&recorder.control->stop_ticket, __ATOMIC_RELAXED) != stream::kNeverStopped;
  long index = stopped ? -1 : next_chunk_index();
  u8* chunk = index < 0 ? nullptr : open_chunk(static_cast<u32>(index));
  if (chunk == nullptr) {
    if (!stopped) stop_for_lack_of_room();
    use_bucket(t);
  } else {
    auto* header = reinterpret_cast<ChunkHeader*>(chunk);
    header->stream = t->stream;
    header->sequence = t->sequence++;
    header->committed = sizeof(ChunkHeader);
    header->closed = 0;
    __atomic_store_n(&header->magic, stream::kChunkMagic, __ATOMIC_RELEASE);
    if (old != nullptr) {
      publish(t);
      __atomic_store_n(&reinterpret_cast<ChunkHeader*>(old)->closed, 1, __ATOMIC_RELEASE);
    }
    t->chunk = chunk;
    t->cursor = chunk + sizeof(ChunkHeader);
    t->limit = chunk + kChunkBytes - kRecordRoom;
  }
  if (old != nullptr) unmap_chunk(old);
}

u32 new_stream() { return __atomic_fetch_add(&next_stream_, 1, __ATOMIC_ACQ_REL); }

void start_recording() {
  if (controlled::start()) {
    recorder.controlled = recorder.serial = true;
    if (!open_nothing()) fatal("out of memory");
    return;
  }
  const char* fds = environment("SOOTH_RECORD_FDS");
  const char* base = environment("SOOTH_RECORD");
  if (fds == nullptr && base == nullptr) return;
  read_schedule();
  recorder.drop_repeats = !recorder.serial && !is_text(environment("SOOTH_FILTER"), "off");
  for (u32 mode = 1; mode < sizeof stream::kFilterNames / sizeof stream::kFilterNames[0]; ++mode)
    if (!recorder.serial && is_text(environment("SOOTH_FILTER"), stream::kFilterNames[mode]))
      recorder.filter = stream::FilterMode{mode};
  max_bytes_ = number_of("SOOTH_MAX_TRACE");
  calls::choose_reach();
  if (fds != nullptr) {
    if (!open_descriptors(fds)) return;
  } else {
    append_text(base_directory_, base_directory_ + sizeof base_directory_, base);
    if (!make_directory(base, false) || !open_directory()) return;
  }
  if (!open_control()) return;
  if (!start_modules() || !calls::start()) recorder.control = nullptr;
  // Calls that nobody saw may touch anything.
  if (recording() && recorder.serial && !recorder.watches_calls) ownership::start(number_of("SOOTH_THIN_FROM"));
}

void restart_recording_after_fork() {
  sys_call(SYS_munmap, reinterpret_cast<long>(recorder.control), stream::kControlBytes);
  recorder.control = nullptr;
  if (recorder.controlled) {
    controlled::restart_after_fork();
    if (!open_nothing()) fatal("out of memory");
    return;
  }
  growth_.reset();
  for (Window& window : windows_) {
    if (window.chunks != nullptr) unmap_memory(window.chunks, kWindowBytes);
    window = {};
  }
  ownership::restart_after_fork();
  for (int fd : {recorder.streams_fd, recorder.sites_fd, recorder.process_fd}) sys_call(SYS_close, fd);
  // A live recording follows the first process only.
  if (recorder.directory == nullptr || !make_directory(base_directory_, true) || !open_directory() || !open_control())
    return;
  if (!start_modules() || !calls::start() || !restart_deep_after_fork()) recorder.control = nullptr;
}

void finish_recording() {
  if (recording()) __atomic_store_n(&recorder.control->ended, 1, __ATOMIC_RELEASE);
}

}  // namespace sooth::rt
