/* The engine of Sooth for programs that were not built for it: a tool of Valgrind.

   This file and engine.h are free software under the GNU General Public License, version 2 or (at your option) any later
   version: see README.md in this folder. engine.h may also be used under the licence of the rest of Sooth.

   Each access of the program's code, and each call and return, becomes a call of the run time library of Sooth, which
   runs inside the program and does the rest: it wraps what synchronises, decides which thread is next, and writes the
   recording. How the two talk is in engine.h.

   The slow way. What the library cannot do at once (it would have to wait for its turn, or needs a lock) it does as code
   of the program, in front of the instruction: the block is left for `slow_entry`, with all registers kept here; at its
   end the library asks for them, and the instruction is executed again, of which the accesses that are done are not told
   again. So all registers must be in memory in front of each access (VexRegUpdAllregsAtMemAccess), and the instruction
   must not have changed anything yet. */
#include "pub_tool_basics.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_guest.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_transtab.h"
#include "pub_tool_vki.h"

#include "engine.h"

#define KEPT_DEPTH 8     /* slow ways of a thread that interrupt each other: handlers of signals do */
#define FIRST_REGISTER ((Int)offsetof(VexGuestAMD64State, guest_RAX))

typedef struct {
  Int depth;
  Addr resumed;          /* the instruction whose first accesses are done; 0: none */
  UInt done;             /* so many of them */
  VexGuestAMD64State kept[KEPT_DEPTH];
  UInt kept_done[KEPT_DEPTH];
} ThreadData;

static SoothEngine* engine;     /* of the library; NULL: it has not started yet */
static ThreadData** threads;     /* by ThreadId */
static UInt resumed_threads;     /* so many have ThreadData::resumed set */
static ULong lost;              /* accesses that needed the slow way in the middle of an instruction */

static ThreadData* data_of(ThreadId tid) {
  if (threads[tid] == NULL) threads[tid] = VG_(calloc)("sooth.thread", 1, sizeof(ThreadData));
  return threads[tid];
}

static void forget_resumed(ThreadData* data) {
  if (data->resumed != 0) --resumed_threads;
  data->resumed = 0;
}

static void before_thread(ThreadId tid, ThreadId child) {
  if (threads[child] == NULL) return;
  threads[child]->depth = 0;
  forget_resumed(threads[child]);
}

/* --- Memory that may be read from here ----------------------------------------------------------------------------- */

static void forget_targets(void);

#define PAGES 4096
static Addr readable[PAGES];    /* direct-mapped: numbers of pages */

static void forget_pages(Addr a, SizeT len) {
  Addr page;
  forget_targets();
  if (len >> 12 >= PAGES) {
    VG_(memset)(readable, 0, sizeof readable);
    return;
  }
  for (page = a >> 12; page <= (a + len) >> 12; ++page) readable[page % PAGES] = 0;
}

static void protection_changes(Addr a, SizeT len, Bool r, Bool w, Bool x) { forget_pages(a, len); }

static Bool is_readable(Addr a, SizeT size) {
  Addr page = a >> 12;
  if (LIKELY(readable[page % PAGES] == page && ((a + size - 1) >> 12) == page)) return True;
  if (!VG_(am_is_valid_for_client)(a, size, VKI_PROT_READ)) return False;
  if (VG_(am_is_valid_for_client)(page << 12, 4096, VKI_PROT_READ)) readable[page % PAGES] = page;
  return True;
}

/* --- Which code ---------------------------------------------------------------------------------------------------- */

typedef struct {
  Addr begin, end;
  Bool is_told;
} Code;
static Code known[64];
static UInt known_count;

