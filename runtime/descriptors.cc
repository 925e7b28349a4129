#include "runtime/descriptors.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "runtime/options.h"
#include "runtime/stream_writer.h"

// Nobody reads or writes these but in the trace. Their name is what reports show, so it has no namespace.
extern char file_descriptors[];
char file_descriptors[1 << 16];

namespace sooth::rt {
namespace {

constexpr int kDescriptors = 1 << 16;
constexpr u64 kFirstChannel = u64{1} << 45;     // numbers that no address of the program has
constexpr u64 kFirstConnection = u64{1} << 46;  // ... and these come from a hash of two addresses
constexpr u64 kFirstNamed = u64{3} << 45;       // ... and these from a hash of a name; objects are below 2^47
constexpr u64 kSignals = kFirstChannel - 2;     // of all descriptors of signalfd()
// 0: not known yet. Racing uses of a descriptor find the same answer, or a program that closes what another thread uses.
u64 channels_[kDescriptors];
u64 next_channel_ = 0;
bool was_closed_[kDescriptors];
bool was_named_[kDescriptors];

uptr address_of(const void* p) { return reinterpret_cast<uptr>(p); }

bool is_valid(int fd) { return fd >= 0 && fd < kDescriptors; }

// A channel has two messages: its number is that of the bytes, the next one that of the end.
u64 new_channel() { return kFirstChannel + 2 * __atomic_add_fetch(&next_channel_, 1, __ATOMIC_RELAXED); }

u64 hash_bytes(u64 hash, const void* data, u64 length) {
  for (u64 i = 0; i < length; ++i) hash = (hash ^ static_cast<const u8*>(data)[i]) * 0x100000001b3;
  return hash;
}

u64 address_hash(const sockaddr_storage& address, u32 length) {
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    return hash_bytes(hash_bytes(AF_INET, &in.sin_addr, 4), &in.sin_port, 2);
  }
  if (address.ss_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(address);
    return hash_bytes(hash_bytes(AF_INET6, &in.sin6_addr, 16), &in.sin6_port, 2);
  }
  return hash_bytes(address.ss_family, &address, length);
}

// The same number at both ends. Unnamed and unconnected sockets share one channel: better an order too much than a
// false race.
u64 connection_of(int fd) {
  sockaddr_storage here, there;
  u32 here_length = sizeof here, there_length = sizeof there;
  zero_memory(&here, sizeof here);
  zero_memory(&there, sizeof there);
  if (sys_call(SYS_getsockname, fd, reinterpret_cast<long>(&here), reinterpret_cast<long>(&here_length)) < 0) return 0;
  if (sys_call(SYS_getpeername, fd, reinterpret_cast<long>(&there), reinterpret_cast<long>(&there_length)) < 0)
    return kFirstConnection;
  if (here.ss_family == AF_UNIX) return kFirstConnection + 2;
  u64 sum = address_hash(here, here_length) + address_hash(there, there_length);
  return kFirstConnection + 4 + 2 * (sum >> 20);
}

// Whoever opens the same file, FIFO or message queue has the same channel; 0: it is none of these.
u64 file_of(int fd) {
  struct stat status;
  if (sys_call(SYS_fstat, fd, reinterpret_cast<long>(&status)) < 0) return 0;
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) return 0;
  return channel_named(Named::kFile, status.st_dev, status.st_ino);
}

