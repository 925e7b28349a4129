// How a function of libc is interposed.
//
//   SOOTH_INTERCEPT(int, pthread_mutex_lock, pthread_mutex_t* mutex) {
//     Thread* t = current();
//     if (t == nullptr) return real_pthread_mutex_lock(mutex);
//     ...
//   }
//
// defines and exports the function, and real_NAME, which calls the one behind us. The definition has a name of its own
// and the exported one as assembler label, so that declarations of libc's headers (noexcept, nonnull) do not get in the
// way. When current() is nullptr the wrapper does nothing but call the real function.
#pragma once

#include "runtime/sys.h"
#include "runtime/thread.h"

namespace sooth::rt {

// The next definition of `name` behind this library; of that symbol version when `version` is not nullptr. Dies when
// there is none, unless `optional`.
void* resolve(const char* name, const char* version, bool optional);

// A function of libc, of any type. Constant-initialised: wrappers run before constructors. Those that are declared with
// SOOTH_REAL are looked up when the library is loaded, because looking up later would take away what dlerror() has to
// say to the program; those that are not there then, or are called before, when first called. Of a size that no
// compiler pads, so that together they are an array.
class alignas(32) AnyReal {
 public:
  constexpr AnyReal(const char* name, const char* version) : name_(name), version_(version) {}
  void find(bool optional) {
    if (name_ != nullptr && get() == nullptr)
      __atomic_store_n(&pointer_, resolve(name_, version_, optional), __ATOMIC_RELAXED);
  }

 protected:
  SOOTH_INLINE void* get() const { return __atomic_load_n(&pointer_, __ATOMIC_RELAXED); }

 private:
  const char* name_;
  const char* version_;
  void* pointer_ = nullptr;
};
static_assert(sizeof(AnyReal) == 32);

#define SOOTH_REAL [[gnu::section("sooth_real")]]

template <typename Signature>
class Real;

template <typename R, typename... A>
class Real<R(A...)> : public AnyReal {
 public:
  explicit constexpr Real(const char* name, const char* version = nullptr) : AnyReal(name, version) {}
  SOOTH_INLINE R operator()(A... arguments) {
    if (SOOTH_UNLIKELY(get() == nullptr)) find(false);
    return reinterpret_cast<R (*)(A...)>(get())(arguments...);
  }
  void* address() {
    find(true);
    return get();
  }
};

#define SOOTH_EXPORT extern "C" __attribute__((visibility("default")))

#define SOOTH_INTERCEPT(result, name, ...)                                     \
  SOOTH_REAL static ::sooth::rt::Real<result(__VA_ARGS__)> real_##name{#name}; \
  SOOTH_EXPORT result sooth_##name(__VA_ARGS__) asm(#name);                    \
  result sooth_##name(__VA_ARGS__)

// The same for symbols with versions: libtsan exports them without one, so programs bind to glibc's oldest.
#define SOOTH_INTERCEPT_VERSION(result, name, version, ...)                             \
  SOOTH_REAL static ::sooth::rt::Real<result(__VA_ARGS__)> real_##name{#name, version}; \
  SOOTH_EXPORT result sooth_##name(__VA_ARGS__) asm(#name);                             \
  result sooth_##name(__VA_ARGS__)

// `alias` is another name of the function `name` of the same source file.
#define SOOTH_SAME_AS(alias, name) asm(".globl " #alias "\n.type " #alias ", @function\n.set " #alias ", " #name)

// The program counter of the call that reached a hook or wrapper: return address less one.
#define SOOTH_CALLER (reinterpret_cast<::sooth::rt::uptr>(__builtin_return_address(0)) - 1)

}  // namespace sooth::rt
