// The rules of trace/check/validator.h, stated once more in the plainest way, so that generated and shrunk traces are judged
// by something that shares no code with the validator. Values are not looked at.
#pragma once

#include <span>
#include <string>

#include "trace/event.h"

namespace sooth::oracle {

// Empty when well-formed, else what is wrong with which event.
std::string why_malformed(std::span<const Event> trace);

}  // namespace sooth::oracle