/* Libraries whose functions the run time library wraps, or that synchronise by means of their own that are right. */
static Bool is_left_out(const HChar* path) {
  static const HChar* const kNames[] = {"libc.so", "libc-", "ld-linux", "ld-", "libpthread", "libstdc++.so", "libgcc_s.so",
                                        "libm.so", "libm-", "libdl", "librt", "libgomp.so", "libomp", "libiomp5", "libatomic.so", "libtsan.so",
                                        "libclang_rt.", "libc++", "libunwind", "linux-vdso", "vgpreload_"};
  const HChar* name = VG_(strrchr)(path, '/');
  UInt i;
  name = name == NULL ? path : name + 1;
  for (i = 0; i < sizeof kNames / sizeof kNames[0]; ++i)
    if (VG_(strncmp)(name, kNames[i], VG_(strlen)(kNames[i])) == 0) return True;
  return False;
}

/* Whether accesses of this code are told. Libraries may be unloaded: known[] is for a short time only, a translation. */
static Bool is_told(Addr pc) {
  DebugInfo* info;
  NSegment const* segment;
  Code code;
  UInt i;
  for (i = 0; i < known_count; ++i)
    if (pc >= known[i].begin && pc < known[i].end) return known[i].is_told;
  segment = VG_(am_find_nsegment)(pc);
  if (segment == NULL) return False;
  info = VG_(find_DebugInfo)(VG_(current_DiEpoch)(), pc);
  code.begin = segment->start;
  code.end = segment->end + 1;
  code.is_told = info != NULL && !is_left_out(VG_(DebugInfo_get_filename)(info));
  if (known_count < sizeof known / sizeof known[0]) known[known_count++] = code;
  return code.is_told;
}

/* The same while the program runs. Who calls back calls the same few functions mostly. */
#define TARGETS 256
static struct {
  Addr target;
  Bool is_told;
} targets[TARGETS];

static void forget_targets(void) { VG_(memset)(targets, 0, sizeof targets); }

static Bool is_told_target(Addr target) {
  UInt at = (UInt)(target >> 4) % TARGETS;
  if (LIKELY(targets[at].target == target)) return targets[at].is_told;
  known_count = 0;
  targets[at].target = target;
  targets[at].is_told = is_told(target);
  return targets[at].is_told;
}

/* --- What blocks of code call -------------------------------------------------------------------------------------- */

/* What an access is, in a word: the program counter below. */
#define INFO_PC(info) ((info) & 0xffffffffffffULL)
#define INFO_INDEX(info) ((UInt)((info) >> 48 & 31))      /* which access of the instruction */
#define INFO_LAST (1ULL << 53)
#define INFO_KIND(info) ((UInt)((info) >> 54 & 3))
#define INFO_SIZE(info) (1U << ((info) >> 56 & 7))
#define INFO_CAN_LEAVE (1ULL << 59)
#define INFO_COMPARES (1ULL << 60)

static void* library_thread(Addr pointer) {
  return pointer == 0 ? NULL : *(void**)(pointer + engine->thread_offset);
}

/* Not 0: leave the block for the slow way. */
static ULong on_access(ULong address, ULong info, ULong expected, VexGuestAMD64State* state) {
  void* thread = library_thread(state->guest_FS_CONST);
  SoothCall call;
  ThreadData* data;
  if (thread == NULL) return 0;
  if (UNLIKELY(resumed_threads != 0)) {
    data = data_of(VG_(get_running_tid)());
    if (data->resumed != 0) {
      Bool is_done = data->resumed == INFO_PC(info) && INFO_INDEX(info) < data->done;
      if (!is_done || (info & INFO_LAST) != 0) forget_resumed(data);
      if (is_done) return 0;
    }
  }
  call.address = address;
  call.pc = INFO_PC(info);
  call.kind = INFO_KIND(info);
  call.size = INFO_SIZE(info);
  call.expected = expected;
  call.compares = (info & INFO_COMPARES) != 0;
  if (UNLIKELY(!is_readable(address, call.size))) return 0; /* the program is about to fault */
  if (LIKELY(engine->access(thread, &call, state->guest_RSP) == SOOTH_DONE)) return 0;
  data = data_of(VG_(get_running_tid)());
  if ((info & INFO_CAN_LEAVE) == 0 || data->depth == KEPT_DEPTH) {
    ++lost;
    return 0;
  }
  *(SoothCall*)((Addr)thread + engine->call_offset) = call;
  data->kept[data->depth] = *state;
  data->kept[data->depth].guest_RIP = call.pc;
  data->kept_done[data->depth] = INFO_INDEX(info) + 1;
  if ((info & INFO_LAST) != 0 && INFO_INDEX(info) == 0) data->kept_done[data->depth] = 1;
  ++data->depth;
  return 1;
}

