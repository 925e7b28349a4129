// Files, pipes, sockets and eventfds: what they read and write for their caller, and whom they order.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/blocking.h"
#include "runtime/descriptors.h"
#include "runtime/intercept.h"
#include "runtime/on_behalf.h"
#include "runtime/signals.h"

using namespace sooth;
using namespace sooth::rt;

namespace {

void ranges(Thread* t, uptr pc, Op op, const iovec* parts, int count, ssize_t bytes) {
  for (int i = 0; i < count && bytes > 0; ++i) {
    std::size_t n =
        parts[i].iov_len < static_cast<std::size_t>(bytes) ? parts[i].iov_len : static_cast<std::size_t>(bytes);
    write_range(t, pc, op, reinterpret_cast<uptr>(parts[i].iov_base), n);
    bytes -= static_cast<ssize_t>(n);
  }
}

ssize_t total(const iovec* parts, int count) {
  ssize_t n = 0;
  for (int i = 0; i < count; ++i) n += static_cast<ssize_t>(parts[i].iov_len);
  return n;
}

// Runs a call that takes bytes out of `fd`; the result is their number, 0 at the end of the input, or -1.
template <typename Call>
SOOTH_INLINE ssize_t receive(Thread* t, uptr pc, int fd, Call call) {
  descriptor_used(t, pc, fd);
  ssize_t n;
  {
    Blocking blocking(t, turn::taken() && descriptor_may_block(fd));
    n = call();
  }
  if (n >= 0) descriptor_received(t, pc, fd, n == 0);
  return n;
}

template <typename Call>
SOOTH_INLINE ssize_t send_through(Thread* t, uptr pc, int fd, Call call) {
  descriptor_used(t, pc, fd);
  descriptor_sends(t, pc, fd);
  Blocking blocking(t, turn::taken() && descriptor_may_block(fd));
  return call();
}

}  // namespace

