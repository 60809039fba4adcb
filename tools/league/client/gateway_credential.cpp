#include "tools/league/client/gateway_credential.h"

#include <algorithm>
#include <fstream>

#include "common/core/text.h"

namespace league::tools {
namespace {

using core::Error;
using core::ErrorCode;

Error bad(const std::string& why) {
  return {ErrorCode::kInvalidFieldValue, "--credential: " + why, {}};
}

bool is_token(std::string_view name) {
  constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return core::is_alphanumeric(c) || kSigns.find(c) != std::string_view::npos;
  });
}

std::string percent_encoded(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    bool is_plain = core::is_alphanumeric(c) || c == '-' || c == '_' || c == '.' || c == '~';
    auto byte = static_cast<unsigned char>(c);
    if (is_plain) {
      out += c;
    } else {
      out.append({'%', kHex[byte >> 4U], kHex[byte & 15U]});
    }
  }
  return out;
}

core::Result<std::string> read_secret(const std::string& source,
                                      const GatewayCredential::Environment& environment) {
  std::string secret;
  if (source.starts_with('@')) {
    std::ifstream file(source.substr(1));
    if (!std::getline(file, secret))
      return bad("no secret in the first line of " + source.substr(1));
    if (secret.ends_with('\r')) secret.pop_back();
  } else {
    auto value = environment(source);
    if (!value) {
      return bad("there is no environment variable \"" + source.substr(0, 60) +
                 "\"; a secret comes from one, or from a file named with @FILE");
    }
    secret = std::move(*value);
  }
  bool is_visible =
      std::all_of(secret.begin(), secret.end(), [](char c) { return c >= ' ' && c < 127; });
  if (secret.empty() || !is_visible)
    return bad("the secret of " + source.substr(0, 60) + " must be visible ASCII");
  return secret;
}

}  // namespace

core::Result<GatewayCredential> GatewayCredential::parse(std::string_view text,
                                                         const Environment& environment) {
  GatewayCredential credential;
  if (text == "passthrough") return credential;
  auto colon = text.find(':');
  std::string_view scheme = text.substr(0, colon);
  std::string rest(colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1));
  if (scheme == "bearer" && !rest.empty()) {
    credential.kind_ = Kind::kBearer;
  } else if (scheme == "header" || scheme == "query") {
    auto equals = rest.find('=');
    credential.kind_ = scheme == "header" ? Kind::kHeader : Kind::kQuery;
    credential.name_ = rest.substr(0, equals);
    rest = equals == std::string::npos ? std::string() : rest.substr(equals + 1);
    if (!is_token(credential.name_))
      return bad("\"" + credential.name_.substr(0, 60) +
                 "\" is not a valid name of a header or parameter");
  }
  if (credential.kind_ == Kind::kPassthrough || rest.empty()) {
    return bad(
        "must be passthrough, header:NAME=VARIABLE, bearer:VARIABLE or query:NAME=VARIABLE, "
        "with @FILE in place of VARIABLE for a file");
  }
  auto secret = read_secret(rest, environment);
  if (!secret) return secret.error();
  credential.secret_ = std::move(*secret);
  return credential;
}

void GatewayCredential::apply(transport::link::Endpoint& endpoint,
                              transport::client::HttpHeaders& headers) const {
  if (kind_ == Kind::kPassthrough) return;
  std::erase_if(headers, [this](const auto& header) {
    std::string name = core::lower_case(header.first);
    return name == "authorization" || name == "cookie" ||
           (kind_ == Kind::kHeader && name == core::lower_case(name_));
  });
  if (kind_ == Kind::kHeader) headers.emplace_back(name_, secret_);
  if (kind_ == Kind::kBearer) headers.emplace_back("Authorization", "Bearer " + secret_);
  if (kind_ == Kind::kQuery) {
    endpoint.path += endpoint.path.find('?') == std::string::npos ? '?' : '&';
    endpoint.path += name_ + "=" + percent_encoded(secret_);
  }
}

std::string GatewayCredential::scrub(std::string text) const {
  constexpr std::string_view kHidden = "***";
  return core::replaced(core::replaced(std::move(text), secret_, kHidden), percent_encoded(secret_),
                        kHidden);
}

}  // namespace league::tools