static void on_call(ULong target, VexGuestAMD64State* state) {
  void* thread = library_thread(state->guest_FS_CONST);
  if (thread != NULL) engine->entered(thread, *(Addr*)state->guest_RSP - 1, state->guest_RSP, target);
}

/* From code whose accesses are not told: functions of the program that libraries call, as main and those of threads. */
static void on_call_back(ULong target, VexGuestAMD64State* state) {
  void* thread = library_thread(state->guest_FS_CONST);
  if (thread != NULL && is_told_target(target)) engine->entered(thread, *(Addr*)state->guest_RSP - 1, state->guest_RSP, target);
}

static void on_return(VexGuestAMD64State* state) {
  void* thread = library_thread(state->guest_FS_CONST);
  if (thread != NULL) engine->left(thread, state->guest_RSP);
}

/* --- Requests of the library --------------------------------------------------------------------------------------- */

static Bool on_request(ThreadId tid, UWord* args, UWord* answer) {
  if (args[0] == SOOTH_REQUEST_START) {
    SoothEngine* wanted = (SoothEngine*)args[1];
    *answer = wanted->version == SOOTH_ENGINE_VERSION;
    if (*answer == 1) {
      engine = wanted;
      VG_(discard_translations_safely)(0x1000, ~(SizeT)0 - 0x2000, "sooth");
    }
    return True;
  }
  if (args[0] == SOOTH_REQUEST_RESUME) {
    ThreadData* data = data_of(tid);
    VexGuestAMD64State* kept;
    tl_assert(data->depth > 0);
    kept = &data->kept[--data->depth];
    if (data->resumed == 0) ++resumed_threads;
    data->resumed = kept->guest_RIP;
    data->done = data->kept_done[data->depth];
    VG_(set_shadow_regs_area)(tid, 0, FIRST_REGISTER, sizeof *kept - FIRST_REGISTER, (const UChar*)kept + FIRST_REGISTER);
    *answer = kept->guest_RDX; /* which is where the answer goes */
    return True;
  }
  return False;
}

/* Pushes, pops, calls and returns: what they read and write on the stack is nobody else's. `reads`: it reads something
   else. */
static Bool is_stack_instruction(const UChar* code, Bool* reads) {
  *reads = False;
  while (*code == 0x66 || *code == 0xf2 || *code == 0xf3 || *code == 0x3e) ++code;
  if ((*code & 0xf0) == 0x40) ++code;
  if ((*code & 0xf0) == 0x50 || *code == 0xe8 || *code == 0xc3 || *code == 0xc2 || *code == 0xc9 || *code == 0x68 ||
      *code == 0x6a || *code == 0xc8 || *code == 0x9c || *code == 0x9d)
    return True;
  if (*code == 0xff) {
    UInt what = code[1] >> 3 & 7;
    /* Through the table that the loader fills, of which functions are where. */
    if (code[1] == 0x15 || code[1] == 0x25) return True;
    *reads = (code[1] & 0xc0) != 0xc0;
    return what == 2 || what == 6;
  }
  return False;
}

/* --- Translation --------------------------------------------------------------------------------------------------- */

typedef struct {
  IRSB* out;
  Addr pc;
  UInt index, count;     /* of accesses of the instruction */
  Bool is_told;          /* the instruction's accesses */
  Bool is_atomic;        /* it has one access, which is atomic */
  Bool is_stack, reads;
  Bool has_changed;      /* something, so far */
} Block;

