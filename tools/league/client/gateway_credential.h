#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/result.h"
#include "common/transport/client/http_client_options.h"
#include "common/transport/link/endpoint.h"

namespace league::tools {

/// The credential that the gateway shows to its backend.
class GatewayCredential {
 public:
  using Environment = std::function<std::optional<std::string>(const std::string& name)>;

  /// Passes on the client's own headers, including Authorization and Cookie.
  GatewayCredential() = default;

  /// `passthrough`, `header:NAME=SOURCE`, `bearer:SOURCE` or `query:NAME=SOURCE`, where SOURCE is
  /// the name of an environment variable, or `@FILE`, whose first line counts. Fails with
  /// kInvalidFieldValue and a text without the secret.
  [[nodiscard]] static core::Result<GatewayCredential> parse(std::string_view text,
                                                             const Environment& environment);

  /// Adds the credential to a call. Except with `passthrough`, removes the client's Authorization
  /// and Cookie, which are meant for the gateway.
  void apply(transport::link::Endpoint& endpoint, transport::client::HttpHeaders& headers) const;
  /// `text` without the secret, for errors and logs.
  [[nodiscard]] std::string scrub(std::string text) const;

 private:
  enum class Kind { kPassthrough, kHeader, kBearer, kQuery };
  Kind kind_ = Kind::kPassthrough;
  std::string name_;
  std::string secret_;
};

}  // namespace league::tools
