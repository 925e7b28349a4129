#include "report/sink.h"
namespace sooth {
std::span<const SinkInfo> sinks() { return {}; }
const SinkInfo* find_sink(std::string_view) { return nullptr; }
}
