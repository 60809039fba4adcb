#include "common/rpc/shown_subject.h"

#include <algorithm>

namespace league::rpc {

std::string shown_subject(std::string_view subject) {
  constexpr std::size_t kShown = 8;
  for (std::string_view prefix : {"mcp.session.", "_INBOX."}) {
    if (!subject.starts_with(prefix)) continue;
    std::string out(prefix.substr(0, prefix.size() - 1));
    for (auto rest = subject.substr(prefix.size() - 1); !rest.empty();) {
      auto end = std::min(rest.find('.', 1), rest.size());
      auto token = rest.substr(0, end);  // with the dot before it
      out.append(token.substr(0, kShown + 1)).append(token.size() > kShown + 1 ? "..." : "");
      rest.remove_prefix(end);
    }
    return out;
  }
  return std::string(subject);
}

}  // namespace league::rpc
