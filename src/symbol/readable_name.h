// Names of templates and lambdas as people write them, for texts; what tells things apart keeps the full names.
#pragma once

#include <string>
#include <string_view>

namespace sooth {

// "std::map<std::string, int>" for "std::map<std::__cxx11::basic_string<char, std::char_traits<char>,
// std::allocator<char> >, int, std::less<...>, std::allocator<...> >": without inline namespaces, without template
// arguments of the standard library that are the default ones, typedefs that everybody uses instead of what they stand
// for, and "lambda #2 in worker(int)" for "worker(int)::{lambda(int)#2}::operator()(int) const". Linear in the length
// of the name, times its depth.
std::string readable_name(std::string_view name);

// The same without the parameters of a function: "worker()", "Queue<int>::push()".
std::string short_function(std::string_view name);

}  // namespace sooth
