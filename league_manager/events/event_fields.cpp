#include "league_manager/events/event_fields.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace league::league_manager {

using nlohmann::json;

namespace {

template <typename T>
T required(std::optional<T> value, const std::string& text) {
  if (!value) throw std::invalid_argument("'" + text + "' is not a value of this field");
  return *value;
}

template <typename T>
void read_optional(const json& object, const char* key, std::optional<T>& value) {
  auto found = object.find(key);
  if (found == object.end()) {
    value.reset();
  } else {
    value = found->get<T>();
  }
}

const char* choice_key(game::Side side) { return side == game::Side::kA ? "choice_a" : "choice_b"; }

}  // namespace

json parse_journal_json(std::string_view text) {
  return json::parse(text, [](int /*depth*/, json::parse_event_t /*event*/, json& value) {
    if (value.is_number_float())
      throw std::invalid_argument("the number " + value.dump() + " is not whole, or too large");
    return true;
  });
}

void to_json(json& out, const AgentRef& ref) { out = ref.id(); }

void from_json(const json& in, AgentRef& ref) {
  const auto& text = in.get_ref<const std::string&>();
  ref = required(AgentRef::parse(text), text);
}

void to_json(json& out, const MatchKey& match) { out = match.id().str(); }

void from_json(const json& in, MatchKey& match) {
  const auto& text = in.get_ref<const std::string&>();
  match = required(MatchKey::parse(text), text);
}

void to_json(json& out, const AgentProfile& profile) {
  out = {{"display_name", profile.display_name},
         {"version", profile.version},
         {"game_types", profile.game_types},
         {"endpoint", profile.endpoint},
         {"max_concurrent_matches", profile.max_concurrent_matches},
         {"assignments_in_ack", profile.assignments_in_ack}};
  if (profile.protocol_version) out["protocol_version"] = *profile.protocol_version;
  if (profile.contact_email) out["contact_email"] = *profile.contact_email;
  if (profile.log_public_key) out["log_public_key"] = *profile.log_public_key;
  if (profile.hears_events) out["hears_events"] = true;
  if (profile.match_credentials) out["match_credentials"] = true;
  if (profile.is_from_loopback) out["is_from_loopback"] = true;
  if (profile.code_digest) out["code_digest"] = *profile.code_digest;
}

void from_json(const json& in, AgentProfile& profile) {
  in.at("display_name").get_to(profile.display_name);
  in.at("version").get_to(profile.version);
  in.at("game_types").get_to(profile.game_types);
  in.at("endpoint").get_to(profile.endpoint);
  in.at("max_concurrent_matches").get_to(profile.max_concurrent_matches);
  in.at("assignments_in_ack").get_to(profile.assignments_in_ack);
  read_optional(in, "protocol_version", profile.protocol_version);
  read_optional(in, "contact_email", profile.contact_email);
  read_optional(in, "log_public_key", profile.log_public_key);
  profile.hears_events = in.value("hears_events", false);
  profile.match_credentials = in.value("match_credentials", false);
  profile.is_from_loopback = in.value("is_from_loopback", false);
  read_optional(in, "code_digest", profile.code_digest);
}

void to_json(json& out, const Credential& credential) {
  out = {{"nonce", credential.nonce}, {"token_hash", credential.token_hash}};
}

void from_json(const json& in, Credential& credential) {
  in.at("nonce").get_to(credential.nonce);
  in.at("token_hash").get_to(credential.token_hash);
}

json result_to_json(const MatchResult& result) {
  json out = {{"outcome", game::outcome_name(result.outcome)}};
  if (result.drawn_number) out["drawn_number"] = *result.drawn_number;
  for (game::Side side : game::kBothSides) {
    if (result.choices[side]) out[choice_key(side)] = *result.choices[side];
  }
  if (result.is_technical()) out["technical_reason"] = result.technical_reason;
  return out;
}

MatchResult result_from_json(const json& in) {
  MatchResult result;
  const auto& outcome = in.at("outcome").get_ref<const std::string&>();
  result.outcome = required(game::parse_outcome(outcome), outcome);
  read_optional(in, "drawn_number", result.drawn_number);
  for (game::Side side : game::kBothSides)
    read_optional(in, choice_key(side), result.choices[side]);
  result.technical_reason = in.value("technical_reason", std::string());
  return result;
}

void to_json(json& out, const FailureCause& cause) {
  out = {{"call", cause.call},
         {"error_code", cause.error_code},
         {"attempts", cause.attempts},
         {"text", cause.text}};
}

void from_json(const json& in, FailureCause& cause) {
  in.at("call").get_to(cause.call);
  in.at("error_code").get_to(cause.error_code);
  in.at("attempts").get_to(cause.attempts);
  in.at("text").get_to(cause.text);
}

void to_json(json& out, const ReportEvidence& evidence) {
  out = json::object();
  for (game::Side side : game::kBothSides) {
    json of_side = json::object();
    const auto& times = evidence.answered_in[side];
    if (const auto& promised = evidence.bindings.commitments[side])
      of_side["commitment"] = *promised;
    if (const auto& nonce = evidence.bindings.nonces[side]) of_side["nonce"] = *nonce;
    if (times.join_us) of_side["join_us"] = *times.join_us;
    if (times.choice_us) of_side["choice_us"] = *times.choice_us;
    out[side == game::Side::kA ? "A" : "B"] = std::move(of_side);
  }
}

void from_json(const json& in, ReportEvidence& evidence) {
  for (game::Side side : game::kBothSides) {
    const json& of_side = in.at(side == game::Side::kA ? "A" : "B");
    read_optional(of_side, "commitment", evidence.bindings.commitments[side]);
    read_optional(of_side, "nonce", evidence.bindings.nonces[side]);
    read_optional(of_side, "join_us", evidence.answered_in[side].join_us);
    read_optional(of_side, "choice_us", evidence.answered_in[side].choice_us);
  }
}

void to_json(json& out, const MatchSummary& summary) {
  out = {{"total_matches", summary.total_matches},
         {"wins", summary.wins},
         {"draws", summary.draws},
         {"technical_losses", summary.technical_losses}};
}

void from_json(const json& in, MatchSummary& summary) {
  in.at("total_matches").get_to(summary.total_matches);
  in.at("wins").get_to(summary.wins);
  in.at("draws").get_to(summary.draws);
  in.at("technical_losses").get_to(summary.technical_losses);
}

}  // namespace league::league_manager
