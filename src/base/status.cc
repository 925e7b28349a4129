#include "base/status.h"

namespace sooth {

Status Status::prefixed(const std::string& where) && {
  if (!ok()) {
    message_ = where + ": " + message_;
  }
  return std::move(*this);
}

}  // namespace sooth
