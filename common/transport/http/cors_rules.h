#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/result.h"
#include "common/rpc/http_headers.h"

namespace league::transport {

/// Which pages of other origins may call a port, and what their browsers are told about it. No
/// answer allows credentials of the browser (cookies): calls carry their own tokens. Immutable, so
/// thread-safe. Source: CORS protocol (WHATWG Fetch, 3.3).
class CorsRules {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  /// Origins as parse_origin gives them.
  explicit CorsRules(std::vector<std::string> origins);

  /// `null`, which every sandboxed page and file has, is never allowed.
  [[nodiscard]] bool allows(std::string_view origin) const;

  /// The fields of every answer to this request: for a page of an allowed origin those that let it
  /// read the answer, and `Vary` where answers differ.
  [[nodiscard]] Fields answer_fields(const rpc::HeaderMap& headers) const;

  /// True for the question that a browser asks before a call (OPTIONS) for a page of an allowed
  /// origin.
  [[nodiscard]] bool is_preflight(std::string_view method, const rpc::HeaderMap& headers) const;
  /// The fields of its answer, beside answer_fields. `methods` are those of the path. Of the fields
  /// that the page wants to send, those are allowed that MCP and the league have.
  [[nodiscard]] static Fields preflight_fields(const rpc::HeaderMap& headers,
                                               std::string_view methods);

 private:
  [[nodiscard]] const std::string* allowed_origin(const rpc::HeaderMap& headers) const;

  std::vector<std::string> origins_;
  bool allows_every_origin_ = false;
};

/// An origin as browsers write it, `https://example.org:8443`, or `*`: lower case, without the
/// scheme's own port. Fails with kInvalidFieldValue for what no browser would ever send.
[[nodiscard]] core::Result<std::string> parse_origin(std::string_view text);

/// The fields as lines of a head, each with its line end.
[[nodiscard]] std::string head_lines(const CorsRules::Fields& fields);

}  // namespace league::transport
