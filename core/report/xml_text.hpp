// Text of dumps inside XML 1.0, which has no way to write most control characters. Used by the JUnit and the
// workbook writer.
#pragma once

#include <string>
#include <string_view>

namespace ulpscope {

// text as characters that XML 1.0 allows: control characters and bytes that are not UTF-8 are made visible
// (\x1b), U+FFFE and U+FFFF become U+FFFD. Nothing is escaped.
std::string xml_characters(std::string_view text);

// Appends the same with &, <, > and " escaped.
void append_xml(std::string& out, std::string_view text);

}  // namespace ulpscope
