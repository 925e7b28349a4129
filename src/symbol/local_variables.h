// Where the variables of a function are in its frame.
#pragma once

#include <string>
#include <vector>

#include "symbol/debug_file.h"
#include "symbol/type_reader.h"
#include "symbol/unit_index.h"
#include "trace/variables.h"

namespace sooth {

// The variables and parameters that the function (a scope that is not inlined) keeps in memory, with those of calls
// inlined into it; offsets are from its canonical frame address. `address` is that of an instruction behind its
// prologue, from where registers are reckoned. What moves about, or lies in a register all the time, is not there.
std::vector<ShortLived> local_variables(DebugFile& file, UnitIndex& unit, const UnitIndex::Scope& function,
                                        std::uint64_t address, TypeReader& types);

// The type that the code behind a call of operator new makes there: of the constructor that is called or was inlined
// next, at the line of the call. kNoType when there is none, which is so for what has no constructor.
// `address` is that of the call in the scope `at`.
TypeId constructed_type(UnitIndex& unit, std::uint32_t at, std::uint64_t address, std::uint32_t line,
                        TypeReader& types);
// The same of a function: the class whose constructor it is; kNoType when it is none, or one of a class that only holds the
// pointer.
TypeId class_of_constructor(Dwarf_Die function, TypeReader& types);
// The T of a function template <typename T, ...>, of T[] its element; kNoType for other functions.
TypeId first_template_argument(Dwarf_Die function, TypeReader& types);

}  // namespace sooth
