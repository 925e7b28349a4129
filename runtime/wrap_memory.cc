// The heap and mappings: memory that is handed out is a new variable, and giving it back is a write to all of it.
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/intercept.h"
#include "runtime/locks.h"
#include "runtime/openmp.h"
#include "runtime/signals.h"
#include "runtime/stream_writer.h"

using namespace sooth;
using namespace sooth::rt;

// glibc's allocator under the names that nobody interposes: usable before dlsym is.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void __libc_free(void*);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

constexpr u64 kPart = u64{1} << 30;

// Events hold at most 4 GiB, so longer blocks go in parts.
void write_block(Thread* t, uptr pc, Op op, uptr address, u64 size) {
  if (t->library_call != 0) pc = t->library_pc;  // of libstdc++.so, for its caller
  while (size > 0) {
    u64 part = size < kPart ? size : kPart;
    write_event(t, pc, Shape::sized(op), address, part);
    address += part;
    size -= part;
  }
}

// All bytes that the block has, not only those asked for: free() covers them, too, and must find them of its own
// generation. Those that were not asked for come first, as a block of their own: so reports tell the size that the
// program knows.
void allocated(void* block, std::size_t size, uptr pc) {
  Thread* t = current();
  if (SOOTH_UNLIKELY(t == nullptr || block == nullptr || t->busy != 0)) return;
  if (SOOTH_UNLIKELY(openmp::libomp_.contains(pc))) {
    // The program may get to see it. But who waits must not wait for its turn here.
    if (turn::is_outside(t)) return;
    pc = openmp::program_pc(pc);
  }
  uptr address = reinterpret_cast<uptr>(block);
  std::size_t whole = malloc_usable_size(block);
  if (recorder.locks_only && !may_hold_locks(address, address + whole)) return;
  if (size > whole) size = whole;
  if (size < whole) write_block(t, pc, Op::kAlloc, address + size, whole - size);
  if (size != 0) write_block(t, pc, Op::kAlloc, address, size);
}

// Where the dynamic loader lies.
uptr loader_begin_ = 0, loader_end_ = 0;

void find_loader() {
  uptr base = getauxval(AT_BASE);
  u64 length = 0;
  if (base != 0) {
    const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
    const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
    for (int i = 0; i < header->e_phnum; ++i) {
      u64 end = segments[i].p_vaddr + segments[i].p_memsz;
      if (segments[i].p_type == PT_LOAD && end > length) length = end;
    }
  }
  __atomic_store_n(&loader_begin_, base, __ATOMIC_RELAXED);
  __atomic_store_n(&loader_end_, base == 0 ? 1 : base + length, __ATOMIC_RELEASE);
}

// The loader frees thread-local memory of threads that have ended, and what it knows of libraries: when nobody uses them
// any more, which it knows from the kernel and from locks that we do not see.
bool is_loader(uptr pc) {
  if (SOOTH_UNLIKELY(__atomic_load_n(&loader_end_, __ATOMIC_ACQUIRE) == 0)) find_loader();
  return pc >= __atomic_load_n(&loader_begin_, __ATOMIC_RELAXED) &&
         pc < __atomic_load_n(&loader_end_, __ATOMIC_RELAXED);
}

// A free that is no access leaves nothing behind: memory that is handed out again is a new variable anyhow.
bool is_access(const Thread* t, uptr pc) { return t->ignore_writes == 0 && !is_loader(pc) && !openmp::is_library(pc); }

void freeing(void* block, uptr pc) {
  Thread* t = current();
  if (SOOTH_LIKELY(t != nullptr && block != nullptr && t->busy == 0) && is_access(t, pc)) {
    uptr begin = reinterpret_cast<uptr>(block);
    u64 size = malloc_usable_size(block);
    if (recorder.locks_only && !may_hold_locks(begin, begin + size)) return;
    locks_freed(t, pc, begin, begin + size);
    write_block(t, pc, Op::kFree, begin, size);
  }
}

}  // namespace

namespace sooth::rt {
void block_freed(void* block, uptr pc) { freeing(block, pc); }
}  // namespace sooth::rt

namespace {

void* allocate(std::size_t size, uptr pc) {
  void* block = __libc_malloc(size);
  allocated(block, size, pc);
  return block;
}

void* allocate_aligned(std::size_t alignment, std::size_t size, uptr pc) {
  void* block = __libc_memalign(alignment, size);
  allocated(block, size, pc);
  return block;
}

void release(void* block, uptr pc) {
  freeing(block, pc);
  __libc_free(block);
}

void* reallocate(void* block, std::size_t size, uptr pc) {
  if (block == nullptr) return allocate(size, pc);
  freeing(block, pc);
  void* moved = __libc_realloc(block, size);
  // It failed: the old block lives on, as a new variable to us.
  if (moved == nullptr && size != 0) allocated(block, malloc_usable_size(block), pc);
  allocated(moved, size, pc);
  return moved;
}

}  // namespace

