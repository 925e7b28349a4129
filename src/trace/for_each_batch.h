// A trace from where its reader stands to its end.
#pragma once

#include "base/status.h"
#include "trace/reader.h"

namespace sooth {

// Gives every batch, as a Batch& that may be changed, to `consume`, which returns a Status: the first error ends it, as
// one of the reader does.
template <typename Consume>
Status for_each_batch(TraceReader& reader, const Consume& consume) {
  for (;;) {
    Result<Batch> batch = reader.next();
    if (!batch.ok()) {
      return std::move(batch).status();
    }
    if (batch->empty()) {
      return {};
    }
    SOOTH_RETURN_IF_ERROR(consume(*batch));
  }
}

}  // namespace sooth
