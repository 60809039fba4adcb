#include "common/envelope/leniency.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/envelope/envelope.h"
#include "common/envelope/report_forms.h"
#include "common/envelope/sender.h"

namespace league::envelope {
namespace {

using nlohmann::json;
using enum Leniency;

constexpr std::string_view kUnregisteredReferee = "referee:UNREGISTERED";

const std::string* text_of(const json& object, std::string_view name) {
  auto it = object.find(name);
  return it != object.end() && it->is_string() ? &it->get_ref<const std::string&>() : nullptr;
}

bool is_absent(const json& object, std::string_view name) {
  auto it = object.find(name);
  return it == object.end() || it->is_null() ||
         (it->is_string() && it->get_ref<const std::string&>().empty());
}

/// `R1` and `ROUND_1` as 1.
std::optional<int> round_number(std::string_view text) {
  constexpr std::size_t kMostDigits = 6;
  for (std::string_view prefix : {"ROUND_", "R"}) {
    if (!text.starts_with(prefix)) continue;
    std::string_view digits = text.substr(prefix.size());
    bool is_number = !digits.empty() && digits.size() <= kMostDigits &&
                     std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    if (is_number) return std::stoi(std::string(digits));
  }
  return std::nullopt;
}

/// Rewrites one message in place and notes what it did.
class Rewriter {
 public:
  Rewriter(json& message, MessageType type, const NormaliseDefaults& defaults, Leniencies& taken)
      : message_(message), type_(type), defaults_(defaults), taken_(taken) {}

  void drop_empty_fields() {
    for (const char* name : {"auth_token", "league_id", "round_id", "match_id"}) {
      auto it = message_.find(name);
      if (it == message_.end() || !is_absent(message_, name)) continue;
      taken_.add(it->is_null() ? kNullOptionalField : kEmptyOptionalField);
      message_.erase(it);
    }
  }

  void read_round_text() {
    const std::string* text = text_of(message_, "round_id");
    if (text == nullptr) return;
    if (auto number = round_number(*text)) {
      message_["round_id"] = *number;
      taken_.add(kRoundIdText);
    }
  }

  /// Reads forms that third-party managers and referees use towards guests. Agents in a league of
  /// ours do not need them.
  void read_foreign_forms() {
    for (const char* name : {"timestamp", "deadline", "arrival_timestamp"}) {
      const std::string* time = text_of(message_, name);
      if (time == nullptr || !time->ends_with("+00:00Z")) continue;
      message_[name] = time->substr(0, time->size() - 1);
      taken_.add(kTimestampZoneTwice);
    }
    const std::string* role = text_of(message_, "role_in_match");
    if (role != nullptr && (*role == "player_a" || *role == "player_b")) {
      message_["role_in_match"] = *role == "player_a" ? "PLAYER_A" : "PLAYER_B";
      taken_.add(kRoleInMatchCase);
    }
    for (const char* name : {"standings", "final_standings"}) fill_rows(name);
  }

  void correct_sender() {
    const std::string* found = text_of(message_, "sender");
    if (found == nullptr) return;
    std::string sender = *found;
    if (sender == kUnregisteredReferee) {
      taken_.add(kSenderUnregistered);
    } else if (sender.starts_with("league_manager:") &&
               spec(type_).senders.contains(Role::kLeagueManager)) {
      message_["sender"] = "league_manager";
      taken_.add(kSenderManagerWithId);
    } else if (sender.starts_with("players:") || sender.starts_with("referees:")) {
      message_["sender"] = sender.erase(sender.find(':') - 1, 1);
      taken_.add(kSenderPluralRole);
    }
  }

  void rename_fields() {
    switch (type_) {
      case MessageType::kChooseParityResponse:
        return rename(message_, "choice", "parity_choice", kChoiceField);
      case MessageType::kGameJoinAck:
        return read_acceptance();
      case MessageType::kRefereeRegisterRequest:
        return read_version("referee_meta");
      case MessageType::kLeagueRegisterRequest:
        return read_version("player_meta");
      case MessageType::kMatchResultReport:
        return read_report(message_, taken_);
      case MessageType::kRefereeRegisterResponse:
      case MessageType::kLeagueRegisterResponse:
        return read_registered();
      case MessageType::kLeagueStandingsUpdate:
        return read_played(message_, "standings");
      case MessageType::kLeagueCompleted:
        return read_played(message_, "final_standings");
      case MessageType::kLeagueQueryResponse:
        if (auto data = message_.find("data"); data != message_.end())
          read_played(*data, "standings");
        return;
      default:
        return;
    }
  }

