/* What our tool of Valgrind and the run time library inside the program tell each other. Included by both: plain C, no
   other header.

   The library runs as code of the program, under Valgrind; the tool calls some of its functions directly, as machine code,
   because the two share an address space. Such a function must not wait, use thread-local variables or call libc. When it
   would have to, it says so, and the tool lets the program call `slow_entry` in front of the instruction instead. */
#ifndef SOOTH_VALGRIND_ENGINE_H
#define SOOTH_VALGRIND_ENGINE_H

#define SOOTH_ENGINE_VERSION 1

/* Requests of the program: valgrind.h. */
#define SOOTH_REQUEST_BASE ((unsigned)('S') << 24 | (unsigned)('O') << 16)
#define SOOTH_REQUEST_START (SOOTH_REQUEST_BASE + 0)  /* argument: a SoothEngine, which stays where it is; returns 1 */
#define SOOTH_REQUEST_RESUME (SOOTH_REQUEST_BASE + 1) /* the slow way is over: back to the instruction */

/* What SoothEngine::access says. */
#define SOOTH_DONE 0 /* go on */
#define SOOTH_SLOW 1 /* nothing was done: take the slow way */

/* What is at hand: SoothCall::kind. */
#define SOOTH_READ 0
#define SOOTH_WRITE 1
#define SOOTH_RMW 2 /* atomic; a load when memory is not as `expected` says and `compares` is set */

typedef struct {
  unsigned long address;
  unsigned long pc;
  unsigned long expected;
  unsigned kind;
  unsigned size; /* 1, 2, 4 or 8; for SOOTH_RMW 16 as well */
  unsigned compares;
  unsigned unused;
} SoothCall;

typedef struct {
  unsigned long version;
  long
      thread_offset; /* from the thread pointer to the pointer to the library's thread; that is 0 where nothing is recorded */
  long call_offset; /* from the library's thread to its SoothCall, which the tool fills before the slow way */
  unsigned long slow_entry;
  unsigned long library_begin, library_end;
  int (*access)(void* thread, const SoothCall* call, unsigned long sp);
  void (*entered)(void* thread, unsigned long call, unsigned long sp, unsigned long target);
  void (*left)(void* thread, unsigned long sp);
} SoothEngine;

#endif
