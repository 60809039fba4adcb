#include "tools/audit/rules/records.h"

#include <algorithm>
#include <cstring>

#include "common/audit/record/masking.h"
#include "common/audit/record/record_writer.h"
#include "common/core/text.h"
#include "common/core/timestamp.h"
#include "common/envelope/message_type.h"
#include "common/schema/parse_json.h"
#include "tools/audit/facts/reading.h"

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

bool is_word(char c) { return core::is_alphanumeric(c) || c == '_' || c == '-'; }

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

void RecordChecker::take(const audit::log::RecordLine& line) {
  if (contents_.files.empty() || contents_.files.back() != line.file) {
    contents_.files.push_back(line.file);
    broadcasts_.clear();
    answers_.clear();
  }
  place_ = {&contents_.files.back(), line.line};
  agent_ = line.agent;
  seq_ = line.seq;
  auto parsed = schema::parse_json(line.text);
  if (!parsed || !parsed->is_object()) return fault("record.form", "it is not a JSON object");
  auto read = read_record(std::move(*parsed), line.version);
  if (!read) return fault("record.form", "a key of the record is missing or has a wrong type");
  Record& record = *read;
  if (has_token(line.text)) fault("secret.token", "it contains an unmasked token");
  evidence_.begin_record(line, place_, record.time_us);
  evidence_.note_stray(record);
  complete(record);
  note_transfer(record);
  if (record.raw.empty() || record.is_cut) return evidence_.take(record, json(), json());
  const std::string& type = record.message_type;
  bool is_repeated = record.raw.size() >= kLargeBroadcast && !record.has_verdict &&
                     !record.has_leniencies && !record.has_match && record.is_request() &&
                     !agent_.starts_with("referee:") && !record.peer.starts_with("referee:") &&
                     (type == "ROUND_ANNOUNCEMENT" || type == "LEAGUE_STANDINGS_UPDATE");
  is_repeated ? take_broadcast(record) : take_body(record);
}

void RecordChecker::take_body(const Record& record) {
  auto body = schema::parse_json(record.raw);
  if (!body) return evidence_.take(record, json(), json());
  check_secrets(*body, false);
  const json* message = message_in(*body);
  if (message != nullptr) check_message(record, *message);
  evidence_.take(record, *body, message != nullptr ? *message : json::object());
}

/// Whether the record is of a message from the manager, in the manager's own log or in a
/// recipient's.
bool RecordChecker::is_from_manager(const Record& record, const json& message) const {
  return text_at(message, "sender") == "league_manager" &&
         (record.is_out) == (agent_ == "league_manager");
}

/// Checks a broadcast. Tables and announcements go to everybody, so each is checked completely only
/// once; for further copies only the record is checked.
void RecordChecker::take_broadcast(const Record& record) {
  auto part = common_part(record.raw);
  if (!part) return take_body(record);
  core::Digest digest = sha256_(*part);
  if (auto known = known_.find(digest)) {
    bool is_out = record.is_out;
    if (is_out != (agent_ == "league_manager")) return take_body(record);
    check_names(record, known->sender);
    check_conversation(record, known->conversation);
    if (known->head && !is_out) evidence_.take_received_head(*known->head);
    return;
  }
  std::size_t faults = contents_.faults.size();
  take_body(record);
  if (contents_.faults.size() > faults) return;
  auto body = schema::parse_json(record.raw);
  const json* message = body ? message_in(*body) : nullptr;
  if (message == nullptr || !is_from_manager(record, *message)) return;
  known_.add(digest, {text_at(*message, "sender"), text_at(*message, "conversation_id"),
                      head_told_in(*message)});
}

/// Puts the body of a record together that refers to an earlier one.
void RecordChecker::complete(Record& record) {
  Bodies& bodies = record.is_request() ? broadcasts_ : answers_;
  if (!record.reference) {
    if (!record.is_broadcast) return;
    if (bodies.size() == audit::record::kRememberedBroadcasts) bodies.pop_front();
    bodies.emplace_back(seq_, record.raw);
    return;
  }
  auto base = std::ranges::find(bodies, static_cast<std::uint64_t>(*record.reference),
                                &Bodies::value_type::first);
  if (base == bodies.end() || !record.keep) {
    record.raw.clear();
    return fault("record.reference",
                 "raw_ref names no record of this file that may be referred to");
  }
  const std::string& whole = base->second;
  const auto before = std::min(static_cast<std::size_t>(record.keep->first), whole.size());
  const auto after = std::min(static_cast<std::size_t>(record.keep->second), whole.size());
  record.raw = whole.substr(0, before) + record.raw + whole.substr(whole.size() - after);
}

/// Notes sent and received messages, since every received one must have been sent. Only for
/// accepted messages whose sender is known: answers on a connection that the agent opened, and
/// calls whose token was checked.
void RecordChecker::note_transfer(const Record& record) {
  if (!record.body) return;
  const std::uint64_t body = *record.body;
  const std::string& text = record.raw.empty() ? record.raw_base64 : record.raw;
  if (!text.empty())
    contents_.copies.push_back(
        {body, half_of(sha256_(text)), record.is_out, !record.is_cut, place_});
  if (record.is_out) {
    contents_.sent.try_emplace(body, record.time_us);
    return;
  }
  if (record.is_request()) contents_.got.try_emplace(body, record.time_us);
  if (!record.is_checked_delivery() || record.http_status > 200) return;
  if (record.is_request()) {
    auto type = envelope::message_type_from_wire(record.message_type);
    if (!type || !envelope::spec(*type).token_required) return;
  }
  const std::int64_t took = record.is_reply() ? record.elapsed_us : 0;
  evidence_.facts().received.push_back(
      {body, record.peer, record.time_us, record.time_us - took, place_});
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

void RecordChecker::check_message(const Record& record, const json& message) {
  const std::string& type = text_at(message, "message_type");
  auto known = envelope::message_type_from_wire(type);
  if (!known || record.has_verdict || record.has_leniencies) return;
  if (record.is_hearsay()) return;
  const bool is_out = record.is_out;
  const bool is_reply = record.is_reply();
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
      agent_ == "league_manager" && record.via == "seat" &&
      (is_reply ? is_out && role == envelope::Role::kPlayer : !is_out && is_for_seats(*known));
  if (!is_passed_on) check_names(record, sender);
}

void RecordChecker::check_conversation(const Record& record, const std::string& conversation) {
  if (!conversation.empty() && record.conversation_id != conversation)
    fault("record.conversation", "the record and the message name different conversations");
}

/// Checks that the peer in the record is the sender in the message.
void RecordChecker::check_names(const Record& record, const std::string& sender) {
  if (record.is_out) {
    evidence_.facts().senders.try_emplace(sender, place_);
  } else if (role_of(record.peer) && record.peer != sender) {
    fault("authority.peer", "it came from " + record.peer + " in the name of " + sender);
  }
}

void RecordChecker::check_schema(const Record& record, const std::string& type,
                                 const json& message) {
  auto valid = schemas_.validate(*envelope::message_type_from_wire(type), message);
  if (valid) return;
  // An answer repeats the id of its request, which may have been missing or invalid.
  if (record.is_reply() && valid.error().field == "/conversation_id") return;
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
