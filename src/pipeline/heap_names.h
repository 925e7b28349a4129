// What a place in a heap block is called: by what the block holds, and by the variable that points to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/tables.h"

namespace sooth {

// "orders[3].price", "config->port", "*total", or "element of index" where the inside of elements is the library's own;
// without an owner by the type: "Account.balance". Empty when neither the owner nor the type is known. `type` is that of
// what the block of `block_size` bytes holds once or more times; `owner` holds the address of its first byte.
std::string heap_name(const Tables& tables, TypeId type, std::uint64_t block_size, std::uint64_t offset,
                      std::uint64_t size, const std::optional<NamedPart>& owner);

// Which part of what such a block holds it is, without places in arrays: ".home.y". Empty when the type is unknown or the
// library's own, and for the whole of it.
std::string heap_member(const Tables& tables, TypeId type, std::uint64_t offset, std::uint64_t size);

// The type of that part as far as it is certain, "int": the type of an owner counts when it can be that of the whole
// block only. Empty when it is not known.
std::string heap_part_type(const Tables& tables, TypeId type, std::uint64_t block_size, std::uint64_t offset,
                           std::uint64_t size, const std::optional<NamedPart>& owner);

}  // namespace sooth
