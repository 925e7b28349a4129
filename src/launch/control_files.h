// The two files through which the tool and the run time library speak about a controlled run: schedule/protocol.h.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/status.h"
#include "launch/private_directory.h"
#include "schedule/run_log.h"

namespace sooth {

// In a directory of their own, which goes away with this object.
class ControlFiles {
 public:
  // `control`: the bytes of the control file. The log has room for `max_records`, or for fewer where the disk has no
  // room for them.
  static Result<ControlFiles> create(const std::string& control, std::uint64_t max_records);

  ~ControlFiles();
  ControlFiles(ControlFiles&& other) noexcept;
  ControlFiles& operator=(ControlFiles&&) = delete;

  const std::string& directory() const { return directory_.path(); }
  std::string control_path() const { return directory_.path() + "/control"; }
  std::string log_path() const { return directory_.path() + "/log"; }
  std::string gdb_script_path() const { return directory_.path() + "/gdb.py"; }  // not made here

  // What the library has written so far.
  Result<RunLog> read_log() const;

 private:
  explicit ControlFiles(PrivateDirectory directory) : directory_(std::move(directory)) {}
  Status create_log(std::uint64_t max_records);

  PrivateDirectory directory_;
  int log_ = -1;
};

}  // namespace sooth
