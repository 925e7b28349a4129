// A log with a buffer: writers append lines under the lock, and a flusher empties the buffer. The flusher takes the
// lock too, but gives it back when it has counted the flush, before it touches the buffer: lines that are appended
// meanwhile are lost. Its section and those of the writers have nothing in common, so which comes first is chance,
// and hides the race or shows it.
//
// FOUND(amount): wcp      the flusher looks how much there is, a writer appends
// FOUND(reset): wcp ?     the flusher resets the buffer, a writer appends; not told by a run in which all lines come before
// FOUND(look): wcp ?      the flusher resets the buffer, a writer looks how full it is; likewise
//
// No race: `written`, which only the flusher touches until it is joined; and `flushes`, always under the lock.
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

constexpr unsigned kCapacity = 4096;
std::mutex mutex;
char buffer[kCapacity];
unsigned used = 0;
unsigned long written = 0;
int flushes = 0;

void append(const char* line) {
  unsigned length = static_cast<unsigned>(std::strlen(line));
  std::lock_guard<std::mutex> guard(mutex);
  unsigned place = used;  // RACE(look)
  if (place + length <= kCapacity) {
    std::memcpy(buffer + place, line, length);
    used = place + length;  // RACE(reset) RACE(amount)
  }
}

void flush() {
  {
    std::lock_guard<std::mutex> guard(mutex);
    ++flushes;
  }
  unsigned amount = used;  // RACE(amount)
  written += amount;
  used = 0;  // RACE(reset) RACE(look)
}

void flusher() {
  for (int i = 0; i < 3; ++i) {
    flush();
    std::this_thread::yield();
  }
}

void writer() {
  for (int i = 0; i < 20; ++i) {
    append("all is well\n");
    std::this_thread::yield();
  }
}

}  // namespace

int main() {
  append("start\n");
  std::thread flushing(flusher), writing(writer), also_writing(writer);
  writing.join();
  also_writing.join();
  flushing.join();
  std::printf("%d flushes, %s\n", flushes, written <= 2 * 20 * 12 + 6 ? "written" : "more was written than appended");
}
