#include "league_manager/admission/admission.h"

#include <set>

#include "common/core/crypto.h"
#include "common/core/private_file.h"
#include "common/core/text.h"
#include "league_manager/events/agent_name.h"

namespace league::league_manager {
namespace {

using core::Error;
using core::ErrorCode;

constexpr std::size_t kShortestCode = 8;
constexpr std::size_t kLongestCode = 256;  // of the field in the message
constexpr std::size_t kLongestFile = 8 * 1024 * 1024;
constexpr std::string_view kSpace = " \t\r";

std::string hash_of(std::string_view secret) { return core::to_hex(core::sha256(secret)); }

Error line_error(int line, const std::string& why) {
  return {ErrorCode::kInvalidFieldValue,
          "registration codes, line " + std::to_string(line) + ": " + why, ""};
}

/// A line without comment and white space at its ends.
std::string_view stripped(std::string_view line) {
  std::size_t begin = line.find_first_not_of(kSpace);
  if (begin == line.npos || line[begin] == '#') return {};
  return line.substr(begin, line.find_last_not_of(kSpace) - begin + 1);
}

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

core::Result<RegistrationCodes> RegistrationCodes::parse(std::string_view text) {
  RegistrationCodes codes;
  std::set<std::string> names;
  for (int number = 1; !text.empty(); ++number) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = stripped(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    std::size_t space = line.find_first_of(kSpace);
    if (space == line.npos) return line_error(number, "write a code, a space and the bot's name");
    std::string_view code = line.substr(0, space);
    if (code.size() < kShortestCode || code.size() > kLongestCode) {
      return line_error(number, "the code has " + std::to_string(code.size()) +
                                    " characters: take 8 to 256, at random");
    }
    std::string name(line.substr(line.find_first_not_of(kSpace, space)));
    if (!names.insert(comparable_name(name)).second) {
      return line_error(number, "\"" + core::excerpt(name) +
                                    "\" has a code already; names are compared without case");
    }
    if (!codes.names_.emplace(hash_of(code), std::move(name)).second)
      return line_error(number, "this code stands on an earlier line: give each bot its own");
  }
  if (codes.names_.empty()) return line_error(1, "there is no code, so that nobody could register");
  return codes;
}

core::Result<RegistrationCodes> RegistrationCodes::read(const std::filesystem::path& file) {
  auto content = core::read_private_file(file, kLongestFile);
  if (!content) return content.error();
  if (!*content)
    return Error{ErrorCode::kInternalError, file.string() + ": there is no such file", ""};
  auto codes = parse(**content);
  if (codes) return codes;
  auto error = codes.error();
  error.message = file.string() + ": " + error.message;
  return error;
}

const std::string* RegistrationCodes::name_of(std::string_view code) const {
  auto found = names_.find(hash_of(code));
  return found == names_.end() ? nullptr : &found->second;
}

bool Admission::is_referee_key(std::string_view shown) const {
  return !options_.referee_key.empty() && options_.referee_key.matches(shown);
}

const std::string* Admission::player_with(std::string_view code) const {
  return options_.codes ? options_.codes->name_of(code) : nullptr;
}

std::optional<Error> Admission::refusal_of_referee(bool is_local, std::string_view key) const {
  bool is_asked = options_.referees == RefereeAdmission::kKeyFromAll ||
                  (options_.referees == RefereeAdmission::kKeyFromElsewhere && !is_local);
  if (!is_asked || is_referee_key(key)) return std::nullopt;
  const char* fault = key.empty() ? "is missing" : "is not the key of this league";
  return Error{
      ErrorCode::kNotAuthorized,
      std::string("referee_meta.admission_key ") + fault +
          ": referees are admitted with the contents of the manager's referee.key; ask the "
          "league's operator for it (our referee: --admission-key FILE)",
      "/referee_meta/admission_key"};
}

std::optional<Error> Admission::refusal_of_player(std::string_view code,
                                                  const std::string& name) const {
  if (!options_.codes) return std::nullopt;
  auto refusal = [](const std::string& fault) {
    return Error{ErrorCode::kNotAuthorized, "player_meta.registration_code " + fault,
                 "/player_meta/registration_code"};
  };
  if (code.empty()) {
    return refusal(
        "is missing: this league takes in players with a code; ask its operator for yours (our "
        "player: --registration-code FILE)");
  }
  const std::string* owner = options_.codes->name_of(code);
  if (owner == nullptr)
    return refusal("is none of this league's: compare it with the one that its operator gave you");
  if (comparable_name(*owner) == comparable_name(name)) return std::nullopt;
  return refusal("is that of \"" + core::excerpt(*owner) +
                 "\": register with this display_name, not as \"" + core::excerpt(name) + "\"");
}

std::string Admission::players_text() const {
  if (options_.codes) {
    return "players register with one of the " + std::to_string(options_.codes->size()) +
           " codes of --registration-codes";
  }
  return "whoever can reach it can register as a player; --registration-codes FILE limits that to "
         "bots with a code";
}

std::string Admission::referees_text() const {
  switch (options_.referees) {
    case RefereeAdmission::kOpen:
      return "whoever can reach it can register as a referee and decide matches; leave out "
             "--open-referees to ask for the key in " +
             options_.referee_key_file;
    case RefereeAdmission::kKeyFromAll:
      return "referees need the key in " + options_.referee_key_file;
    case RefereeAdmission::kKeyFromElsewhere:
      break;
  }
  return "referees of other machines need the key in " + options_.referee_key_file +
         "; --admit-referees asks those of this machine for it, too, as behind a proxy";
}

}  // namespace league::league_manager
