#include "runtime/deep.h"

#include <errno.h>

#include "runtime/init.h"
#include "runtime/intercept.h"
#include "runtime/modules.h"
#include "runtime/record_builder.h"
#include "runtime/stream_writer.h"
#include "runtime/turn.h"
#include "trace/recording/deep_format.h"

namespace sooth::rt {
namespace {

using deep::Descriptor;

// DeepKind of trace/batch.h, which is not freestanding.
enum Kind : u32 { kEnter = 0, kWord = 1, kAddress = 2, kBranch = 3, kReturn = 4, kLanded = 5 };

SpinLock modules_lock_;
Descriptor* first_ = nullptr;  // modules that are loaded, by number
Descriptor* last_ = nullptr;
u32 next_number_ = 0;

bool write_all(int fd, const void* bytes, u64 count) {
  const u8* at = static_cast<const u8*>(bytes);
  while (count != 0) {
    long done = sys_call(SYS_write, fd, reinterpret_cast<long>(at), static_cast<long>(count));
    if (done == -EINTR) continue;
    if (done <= 0) return false;
    at += done;
    count -= static_cast<u64>(done);
  }
  return true;
}

// nullptr: a module that was unloaded before this recording began, and left nothing but its number.
bool write_module(int fd, u32 number, const Descriptor* module) {
  stream::DeepModule header{stream::kDeepModuleMagic, number, 0, 0};
  if (module == nullptr) return write_all(fd, &header, sizeof header);
  header.addresses = module->address_count;
  header.bitcode_bytes = module->code_bytes;
  return write_all(fd, &header, sizeof header) && write_all(fd, module->addresses, 8 * module->address_count) &&
         write_all(fd, module->code, module->code_bytes);
}

bool write_seal(int fd) {
  stream::DeepSeal seal{};
  return write_all(fd, &seal, sizeof seal);
}

bool write_new_module(const Descriptor* module) {
  long fd = append_recording_file(stream::kDeepFile);
  if (fd < 0) return false;
  bool written = (module->number != 0 || write_seal(static_cast<int>(fd))) &&
                 write_module(static_cast<int>(fd), module->number, module);
  sys_call(SYS_close, fd);
  return written;
}

SOOTH_INLINE u16 control_word(Kind kind, u32 small) {
  return static_cast<u16>(stream::kEscapeCode << stream::kSlotBits | stream::kDeepRecords |
                          kind << stream::kDeepKindShift | small);
}

// The thread if it records what the module does, with nothing left that must come first. It has the turn: what a call
// left behind that blocked outside of our view stands behind what others did meanwhile.
SOOTH_INLINE Thread* thread_of(const Descriptor* module) {
  Thread* t = current();
  if (module->number == deep::kSilent || SOOTH_UNLIKELY(t == nullptr) || SOOTH_UNLIKELY((t->special & kStopped) != 0))
    return nullptr;
  if (t->pending_slot != 0)
    write_pending(t);
  else
    turn::hold(t);
  return t;
}

SOOTH_INLINE void finish(Thread* t) {
  if (SOOTH_UNLIKELY(t->cursor > t->limit)) attend(t);
}

// The same where words may follow: a handler that waits goes on waiting, so that what it does does not stand between
// them.
SOOTH_INLINE void finish_quietly(Thread* t) {
  bool has_room = t->chunk != nullptr && t->cursor <= t->chunk + stream::kChunkBytes - kRecordRoom;
  if (SOOTH_UNLIKELY(t->cursor > t->limit) && (t->limit != nullptr || !has_room)) attend(t);
}

SOOTH_INLINE void put_word(Thread* t, Kind kind, u64 value) {
  u32 length = full_length(value);
  Builder b(t, control_word(kind, length));
  b.put_bytes(value, length);
  b.commit();
  finish_quietly(t);
}

}  // namespace

bool restart_deep_after_fork() {
  modules_lock_.reset();
  if (next_number_ == 0) return true;
  long fd = append_recording_file(stream::kDeepFile);
  if (fd < 0) return false;
  bool written = write_seal(static_cast<int>(fd));
  const Descriptor* module = first_;
  for (u32 number = 0; written && number < next_number_; ++number) {
    bool is_loaded = module != nullptr && module->number == number;
    written = write_module(static_cast<int>(fd), number, is_loaded ? module : nullptr);
    if (is_loaded) module = module->next;
  }
  sys_call(SYS_close, fd);
  recorder.control->flags |= stream::kWithDeep;
  return written;
}

}  // namespace sooth::rt

using namespace sooth;
using namespace sooth::rt;
using sooth::deep::Descriptor;

