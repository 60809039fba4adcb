#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/rpc/http_headers.h"
#include "common/transport/http/cors_rules.h"
#include "common/transport/http/http_options.h"
#include "common/transport/http/http_refusal.h"

namespace league::transport::http {

/// Whether a message may be posted as this Content-Type; parameters such as a charset are ignored.
[[nodiscard]] bool is_message_type(std::string_view content_type);
/// The refusal of every other one, and of none.
[[nodiscard]] HttpRefusal wrong_content_type();

/// Which requests are accepted at all: no foreign Host (a web page that rebinds its name), no
/// foreign Origin, POST with JSON only. Immutable, so thread-safe. Source: MCP, security of the
/// HTTP transport.
class EdgeRules {
 public:
  explicit EdgeRules(const HttpServerOptions& options);

  /// Nothing if a request that has these headers and arrived at the address `local`, such as
  /// `10.0.0.5:8000`, is acceptable. `local` is accepted as a Host, as localhost is: no foreign
  /// name is involved, so no rebinding.
  [[nodiscard]] std::optional<HttpRefusal> check_peer(const rpc::HeaderMap& headers,
                                                      std::string_view version,
                                                      std::string_view local) const;
  /// For a message: a missing content type is accepted, a wrong one refused.
  [[nodiscard]] static std::optional<HttpRefusal> check_content_type(const rpc::HeaderMap& headers);
  /// The rules for pages of other origins.
  [[nodiscard]] const CorsRules& cors() const { return cors_; }

 private:
  [[nodiscard]] bool is_own_name(std::string_view host, std::string_view local) const;
  [[nodiscard]] bool is_own_page(std::string_view host, std::string_view origin,
                                 std::string_view local) const;

  std::vector<std::string> hosts_;
  CorsRules cors_;
  bool allows_every_host_ = false;
};

}  // namespace league::transport::http