  /// Fills in missing fields: for a reply from the call that it answers, for a registration with
  /// made-up values.
  void fill_holes() {
    bool is_registration = type_ == MessageType::kRefereeRegisterRequest ||
                           type_ == MessageType::kLeagueRegisterRequest;
    // The two that are named are replies, although they are also sent as calls.
    bool is_reply = spec(type_).method.empty() || type_ == MessageType::kLeagueError ||
                    type_ == MessageType::kLeagueRegisterResponse;
    // Polling referees send no envelope; their token identifies them.
    bool is_bare_query = type_ == MessageType::kLeagueQuery && defaults_.league_id;
    if (!is_registration && !is_reply && !is_bare_query) return;
    if (is_bare_query) fill("league_id", defaults_.league_id->str(), kMissingLeagueId);
    // For a registration, the method has already determined the type.
    fill("protocol", std::string(kProtocol), kMissingProtocol);
    fill("message_type", std::string(wire_name(type_)), kMissingMessageType);
    fill("timestamp", defaults_.now.to_wire(), kMissingTimestamp);
    fill("sender", defaults_.sender.value_or(unnamed_sender(is_registration)), kMissingSender);
    fill("conversation_id", conversation(is_registration), kMissingConversationId);
    if (type_ != MessageType::kGameJoinAck && type_ != MessageType::kChooseParityResponse) return;
    if (defaults_.player_id) fill("player_id", defaults_.player_id->str(), kMissingPlayerId);
    if (defaults_.match_id) fill("match_id", defaults_.match_id->str(), kMissingMatchId);
    if (type_ == MessageType::kGameJoinAck) {
      fill("arrival_timestamp", defaults_.now.to_wire(), kMissingArrivalTimestamp);
    }
  }

 private:
  /// Tables are sorted by rank, so the row's position gives its rank. Managers that send no draws
  /// play games without draws, or do not count them.
  void fill_rows(const char* name) {
    auto rows = message_.find(name);
    if (rows == message_.end() || !rows->is_array()) return;
    for (std::size_t place = 0; place < rows->size(); ++place) {
      json& row = (*rows)[place];
      if (!row.is_object()) continue;
      if (is_absent(row, "rank")) {
        row["rank"] = place + 1;
        taken_.add(kMissingRank);
      }
      if (is_absent(row, "draws")) {
        row["draws"] = 0;
        taken_.add(kMissingDraws);
      }
    }
  }

  void rename(json& object, const char* from, const char* to, Leniency leniency) {
    if (!object.is_object() || object.contains(to)) return;
    auto it = object.find(from);
    if (it == object.end()) return;
    json value = std::move(*it);
    object.erase(it);
    object[to] = std::move(value);
    taken_.add(leniency);
  }

  void read_acceptance() {
    if (!is_absent(message_, "accept")) return;
    auto accepted = message_.find("accepted");
    if (accepted != message_.end() && accepted->is_boolean()) {
      message_["accept"] = accepted->get<bool>();
      taken_.add(kAcceptedField);
      return;
    }
    const std::string* status = text_of(message_, "status");
    if (status == nullptr) return;
    // A plain acknowledgement accepts the invitation that it answers; if it names a match, it must
    // be the right one. A call of the player's own answers no invitation by itself, so the defaults
    // for it contain no match.
    if ((*status == "ACK" || *status == "OK") && defaults_.match_id) {
      const std::string* match = text_of(message_, "match_id");
      if (match != nullptr && *match != defaults_.match_id->str()) return;
      message_["accept"] = true;
      taken_.add(match != nullptr ? kStatusAck : kBareAcknowledgement);
      return;
    }
    bool is_yes = *status == "ACCEPTED";
    if (!is_yes && *status != "REJECTED" && *status != "DECLINED") return;
    message_["accept"] = is_yes;
    taken_.add(kStatusForAccept);
  }