SOOTH_EXPORT void __sooth_deep_loaded(Descriptor* module) {
  initialize();
  if (!recording() || !recorder.serial || recorder.controlled || recorder.directory == nullptr) return;
  if (module->version != deep::kVersion || code_kind(SOOTH_CALLER) != CodeKind::kRecorded) return;
  SpinGuard guard(modules_lock_);
  if (next_number_ == stream::kMaxDeepModules) return;
  module->number = next_number_;
  module->next = nullptr;
  if (!write_new_module(module)) {
    module->number = deep::kSilent;
    return stop_for_lack_of_room();
  }
  __atomic_fetch_or(&recorder.control->flags, stream::kWithDeep, __ATOMIC_RELAXED);
  ownership::keep_all();  // whoever executes the code again must know what it read
  ++next_number_;
  (first_ == nullptr ? first_ : last_->next) = module;
  last_ = module;
}

SOOTH_EXPORT void __sooth_deep_unloaded(Descriptor* module) {
  SpinGuard guard(modules_lock_);
  Descriptor* before = nullptr;
  for (Descriptor** link = &first_; *link != nullptr; before = *link, link = &(*link)->next) {
    if (*link != module) continue;
    *link = module->next;
    if (last_ == module) last_ = before;
    return;
  }
}

SOOTH_EXPORT void __sooth_deep_enter(const Descriptor* module, u32 function) {
  Thread* t = thread_of(module);
  if (t == nullptr) return;
  Builder b(t, control_word(kEnter, 0));
  b.put_varint(module->number);
  b.put_varint(function);
  b.commit();
  finish_quietly(t);
}

SOOTH_EXPORT void __sooth_deep_settle(const Descriptor* module) { (void)thread_of(module); }

SOOTH_EXPORT void __sooth_deep_word(const Descriptor* module, u64 value) {
  if (Thread* t = thread_of(module)) put_word(t, kWord, value);
}

SOOTH_EXPORT void __sooth_deep_words(const Descriptor* module, const void* bytes, u64 count) {
  Thread* t = thread_of(module);
  if (t == nullptr) return;
  for (u64 at = 0; at < count; at += 8) {
    u64 word = 0;
    copy_memory(&word, static_cast<const u8*>(bytes) + at, count - at < 8 ? count - at : 8);
    put_word(t, kWord, word);
  }
}

SOOTH_EXPORT void __sooth_deep_address(const Descriptor* module, const void* address) {
  if (Thread* t = thread_of(module)) put_word(t, kAddress, reinterpret_cast<uptr>(address));
}

SOOTH_EXPORT void __sooth_deep_branch(const Descriptor* module, u32 successor) {
  Thread* t = thread_of(module);
  if (t == nullptr) return;
  bool is_long = successor >= stream::kLongBranch;
  u16 word = control_word(kBranch, is_long ? stream::kLongBranch : successor);
  if (!is_long && is_expected(t, word)) {
    put_expected(t, word);
    return finish(t);
  }
  Builder b(t, word);
  if (SOOTH_UNLIKELY(is_long)) b.put_varint(successor);
  b.commit();
  if (!is_long) follow(t, word);
  finish(t);
}

SOOTH_EXPORT void __sooth_deep_return(const Descriptor* module, u32 function, u32 call, u64 value) {
  Thread* t = thread_of(module);
  if (t == nullptr) return;
  u32 length = full_length(value);
  Builder b(t, control_word(kReturn, length));
  b.put_varint(module->number);
  b.put_varint(function);
  b.put_varint(call);
  b.put_bytes(value, length);
  b.commit();
  finish_quietly(t);
}

SOOTH_EXPORT void __sooth_deep_landed(const Descriptor* module, u32 function, u32 instruction) {
  Thread* t = thread_of(module);
  if (t == nullptr) return;
  Builder b(t, control_word(kLanded, 0));
  b.put_varint(module->number);
  b.put_varint(function);
  b.put_varint(instruction);
  b.commit();
  finish_quietly(t);
}

// The store of a pointer to a table of virtual functions. Destructors store that of their own class first: the same
// again, mostly, and harmless then. What follows says which it was.
SOOTH_EXPORT void __sooth_deep_vptr(const Descriptor* module, void** place, void* value) {
  bool changes = *place != value;
  __sooth_deep_branch(module, changes ? 1 : 0);
  if (changes)
    access(reinterpret_cast<uptr>(place), SOOTH_CALLER, Shape::of(Op::kWrite, MemoryOrder::kNotAtomic, 8),
           reinterpret_cast<uptr>(__builtin_dwarf_cfa()));
}
