#include "tools/audit/verify/verify_records.h"

#include <algorithm>
#include <cstring>

#include "common/audit/record/masking.h"
#include "common/audit/record/record_writer.h"
#include "common/core/text.h"
#include "common/core/timestamp.h"
#include "common/envelope/message_type.h"
#include "common/schema/parse_json.h"
#include "tools/audit/evidence/json_fields.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;

constexpr std::size_t kShortestToken = 12;
constexpr std::size_t kLargeBroadcast = 1024;  // bytes; below it parsing costs no more than hashing

/// The league message that a JSON-RPC frame carries in one of the places that our programs use: as
/// parameters or result, or inside an MCP `tools/call` and its answer.
const json* message_in(const json& body) {
  if (!body.is_object()) return nullptr;
  for (auto [place, of_tools] :
       {std::pair("params", "arguments"), {"result", "structuredContent"}}) {
    const json& found = field_at(body, place);
    if (!found.is_object()) continue;
    const json& inner = field_at(found, of_tools);
    return !found.contains("message_type") && inner.is_object() ? &inner : &found;
  }
  return nullptr;
}

std::optional<envelope::Role> role_of(std::string_view sender) {
  if (sender == "league_manager") return envelope::Role::kLeagueManager;
  if (sender.starts_with("referee:")) return envelope::Role::kReferee;
  if (sender.starts_with("player:")) return envelope::Role::kPlayer;
  return std::nullopt;
}

/// Whether messages of `type` come only as answers.
bool is_only_reply(envelope::MessageType type) { return envelope::spec(type).method.empty(); }

/// Whether a referee may send messages of `type` to a player at its seat.
bool is_for_seats(envelope::MessageType type) {
  const auto& spec = envelope::spec(type);
  return spec.senders.contains(envelope::Role::kReferee) &&
         spec.receivers.contains(envelope::Role::kPlayer);
}

bool is_whole_number(const json& value) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= INT64_MAX;
}

bool is_word(char c) { return core::is_alphanumeric(c) || c == '_' || c == '-'; }

/// Whether the keys that docs/audit.md names have the types that it names.
bool has_known_types(const json& record) {
  bool is_known = true;
  for (const char* key : {"peer", "said_by", "transport", "conversation_id", "message_type",
                          "match_id", "verdict", "fault", "raw", "raw_base64", "raw_sha256"})
    is_known = is_known && (!record.contains(key) || record[key].is_string());
  is_known = is_known && (!record.contains("context") || record["context"].is_object()) &&
             (!record.contains("broadcast") || record["broadcast"].is_boolean());
  for (const char* key : {"mono_ns", "http_status", "elapsed_us", "call", "raw_bytes", "raw_ref"})
    is_known = is_known && (!record.contains(key) || is_whole_number(record[key]));
  if (record.contains("leniencies")) {
    const json& names = record["leniencies"];
    is_known = is_known && names.is_array() &&
               std::ranges::all_of(names, [](const json& name) { return name.is_string(); });
  }
  if (record.contains("raw_keep")) {
    const json& keep = record["raw_keep"];
    is_known = is_known && keep.is_array() && keep.size() == 2 && is_whole_number(keep[0]) &&
               is_whole_number(keep[1]);
  }
  return is_known;
}

std::uint64_t half_of(const core::Digest& digest) {
  std::uint64_t half = 0;
  std::memcpy(&half, digest.data(), sizeof half);
  return half;
}

bool has_token(std::string_view line) {
  for (std::size_t at = line.find("tok_"); at != line.npos; at = line.find("tok_", at + 1)) {
    std::size_t end = at;
    while (end < line.size() && is_word(line[end])) ++end;
    if (end - at >= kShortestToken) return true;
  }
  return false;
}

}  // namespace

void RecordChecker::fault(const char* rule, std::string text) {
  contents_.faults.push_back({*place_.file, place_.line, rule, std::move(text)});
}

bool RecordChecker::check_form(const json& record) {
  const std::string& dir = text_at(record, "dir");
  const std::string& kind = text_at(record, "kind");
  auto time = instant_at(record, "time");
  time_us_ = time.value_or(0);
  bool is_known = (dir == "in" || dir == "out") && time && has_known_types(record) &&
                  (kind == "request" || kind == "reply" || kind == "failure");
  if (!is_known) fault("record.form", "a key of the record is missing or has a wrong type");
  return is_known;
}

