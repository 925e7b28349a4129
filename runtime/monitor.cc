#include "runtime/monitor.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <time.h>

#include "runtime/recorder.h"

namespace sooth::rt::turn {
namespace {

constexpr long kPatience = 20'000'000;  // nanoseconds
constexpr u32 kVainSamples = 50;
constexpr std::size_t kStackBytes = 64 * 1024;

// No function of libc may be called here, nor a thread_local variable be used: the thread has those of its creator.
[[noreturn]] void watch() {
  for (u32 idle = 0;;) {
    Sample before = sample();
    if (!before.others_wait) {
      futex_wait(idle_word(), 1);
      continue;
    }
    // Under Valgrind a thread that could run sleeps while another one does.
    timespec pause = {0, recorder.under_engine ? 10 * kPatience : kPatience};
    sys_call(SYS_nanosleep, reinterpret_cast<long>(&pause));
    Sample after = sample();
    if (after.holder != nullptr && after == before && sleeps_in_kernel(after.system_id)) take_away(after);
    idle = after.holder == nullptr && after == before ? idle + 1 : 0;
    if (idle >= kVainSamples) end_vain_wait(after);
  }
}

long spawn(void (*entry)(), u8* stack_end) {
  constexpr long kFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  return spawn_thread(kFlags, stack_end, entry);
}

}  // namespace

void start_monitor() {
  auto* stack = static_cast<u8*>(map_memory(kStackBytes));
  // Signals of the program are none of its business: it inherits a mask of all of them.
  u64 all = ~u64{0}, old = 0;
  sys_call(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, reinterpret_cast<long>(&all), reinterpret_cast<long>(&old),
           sizeof all);
  long id = stack == nullptr ? -1 : spawn(watch, stack + kStackBytes - 64);
  sys_call(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, reinterpret_cast<long>(&old), 0, sizeof old);
  if (id < 0) warn("cannot watch for calls that block: a library that blocks may hang the program");
}

namespace {

// What follows the name in a file like "17 (name) S ...", where the name may contain anything. nullptr: it cannot be
// read.
const char* read_stat(const char* path, char* text, std::size_t room) {
  long fd = sys_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  long length = sys_call(SYS_read, fd, reinterpret_cast<long>(text), static_cast<long>(room - 1));
  sys_call(SYS_close, fd);
  if (length <= 0) return nullptr;
  text[length] = 0;
  for (long i = length - 3; i > 0; --i) {
    if (text[i] == ')') return text + i + 2;
  }
  return nullptr;
}

}  // namespace

bool sleeps_in_kernel(u32 system_id) {
  char path[64], text[512];
  char* end = path + sizeof path;
  append_text(append_number(append_text(path, end, "/proc/self/task/"), end, system_id), end, "/stat");
  const char* state = read_stat(path, text, sizeof text);
  return state != nullptr && *state == 'S';
}

u32 kernel_threads() {
  char text[512];
  const char* field = read_stat("/proc/self/stat", text, sizeof text);
  if (field == nullptr) return 0;
  constexpr int kState = 3, kThreads = 20;  // numbers of fields in proc(5)
  for (int number = kState; number < kThreads; ++number) {
    while (*field != ' ' && *field != 0) ++field;
    if (*field == ' ') ++field;
  }
  u32 count = 0;
  for (; *field >= '0' && *field <= '9'; ++field) count = count * 10 + static_cast<u32>(*field - '0');
  return count;
}

}  // namespace sooth::rt::turn