#define SOOTH_RECEIVER(result, name, parameters, arguments, fd, buffer)    \
  SOOTH_REAL static Real<result parameters> real_##name{#name};            \
  SOOTH_EXPORT result sooth_##name parameters asm(#name);                  \
  result sooth_##name parameters {                                         \
    Thread* t = current();                                                 \
    if (t == nullptr) return real_##name arguments;                        \
    uptr pc = SOOTH_CALLER;                                                \
    ssize_t n = receive(t, pc, fd, [&] { return real_##name arguments; }); \
    if (n > 0) writes(t, pc, buffer, static_cast<std::size_t>(n));         \
    return n;                                                              \
  }
#define SOOTH_SENDER(result, name, parameters, arguments, fd, buffer, size) \
  SOOTH_REAL static Real<result parameters> real_##name{#name};             \
  SOOTH_EXPORT result sooth_##name parameters asm(#name);                   \
  result sooth_##name parameters {                                          \
    Thread* t = current();                                                  \
    if (t == nullptr) return real_##name arguments;                         \
    uptr pc = SOOTH_CALLER;                                                 \
    reads(t, pc, buffer, size);                                             \
    return send_through(t, pc, fd, [&] { return real_##name arguments; });  \
  }

// A signalfd hands out signals: whoever sent them comes first.
static void signals_read(Thread* t, uptr pc, int fd, const void* from, ssize_t n) {
  if (!hands_out_signals(fd)) return;
  const auto* info = static_cast<const signalfd_siginfo*>(from);
  for (; n >= static_cast<ssize_t>(sizeof *info); n -= static_cast<ssize_t>(sizeof *info), ++info)
    signal_received(t, pc, static_cast<int>(info->ssi_signo));
}
SOOTH_INTERCEPT(ssize_t, read, int fd, void* to, std::size_t size) {
  Thread* t = current();
  if (t == nullptr) return real_read(fd, to, size);
  uptr pc = SOOTH_CALLER;
  ssize_t n = receive(t, pc, fd, [&] { return real_read(fd, to, size); });
  if (n > 0) {
    signals_read(t, pc, fd, to, n);
    writes(t, pc, to, static_cast<std::size_t>(n));
  }
  return n;
}
SOOTH_RECEIVER(ssize_t, pread, (int fd, void* to, std::size_t size, off_t at), (fd, to, size, at), fd, to)
SOOTH_RECEIVER(ssize_t, pread64, (int fd, void* to, std::size_t size, off_t at), (fd, to, size, at), fd, to)
SOOTH_RECEIVER(ssize_t, recv, (int fd, void* to, std::size_t size, int flags), (fd, to, size, flags), fd, to)
SOOTH_SENDER(ssize_t, write, (int fd, const void* from, std::size_t size), (fd, from, size), fd, from, size)
SOOTH_SENDER(ssize_t, pwrite, (int fd, const void* from, std::size_t size, off_t at), (fd, from, size, at), fd, from,
             size)
SOOTH_SENDER(ssize_t, pwrite64, (int fd, const void* from, std::size_t size, off_t at), (fd, from, size, at), fd, from,
             size)
SOOTH_SENDER(ssize_t, send, (int fd, const void* from, std::size_t size, int flags), (fd, from, size, flags), fd, from,
             size)

// The addresses of sockets. What fits of one of *length bytes into `room`; the kernel says how long it is.
static void address_came(Thread* t, uptr pc, const void* address, const socklen_t* length, socklen_t room) {
  if (address == nullptr || length == nullptr) return;
  writes(t, pc, address, *length < room ? *length : room);
  writes(t, pc, length, sizeof *length);
}
SOOTH_INTERCEPT(ssize_t, recvfrom, int fd, void* to, std::size_t size, int flags, sockaddr* from, socklen_t* length) {
  Thread* t = current();
  if (t == nullptr) return real_recvfrom(fd, to, size, flags, from, length);
  uptr pc = SOOTH_CALLER;
  socklen_t room = length != nullptr ? *length : 0;
  ssize_t n = receive(t, pc, fd, [&] { return real_recvfrom(fd, to, size, flags, from, length); });
  if (n < 0) return n;
  writes(t, pc, to, static_cast<std::size_t>(n) < size ? static_cast<std::size_t>(n) : size);
  address_came(t, pc, from, length, room);
  return n;
}
SOOTH_INTERCEPT(ssize_t, sendto, int fd, const void* from, std::size_t size, int flags, const sockaddr* to,
                socklen_t length) {
  Thread* t = current();
  if (t == nullptr) return real_sendto(fd, from, size, flags, to, length);
  reads(t, SOOTH_CALLER, from, size);
  if (to != nullptr) reads(t, SOOTH_CALLER, to, length);
  return send_through(t, SOOTH_CALLER, fd, [&] { return real_sendto(fd, from, size, flags, to, length); });
}

#define SOOTH_BOTH(...) __VA_ARGS__
#define SOOTH_READV(name, parameters, arguments)                                                    \
  SOOTH_INTERCEPT(ssize_t, name, parameters) {                                                      \
    Thread* t = current();                                                                          \
    if (t == nullptr) return real_##name(arguments);                                                \
    ssize_t n = receive(t, SOOTH_CALLER, fd, [&] { return real_##name(arguments); });               \
    reads(t, SOOTH_CALLER, parts, static_cast<std::size_t>(count < 0 ? 0 : count) * sizeof *parts); \
    ranges(t, SOOTH_CALLER, Op::kWrite, parts, count, n);                                           \
    return n;                                                                                       \
  }
#define SOOTH_WRITEV(name, parameters, arguments)                                                   \
  SOOTH_INTERCEPT(ssize_t, name, parameters) {                                                      \
    Thread* t = current();                                                                          \
    if (t == nullptr) return real_##name(arguments);                                                \
    reads(t, SOOTH_CALLER, parts, static_cast<std::size_t>(count < 0 ? 0 : count) * sizeof *parts); \
    ranges(t, SOOTH_CALLER, Op::kRead, parts, count, total(parts, count));                          \
    return send_through(t, SOOTH_CALLER, fd, [&] { return real_##name(arguments); });               \
  }
SOOTH_READV(readv, SOOTH_BOTH(int fd, const iovec* parts, int count), SOOTH_BOTH(fd, parts, count))
SOOTH_READV(preadv, SOOTH_BOTH(int fd, const iovec* parts, int count, off_t at), SOOTH_BOTH(fd, parts, count, at))
SOOTH_READV(preadv64, SOOTH_BOTH(int fd, const iovec* parts, int count, off_t at), SOOTH_BOTH(fd, parts, count, at))
SOOTH_READV(preadv2, SOOTH_BOTH(int fd, const iovec* parts, int count, off_t at, int flags),
            SOOTH_BOTH(fd, parts, count, at, flags))
SOOTH_WRITEV(writev, SOOTH_BOTH(int fd, const iovec* parts, int count), SOOTH_BOTH(fd, parts, count))
SOOTH_WRITEV(pwritev, SOOTH_BOTH(int fd, const iovec* parts, int count, off_t at), SOOTH_BOTH(fd, parts, count, at))
SOOTH_WRITEV(pwritev64, SOOTH_BOTH(int fd, const iovec* parts, int count, off_t at), SOOTH_BOTH(fd, parts, count, at))
SOOTH_WRITEV(pwritev2, SOOTH_BOTH(int fd, const iovec* parts, int count, off_t at, int flags),
             SOOTH_BOTH(fd, parts, count, at, flags))

// A message and what it points to: parts, the address of the other end, control data.
static void message_taken(Thread* t, uptr pc, const msghdr* message, ssize_t n) {
  ranges(t, pc, Op::kWrite, message->msg_iov, static_cast<int>(message->msg_iovlen), n);
  if (message->msg_name != nullptr) writes(t, pc, message->msg_name, message->msg_namelen);
  if (message->msg_control != nullptr) writes(t, pc, message->msg_control, message->msg_controllen);
  writes(t, pc, message, sizeof *message);
}
static void message_given(Thread* t, uptr pc, const msghdr* message) {
  int count = static_cast<int>(message->msg_iovlen);
  reads(t, pc, message, sizeof *message);
  ranges(t, pc, Op::kRead, message->msg_iov, count, total(message->msg_iov, count));
  if (message->msg_name != nullptr) reads(t, pc, message->msg_name, message->msg_namelen);
  if (message->msg_control != nullptr) reads(t, pc, message->msg_control, message->msg_controllen);
}
SOOTH_INTERCEPT(ssize_t, recvmsg, int fd, msghdr* message, int flags) {
  Thread* t = current();
  if (t == nullptr) return real_recvmsg(fd, message, flags);
  ssize_t n = receive(t, SOOTH_CALLER, fd, [&] { return real_recvmsg(fd, message, flags); });
  if (n >= 0) message_taken(t, SOOTH_CALLER, message, n);
  return n;
}
SOOTH_INTERCEPT(ssize_t, sendmsg, int fd, const msghdr* message, int flags) {
  Thread* t = current();
  if (t == nullptr) return real_sendmsg(fd, message, flags);
  message_given(t, SOOTH_CALLER, message);
  return send_through(t, SOOTH_CALLER, fd, [&] { return real_sendmsg(fd, message, flags); });
}
SOOTH_INTERCEPT(int, recvmmsg, int fd, mmsghdr* messages, unsigned count, int flags, timespec* limit) {
  Thread* t = current();
  if (t == nullptr) return real_recvmmsg(fd, messages, count, flags, limit);
  int n = static_cast<int>(receive(
      t, SOOTH_CALLER, fd, [&] { return static_cast<ssize_t>(real_recvmmsg(fd, messages, count, flags, limit)); }));
  for (int i = 0; i < n; ++i) {
    message_taken(t, SOOTH_CALLER, &messages[i].msg_hdr, messages[i].msg_len);
    writes(t, SOOTH_CALLER, &messages[i].msg_len, sizeof messages[i].msg_len);
  }
  return n;
}
SOOTH_INTERCEPT(int, sendmmsg, int fd, mmsghdr* messages, unsigned count, int flags) {
  Thread* t = current();
  if (t == nullptr) return real_sendmmsg(fd, messages, count, flags);
  for (unsigned i = 0; i < count; ++i) message_given(t, SOOTH_CALLER, &messages[i].msg_hdr);
  int n = static_cast<int>(send_through(
      t, SOOTH_CALLER, fd, [&] { return static_cast<ssize_t>(real_sendmmsg(fd, messages, count, flags)); }));
  for (int i = 0; i < n; ++i) writes(t, SOOTH_CALLER, &messages[i].msg_len, sizeof messages[i].msg_len);
  return n;
}
SOOTH_INTERCEPT(int, eventfd_read, int fd, eventfd_t* value) {
  Thread* t = current();
  if (t == nullptr) return real_eventfd_read(fd, value);
  ssize_t n = receive(t, SOOTH_CALLER, fd, [&] { return static_cast<ssize_t>(real_eventfd_read(fd, value)); });
  if (n >= 0) writes(t, SOOTH_CALLER, value, sizeof *value);
  return static_cast<int>(n);
}
SOOTH_INTERCEPT(int, eventfd_write, int fd, eventfd_t value) {
  Thread* t = current();
  if (t == nullptr) return real_eventfd_write(fd, value);
  return static_cast<int>(
      send_through(t, SOOTH_CALLER, fd, [&] { return static_cast<ssize_t>(real_eventfd_write(fd, value)); }));
}

// From one descriptor to another. Readiness is waited for apart, because what is received must be known before it is
// sent on.
static void pass_on(Thread* t, uptr pc, int from, int to, bool waits) {
  pollfd ready = {from, POLLIN, 0};
  {
    Blocking blocking(t, waits && turn::taken());
    timespec at_once = {};
    sys_call(SYS_ppoll, reinterpret_cast<long>(&ready), 1, waits ? 0 : reinterpret_cast<long>(&at_once));
  }
  if (ready.revents != 0) descriptor_received(t, pc, from, (ready.revents & POLLHUP) != 0);
  descriptor_sends(t, pc, to);
}
static bool waits_for_input(int fd, unsigned flags) {
  return (flags & SPLICE_F_NONBLOCK) == 0 && (sys_call(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK) == 0;
}
SOOTH_INTERCEPT(ssize_t, splice, int from, off64_t* from_at, int to, off64_t* to_at, std::size_t n, unsigned flags) {
  Thread* t = current();
  if (t == nullptr) return real_splice(from, from_at, to, to_at, n, flags);
  pass_on(t, SOOTH_CALLER, from, to, waits_for_input(from, flags));
  Blocking blocking(t);
  return real_splice(from, from_at, to, to_at, n, flags);
}
SOOTH_INTERCEPT(ssize_t, tee, int from, int to, std::size_t n, unsigned flags) {
  Thread* t = current();
  if (t == nullptr) return real_tee(from, to, n, flags);
  pass_on(t, SOOTH_CALLER, from, to, waits_for_input(from, flags));
  Blocking blocking(t);
  return real_tee(from, to, n, flags);
}
#define SOOTH_SENDFILE(name)                                                     \
  SOOTH_INTERCEPT(ssize_t, name, int to, int from, off64_t* at, std::size_t n) { \
    Thread* t = current();                                                       \
    if (t == nullptr) return real_##name(to, from, at, n);                       \
    pass_on(t, SOOTH_CALLER, from, to, false);                                   \
    Blocking blocking(t);                                                        \
    return real_##name(to, from, at, n);                                         \
  }
SOOTH_SENDFILE(sendfile)
SOOTH_SENDFILE(sendfile64)
SOOTH_INTERCEPT(ssize_t, vmsplice, int to, const iovec* parts, std::size_t count, unsigned flags) {
  Thread* t = current();
  if (t == nullptr) return real_vmsplice(to, parts, count, flags);
  ranges(t, SOOTH_CALLER, Op::kRead, parts, static_cast<int>(count), total(parts, static_cast<int>(count)));
  return send_through(t, SOOTH_CALLER, to, [&] { return real_vmsplice(to, parts, count, flags); });
}

// Whoever sets a timer comes before whoever hears of it.
SOOTH_INTERCEPT(int, timerfd_create, int clock, int flags) {
  int fd = real_timerfd_create(clock, flags);
  descriptor_opened(fd);
  return fd;
}
SOOTH_INTERCEPT(int, timerfd_settime, int fd, int flags, const itimerspec* value, itimerspec* old) {
  Thread* t = current();
  if (t == nullptr) return real_timerfd_settime(fd, flags, value, old);
  descriptor_sends(t, SOOTH_CALLER, fd);
  int result = real_timerfd_settime(fd, flags, value, old);
  if (result == 0 && old != nullptr) writes(t, SOOTH_CALLER, old, sizeof *old);
  return result;
}
SOOTH_INTERCEPT(int, signalfd, int fd, const sigset_t* set, int flags) {
  int result = real_signalfd(fd, set, flags);
  if (recording()) descriptor_hands_out_signals(result);
  return result;
}

static int paired(uptr pc, const int* ends, int result) {
  if (result != 0 || !recording()) return result;
  descriptors_paired(ends[0], ends[1]);
  if (Thread* t = recorded_thread()) writes(t, pc, ends, 2 * sizeof *ends);
  return result;
}
SOOTH_INTERCEPT(int, pipe, int* ends) { return paired(SOOTH_CALLER, ends, real_pipe(ends)); }
SOOTH_INTERCEPT(int, pipe2, int* ends, int flags) { return paired(SOOTH_CALLER, ends, real_pipe2(ends, flags)); }
SOOTH_INTERCEPT(int, socketpair, int domain, int type, int protocol, int* ends) {
  return paired(SOOTH_CALLER, ends, real_socketpair(domain, type, protocol, ends));
}
SOOTH_INTERCEPT(int, inotify_init, void) {
  int fd = real_inotify_init();
  descriptor_opened(fd);
  return fd;
}
SOOTH_INTERCEPT(int, inotify_init1, int flags) {
  int fd = real_inotify_init1(flags);
  descriptor_opened(fd);
  return fd;
}
SOOTH_INTERCEPT(int, eventfd, unsigned count, int flags) {
  int fd = real_eventfd(count, flags);
  descriptor_opened(fd);
  return fd;
}
SOOTH_INTERCEPT(int, socket, int domain, int type, int protocol) {
  int fd = real_socket(domain, type, protocol);
  descriptor_opened(fd);
  return fd;
}
SOOTH_INTERCEPT(int, connect, int fd, const sockaddr* address, socklen_t length) {
  Thread* t = current();
  if (t == nullptr) return real_connect(fd, address, length);
  if (address != nullptr) reads(t, SOOTH_CALLER, address, length);
  // Whoever accepts the connection comes after whoever asked for it: listening sockets have one channel.
  descriptor_sends(t, SOOTH_CALLER, fd);
  Blocking blocking(t);
  return real_connect(fd, address, length);
}
static void accepted(Thread* t, uptr pc, int listener, int fd) {
  descriptor_opened(fd);
  if (fd >= 0) descriptor_received(t, pc, listener);
}
SOOTH_INTERCEPT(int, accept, int listener, sockaddr* address, socklen_t* length) {
  Thread* t = current();
  if (t == nullptr) return real_accept(listener, address, length);
  int fd;
  socklen_t room = length != nullptr ? *length : 0;
  {
    Blocking blocking(t);
    fd = real_accept(listener, address, length);
  }
  accepted(t, SOOTH_CALLER, listener, fd);
  if (fd >= 0) address_came(t, SOOTH_CALLER, address, length, room);
  return fd;
}
SOOTH_INTERCEPT(int, accept4, int listener, sockaddr* address, socklen_t* length, int flags) {
  Thread* t = current();
  if (t == nullptr) return real_accept4(listener, address, length, flags);
  int fd;
  socklen_t room = length != nullptr ? *length : 0;
  {
    Blocking blocking(t);
    fd = real_accept4(listener, address, length, flags);
  }
  accepted(t, SOOTH_CALLER, listener, fd);
  if (fd >= 0) address_came(t, SOOTH_CALLER, address, length, room);
  return fd;
}

// close() and shutdown() are seen at the other end as the end of the input.
SOOTH_INTERCEPT(int, close, int fd) {
  Thread* t = current();
  if (t == nullptr) return real_close(fd);
  if (is_own_descriptor(fd)) {
    // As without us.
    errno = EBADF;
    return -1;
  }
  descriptor_closes(t, SOOTH_CALLER, fd);
  descriptor_ends(t, SOOTH_CALLER, fd);
  if (u64 lock = lock_channel_of(fd); lock != 0) channel_sends(t, SOOTH_CALLER, lock);
  descriptor_closed(fd);
  return real_close(fd);
}

// The lowest of our own files from `first` on; ~0u when there is none.
static unsigned next_own_descriptor(unsigned first) {
  unsigned lowest = ~0u;
  for (int fd : {recorder.streams_fd, recorder.sites_fd, recorder.process_fd, recorder.reaches_fd}) {
    auto number = static_cast<unsigned>(fd);
    if (fd >= 0 && number >= first && number < lowest) lowest = number;
  }
  return lowest;
}
SOOTH_INTERCEPT(int, close_range, unsigned first, unsigned last, int flags) {
  if (!recording() || first > last) return real_close_range(first, last, flags);
  if ((flags & static_cast<int>(CLOSE_RANGE_CLOEXEC)) == 0) descriptors_closed(first, last);
  // In parts, around our own.
  for (unsigned own; (own = next_own_descriptor(first)) <= last && own != ~0u; first = own + 1) {
    int result = own == first ? 0 : real_close_range(first, own - 1, flags);
    if (result != 0 || own == last) return result;
  }
  return real_close_range(first, last, flags);
}
SOOTH_INTERCEPT(void, closefrom, int first) {
  if (!recording()) return real_closefrom(first);
  sooth_close_range(first < 0 ? 0 : static_cast<unsigned>(first), ~0u, 0);
}
SOOTH_INTERCEPT(int, shutdown, int fd, int how) {
  if (Thread* t = current()) descriptor_ends(t, SOOTH_CALLER, fd);
  return real_shutdown(fd, how);
}
// Who replaces a descriptor by another does so in one step, that others may come before or behind: it is no close.
static void duplicates(uptr pc, int fd, int wish) {
  Thread* t = current();
  if (t == nullptr || fd == wish) return;
  descriptor_used(t, pc, fd);
  if (wish >= 0) descriptor_used(t, pc, wish);
}
SOOTH_INTERCEPT(int, dup, int fd) {
  duplicates(SOOTH_CALLER, fd, -1);
  int copy = real_dup(fd);
  if (copy >= 0 && recording()) descriptor_copied(fd, copy);
  return copy;
}
SOOTH_INTERCEPT(int, dup2, int fd, int wish) {
  if (fd != wish) vacate_descriptor(wish);
  duplicates(SOOTH_CALLER, fd, wish);
  int copy = real_dup2(fd, wish);
  if (copy >= 0 && copy != fd && recording()) descriptor_copied(fd, copy);
  return copy;
}
SOOTH_INTERCEPT(int, dup3, int fd, int wish, int flags) {
  if (fd != wish) vacate_descriptor(wish);
  duplicates(SOOTH_CALLER, fd, wish);
  int copy = real_dup3(fd, wish, flags);
  if (copy >= 0 && recording()) descriptor_copied(fd, copy);
  return copy;
}

// Children: how they ended, and what they used.
template <typename Call>
static pid_t wait_for_child(Thread* t, uptr pc, int flags, const int* status, const rusage* usage, Call call) {
  pid_t child;
  {
    Blocking blocking(t, (flags & WNOHANG) == 0);
    child = call();
  }
  if (child > 0 && status != nullptr) writes(t, pc, status, sizeof *status);
  if (child > 0 && usage != nullptr) writes(t, pc, usage, sizeof *usage);
  return child;
}
SOOTH_INTERCEPT(pid_t, waitpid, pid_t pid, int* status, int flags) {
  Thread* t = current();
  if (t == nullptr) return real_waitpid(pid, status, flags);
  return wait_for_child(t, SOOTH_CALLER, flags, status, nullptr, [&] { return real_waitpid(pid, status, flags); });
}
SOOTH_INTERCEPT(pid_t, wait, int* status) {
  Thread* t = current();
  if (t == nullptr) return real_wait(status);
  return wait_for_child(t, SOOTH_CALLER, 0, status, nullptr, [&] { return real_wait(status); });
}
SOOTH_INTERCEPT(pid_t, wait3, int* status, int flags, rusage* usage) {
  Thread* t = current();
  if (t == nullptr) return real_wait3(status, flags, usage);
  return wait_for_child(t, SOOTH_CALLER, flags, status, usage, [&] { return real_wait3(status, flags, usage); });
}
SOOTH_INTERCEPT(pid_t, wait4, pid_t pid, int* status, int flags, rusage* usage) {
  Thread* t = current();
  if (t == nullptr) return real_wait4(pid, status, flags, usage);
  return wait_for_child(t, SOOTH_CALLER, flags, status, usage, [&] { return real_wait4(pid, status, flags, usage); });
}

SOOTH_SAME_AS(__close, close);