void RecordChecker::take(const audit::log::RecordLine& line) {
  if (contents_.files.empty() || contents_.files.back() != line.file) {
    contents_.files.push_back(line.file);
    broadcasts_.clear();
    answers_.clear();
  }
  place_ = {&contents_.files.back(), line.line};
  agent_ = line.agent;
  version_ = line.version;
  seq_ = line.seq;
  auto record = schema::parse_json(line.text);
  if (!record || !record->is_object()) return fault("record.form", "it is not a JSON object");
  if (!check_form(*record)) return;
  if (has_token(line.text)) fault("secret.token", "it contains an unmasked token");
  evidence_.begin_record(line, place_, time_us_);
  evidence_.note_stray(*record);
  std::string raw = body_of(*record);
  note_transfer(*record, raw);
  if (raw.empty() || record->contains("raw_bytes")) return evidence_.take(*record, json(), json());
  const std::string& type = text_at(*record, "message_type");
  bool is_repeated = raw.size() >= kLargeBroadcast && !record->contains("verdict") &&
                     !record->contains("leniencies") && !record->contains("match_id") &&
                     text_at(*record, "kind") == "request" && !agent_.starts_with("referee:") &&
                     !text_at(*record, "peer").starts_with("referee:") &&
                     (type == "ROUND_ANNOUNCEMENT" || type == "LEAGUE_STANDINGS_UPDATE");
  is_repeated ? take_broadcast(*record, raw) : take_body(*record, raw);
}

void RecordChecker::take_body(const json& record, const std::string& raw) {
  auto body = schema::parse_json(raw);
  if (!body) return evidence_.take(record, json(), json());
  check_secrets(*body, false);
  const json* message = message_in(*body);
  if (message != nullptr && !text_at(*message, "message_type").empty())
    check_message(record, *message);
  evidence_.take(record, *body, message != nullptr ? *message : json::object());
}

/// Whether the record is of a message from the manager, in the manager's own log or in a
/// recipient's.
bool RecordChecker::is_from_manager(const json& record, const json& message) const {
  return text_at(message, "sender") == "league_manager" &&
         (text_at(record, "dir") == "out") == (agent_ == "league_manager");
}

/// Checks a broadcast. Tables and announcements go to everybody, so each is checked completely only
/// once; for further copies only the record is checked.
void RecordChecker::take_broadcast(const json& record, const std::string& raw) {
  auto part = common_part(raw);
  if (!part) return take_body(record, raw);
  core::Digest digest = sha256_(*part);
  if (auto known = known_.find(digest)) {
    bool is_out = text_at(record, "dir") == "out";
    if (is_out != (agent_ == "league_manager")) return take_body(record, raw);
    check_names(record, known->sender);
    check_conversation(record, known->conversation);
    if (known->head && !is_out) evidence_.take_received_head(*known->head);
    return;
  }
  std::size_t faults = contents_.faults.size();
  take_body(record, raw);
  if (contents_.faults.size() > faults) return;
  auto body = schema::parse_json(raw);
  const json* message = body ? message_in(*body) : nullptr;
  if (message == nullptr || !is_from_manager(record, *message)) return;
  known_.add(digest, {text_at(*message, "sender"), text_at(*message, "conversation_id"),
                      head_told_in(*message)});
}

std::string RecordChecker::body_of(const json& record) {
  const std::string& raw = text_at(record, "raw");
  Bodies& bodies = text_at(record, "kind") == "request" ? broadcasts_ : answers_;
  auto reference = record.find("raw_ref");
  if (reference == record.end()) {
    if (record.contains("broadcast")) {
      if (bodies.size() == audit::record::kRememberedBroadcasts) bodies.pop_front();
      bodies.emplace_back(seq_, raw);
    }
    return raw;
  }
  const json& keep = field_at(record, "raw_keep");
  auto base = std::find_if(bodies.begin(), bodies.end(),
                           [&](const auto& one) { return *reference == one.first; });
  if (base == bodies.end() || keep.is_null()) {
    fault("record.reference", "raw_ref names no record of this file that may be referred to");
    return {};
  }
  std::size_t before = std::min(keep[0].get<std::size_t>(), base->second.size());
  std::size_t after = std::min(keep[1].get<std::size_t>(), base->second.size());
  return base->second.substr(0, before) + raw + base->second.substr(base->second.size() - after);
}

