// Errors as values: a sentence for the user and the exit code it leads to.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace sooth {

// Exit codes of the command line. Documented in docs/command-line.md; scripts rely on them.
enum class ExitCode : std::uint8_t {
  kOk = 0,
  kUsage = 64,     // wrong flags or arguments
  kBadInput = 65,  // a file that is missing, malformed, or a rejected witness
  kFindings = 66,  // findings at or above --fail-on
  kDiverged = 67,  // a replay left its schedule
  kInternal = 70,  // our own fault, or the machine's (disk full, out of memory)
};

// Success, or a sentence that names the file or event at fault. Cheap when ok.
class [[nodiscard]] Status {
 public:
  Status() = default;

  static Status bad_input(std::string sentence) { return {ExitCode::kBadInput, std::move(sentence)}; }
  static Status usage(std::string sentence) { return {ExitCode::kUsage, std::move(sentence)}; }
  static Status internal(std::string sentence) { return {ExitCode::kInternal, std::move(sentence)}; }

  bool ok() const { return code_ == ExitCode::kOk; }
  ExitCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same error with `where` in front, for callers that know more: "trace.std: line 3: ...".
  Status prefixed(const std::string& where) &&;

 private:
  Status(ExitCode code, std::string sentence) : code_(code), message_(std::move(sentence)) {}

  ExitCode code_ = ExitCode::kOk;
  std::string message_;
};

// A value or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Status error) : state_(std::in_place_index<1>, std::move(error)) {  // NOLINT: implicit on purpose
    assert(!std::get<1>(state_).ok() && "a Result without a value needs an error");
  }

  bool ok() const { return state_.index() == 0; }
  const T& value() const& { return std::get<0>(state_); }
  T& value() & { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

  // Only when !ok().
  const Status& status() const& { return std::get<1>(state_); }
  Status&& status() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace sooth

// Leaves the enclosing function with the error of `expr`, if it is one.
#define SOOTH_RETURN_IF_ERROR(expr)                        \
  do {                                                     \
    if (::sooth::Status status_ = (expr); !status_.ok()) { \
      return status_;                                      \
    }                                                      \
  } while (false)
