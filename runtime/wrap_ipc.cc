// What threads pass through the kernel without a descriptor of their own: System V semaphores and queues, POSIX message
// queues, and the locks of flock().
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "runtime/blocking.h"
#include "runtime/descriptors.h"
#include "runtime/intercept.h"
#include "runtime/on_behalf.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

u64 semaphore(int set, unsigned number) { return channel_named(Named::kSemaphore, static_cast<u64>(set), number); }
u64 messages(int queue) { return channel_named(Named::kMessages, static_cast<u64>(queue)); }

// Whoever waits for a semaphore, or for it to be 0, comes behind those that changed it before.
template <typename Call>
int operate(Thread* t, uptr pc, int set, const sembuf* operations, std::size_t count, Call call) {
  for (std::size_t i = 0; i < count; ++i) channel_sends(t, pc, semaphore(set, operations[i].sem_num));
  int result;
  {
    Blocking blocking(t);
    result = call();
  }
  for (std::size_t i = 0; result == 0 && i < count; ++i)
    if (operations[i].sem_op <= 0) channel_received(t, pc, semaphore(set, operations[i].sem_num));
  return result;
}

// A try that failed comes again, and must not keep others from their turn.
void failed_try(Thread* t) {
  int error = errno;
  turn::yield(t);
  errno = error;
}

}  // namespace

SOOTH_INTERCEPT(int, semop, int set, sembuf* operations, std::size_t count) {
  Thread* t = current();
  if (t == nullptr) return real_semop(set, operations, count);
  return operate(t, SOOTH_CALLER, set, operations, count, [&] { return real_semop(set, operations, count); });
}
SOOTH_INTERCEPT(int, semtimedop, int set, sembuf* operations, std::size_t count, const timespec* limit) {
  Thread* t = current();
  if (t == nullptr) return real_semtimedop(set, operations, count, limit);
  return operate(t, SOOTH_CALLER, set, operations, count,
                 [&] { return real_semtimedop(set, operations, count, limit); });
}

// The fourth argument is there for some commands only; passing on what may be none harms nobody.
SOOTH_REAL static Real<int(int, int, int, void*)> real_semctl{"semctl"};
SOOTH_EXPORT int sooth_semctl(int set, int number, int command, ...) asm("semctl");
int sooth_semctl(int set, int number, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  Thread* t = current();
  if (t == nullptr) return real_semctl(set, number, command, argument);
  if (command == SETVAL) channel_sends(t, SOOTH_CALLER, semaphore(set, static_cast<unsigned>(number)));
  int result = real_semctl(set, number, command, argument);
  if (command == GETVAL) {
    channel_received(t, SOOTH_CALLER, semaphore(set, static_cast<unsigned>(number)));
    failed_try(t);
  }
  return result;
}

// A message begins with a long, its type.
SOOTH_INTERCEPT(int, msgsnd, int queue, const void* message, std::size_t size, int flags) {
  Thread* t = current();
  if (t == nullptr) return real_msgsnd(queue, message, size, flags);
  reads(t, SOOTH_CALLER, message, sizeof(long) + size);
  channel_sends(t, SOOTH_CALLER, messages(queue));
  Blocking blocking(t, (flags & IPC_NOWAIT) == 0);
  return real_msgsnd(queue, message, size, flags);
}
SOOTH_INTERCEPT(ssize_t, msgrcv, int queue, void* message, std::size_t size, long type, int flags) {
  Thread* t = current();
  if (t == nullptr) return real_msgrcv(queue, message, size, type, flags);
  ssize_t n;
  {
    Blocking blocking(t, (flags & IPC_NOWAIT) == 0);
    n = real_msgrcv(queue, message, size, type, flags);
  }
  if (n >= 0) {
    channel_received(t, SOOTH_CALLER, messages(queue));
    writes(t, SOOTH_CALLER, message, sizeof(long) + static_cast<std::size_t>(n));
  } else {
    failed_try(t);
  }
  return n;
}