static IRExpr* constant(ULong n) { return IRExpr_Const(IRConst_U64(n)); }

static IRExpr* assign(Block* b, IRType type, IRExpr* e) {
  IRTemp t = newIRTemp(b->out->tyenv, type);
  addStmtToIRSB(b->out, IRStmt_WrTmp(t, e));
  return IRExpr_RdTmp(t);
}

static void reads_registers(IRDirty* d) {
  d->nFxState = 1;
  d->fxState[0].fx = Ifx_Read;
  d->fxState[0].offset = FIRST_REGISTER;
  d->fxState[0].size = sizeof(VexGuestAMD64State) - FIRST_REGISTER;
  d->fxState[0].nRepeats = 0;
  d->fxState[0].repeatLen = 0;
}

static void tell(Block* b, IRExpr* address, UInt kind, UInt log_size, IRExpr* expected, Bool compares, IRExpr* guard) {
  ULong info = b->pc | (ULong)(b->index & 31) << 48 | (ULong)kind << 54 | (ULong)log_size << 56;
  IRTemp answer = newIRTemp(b->out->tyenv, Ity_I64);
  IRDirty* d;
  ++b->index;
  if (b->index == b->count) info |= INFO_LAST;
  if (!b->has_changed && b->index <= 31) info |= INFO_CAN_LEAVE;
  if (compares) info |= INFO_COMPARES;
  d = unsafeIRDirty_1_N(answer, 0, "on_access", VG_(fnptr_to_fnentry)(&on_access),
                        mkIRExprVec_4(address, constant(info), expected, IRExpr_GSPTR()));
  if (guard != NULL) d->guard = guard;
  reads_registers(d);
  addStmtToIRSB(b->out, IRStmt_Dirty(d));
  if ((info & INFO_CAN_LEAVE) == 0) return;
  if (guard != NULL) {
    /* What is not asked gives no answer that means something. */
    IRExpr* asked = assign(b, Ity_I64, IRExpr_Unop(Iop_1Sto64, guard));
    IRExpr* both = assign(b, Ity_I64, IRExpr_Binop(Iop_And64, IRExpr_RdTmp(answer), asked));
    addStmtToIRSB(b->out, IRStmt_Exit(assign(b, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, both, constant(1))), Ijk_Boring,
                                      IRConst_U64(engine->slow_entry), offsetof(VexGuestAMD64State, guest_RIP)));
    return;
  }
  addStmtToIRSB(b->out, IRStmt_Exit(assign(b, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, IRExpr_RdTmp(answer), constant(1))), Ijk_Boring,
                                    IRConst_U64(engine->slow_entry), offsetof(VexGuestAMD64State, guest_RIP)));
}

/* Of any size, in parts of at most 8 bytes. */
static void tell_parts(Block* b, IRExpr* address, Bool is_write, UInt size, IRExpr* guard) {
  UInt at = 0;
  while (at < size) {
    UInt log_size = 3;
    while ((1U << log_size) > size - at) --log_size;
    tell(b, at == 0 ? address : assign(b, Ity_I64, IRExpr_Binop(Iop_Add64, address, constant(at))),
         is_write ? SOOTH_WRITE : SOOTH_READ, log_size, constant(0), False, guard);
    at += 1U << log_size;
  }
}

static UInt parts_of(UInt size) {
  UInt parts = size / 8;
  for (size %= 8; size != 0; size &= size - 1) ++parts;
  return parts;
}

