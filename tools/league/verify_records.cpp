#include "tools/league/verify_records.h"

#include <algorithm>
#include <charconv>

#include "common/audit/masking.h"
#include "common/audit/record_writer.h"
#include "common/core/timestamp.h"
#include "common/envelope/message_type.h"
#include "common/schema/json_gate.h"
#include "tools/league/json_fields.h"

namespace league::tools {
namespace {

using nlohmann::json;

constexpr std::size_t kShortestToken = 12;
constexpr std::size_t kLargeBroadcast = 1024;  // bytes; below it parsing costs no more than hashing

std::int64_t number(const json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::optional<std::int64_t> instant(const json& object, const char* key) {
  auto time = core::UtcTimestamp::parse(text_at(object, key));
  if (!time) return std::nullopt;
  return time->instant().time_since_epoch().count();
}

const json* object_in(const json& outer, const char* place) {
  auto found = outer.find(place);
  return found != outer.end() && found->is_object() ? &*found : nullptr;
}

/// The league message that a JSON-RPC frame carries in one of the places that we use: as parameters
/// or result, or inside a `tools/call` of MCP and its answer.
const json* message_in(const json& body) {
  if (!body.is_object()) return nullptr;
  for (auto [place, of_tools] :
       {std::pair("params", "arguments"), {"result", "structuredContent"}}) {
    const json* found = object_in(body, place);
    if (found == nullptr) continue;
    const json* inner = found->contains("message_type") ? nullptr : object_in(*found, of_tools);
    return inner != nullptr ? inner : found;
  }
  return nullptr;
}

/// The end of the manager's log that a message of the manager tells.
std::optional<audit::LogHead> head_told_in(const json& message) {
  auto head = message.find("log_head");
  if (head == message.end() || !head->is_object() || text_at(message, "sender") != "league_manager")
    return std::nullopt;
  return audit::LogHead{static_cast<std::uint64_t>(number(*head, "seq")), text_at(*head, "hash")};
}

std::optional<envelope::Role> role_of(std::string_view sender) {
  if (sender == "league_manager") return envelope::Role::kLeagueManager;
  if (sender.starts_with("referee:")) return envelope::Role::kReferee;
  if (sender.starts_with("player:")) return envelope::Role::kPlayer;
  return std::nullopt;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
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
  facts_.faults.push_back({*place_.file, place_.line, rule, std::move(text)});
}

void RecordChecker::take(const audit::RecordLine& line) {
  if (facts_.files.empty() || facts_.files.back() != line.file) {
    facts_.files.push_back(line.file);
    broadcasts_.clear();
  }
  place_ = {&facts_.files.back(), line.line};
  agent_ = line.agent;
  seq_ = line.seq;
  auto record = schema::parse_json(line.text);
  if (!record || !record->is_object()) return fault("record.form", "it is no JSON object");
  const std::string& dir = text_at(*record, "dir");
  if ((dir != "in" && dir != "out") || text_at(*record, "kind").empty() ||
      !instant(*record, "time"))
    return fault("record.form", "dir, kind or time is missing or wrong");
  if (has_token(line.text)) fault("secret.token", "a token stands in it unmasked");
  note_transfer(*record);
  std::string raw = body_of(*record);
  if (raw.empty() || record->contains("raw_bytes")) {
    note_for_referee(*record, json(), json());
    return;
  }
  const std::string& type = text_at(*record, "message_type");
  bool is_repeated = raw.size() >= kLargeBroadcast && !record->contains("verdict") &&
                     !record->contains("leniencies") && !record->contains("match_id") &&
                     (type == "ROUND_ANNOUNCEMENT" || type == "LEAGUE_STANDINGS_UPDATE");
  is_repeated ? take_broadcast(*record, raw) : take_body(*record, raw);
}

void RecordChecker::take_body(const json& record, const std::string& raw) {
  auto body = schema::parse_json(raw);
  if (!body) {
    note_for_referee(record, json(), json());
    return;
  }
  check_secrets(*body, false);
  const json* message = message_in(*body);
  if (message != nullptr && !text_at(*message, "message_type").empty())
    check_message(record, *message);
  json none = json::object();
  const json& shown = message != nullptr ? *message : none;
  note_message(record, shown);
  note_for_player(record, shown);
  note_for_manager(record, *body, shown);
  note_for_referee(record, *body, shown);
}

/// Tables and announcements go to everybody: each is checked once, and of its copies only what the
/// record says about them.
void RecordChecker::take_broadcast(const json& record, const std::string& raw) {
  auto part = common_part(raw);
  if (!part) return take_body(record, raw);
  core::Digest digest = sha256_(*part);
  if (auto known = known_.find(digest)) {
    check_names(record, known->sender, known->conversation);
    if (known->head && text_at(record, "dir") == "in")
      facts_.witnesses.push_back({*known->head, place_});
    return;
  }
  std::size_t faults = facts_.faults.size();
  take_body(record, raw);
  // What a player sends was not judged here.
  if (facts_.faults.size() > faults ||
      (agent_.starts_with("player:") && text_at(record, "dir") == "out"))
    return;
  auto body = schema::parse_json(raw);
  const json* message = body ? message_in(*body) : nullptr;
  if (message == nullptr) return;
  known_.add(digest, {text_at(*message, "sender"), text_at(*message, "conversation_id"),
                      head_told_in(*message)});
}

std::string RecordChecker::body_of(const json& record) {
  const std::string& raw = text_at(record, "raw");
  auto reference = record.find("raw_ref");
  if (reference == record.end()) {
    if (record.contains("broadcast")) {
      if (broadcasts_.size() == audit::kRememberedBroadcasts) broadcasts_.pop_front();
      broadcasts_.emplace_back(seq_, raw);
    }
    return raw;
  }
  auto keep = record.find("raw_keep");
  auto base = std::find_if(broadcasts_.begin(), broadcasts_.end(),
                           [&](const auto& one) { return *reference == one.first; });
  if (base == broadcasts_.end() || keep == record.end() || !keep->is_array() || keep->size() != 2) {
    fault("record.reference", "raw_ref names no broadcast of this file");
    return {};
  }
  std::size_t before = std::min((*keep)[0].get<std::size_t>(), base->second.size());
  std::size_t after = std::min((*keep)[1].get<std::size_t>(), base->second.size());
  return base->second.substr(0, before) + raw + base->second.substr(base->second.size() - after);
}

/// What arrived must have been sent; only for what was taken for good.
void RecordChecker::note_transfer(const json& record) {
  const std::string& hash = text_at(record, "raw_sha256");
  if (hash.size() != 64) return;
  std::uint64_t half = 0;
  std::from_chars(hash.data(), hash.data() + 16, half, 16);
  if (text_at(record, "dir") == "out") {
    facts_.sent.insert(half);
  } else if (!record.contains("verdict") && number(record, "http_status") <= 200) {
    facts_.received.push_back({half, text_at(record, "peer"), *instant(record, "time"), place_});
  }
}

void RecordChecker::check_secrets(const json& value, bool secret) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items())
      check_secrets(inner, secret || audit::is_secret_key(key));
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
  // What a player sends is judged where it arrives: a bot may try what it likes.
  if (agent_.starts_with("player:") && text_at(record, "dir") == "out") return;
  check_schema(type, message);
  const std::string& sender = text_at(message, "sender");
  auto role = role_of(sender);
  if (!role || !envelope::spec(*known).senders.contains(*role))
    fault("authority.sender", type + " was sent by " + sender + ", who must not send it");
  check_names(record, sender, text_at(message, "conversation_id"));
}

/// The names that the record gives must be those of the message.
void RecordChecker::check_names(const json& record, const std::string& sender,
                                const std::string& conversation) {
  if (text_at(record, "dir") == "out") {
    facts_.senders.try_emplace(sender, place_);
  } else if (role_of(text_at(record, "peer")) && text_at(record, "peer") != sender) {
    fault("authority.peer",
          "it came from " + text_at(record, "peer") + " in the name of " + sender);
  }
  if (text_at(record, "conversation_id") != conversation)
    fault("record.conversation", "the record names another conversation than the message");
}

void RecordChecker::check_schema(const std::string& type, const json& message) {
  auto valid = schemas_.validate(*envelope::message_type_from_wire(type), message);
  if (valid) return;
  // What is masked may not be what the schema wants.
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

void RecordChecker::note_message(const json& record, const json& message) {
  if (record.contains("verdict")) return;
  if (text_at(record, "dir") == "in") {
    if (auto head = head_told_in(message)) facts_.witnesses.push_back({*head, place_});
  }
  bool from_manager = text_at(message, "sender") == "league_manager" ||
                      (text_at(record, "dir") == "out" && agent_ == "league_manager");
  if (auto matches = message.find("matches"); from_manager && matches != message.end())
    note_matches(*matches);
  if (auto context = message.find("context"); context != message.end() && context->is_object()) {
    const std::string& commitment = text_at(*context, "draw_commitment");
    if (!commitment.empty())
      facts_.commitments[text_at(message, "match_id")].try_emplace(commitment, place_);
  }
  const std::string& proof = text_at(message, "draw_proof");
  if (!proof.empty()) facts_.proofs[text_at(message, "match_id")].try_emplace(proof, place_);
}

void RecordChecker::note_matches(const json& matches) {
  if (!matches.is_array()) return;
  for (const json& match : matches) {
    if (!match.is_object()) continue;
    const std::string& id = text_at(match, "match_id");
    const std::string& commitment = text_at(match, "draw_commitment");
    if (!commitment.empty()) facts_.commitments[id].try_emplace(commitment, place_);
    facts_.pairings.try_emplace(
        id, LogFacts::Pairing{text_at(match, "player_A_id"), text_at(match, "player_B_id")});
    if (const std::string& conversation = text_at(match, "conversation_id"); !conversation.empty())
      facts_.assignments[conversation] = text_at(match, "referee_id");
  }
}

/// A referee that gives an attempt up may have lost its log too; its players have theirs.
void RecordChecker::note_for_player(const json& record, const json& message) {
  const std::string& choice = text_at(message, "parity_choice");
  if (!agent_.starts_with("player:") || text_at(record, "dir") != "out" ||
      (choice != "even" && choice != "odd"))
    return;
  const std::string& conversation = text_at(record, "conversation_id");
  facts_.choices.try_emplace(conversation,
                             DecidedAttempt{text_at(record, "match_id"), conversation, place_});
}

void RecordChecker::note_for_manager(const json& record, const json& body, const json& message) {
  if (agent_ != "league_manager") return;
  const std::string& conversation = text_at(record, "conversation_id");
  const std::string& type = text_at(record, "message_type");
  bool in = text_at(record, "dir") == "in";
  if (record.contains("verdict")) {
    if (in) open_reports_.erase(conversation);
    return;
  }
  if (in && type == "MATCH_RESULT_REPORT") open_reports_[conversation] = {message, place_};
  if (in && type.ends_with("REGISTER_REQUEST")) {
    auto meta = message.find(type.starts_with("REFEREE") ? "referee_meta" : "player_meta");
    open_registrations_[conversation] =
        meta != message.end() ? text_at(*meta, "log_public_key") : std::string();
  }
  if (!in && type.ends_with("REGISTER_RESPONSE") && text_at(message, "status") == "ACCEPTED") {
    const char* key = type.starts_with("REFEREE") ? "referee_id" : "player_id";
    std::string agent =
        (type.starts_with("REFEREE") ? "referee:" : "player:") + text_at(message, key);
    facts_.keys[agent].insert(open_registrations_[conversation]);
  }
  if (!in && type == "LEAGUE_COMPLETED" && message.contains("final_standings")) {
    facts_.final_standings = message["final_standings"];
    facts_.final_place = place_;
  }
  auto report = open_reports_.find(conversation);
  if (!in && text_at(record, "kind") == "reply" && report != open_reports_.end()) {
    const auto& [request, place] = report->second;
    if (body.contains("result") && type != "LEAGUE_ERROR") {
      facts_.reports.push_back({text_at(request, "match_id"), text_at(request, "sender"),
                                conversation, request.value("result", json::object()), place});
    }
    open_reports_.erase(report);
  }
}

void RecordChecker::note_for_referee(const json& record, const json& body, const json& message) {
  if (!agent_.starts_with("referee:") || text_at(record, "match_id").empty()) return;
  MatchEvent event{.mono_ns = number(record, "mono_ns"),
                   .outbound = text_at(record, "dir") == "out",
                   .request = text_at(record, "kind") == "request",
                   .peer = text_at(record, "peer"),
                   .type = text_at(record, "message_type"),
                   .time_us = *instant(record, "time"),
                   .allowed_us = {},
                   .place = place_};
  auto error = body.is_object() ? body.find("error") : body.end();
  bool is_error = body.is_object() && error != body.end() && error->is_object();
  event.failed = text_at(record, "kind") == "failure" || record.contains("verdict") || is_error;
  event.unknown_method = is_error && number(*error, "code") == -32601;
  if (message.is_object()) {
    const std::string& match = text_at(message, "match_id");
    if (!event.outbound && !match.empty() && match != text_at(record, "match_id"))
      event.failed = true;
    auto deadline = instant(message, "deadline");
    auto sent = instant(message, "timestamp");
    if (deadline && sent) event.allowed_us = *deadline - *sent;
    event.accepts = message.value("accept", json(true)) != json(false);
    auto result = message.find("result");
    if (result != message.end() && result->is_object() && result->contains("details")) {
      const json& details = (*result)["details"];
      event.is_normal = text_at(details, "termination") == "NORMAL";
      if (details.is_object()) event.replays = static_cast<int>(number(details, "replays"));
    }
  }
  Talk& talk = facts_.talks[text_at(record, "conversation_id")];
  talk.match_id = text_at(record, "match_id");
  talk.events.push_back(std::move(event));
}

}  // namespace league::tools
