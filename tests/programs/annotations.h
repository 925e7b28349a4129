// The annotations that programs make for race detectors, and nothing in their place in a program that is not
// instrumented: there nobody defines them.
#pragma once

#include <sanitizer/tsan_interface.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SOOTH_INSTRUMENTED 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SOOTH_INSTRUMENTED 1
#endif

#ifdef SOOTH_INSTRUMENTED
#define SOOTH_IN_RUN_TIME(body) ;
#else
#define SOOTH_IN_RUN_TIME(body) body
#endif

extern "C" {
void AnnotateHappensBefore(const char*, int, const volatile void*) SOOTH_IN_RUN_TIME({});
void AnnotateHappensAfter(const char*, int, const volatile void*) SOOTH_IN_RUN_TIME({});
void AnnotateRWLockCreate(const char*, int, const volatile void*) SOOTH_IN_RUN_TIME({});
void AnnotateRWLockDestroy(const char*, int, const volatile void*) SOOTH_IN_RUN_TIME({});
void AnnotateRWLockAcquired(const char*, int, const volatile void*, long) SOOTH_IN_RUN_TIME({});
void AnnotateRWLockReleased(const char*, int, const volatile void*, long) SOOTH_IN_RUN_TIME({});
void AnnotateIgnoreReadsBegin(const char*, int) SOOTH_IN_RUN_TIME({});
void AnnotateIgnoreReadsEnd(const char*, int) SOOTH_IN_RUN_TIME({});
void AnnotateIgnoreWritesBegin(const char*, int) SOOTH_IN_RUN_TIME({});
void AnnotateIgnoreWritesEnd(const char*, int) SOOTH_IN_RUN_TIME({});
void AnnotateIgnoreSyncBegin(const char*, int) SOOTH_IN_RUN_TIME({});
void AnnotateIgnoreSyncEnd(const char*, int) SOOTH_IN_RUN_TIME({});
void AnnotateBenignRaceSized(const char*, int, const volatile void*, long, const char*) SOOTH_IN_RUN_TIME({});
#ifndef SOOTH_INSTRUMENTED
void __tsan_acquire(void*) {}
void __tsan_release(void*) {}
void __tsan_mutex_create(void*, unsigned) {}
void __tsan_mutex_destroy(void*, unsigned) {}
void __tsan_mutex_pre_lock(void*, unsigned) {}
void __tsan_mutex_post_lock(void*, unsigned, int) {}
int __tsan_mutex_pre_unlock(void*, unsigned) {
  return 0;
}
void __tsan_mutex_post_unlock(void*, unsigned) {}
void* __tsan_get_current_fiber() {
  return nullptr;
}
void* __tsan_create_fiber(unsigned) {
  return nullptr;
}
void __tsan_destroy_fiber(void*) {}
void __tsan_switch_to_fiber(void*, unsigned) {}
#endif
}
