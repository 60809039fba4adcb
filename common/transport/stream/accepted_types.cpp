#include "common/transport/stream/accepted_types.h"

#include <algorithm>
#include <string_view>

#include "common/transport/stream/header_list.h"

namespace league::transport {

namespace {

/// Whether the parameters contain `;q=0`, which excludes the type.
bool is_excluded(std::string_view parameters) {
  std::size_t q = parameters.find("q=");
  if (q == std::string_view::npos) return false;
  std::string_view weight = trim_blanks(parameters.substr(q + 2));
  return weight.starts_with('0') &&
         weight.substr(0, weight.find(';')).find_first_of("123456789") == std::string_view::npos;
}

}  // namespace

AcceptedTypes accepted_types(const rpc::HeaderMap& headers) {
  AcceptedTypes accepted;
  auto [begin, end] = headers.equal_range(std::string_view("Accept"));
  if (begin == end) accepted.json = true;
  for (auto header = begin; header != end; ++header) {
    for_each_in_list(header->second, [&](std::string_view item) {
      std::size_t semicolon = std::min(item.find(';'), item.size());
      std::string_view type = trim_blanks(item.substr(0, semicolon));
      if (is_excluded(item.substr(semicolon))) return;
      accepted.json |= type == "*/*" || equals_in_any_case(type, "application/*") ||
                       equals_in_any_case(type, "application/json");
      accepted.event_stream |=
          equals_in_any_case(type, "text/event-stream") || equals_in_any_case(type, "text/*");
    });
  }
  return accepted;
}

}  // namespace league::transport
