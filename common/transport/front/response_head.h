#pragma once

#include <cstddef>
#include <string>

namespace league::transport::front {

/// Corrects the response to a HEAD request, which begins at `begin` of `response`: cpp-httplib says
/// that it serves ranges, and that an event stream has no bytes.
void correct_head(std::string& response, std::size_t begin);

}  // namespace league::transport::front
