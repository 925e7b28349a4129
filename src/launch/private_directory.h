// A directory for files that nobody needs for long.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/status.h"

namespace sooth {

// Only this user can look into it. Goes away with this object, with all that is in it.
class PrivateDirectory {
 public:
  // In memory if `bytes` are free there, else in $TMPDIR or /tmp.
  static Result<PrivateDirectory> create(std::uint64_t bytes);

  ~PrivateDirectory();
  PrivateDirectory(PrivateDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateDirectory& operator=(PrivateDirectory&&) = delete;

  const std::string& path() const { return path_; }  // absolute
  // Of the file system that it is on.
  std::uint64_t free_bytes() const;

 private:
  explicit PrivateDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace sooth