// A POSIX queue is a file, and whoever opens it has a descriptor.
SOOTH_INTERCEPT(int, mq_send, mqd_t queue, const char* from, std::size_t size, unsigned priority) {
  Thread* t = current();
  if (t == nullptr) return real_mq_send(queue, from, size, priority);
  reads(t, SOOTH_CALLER, from, size);
  descriptor_sends(t, SOOTH_CALLER, queue);
  Blocking blocking(t);
  return real_mq_send(queue, from, size, priority);
}
SOOTH_INTERCEPT(int, mq_timedsend, mqd_t queue, const char* from, std::size_t size, unsigned priority,
                const timespec* limit) {
  Thread* t = current();
  if (t == nullptr) return real_mq_timedsend(queue, from, size, priority, limit);
  reads(t, SOOTH_CALLER, from, size);
  descriptor_sends(t, SOOTH_CALLER, queue);
  Blocking blocking(t);
  return real_mq_timedsend(queue, from, size, priority, virtual_clock::RealDeadline(limit, CLOCK_REALTIME));
}
static void message_came(Thread* t, uptr pc, mqd_t queue, char* to, const unsigned* priority, ssize_t n) {
  if (n < 0) return failed_try(t);
  descriptor_received(t, pc, queue);
  writes(t, pc, to, static_cast<std::size_t>(n));
  if (priority != nullptr) writes(t, pc, priority, sizeof *priority);
}
SOOTH_INTERCEPT(ssize_t, mq_receive, mqd_t queue, char* to, std::size_t size, unsigned* priority) {
  Thread* t = current();
  if (t == nullptr) return real_mq_receive(queue, to, size, priority);
  ssize_t n;
  {
    Blocking blocking(t);
    n = real_mq_receive(queue, to, size, priority);
  }
  message_came(t, SOOTH_CALLER, queue, to, priority, n);
  return n;
}
SOOTH_INTERCEPT(ssize_t, mq_timedreceive, mqd_t queue, char* to, std::size_t size, unsigned* priority,
                const timespec* limit) {
  Thread* t = current();
  if (t == nullptr) return real_mq_timedreceive(queue, to, size, priority, limit);
  ssize_t n;
  {
    Blocking blocking(t);
    n = real_mq_timedreceive(queue, to, size, priority, virtual_clock::RealDeadline(limit, CLOCK_REALTIME));
  }
  message_came(t, SOOTH_CALLER, queue, to, priority, n);
  return n;
}
// As with semctl().
SOOTH_REAL static Real<mqd_t(const char*, int, mode_t, mq_attr*)> real_mq_open{"mq_open"};
SOOTH_EXPORT mqd_t sooth_mq_open(const char* name, int flags, ...) asm("mq_open");
mqd_t sooth_mq_open(const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  auto mode = static_cast<mode_t>(va_arg(rest, unsigned));
  auto* attributes = va_arg(rest, mq_attr*);
  va_end(rest);
  mqd_t queue = real_mq_open(name, flags, mode, attributes);
  if (recording()) descriptor_opened(queue);
  return queue;
}
SOOTH_INTERCEPT(int, mq_close, mqd_t queue) {
  descriptor_closed(queue);
  return real_mq_close(queue);
}

// A lock of a file belongs to what was opened, not to a thread: so it orders, and is no lock of the trace.
SOOTH_INTERCEPT(int, flock, int fd, int operation) {
  Thread* t = current();
  if (t == nullptr) return real_flock(fd, operation);
  u64 lock = lock_channel_of(fd);
  bool unlocks = (operation & LOCK_UN) != 0;
  if (unlocks) channel_sends(t, SOOTH_CALLER, lock);
  int result;
  {
    Blocking blocking(t, !unlocks && (operation & LOCK_NB) == 0);
    result = real_flock(fd, operation);
  }
  if (result == 0 && !unlocks) channel_received(t, SOOTH_CALLER, lock);
  if (result != 0) failed_try(t);
  return result;
}
