// How a function of libc is interposed.
//
//   SOOTH_INTERCEPT(int, pthread_mutex_lock, pthread_mutex_t* mutex) {
//     Thread* t = current();
//     if (t == nullptr) return real_pthread_mutex_lock(mutex);
//     ...
//   }
//
// defines and exports the function, and real_NAME, which calls the one behind us. The definition has a name of its own and the
// exported one as assembler label, so that declarations of libc's headers (noexcept, nonnull) do not get in the way.
// When current() is nullptr the wrapper does nothing but call the real function.
#pragma once

#include "runtime/sys.h"
#include "runtime/thread.h"

namespace sooth::rt {

// The next definition of `name` behind this library; of that symbol version when `version` is not nullptr. Dies when there is none,
// unless `optional`.
void* resolve(const char* name, const char* version, bool optional);

// A function of libc, looked up when first called. Constant-initialised: wrappers run before constructors.
template <typename Signature>
class Real;

template <typename R, typename... A>
class Real<R(A...)> {
 public:
  explicit constexpr Real(const char* name, const char* version = nullptr) : name_(name), version_(version) {}
  SOOTH_INLINE R operator()(A... arguments) { return get()(arguments...); }
  using Pointer = R (*)(A...);
  SOOTH_INLINE Pointer get() {
    auto p = __atomic_load_n(&pointer_, __ATOMIC_RELAXED);
    if (SOOTH_UNLIKELY(p == nullptr)) {
      p = reinterpret_cast<Pointer>(resolve(name_, version_, false));
      __atomic_store_n(&pointer_, p, __ATOMIC_RELAXED);
    }
    return p;
  }

 private:
  const char* name_;
  const char* version_;
  Pointer pointer_ = nullptr;
};

#define SOOTH_EXPORT extern "C" __attribute__((visibility("default")))

#define SOOTH_INTERCEPT(result, name, ...)                              \
  static ::sooth::rt::Real<result(__VA_ARGS__)> real_##name{#name};     \
  SOOTH_EXPORT result sooth_##name(__VA_ARGS__) asm(#name);             \
  result sooth_##name(__VA_ARGS__)

// The same for symbols with versions: libtsan exports them without one, so programs bind to glibc's oldest.
#define SOOTH_INTERCEPT_VERSION(result, name, version, ...)                    \
  static ::sooth::rt::Real<result(__VA_ARGS__)> real_##name{#name, version};   \
  SOOTH_EXPORT result sooth_##name(__VA_ARGS__) asm(#name);                    \
  result sooth_##name(__VA_ARGS__)

// The program counter of the call that reached a hook or wrapper: return address less one.
#define SOOTH_CALLER (reinterpret_cast<::sooth::rt::uptr>(__builtin_return_address(0)) - 1)

}  // namespace sooth::rt
