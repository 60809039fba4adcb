#include "league_manager/admission/admission.h"

#include "common/core/text.h"

namespace league::league_manager::admission {
namespace {

using core::Error;
using core::ErrorCode;

}  // namespace

bool is_from_loopback(const rpc::TransportContext& transport) {
  if (transport.type == rpc::TransportType::kUnix || transport.type == rpc::TransportType::kMemory)
    return true;
  if (transport.type == rpc::TransportType::kNats || !transport.connection) return false;
  if (const auto* http = transport.as_http(); http != nullptr && http->headers) {
    if (rpc::is_relayed(*http->headers)) return false;
  }
  const auto* web_socket = std::get_if<rpc::WebSocketMetadata>(&transport.metadata);
  if (web_socket != nullptr && web_socket->is_relayed) return false;
  const std::string& remote = transport.connection->remote_address;
  return remote.starts_with("127.") || remote.starts_with("[::1]:") ||
         remote.starts_with("[::ffff:127.");
}

bool Admission::is_referee_key(std::string_view shown) const {
  return !options_.referee_key.empty() && options_.referee_key.matches(shown);
}

void Admission::replace_codes(Codes codes) {
  std::lock_guard lock(mutex_);
  codes_ = std::move(codes);
}

Admission::Codes Admission::codes() const {
  std::lock_guard lock(mutex_);
  return codes_;
}

bool Admission::is_code(std::string_view shown) const {
  const Codes codes = this->codes();
  return codes && codes->find(shown) != nullptr;
}

std::string Admission::owner_of(std::string_view shown) const {
  const Codes codes = this->codes();
  const auto* entry = codes ? codes->find(shown) : nullptr;
  return entry == nullptr ? std::string() : entry->name;
}

std::optional<Error> Admission::refusal_of_referee(bool is_local, std::string_view key) const {
  bool is_asked = options_.referees == RefereeAdmission::kKeyFromAll ||
                  (options_.referees == RefereeAdmission::kKeyFromElsewhere && !is_local);
  if (!is_asked || is_referee_key(key)) return std::nullopt;
  const char* fault = key.empty() ? "is missing" : "is not the referee key of this league";
  return Error{ErrorCode::kNotAuthorized,
               std::string("referee_meta.admission_key ") + fault +
                   ": it must be the contents of the manager's referee.key; ask the league's "
                   "operator for it (our referee: --admission-key FILE)",
               "/referee_meta/admission_key"};
}

core::Result<AdmittedPlayer> Admission::admit_player(std::string_view code,
                                                     const std::string& name) const {
  const Codes codes = this->codes();
  if (!codes) return AdmittedPlayer{name};
  auto refusal = [](const std::string& fault) {
    return Error{ErrorCode::kNotAuthorized, "player_meta.registration_code " + fault,
                 "/player_meta/registration_code"};
  };
  if (code.empty()) {
    return refusal(
        "is missing: this league accepts only players with a code; ask its operator for yours (our "
        "player: --registration-code FILE; any bot: append ?registration_code=CODE to the "
        "manager's URL)");
  }
  const auto* entry = codes->find(code);
  if (entry == nullptr)
    return refusal(
        "is not a code of this league: compare it with the one that its operator gave you");
  const auto* namesake = codes->find_name(name);
  if (namesake == nullptr || namesake == entry) return AdmittedPlayer{entry->name, entry->digest};
  return refusal("belongs to \"" + core::excerpt(entry->name) + "\", not to \"" +
                 core::excerpt(name) + "\": use your own code");
}

std::string Admission::players_text() const {
  if (const Codes codes = this->codes()) {
    return "players register with one of the " + std::to_string(codes->codes()) +
           " codes of --registration-codes";
  }
  return "anyone who can reach it can register as a player; use --registration-codes FILE to "
         "accept only bots with a code";
}

std::string Admission::referees_text() const {
  switch (options_.referees) {
    case RefereeAdmission::kOpen:
      return "anyone who can reach it can register as a referee and decide matches; omit "
             "--open-referees to require the key in " +
             options_.referee_key_file;
    case RefereeAdmission::kKeyFromAll:
      return "referees need the key in " + options_.referee_key_file;
    case RefereeAdmission::kKeyFromElsewhere:
      break;
  }
  return "referees on other machines need the key in " + options_.referee_key_file +
         "; with --admit-referees those on this machine need it, too (use it behind a local proxy)";
}

}  // namespace league::league_manager::admission
