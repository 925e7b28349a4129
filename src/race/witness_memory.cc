#include "race/witness_memory.h"

#include <algorithm>

namespace sooth {

void Generations::alloc(const Event& e) {
  // The place keeps the alignment, so that an aligned access stays in one granule, and shares no granule with
  // another.
  constexpr std::uint64_t kAlign = 8;
  const std::uint64_t place = next_place_ + e.object % kAlign;
  next_place_ = (place + e.size + kAlign - 1) / kAlign * kAlign;
  moved_.assign(e.object, e.object + (e.size - 1), place - e.object);
}

void Generations::resolve(const Event& e, std::vector<Stretch>& out) const {
  if (moved_.empty()) {
    out.push_back({e.object, e.size, false});
    return;
  }
  moved_.for_each(e.object, e.object + (e.size - 1),
                  [&](std::uint64_t first, std::uint64_t last, const std::uint64_t* moved) {
                    const auto size = static_cast<std::uint32_t>(last - first + 1);
                    out.push_back({first + (moved != nullptr ? *moved : 0), size, moved != nullptr});
                  });
}

void LastWrites::write(const Stretch& stretch, std::uint32_t event) {
  Space& space = spaces_[stretch.allocated ? 1 : 0];
  if (stretch.size >= kLong) {
    space.longs.assign(stretch.begin, stretch.begin + (stretch.size - 1), event);
    return;
  }
  for (std::uint32_t done = 0; done < stretch.size;) {
    const std::uint64_t address = stretch.begin + done;
    const std::uint64_t offset = address % kGranule;
    const std::uint32_t count =
        std::min<std::uint32_t>(stretch.size - done, static_cast<std::uint32_t>(kGranule - offset));
    Granule& granule = space.granules[address / kGranule];
    std::fill_n(granule.begin() + static_cast<std::ptrdiff_t>(offset), count, event + 1);
    done += count;
  }
}

void LastWrites::read(const Stretch& stretch, std::size_t from, std::vector<Seen>& out) const {
  const Space& space = spaces_[stretch.allocated ? 1 : 0];
  const Granule* granule = nullptr;
  for (std::uint32_t done = 0; done < stretch.size; ++done) {
    const std::uint64_t address = stretch.begin + done;
    if (done == 0 || address % kGranule == 0) {
      granule = space.granules.find(address / kGranule);
    }
    std::uint32_t writer = Seen::kNobody;
    if (granule != nullptr && (*granule)[address % kGranule] != 0) {
      writer = (*granule)[address % kGranule] - 1;
    }
    if (const std::uint32_t* other = space.longs.empty() ? nullptr : space.longs.find(address)) {
      writer = writer == Seen::kNobody || later(*other, writer) ? *other : writer;
    }
    if (out.size() > from && out.back().writer == writer) {
      ++out.back().size;
    } else {
      out.push_back({writer, 1});
    }
  }
}

}  // namespace sooth