  /// Fills in a missing `version`, and corrects a `protocol_version` that contains the protocol's
  /// name.
  void read_version(const char* holder) {
    auto meta = message_.find(holder);
    if (meta == message_.end() || !meta->is_object()) return;
    if (is_absent(*meta, "version")) {
      (*meta)["version"] = "0.0.0";
      taken_.add(kMissingVersion);
    }
    const std::string* version = text_of(*meta, "protocol_version");
    if (version == nullptr || *version != kProtocol) return;
    (*meta)["protocol_version"] = "2.0.0";
    taken_.add(kProtocolVersionText);
  }

  void read_registered() {
    const std::string* status = text_of(message_, "status");
    if (status == nullptr || *status != "REGISTERED") return;
    message_["status"] = "ACCEPTED";
    taken_.add(kStatusRegistered);
  }

  void read_played(json& holder, const char* name) {
    if (!holder.is_object()) return;
    auto rows = holder.find(name);
    if (rows == holder.end() || !rows->is_array()) return;
    for (auto& row : *rows) {
      rename(row, "games_played", "played", kPlayedField);
      rename(row, "matches_played", "played", kPlayedField);
    }
  }

  void fill(const char* name, const std::string& value, Leniency leniency) {
    if (value.empty() || !is_absent(message_, name)) return;
    message_[name] = value;
    taken_.add(leniency);
  }

  /// A registration may come without a name. For replies of players the defaults always contain
  /// one.
  [[nodiscard]] std::string unnamed_sender(bool is_registration) const {
    if (spec(type_).senders.contains(Role::kLeagueManager)) return Sender::league_manager().str();
    if (!is_registration) return "";
    return std::string(role_name(registering_role())) + ":unregistered";
  }

  [[nodiscard]] std::string conversation(bool is_registration) const {
    if (defaults_.conversation_id) return defaults_.conversation_id->str();
    return is_registration ? registration_conversation(registering_role(), "unregistered", 1).str()
                           : "";
  }

  [[nodiscard]] Role registering_role() const {
    return spec(type_).senders.contains(Role::kReferee) ? Role::kReferee : Role::kPlayer;
  }

  json& message_;
  MessageType type_;
  const NormaliseDefaults& defaults_;
  Leniencies& taken_;
};

core::Result<void> refuse_what_schemas_pass(const json& message) {
  const std::string* sender = text_of(message, "sender");
  if (sender == nullptr || *sender != kUnregisteredReferee) return {};
  return core::Error{core::ErrorCode::kInvalidSender,
                     "sender \"referee:UNREGISTERED\" is not allowed; before registration, send a "
                     "temporary name of your own, such as referee:alpha",
                     "/sender"};
}

}  // namespace

core::Result<void> normalise(json& message, MessageType expected, Mode mode,
                             const NormaliseDefaults& defaults, Leniencies& taken) {
  if (!message.is_object()) {
    return core::Error{core::ErrorCode::kMalformedMessage, "a league message is a JSON object", ""};
  }
  if (mode == Mode::kStrict) return refuse_what_schemas_pass(message);
  Rewriter rewriter(message, expected, defaults, taken);
  rewriter.drop_empty_fields();
  rewriter.read_round_text();
  if (defaults.is_guest) rewriter.read_foreign_forms();
  rewriter.correct_sender();
  rewriter.rename_fields();
  rewriter.fill_holes();
  return {};
}

bool is_in_own_form(MessageType type, schema::JsonNode message) {
  if (message.find("sender").text() == kUnregisteredReferee) return false;
  if (type != MessageType::kMatchResultReport) return true;
  // What third-party referees report without a termination, or with 0 for no number, is rewritten
  // (read_report).
  const schema::JsonNode details = message.find("result").find("details");
  const schema::JsonNode drawn = details.find("drawn_number");
  return details.find("termination") && !(drawn.is_number() && drawn.number() == 0);
}

}  // namespace league::envelope