/* The statement's access. False: it has none that is told. */
static Bool find_access(const Block* b, const IRStmt* st, IRExpr** address, IRExpr** guard, Bool* is_write, UInt* size) {
  *guard = NULL;
  *is_write = False;
  if (b->is_atomic) return False;
  switch (st->tag) {
    case Ist_WrTmp:
      if (st->Ist.WrTmp.data->tag != Iex_Load) return False;
      *address = st->Ist.WrTmp.data->Iex.Load.addr;
      *size = sizeofIRType(st->Ist.WrTmp.data->Iex.Load.ty);
      break;
    case Ist_Store:
      *address = st->Ist.Store.addr;
      *size = sizeofIRType(typeOfIRExpr(b->out->tyenv, st->Ist.Store.data));
      *is_write = True;
      break;
    case Ist_LoadG: {
      IRType loaded, widened;
      typeOfIRLoadGOp(st->Ist.LoadG.details->cvt, &widened, &loaded);
      *address = st->Ist.LoadG.details->addr;
      *guard = st->Ist.LoadG.details->guard;
      *size = sizeofIRType(loaded);
      break;
    }
    case Ist_StoreG:
      *address = st->Ist.StoreG.details->addr;
      *guard = st->Ist.StoreG.details->guard;
      *size = sizeofIRType(typeOfIRExpr(b->out->tyenv, st->Ist.StoreG.details->data));
      *is_write = True;
      break;
    case Ist_Dirty: {
      /* Of 10 bytes: `long double`. */
      const IRDirty* d = st->Ist.Dirty.details;
      if (d->mFx == Ifx_None) return False;
      *address = d->mAddr;
      *guard = d->guard->tag == Iex_Const ? NULL : d->guard;
      *size = (UInt)d->mSize;
      *is_write = d->mFx != Ifx_Read;
      break;
    }
    default: return False;
  }
  /* `call *[m]` and `push [m]` read first. */
  return !b->is_stack || (b->reads && !*is_write);
}

static void begin_instruction(Block* b, IRSB* in, Int at) {
  Int i;
  b->pc = in->stmts[at]->Ist.IMark.addr;
  b->index = b->count = 0;
  b->has_changed = b->is_atomic = False;
  b->is_told = is_told(b->pc);
  if (!b->is_told) return;
  b->is_stack = is_stack_instruction((const UChar*)b->pc, &b->reads);
  for (i = at + 1; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; ++i)
    if (in->stmts[i]->tag == Ist_CAS) b->is_atomic = True;
  for (i = at + 1; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; ++i) {
    IRExpr *address, *guard;
    Bool is_write;
    UInt size;
    if (find_access(b, in->stmts[i], &address, &guard, &is_write, &size)) b->count += parts_of(size);
    if (in->stmts[i]->tag == Ist_CAS) ++b->count;
  }
}

/* A locked instruction, or an exchange. Others than cmpxchg compare with what they have just read. */
static void tell_atomic(Block* b, const IRCAS* cas) {
  IRType type = typeOfIRExpr(b->out->tyenv, cas->dataLo);
  UInt size = sizeofIRType(type), log_size = 0;
  IRExpr* expected = constant(0);
  Bool compares = cas->oldHi == IRTemp_INVALID;
  if (compares) {
    switch (type) {
      case Ity_I8: expected = assign(b, Ity_I64, IRExpr_Unop(Iop_8Uto64, cas->expdLo)); break;
      case Ity_I16: expected = assign(b, Ity_I64, IRExpr_Unop(Iop_16Uto64, cas->expdLo)); break;
      case Ity_I32: expected = assign(b, Ity_I64, IRExpr_Unop(Iop_32Uto64, cas->expdLo)); break;
      default: expected = cas->expdLo; break;
    }
  } else {
    size *= 2;
  }
  while ((1U << log_size) < size) ++log_size;
  tell(b, cas->addr, SOOTH_RMW, log_size, expected, compares, NULL);
}