#define SOOTH_DEFINE(result, name, ...)                     \
  SOOTH_EXPORT result sooth_##name(__VA_ARGS__) asm(#name); \
  result sooth_##name(__VA_ARGS__)

SOOTH_DEFINE(void*, malloc, std::size_t size) {
  SOOTH_UNSAFE(malloc);
  return allocate(size, SOOTH_CALLER);
}
SOOTH_DEFINE(void*, calloc, std::size_t count, std::size_t size) {
  SOOTH_UNSAFE(calloc);
  void* block = __libc_calloc(count, size);
  allocated(block, count * size, SOOTH_CALLER);
  return block;
}
SOOTH_DEFINE(void*, realloc, void* block, std::size_t size) {
  SOOTH_UNSAFE(realloc);
  return reallocate(block, size, SOOTH_CALLER);
}
SOOTH_DEFINE(void*, reallocarray, void* block, std::size_t count, std::size_t size) {
  SOOTH_UNSAFE(reallocarray);
  std::size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return reallocate(block, bytes, SOOTH_CALLER);
}
SOOTH_DEFINE(void, free, void* block) {
  SOOTH_UNSAFE(free);
  release(block, SOOTH_CALLER);
}
SOOTH_DEFINE(void, cfree, void* block) {
  SOOTH_UNSAFE(free);
  release(block, SOOTH_CALLER);
}
SOOTH_DEFINE(void*, memalign, std::size_t alignment, std::size_t size) {
  SOOTH_UNSAFE(memalign);
  return allocate_aligned(alignment, size, SOOTH_CALLER);
}
SOOTH_DEFINE(void*, aligned_alloc, std::size_t alignment, std::size_t size) {
  SOOTH_UNSAFE(aligned_alloc);
  return allocate_aligned(alignment, size, SOOTH_CALLER);
}
SOOTH_DEFINE(void*, valloc, std::size_t size) {
  SOOTH_UNSAFE(valloc);
  return allocate_aligned(4096, size, SOOTH_CALLER);
}
SOOTH_DEFINE(void*, pvalloc, std::size_t size) {
  SOOTH_UNSAFE(pvalloc);
  return allocate_aligned(4096, (size + 4095) & ~std::size_t{4095}, SOOTH_CALLER);
}
SOOTH_DEFINE(int, posix_memalign, void** out, std::size_t alignment, std::size_t size) {
  SOOTH_UNSAFE(posix_memalign);
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) return EINVAL;
  void* block = allocate_aligned(alignment, size, SOOTH_CALLER);
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}

// operator new and delete, so that the block's site is in the program and not in libstdc++. Without memory the one
// behind us runs the new-handler and throws.
#define SOOTH_NEW(symbol, parameters, arguments, allocation)              \
  SOOTH_REAL static Real<void * parameters> real_##symbol{#symbol};       \
  SOOTH_EXPORT void* symbol parameters {                                  \
    SOOTH_UNSAFE(operator new);                                           \
    void* block = allocation;                                             \
    if (SOOTH_UNLIKELY(block == nullptr)) return real_##symbol arguments; \
    allocated(block, n, SOOTH_CALLER);                                    \
    return block;                                                         \
  }
SOOTH_NEW(_Znwm, (std::size_t n), (n), __libc_malloc(n))
SOOTH_NEW(_Znam, (std::size_t n), (n), __libc_malloc(n))
SOOTH_NEW(_ZnwmRKSt9nothrow_t, (std::size_t n, const void* tag), (n, tag), __libc_malloc(n))
SOOTH_NEW(_ZnamRKSt9nothrow_t, (std::size_t n, const void* tag), (n, tag), __libc_malloc(n))
SOOTH_NEW(_ZnwmSt11align_val_t, (std::size_t n, std::size_t a), (n, a), __libc_memalign(a, n))
SOOTH_NEW(_ZnamSt11align_val_t, (std::size_t n, std::size_t a), (n, a), __libc_memalign(a, n))
SOOTH_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (std::size_t n, std::size_t a, const void* tag), (n, a, tag),
          __libc_memalign(a, n))
SOOTH_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (std::size_t n, std::size_t a, const void* tag), (n, a, tag),
          __libc_memalign(a, n))

#define SOOTH_DELETE(symbol, ...)                                    \
  SOOTH_EXPORT void symbol(void* block __VA_OPT__(, ) __VA_ARGS__) { \
    SOOTH_UNSAFE(operator delete);                                   \
    release(block, SOOTH_CALLER);                                    \
  }