u64 channel_of(int fd) {
  u64 channel = __atomic_load_n(&channels_[fd], __ATOMIC_ACQUIRE);
  if (channel != 0) return channel;
  channel = connection_of(fd);
  // An unconnected socket may be connected later.
  if (channel == kFirstConnection) return channel;
  if (channel == 0) channel = file_of(fd);
  if (channel == 0) channel = new_channel();
  u64 none = 0;
  if (!__atomic_compare_exchange_n(&channels_[fd], &none, channel, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return none;
  return channel;
}

// io_sync=2: one channel for everything.
u64 message_of(int fd) { return options.io_sync >= 2 ? kFirstChannel : channel_of(fd); }

// The number of one that was closed stands for another one now.
void number_reused(int fd) {
  Thread* t = current();
  if (t != nullptr && t->busy == 0 && __atomic_exchange_n(&was_closed_[fd], false, __ATOMIC_RELAXED))
    write_event(t, 1, Shape::sized(Op::kAlloc), address_of(&file_descriptors[fd]), 1);
}

void descriptor_made(int fd, u64 channel) {
  if (!is_valid(fd)) return;
  __atomic_store_n(&channels_[fd], channel, __ATOMIC_RELEASE);
  number_reused(fd);
}

// FNV leaves the upper bits of short names alike.
u64 spread(u64 hash) { return kFirstNamed + 2 * ((hash * 0x9e3779b97f4a7c15) >> 21); }

}  // namespace

u64 channel_named(Named kind, u64 name, u64 more) {
  return spread(hash_bytes(hash_bytes(static_cast<u64>(kind), &name, sizeof name), &more, sizeof more));
}

u64 channel_named(Named kind, const char* name) {
  return spread(hash_bytes(static_cast<u64>(kind), name, text_length(name)));
}

u64 lock_channel_of(int fd) {
  struct stat status;
  if (sys_call(SYS_fstat, fd, reinterpret_cast<long>(&status)) < 0) return 0;
  return channel_named(Named::kFileLock, status.st_dev, status.st_ino);
}

void channel_sends(Thread* t, uptr pc, u64 channel) {
  if (options.io_sync != 0) write_event(t, pc, Shape::of(Op::kHappensBefore), channel);
}

void channel_received(Thread* t, uptr pc, u64 channel) {
  if (options.io_sync != 0) write_event(t, pc, Shape::of(Op::kHappensAfter), channel);
}

void descriptor_opened(int fd) { descriptor_made(fd, 0); }

void descriptor_closed(int fd) {
  if (is_valid(fd)) __atomic_store_n(&channels_[fd], 0, __ATOMIC_RELEASE);
}

// One that was closed and is open again came from a call that nobody saw.
static void look_for_unseen_open(int fd) {
  struct stat status;
  if (SOOTH_UNLIKELY(__atomic_load_n(&was_closed_[fd], __ATOMIC_RELAXED)) &&
      sys_call(SYS_fstat, fd, reinterpret_cast<long>(&status)) == 0)
    descriptor_opened(fd);
}

void descriptor_used(Thread* t, uptr pc, int fd) {
  if (!is_valid(fd) || t->busy != 0) return;
  look_for_unseen_open(fd);
  write_range(t, pc, Op::kRead, address_of(&file_descriptors[fd]), 1);
}

// What reports call it. One of the two calls of a race closes it.
static void name_descriptor(Thread* t, int fd) {
  if (__atomic_exchange_n(&was_named_[fd], true, __ATOMIC_RELAXED)) return;
  char name[40];
  char* end = append_text(name, name + sizeof name - 1, "file_descriptors[");
  end = append_text(append_number(end, name + sizeof name - 1, static_cast<u64>(fd)), name + sizeof name - 1, "]");
  *end = 0;
  write_name(t, ObjectKind::kMemory, address_of(&file_descriptors[fd]), name);
}

void descriptor_closes(Thread* t, uptr pc, int fd) {
  if (!is_valid(fd) || t->busy != 0) return;
  look_for_unseen_open(fd);
  __atomic_store_n(&was_closed_[fd], true, __ATOMIC_RELAXED);
  name_descriptor(t, fd);
  write_range(t, pc, Op::kWrite, address_of(&file_descriptors[fd]), 1);
}

void descriptors_closed(unsigned first, unsigned last) {
  for (unsigned fd = first; fd <= last && fd < kDescriptors; ++fd) descriptor_closed(static_cast<int>(fd));
}

void descriptors_paired(int a, int b) {
  u64 channel = new_channel();
  descriptor_made(a, channel);
  descriptor_made(b, channel);
}

void descriptor_copied(int from, int to) {
  if (is_valid(from) && is_valid(to)) descriptor_made(to, channel_of(from));
}

void descriptor_hands_out_signals(int fd) { descriptor_made(fd, kSignals); }

bool hands_out_signals(int fd) { return is_valid(fd) && __atomic_load_n(&channels_[fd], __ATOMIC_ACQUIRE) == kSignals; }

void descriptor_sends(Thread* t, uptr pc, int fd) {
  if (is_valid(fd) && options.io_sync != 0) write_event(t, pc, Shape::of(Op::kHappensBefore), message_of(fd));
}

void descriptor_ends(Thread* t, uptr pc, int fd) {
  if (is_valid(fd) && options.io_sync != 0) write_event(t, pc, Shape::of(Op::kHappensBefore), message_of(fd) + 1);
}

void descriptor_received(Thread* t, uptr pc, int fd, bool end) {
  if (!is_valid(fd) || options.io_sync == 0) return;
  write_event(t, pc, Shape::of(Op::kHappensAfter), message_of(fd));
  if (end) write_event(t, pc, Shape::of(Op::kHappensAfter), message_of(fd) + 1);
}

bool descriptor_may_block(int fd) {
  struct stat status;
  return sys_call(SYS_fstat, fd, reinterpret_cast<long>(&status)) < 0 || !S_ISREG(status.st_mode);
}

}  // namespace sooth::rt
