#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/result.h"
#include "common/rpc/http_headers.h"

namespace league::transport::http {

/// Which pages of other origins may call a port, and what their browsers are told. No answer allows
/// browser credentials (cookies), because calls carry their own tokens. Immutable, so thread-safe.
/// Source: CORS protocol (WHATWG Fetch, 3.3).
class CorsRules {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  /// `origins` are in the form that parse_origin returns.
  explicit CorsRules(std::vector<std::string> origins);

  /// `null`, the origin of sandboxed pages and files, is never allowed.
  [[nodiscard]] bool allows(std::string_view origin) const;

  /// The header fields of every answer to this request: those that let a page of an allowed origin
  /// read the answer, and `Vary` if answers differ by origin.
  [[nodiscard]] Fields answer_fields(const rpc::HeaderMap& headers) const;

  /// True for a preflight, the OPTIONS request that a browser sends before a call, of a page of an
  /// allowed origin.
  [[nodiscard]] bool is_preflight(std::string_view method, const rpc::HeaderMap& headers) const;
  /// The fields of the answer to a preflight, in addition to answer_fields. `methods` are those of
  /// the path. Of the fields that the page wants to send, those that MCP and the league use are
  /// allowed.
  [[nodiscard]] static Fields preflight_fields(const rpc::HeaderMap& headers,
                                               std::string_view methods);

 private:
  /// Empty if the request names no allowed origin.
  [[nodiscard]] std::string_view allowed_origin(const rpc::HeaderMap& headers) const;

  std::vector<std::string> origins_;
  bool allows_every_origin_ = false;
};

/// An origin as browsers write it, `https://example.org:8443`, or `*`: lower case, without the
/// scheme's own port. Fails with kInvalidFieldValue for what no browser would ever send.
[[nodiscard]] core::Result<std::string> parse_origin(std::string_view text);

/// The fields as text for a response's head, each with its line end.
[[nodiscard]] std::string head_lines(const CorsRules::Fields& fields);

}  // namespace league::transport::http
