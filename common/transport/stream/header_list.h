#pragma once

#include <algorithm>
#include <string_view>

#include "common/rpc/http_headers.h"

namespace league::transport {

/// Without spaces and tabs at both ends.
[[nodiscard]] inline std::string_view trim_blanks(std::string_view text) {
  std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

[[nodiscard]] inline bool equals_in_any_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return rpc::HeaderNameLess::lower(x) == rpc::HeaderNameLess::lower(y);
         });
}

/// Calls `visit` with each item of a comma-separated list.
template <typename Visit>
void for_each_in_list(std::string_view list, Visit visit) {
  while (!list.empty()) {
    std::size_t comma = std::min(list.find(','), list.size());
    visit(trim_blanks(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

/// True when one of the fields `name` lists `item`, in any case.
[[nodiscard]] inline bool header_lists(const rpc::HeaderMap& headers, std::string_view name,
                                       std::string_view item) {
  bool is_listed = false;
  auto [begin, end] = headers.equal_range(name);
  for (auto header = begin; header != end; ++header) {
    for_each_in_list(header->second,
                     [&](std::string_view one) { is_listed |= equals_in_any_case(one, item); });
  }
  return is_listed;
}

}  // namespace league::transport
