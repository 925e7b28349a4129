// Streams and shared states of libstdc++.so, which is not instrumented: what inserting and extracting does to a stream,
// and when a promise that waits for the end of its thread is kept. All of it follows from the library's ABI.
#include "runtime/library_calls.h"
#include "runtime/stream_use.h"
#include "runtime/sync.h"

using namespace sooth;
using namespace sooth::rt;

#define SOOTH_STREAM(id, symbol, way) SOOTH_LIBRARY(id, symbol, void, const StreamUse use(on, s), use.way(on))

SOOTH_STREAM(put_short, "_ZNSolsEs", formatted)
SOOTH_STREAM(put_unsigned_short, "_ZNSolsEt", formatted)
SOOTH_STREAM(put_int, "_ZNSolsEi", formatted)
SOOTH_STREAM(put_unsigned, "_ZNSolsEj", formatted)
SOOTH_STREAM(put_long, "_ZNSolsEl", formatted)
SOOTH_STREAM(put_unsigned_long, "_ZNSolsEm", formatted)
SOOTH_STREAM(put_long_long, "_ZNSolsEx", formatted)
SOOTH_STREAM(put_unsigned_long_long, "_ZNSolsEy", formatted)
SOOTH_STREAM(put_bool, "_ZNSolsEb", formatted)
SOOTH_STREAM(put_pointer, "_ZNSolsEPKv", formatted)
SOOTH_STREAM(insert_bool, "_ZNSo9_M_insertIbEERSoT_", formatted)
SOOTH_STREAM(insert_long, "_ZNSo9_M_insertIlEERSoT_", formatted)
SOOTH_STREAM(insert_unsigned_long, "_ZNSo9_M_insertImEERSoT_", formatted)
SOOTH_STREAM(insert_long_long, "_ZNSo9_M_insertIxEERSoT_", formatted)
SOOTH_STREAM(insert_unsigned_long_long, "_ZNSo9_M_insertIyEERSoT_", formatted)
SOOTH_STREAM(insert_pointer, "_ZNSo9_M_insertIPKvEERSoT_", formatted)
SOOTH_STREAM(put_char, "_ZNSo3putEc", over)
SOOTH_STREAM(put_bytes, "_ZNSo5writeEPKcl", over)
SOOTH_STREAM(end_line, "_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_", over)
SOOTH_STREAM(flush, "_ZNSo5flushEv", over)
SOOTH_STREAM(insert_char, "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c", over)

// Bytes into and out of a buffer without its stream, as std::osyncstream does it. Tables of virtual functions have these.
SOOTH_LIBRARY(buffer_put, "_ZNSt15basic_streambufIcSt11char_traitsIcEE6xsputnEPKcl", Buffer, const Buffer was = *s;
              on.in(reinterpret_cast<const char*>(a), b), tell_moves(on, was, s))
SOOTH_LIBRARY(buffer_take, "_ZNSt15basic_streambufIcSt11char_traitsIcEE6xsgetnEPcl", Buffer, const Buffer was = *s,
              on.out(reinterpret_cast<char*>(a), r);
              tell_moves(on, was, s))

// A number in a register of its own.
#define SOOTH_STREAM_DOUBLE(id, symbol)                           \
  SOOTH_REAL static Real<void*(void*, double)> real_##id{symbol}; \
  SOOTH_EXPORT void* sooth_##id(void*, double) asm(symbol);       \
  void* sooth_##id(void* stream, double number) {                 \
    const OnBehalf on = library_caller(SOOTH_CALLER);             \
    if (!on) return real_##id(stream, number);                    \
    const StreamUse use(on, stream);                              \
    void* result = real_##id(stream, number);                     \
    use.formatted(on);                                            \
    return result;                                                \
  }
SOOTH_STREAM_DOUBLE(put_double, "_ZNSolsEd")
SOOTH_STREAM_DOUBLE(insert_double, "_ZNSo9_M_insertIdEERSoT_")

// Where numbers go is written if there was one; the others are told by the stream alone.
#define SOOTH_STREAM_TAKE(id, symbol, type) \
  SOOTH_LIBRARY(id, symbol, void, const StreamUse use(on, s), use.over(on); on.out(reinterpret_cast<type*>(a)))
SOOTH_STREAM_TAKE(take_short, "_ZNSirsERs", short)
SOOTH_STREAM_TAKE(take_int, "_ZNSirsERi", int)
SOOTH_STREAM_TAKE(take_unsigned, "_ZNSirsERj", unsigned)
SOOTH_STREAM_TAKE(extract_unsigned, "_ZNSi10_M_extractIjEERSiRT_", unsigned)
SOOTH_STREAM_TAKE(extract_long, "_ZNSi10_M_extractIlEERSiRT_", long)
SOOTH_STREAM_TAKE(extract_unsigned_long, "_ZNSi10_M_extractImEERSiRT_", unsigned long)
SOOTH_STREAM_TAKE(extract_double, "_ZNSi10_M_extractIdEERSiRT_", double)
SOOTH_STREAM(take_byte, "_ZNSi3getEv", over)
SOOTH_STREAM(take_char, "_ZNSi3getERc", over)
SOOTH_STREAM(take_bytes, "_ZNSi4readEPcl", over)

namespace {

// set_value_at_thread_exit(): the library calls an element back when the variables of the thread are gone, and that makes
// the state ready, by a store which nobody sees.
struct State {
  void *functions, *result;
  u32 status;
};
struct Count {
  void* functions;
  int users;
};
struct AtExit {
  AtExit* next;
  void (*call)(void*);
  State* state;
  Count* count;
};
void (*make_ready_)(void*);

// Does not touch the state, which others may give up at any time; if nobody has it any more, nobody waits for it.
void make_ready(void* p) {
  auto* element = static_cast<AtExit*>(p);
  Thread* t = current();
  if (t != nullptr && element->count != nullptr && __atomic_load_n(&element->count->users, __ATOMIC_RELAXED) != 0) {
    auto pc = reinterpret_cast<uptr>(__atomic_load_n(&make_ready_, __ATOMIC_RELAXED));
    EventValue not_ready = {0, 0};
    begin_operation(t, pc);
    write_event(t, pc, Shape::of(Op::kAtomicRmw, MemoryOrder::kRelease, sizeof(u32)),
                address_of(&element->state->status), 0, &not_ready);
  }
  __atomic_load_n(&make_ready_, __ATOMIC_RELAXED)(p);
}

}  // namespace

SOOTH_REAL static Real<void(AtExit*)> real_make_ready{"_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv"};
SOOTH_EXPORT void sooth_make_ready(AtExit*) asm("_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv");
void sooth_make_ready(AtExit* element) {
  real_make_ready(element);
  if (current() == nullptr || element->call == make_ready) return;
  __atomic_store_n(&make_ready_, element->call, __ATOMIC_RELAXED);
  element->call = make_ready;
}