SOOTH_DELETE(_ZdlPv)
SOOTH_DELETE(_ZdaPv)
SOOTH_DELETE(_ZdlPvm, std::size_t)
SOOTH_DELETE(_ZdaPvm, std::size_t)
SOOTH_DELETE(_ZdlPvRKSt9nothrow_t, const void*)
SOOTH_DELETE(_ZdaPvRKSt9nothrow_t, const void*)
SOOTH_DELETE(_ZdlPvSt11align_val_t, std::size_t)
SOOTH_DELETE(_ZdaPvSt11align_val_t, std::size_t)
SOOTH_DELETE(_ZdlPvmSt11align_val_t, std::size_t, std::size_t)
SOOTH_DELETE(_ZdaPvmSt11align_val_t, std::size_t, std::size_t)
SOOTH_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, std::size_t, const void*)
SOOTH_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, std::size_t, const void*)

// Memory is about to change its contents or its protection: the last chance to see what was written there.
static void settle(Thread* t) {
  if (t != nullptr && recorder.serial) write_pending(t);
}

#define SOOTH_MMAP(name)                                                                                        \
  SOOTH_INTERCEPT(void*, name, void* wish, std::size_t size, int protection, int flags, int fd, off_t offset) { \
    Thread* t = current();                                                                                      \
    settle(t);                                                                                                  \
    void* mapped = real_##name(wish, size, protection, flags, fd, offset);                                      \
    if (t != nullptr && mapped != MAP_FAILED)                                                                   \
      write_block(t, SOOTH_CALLER, Op::kAlloc, reinterpret_cast<uptr>(mapped), size);                           \
    return mapped;                                                                                              \
  }
SOOTH_MMAP(mmap)
SOOTH_MMAP(mmap64)

SOOTH_INTERCEPT(int, munmap, void* block, std::size_t size) {
  Thread* t = current();
  if (t != nullptr && size != 0 && (reinterpret_cast<uptr>(block) & 4095) == 0)
    write_block(t, SOOTH_CALLER, Op::kFree, reinterpret_cast<uptr>(block), size);
  return real_munmap(block, size);
}
SOOTH_INTERCEPT(int, mprotect, void* block, std::size_t size, int protection) {
  settle(current());
  return real_mprotect(block, size, protection);
}
SOOTH_INTERCEPT(int, madvise, void* block, std::size_t size, int advice) {
  settle(current());
  return real_madvise(block, size, advice);
}
// The cells of ownership.h are far more than there is memory: as under ThreadSanitizer, nothing is locked then.
SOOTH_INTERCEPT(int, mlockall, int flags) { return ownership::state.cells != nullptr ? 0 : real_mlockall(flags); }

// Shared memory of System V. Only the call that attaches it knows how much it is; of more than so many segments, what is
// detached is no write.
struct Segment {
  uptr block;
  std::size_t size;
};
constexpr int kSegments = 256;
static Segment segments_[kSegments];
static SpinLock segments_lock_;

// Replaces a segment at `block`, 0: in a free place, and hands back what was there.
static Segment exchange_segment(uptr block, Segment segment) {
  SpinGuard guard(segments_lock_);
  for (Segment& each : segments_) {
    if (each.block != block) continue;
    Segment was = each;
    each = segment;
    return was;
  }
  return {};
}

SOOTH_INTERCEPT(void*, shmat, int id, const void* wish, int flags) {
  Thread* t = current();
  settle(t);
  void* mapped = real_shmat(id, wish, flags);
  shmid_ds known;
  if (t == nullptr || mapped == MAP_FAILED || sys_call(SYS_shmctl, id, IPC_STAT, reinterpret_cast<long>(&known)) != 0)
    return mapped;
  auto block = reinterpret_cast<uptr>(mapped);
  exchange_segment(0, {block, known.shm_segsz});
  write_block(t, SOOTH_CALLER, Op::kAlloc, block, known.shm_segsz);
  return mapped;
}
SOOTH_INTERCEPT(int, shmdt, const void* block) {
  Thread* t = current();
  settle(t);
  Segment segment = exchange_segment(reinterpret_cast<uptr>(block), {});
  if (t != nullptr && segment.size != 0) write_block(t, SOOTH_CALLER, Op::kFree, segment.block, segment.size);
  return real_shmdt(block);
}
SOOTH_INTERCEPT(void*, mremap, void* block, std::size_t old_size, std::size_t new_size, int flags, void* wish) {
  Thread* t = current();
  if (t != nullptr) write_block(t, SOOTH_CALLER, Op::kFree, reinterpret_cast<uptr>(block), old_size);
  void* mapped = real_mremap(block, old_size, new_size, flags, wish);
  if (t != nullptr) {
    bool failed = mapped == MAP_FAILED;
    write_block(t, SOOTH_CALLER, Op::kAlloc, reinterpret_cast<uptr>(failed ? block : mapped),
                failed ? old_size : new_size);
  }
  return mapped;
}
