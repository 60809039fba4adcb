#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/result.h"
#include "common/transport/client/http_client_options.h"
#include "common/transport/link/endpoint.h"

namespace league::tools {

/// With what the gateway proves itself to its backend.
class GatewayCredential {
 public:
  using Environment = std::function<std::optional<std::string>(const std::string& name)>;

  /// The client's own headers go along, Authorization and Cookie too.
  GatewayCredential() = default;

  /// `passthrough`, `header:NAME=SOURCE`, `bearer:SOURCE` or `query:NAME=SOURCE`, where SOURCE is
  /// the name of an environment variable, or `@FILE`, whose first line counts. Fails with
  /// kInvalidFieldValue and a text without the secret.
  [[nodiscard]] static core::Result<GatewayCredential> parse(std::string_view text,
                                                             const Environment& environment);

  /// Adds itself to a call. With an own credential the client's Authorization and Cookie stay here:
  /// they are meant for the gateway.
  void apply(transport::Endpoint& endpoint, transport::HttpHeaders& headers) const;
  /// `text` without the secret, for errors and logs.
  [[nodiscard]] std::string scrub(std::string text) const;

 private:
  enum class Kind { kPassthrough, kHeader, kBearer, kQuery };
  Kind kind_ = Kind::kPassthrough;
  std::string name_;
  std::string secret_;
};

}  // namespace league::tools