/// Notes sent and received messages, since every received one must have been sent. Only for
/// accepted messages whose sender is known: answers on a connection that the agent opened, and
/// calls whose token was checked.
void RecordChecker::note_transfer(const json& record, const std::string& raw) {
  auto digest = body_digest(record);
  if (!digest) return;
  const std::uint64_t half = *digest;
  const bool is_out = text_at(record, "dir") == "out";
  const std::string& text = raw.empty() ? text_at(record, "raw_base64") : raw;
  if (!text.empty())
    contents_.copies.push_back(
        {half, half_of(sha256_(text)), is_out, !record.contains("raw_bytes"), place_});
  if (is_out) {
    contents_.sent.try_emplace(half, time_us_);
    return;
  }
  if (text_at(record, "kind") == "request") contents_.got.try_emplace(half, time_us_);
  if (!is_checked_delivery(record, version_) || number_at(record, "http_status").value_or(0) > 200)
    return;
  if (text_at(record, "kind") == "request") {
    auto type = envelope::message_type_from_wire(text_at(record, "message_type"));
    if (!type || !envelope::spec(*type).token_required) return;
  }
  const std::int64_t took =
      text_at(record, "kind") == "reply"
          ? std::max<std::int64_t>(number_at(record, "elapsed_us").value_or(0), 0)
          : 0;
  evidence_.facts().received.push_back(
      {half, text_at(record, "peer"), time_us_, time_us_ - took, place_});
}

void RecordChecker::check_secrets(const json& value, bool secret) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items())
      check_secrets(inner, secret || audit::record::is_secret_key(key));
  } else if (value.is_array()) {
    for (const json& inner : value) check_secrets(inner, secret);
  } else if (secret && value.is_string()) {
    const auto& shown = value.get_ref<const std::string&>();
    if (!shown.empty() && !shown.ends_with("..."))
      fault("secret.value", "the value of a secret field is not masked");
  }
}

void RecordChecker::check_message(const json& record, const json& message) {
  const std::string& type = text_at(message, "message_type");
  auto known = envelope::message_type_from_wire(type);
  if (!known || record.contains("verdict") || record.contains("leniencies")) return;
  if (is_hearsay(record, version_)) return;
  const bool is_out = text_at(record, "dir") == "out";
  const bool is_reply = text_at(record, "kind") == "reply";
  // A player's message is checked in its recipient's log, because a bot may try whatever it wants.
  if (agent_.starts_with("player:") && is_out) return;
  // The content of an acknowledgement never counts, and errors can come from anybody.
  if (is_reply ? !evidence_.asks_for(record, type) : is_only_reply(*known)) return;
  if (type == "LEAGUE_ERROR" && (is_reply || !is_out)) return;
  check_schema(record, type, message);
  if (!is_reply) check_conversation(record, text_at(message, "conversation_id"));
  if (type.ends_with("REGISTER_REQUEST")) return;  // a new agent has no id yet
  const std::string& sender = text_at(message, "sender");
  auto role = role_of(sender);
  if (!role || !envelope::spec(*known).senders.contains(*role))
    fault("authority.sender", type + " was sent by " + sender + ", who must not send it");
  // What the manager passes on, between a referee and a player at its seat, is not its own.
  const bool is_passed_on =
      agent_ == "league_manager" && text_at(record, "via") == "seat" &&
      (is_reply ? is_out && role == envelope::Role::kPlayer : !is_out && is_for_seats(*known));
  if (!is_passed_on) check_names(record, sender);
}

void RecordChecker::check_conversation(const json& record, const std::string& conversation) {
  if (!conversation.empty() && text_at(record, "conversation_id") != conversation)
    fault("record.conversation", "the record and the message name different conversations");
}

/// Checks that the peer in the record is the sender in the message.
void RecordChecker::check_names(const json& record, const std::string& sender) {
  if (text_at(record, "dir") == "out") {
    evidence_.facts().senders.try_emplace(sender, place_);
  } else if (role_of(text_at(record, "peer")) && text_at(record, "peer") != sender) {
    fault("authority.peer",
          "it came from " + text_at(record, "peer") + " in the name of " + sender);
  }
}

void RecordChecker::check_schema(const json& record, const std::string& type, const json& message) {
  auto valid = schemas_.validate(*envelope::message_type_from_wire(type), message);
  if (valid) return;
  // An answer repeats the id of its request, which may have been missing or invalid.
  if (text_at(record, "kind") == "reply" && valid.error().field == "/conversation_id") return;
  // A masked value does not have to match the schema.
  json::json_pointer field;
  try {
    field = json::json_pointer(valid.error().field);
  } catch (const json::exception&) {
    return fault("schema", type + ": " + valid.error().message);
  }
  if (message.contains(field) && message[field].is_string() &&
      message[field].get_ref<const std::string&>().ends_with("..."))
    return;
  fault("schema", type + ": " + valid.error().message);
}

}  // namespace league::tools::auditor
