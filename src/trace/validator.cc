#include "trace/validator.h"
namespace sooth {
struct TraceValidator::State {};
TraceValidator::TraceValidator() = default;
TraceValidator::~TraceValidator() = default;
Status TraceValidator::consume(const Batch&, const Tables&) { return {}; }
}
