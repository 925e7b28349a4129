# Writes a C++ source that holds the bytes of a file:
#
#   cmake -DINPUT=FILE -DOUTPUT=FILE.cc -DHEADER=report/html_page.h -DFUNCTION=html_page -P EmbedFile.cmake
#
# HEADER declares `std::string_view FUNCTION()` in the namespace sooth.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "// Made by cmake/EmbedFile.cmake.\n#include \"${HEADER}\"\n\nnamespace sooth {\n\nstd::string_view ${FUNCTION}() {
  static const unsigned char kBytes[] = {\n${bytes}\n  };
  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};\n}\n\n}  // namespace sooth\n")
