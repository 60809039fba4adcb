#include "common/agent/bus/event_signature.h"

#include "common/core/crypto.h"

namespace league::agent::bus {
namespace {

constexpr std::string_view kEmpty = R"("signature":"")";
constexpr std::string_view kFilled = R"("signature":")";
constexpr std::size_t kDigits = 128;

}  // namespace

std::string sign_event(std::string unsigned_text, const core::SigningKey& key) {
  auto place = unsigned_text.find(kEmpty);
  if (place == std::string::npos)
    return unsigned_text;  // not one of our messages: no receiver would accept the signature
  auto signature = core::to_hex(key.sign(unsigned_text));
  return unsigned_text.insert(place + kEmpty.size() - 1, signature);
}

core::Result<void> check_event_signature(std::string_view payload, std::string_view signature,
                                         std::string_view public_key) {
  if (signature.empty())
    return core::Error{core::ErrorCode::kAuthTokenMissing, "it is not signed", "/signature"};
  auto place = payload.find(signature);
  bool is_good = signature.size() == kDigits && place != std::string_view::npos;
  if (is_good) {
    std::string signed_text(payload.substr(0, place));
    signed_text.append(payload.substr(place + signature.size()));
    is_good = core::is_signature_of(public_key, signed_text, signature);
  }
  if (is_good) return {};
  return core::Error{core::ErrorCode::kAuthTokenInvalid,
                     "its signature is not that of the league's manager", "/signature"};
}

std::optional<std::string> with_token_for_signature(std::string_view payload,
                                                    std::string_view signature,
                                                    std::string_view token) {
  std::string shown(kFilled);
  shown.append(signature).append("\"");
  auto place = payload.find(shown);
  if (place == std::string_view::npos) return std::nullopt;
  std::string out(payload.substr(0, place));
  out.append(R"("auth_token":")").append(token).append("\"");
  return out.append(payload.substr(place + shown.size()));
}

}  // namespace league::agent::bus
