// The plugin of libc_xdr_race.cc and libc_xdr_norace.cc: one function of libtirpc.
extern "C" int xdr_int(const int* operation, int* value) {
  if (*operation != 1) return 0;
  asm volatile("movl $7, %0" : "=m"(*value));  // as a library that is not instrumented does it
  return 1;
}