static void tell_end(Block* b) {
  IRDirty* d;
  if (b->out->jumpkind == Ijk_Call && b->is_told) {
    d = unsafeIRDirty_0_N(0, "on_call", VG_(fnptr_to_fnentry)(&on_call), mkIRExprVec_2(b->out->next, IRExpr_GSPTR()));
  } else if (b->out->jumpkind == Ijk_Call && b->out->next->tag != Iex_Const) {
    d = unsafeIRDirty_0_N(0, "on_call_back", VG_(fnptr_to_fnentry)(&on_call_back), mkIRExprVec_2(b->out->next, IRExpr_GSPTR()));
  } else if (b->out->jumpkind == Ijk_Ret) {
    d = unsafeIRDirty_0_N(0, "on_return", VG_(fnptr_to_fnentry)(&on_return), mkIRExprVec_1(IRExpr_GSPTR()));
  } else {
    return;
  }
  reads_registers(d);
  addStmtToIRSB(b->out, IRStmt_Dirty(d));
}

/* `movss` and `movsd` clear the register before they load into it. Executed again from their begin they do the same. */
static Bool clears_vector(const IRStmt* st) {
  Int at;
  if (st->tag != Ist_Put || st->Ist.Put.data->tag != Iex_Const) return False;
  at = st->Ist.Put.offset;
  return at >= (Int)offsetof(VexGuestAMD64State, guest_YMM0) && at < (Int)offsetof(VexGuestAMD64State, guest_YMM16);
}

static IRSB* instrument(VgCallbackClosure* closure, IRSB* in, const VexGuestLayout* layout, const VexGuestExtents* extents,
                        const VexArchInfo* host, IRType guest_word, IRType host_word) {
  Block b;
  Int i = 0;
  if (engine == NULL) return in;
  known_count = 0;
  VG_(memset)(&b, 0, sizeof b);
  b.out = deepCopyIRSBExceptStmts(in);
  for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; ++i) addStmtToIRSB(b.out, in->stmts[i]);
  for (; i < in->stmts_used; ++i) {
    IRStmt* st = in->stmts[i];
    IRExpr *address, *guard;
    Bool is_write;
    UInt size;
    if (st->tag == Ist_IMark) begin_instruction(&b, in, i);
    if (b.is_told) {
      if (st->tag == Ist_CAS) tell_atomic(&b, st->Ist.CAS.details);
      if (find_access(&b, st, &address, &guard, &is_write, &size)) tell_parts(&b, address, is_write, size, guard);
      if (st->tag == Ist_Store || st->tag == Ist_StoreG || st->tag == Ist_Dirty || st->tag == Ist_CAS ||
          st->tag == Ist_PutI ||
          (st->tag == Ist_Put && st->Ist.Put.offset != (Int)offsetof(VexGuestAMD64State, guest_RIP) && !clears_vector(st)))
        b.has_changed = True;
    }
    addStmtToIRSB(b.out, st);
  }
  tell_end(&b);
  return b.out;
}

static void finish(Int status) {
  if (lost != 0 && VG_(clo_verbosity) > 0)
    VG_(umsg)("%llu accesses in the middle of an instruction were not told\n", lost);
}

static void start(void) {
  threads = VG_(calloc)("sooth.threads", VG_N_THREADS, sizeof *threads);
  VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtMemAccess;
  VG_(clo_px_file_backed) = VexRegUpdAllregsAtMemAccess;
}

static void describe(void) {
  VG_(details_name)("sooth");
  VG_(details_version)(NULL);
  VG_(details_description)("the engine of Sooth for programs as they are");
  VG_(details_copyright_author)("Copyright (C) the authors of Sooth");
  VG_(details_bug_reports_to)("the issues of Sooth");
  VG_(details_avg_translation_sizeB)(600);
  VG_(basic_tool_funcs)(start, instrument, finish);
  VG_(needs_client_requests)(on_request);
  VG_(track_pre_thread_ll_create)(before_thread);
  VG_(track_die_mem_munmap)(forget_pages);
  VG_(track_die_mem_brk)(forget_pages);
  VG_(track_change_mem_mprotect)(protection_changes);
}

VG_DETERMINE_INTERFACE_VERSION(describe)
