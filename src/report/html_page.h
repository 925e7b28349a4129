// The page of the HTML report, without a report: src/report/html/report.html, which cmake/EmbedFile.cmake puts into the
// program.
#pragma once

#include <string_view>

namespace sooth {

std::string_view html_page();

}  // namespace sooth
