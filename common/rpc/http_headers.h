#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace league::rpc {

/// Orders header names without regard to the case of ASCII letters (RFC 9110 §5.1).
struct HeaderNameLess {
  using is_transparent = void;

  [[nodiscard]] static char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  [[nodiscard]] bool operator()(std::string_view left, std::string_view right) const {
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                        [](char a, char b) { return lower(a) < lower(b); });
  }
};

/// The header fields of one HTTP message; a name may occur more than once.
using HeaderMap = std::multimap<std::string, std::string, HeaderNameLess>;

/// The first value of `name`, valid as long as `headers`; nothing where the field is missing.
[[nodiscard]] std::optional<std::string_view> find_header(const HeaderMap& headers,
                                                          std::string_view name);

/// The session id of Streamable HTTP and of messages on a bus.
inline constexpr std::string_view kSessionHeader = "Mcp-Session-Id";

/// The registration code of a player whose message has none: sent in this header field, or in the
/// query parameter `registration_code`, which the HTTP front converts to the field.
inline constexpr std::string_view kRegistrationCodeHeader = "X-Registration-Code";

/// Whether a header shows that a proxy forwarded the message (RFC 7239, RFC 9110 §7.6.3, and older
/// header fields).
[[nodiscard]] bool is_relayed(const HeaderMap& headers);

}  // namespace league::rpc
