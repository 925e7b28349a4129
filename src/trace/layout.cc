#include "trace/layout.h"

#include <algorithm>
#include <utility>

#include "base/ids.h"

namespace sooth {
namespace {

// Deeper, a type contains itself: its description is damaged.
constexpr int kDeepest = 64;

// The way from a variable down to the part.
class PartSearch {
 public:
  PartSearch(std::span<const TypeLayout> types, std::uint64_t size) : types_(types), size_(size) {}

  TypePart run(TypeId type, std::uint64_t offset) {
    enter(type);
    for (int depth = 0; depth < kDeepest && type_ != nullptr; ++depth) {
      rest_ = offset - part_.offset;
      if (type_->opaque || !(type_->count != 0 ? into_array() : into_member())) {
        break;
      }
    }
    return part_;
  }

 private:
  void enter(TypeId type) {
    const bool is_known = type != kNoType && raw(type) < types_.size();
    type_ = is_known ? &types_[raw(type)] : nullptr;
    part_.size = is_known && type_->size != 0 ? type_->size : part_.size;
    part_.opaque = is_known && type_->opaque;
    part_.type = is_known ? type : kNoType;
  }

  bool into_array() {
    const std::uint64_t length = type_->size / type_->count;
    if (length == 0 || rest_ >= type_->size || size_ > type_->size - rest_) {
      return false;
    }
    const std::uint64_t first = rest_ / length;
    const std::uint64_t last = (rest_ + size_ - 1) / length;
    if (first == 0 && last == type_->count - 1 && type_->count > 1) {
      return false;  // all of it
    }
    part_.path += "[" + std::to_string(first) + (first == last ? "" : ".." + std::to_string(last)) + "]";
    part_.offset += first * length;
    part_.size = (last - first + 1) * length;
    if (first != last) {
      part_.type = kNoType;
      return false;
    }
    enter(type_->element);
    return true;
  }

  bool holds(const TypeMember& member) const {
    return rest_ >= member.offset && rest_ - member.offset < member.size &&
           size_ <= member.size - (rest_ - member.offset);
  }

  bool into_member() {
    std::vector<const TypeMember*> holders;
    for (const TypeMember& member : type_->members) {
      if (holds(member)) {
        holders.push_back(&member);
      }
    }
    if (type_->is_union) {
      std::erase_if(holders, [&](const TypeMember* member) { return !is_just(*member, rest_); });
    }
    if (holders.empty() || (type_->is_union && holders.size() > 1)) {
      return bit_fields();
    }
    // What is behind the last member of a base class may hold members of the derived one: those are the smaller.
    const TypeMember& member = **std::min_element(holders.begin(), holders.end(), [](const auto* a, const auto* b) {
      return std::pair(a->size, a->name.empty()) < std::pair(b->size, b->name.empty());
    });
    if (member.is_bit_field) {
      return bit_fields();
    }
    part_.path += member.name.empty() ? "" : "." + member.name;
    part_.offset += member.offset;
    part_.size = member.size;
    enter(member.type);
    return true;
  }

  // Whether what a union's member has at the offset is one thing, as long as the access.
  bool is_just(const TypeMember& member, std::uint64_t rest) const {
    PartSearch inside(types_, size_);
    inside.part_.size = member.size;
    const TypePart part = inside.run(member.type, rest - member.offset);
    return part.size == size_ && part.path.find("..") == std::string::npos;
  }

  // They share bytes, so an access is to all that these bytes hold.
  bool bit_fields() {
    if (type_->is_union) {
      return false;
    }
    const TypeMember* first = nullptr;
    const TypeMember* last = nullptr;
    for (const TypeMember& member : type_->members) {
      if (rest_ < member.offset + member.size && member.offset < rest_ + size_) {
        if (!member.is_bit_field) {
          return false;
        }
        first = first == nullptr ? &member : first;
        last = &member;
      }
    }
    if (first == nullptr) {
      return false;
    }
    part_.path += "." + first->name + (first == last ? "" : ".." + last->name);
    part_.offset += first->offset;
    part_.size = last->offset + last->size - first->offset;
    part_.opaque = true;
    part_.type = kNoType;
    part_.is_bit_field = true;
    return false;
  }

  const std::span<const TypeLayout> types_;
  const std::uint64_t size_;
  const TypeLayout* type_ = nullptr;
  std::uint64_t rest_ = 0;  // the offset in *type_
  TypePart part_;
};

}  // namespace

TypePart find_part(std::span<const TypeLayout> types, TypeId type, std::uint64_t offset, std::uint64_t size) {
  return PartSearch(types, std::max<std::uint64_t>(size, 1)).run(type, offset);
}

}  // namespace sooth
