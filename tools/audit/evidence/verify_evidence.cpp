#include "tools/audit/evidence/verify_evidence.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "common/core/timestamp.h"
#include "common/envelope/report_forms.h"
#include "tools/audit/evidence/json_fields.h"
#include "tools/audit/evidence/verify_merge.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> kBroadcasts = {
    "ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED"};

bool is_out(const json& record) { return text_at(record, "dir") == "out"; }

bool is_game_call(const std::string& type) {
  return type == "GAME_INVITATION" || type == "CHOOSE_PARITY_CALL";
}

/// The match that a message names; otherwise `noted`, the match of its record.
std::string match_in(const std::string& noted, const json& message) {
  const std::string& named = text_at(message, "match_id");
  return named.empty() ? noted : named;
}

/// Whether `id` has the form of the ids that managers assign: `P01`, `REF01`.
bool is_agent_id(std::string_view id) {
  for (std::string_view prefix : {"REF", "P"}) {
    if (!id.starts_with(prefix)) continue;
    id.remove_prefix(prefix.size());
    return id.size() >= 2 && id.size() <= 9 &&
           std::ranges::all_of(id, [](char c) { return c >= '0' && c <= '9'; });
  }
  return false;
}

/// The type that a message names; otherwise the type that its record names.
std::string type_in(const json& record, const json& message) {
  const std::string& named = text_at(message, "message_type");
  return named.empty() ? text_at(record, "message_type") : named;
}

}  // namespace

std::string id_of(const std::string& agent) { return agent.substr(agent.find(':') + 1); }

bool is_checked_delivery(const json& record) {
  if (record.contains("verdict")) return false;
  if (is_out(record)) return true;
  const json& leniencies = field_at(record, "leniencies");
  return !leniencies.is_array() ||
         std::none_of(leniencies.begin(), leniencies.end(), [](const json& name) {
           return name == "missing_call_token" || name == "foreign_call_token";
         });
}

std::optional<audit::record::LogHead> head_told_in(const json& message) {
  const json& head = field_at(message, "log_head");
  if (!head.is_object() || text_at(message, "sender") != "league_manager") return std::nullopt;
  return audit::record::LogHead{static_cast<std::uint64_t>(number_at(head, "seq").value_or(0)),
                                text_at(head, "hash")};
}

std::optional<std::int64_t> instant_at(const json& value, const char* key) {
  auto time = core::UtcTimestamp::parse(text_at(value, key));
  if (!time) return std::nullopt;
  return time->instant().time_since_epoch().count();
}

void EvidenceCollector::begin_record(const audit::log::RecordLine& line, const LogPosition& place,
                                     std::int64_t time_us) {
  place_ = place;
  agent_ = line.agent;
  time_us_ = time_us;
  run_ = line.run;
  if (facts_ == nullptr || facts_->league != line.league) enter(line.league);
  if (facts_->begins_us == 0) facts_->begins_us = time_us;
  facts_->ends_us = std::max(facts_->ends_us, time_us);
  auto [run, is_new] = contents_.runs.try_emplace(run_);
  if (is_new) run->second.begins_us = time_us;
  run->second.ends_us = std::max(run->second.ends_us, time_us);
  run->second.end = place;
}

/// Continues with the facts of `league`. Facts from before the agent knew its league belong to the
/// first league that it enters.
void EvidenceCollector::enter(const audit::log::LeagueIdentity& league) {
  auto same = std::ranges::find_if(contents_.leagues, [&](const LogFacts& one) {
    return is_same_league(one.league, league) && &one != facts_;
  });
  bool is_unnamed = facts_ != nullptr && facts_->league == audit::log::LeagueIdentity{};
  bool is_same = facts_ != nullptr && is_same_league(facts_->league, league);
  if (is_same || (is_unnamed && same == contents_.leagues.end())) {
    facts_->league = merged(facts_->league, league);
    return;
  }
  if (same == contents_.leagues.end()) {
    facts_ = &contents_.leagues.emplace_back();
    facts_->league = league;
    return;
  }
  if (is_unnamed) {
    append_facts(std::move(*facts_), *same);
    *facts_ = LogFacts{};
    facts_->league.id = "?";  // emptied, and must not be used again
    open_ = {};
  }
  facts_ = &*same;
  facts_->league = merged(facts_->league, league);
}

void EvidenceCollector::take(const json& record, const json& body, const json& message) {
  if (text_at(record, "kind") == "request") {
    take_event(record, body, message, nullptr);
    return take_request(record, message);
  }
  auto call = open_.close(record, run_, type_in(record, message));
  take_event(record, body, message, call ? &*call : nullptr);
  if (call && text_at(record, "kind") == "reply") take_answer(record, body, message, *call);
}

bool EvidenceCollector::asks_for(const json& record, const std::string& type) const {
  const OpenCall* call = open_.find(record, run_, type);
  return call != nullptr && reply_type_of(call->type) == type;
}

void EvidenceCollector::take_request(const json& record, const json& message) {
  OpenCall call;
  call.type = type_in(record, message);
  call.conversation = text_at(record, "conversation_id");
  call.match_id = text_at(record, "match_id");
  call.place = place_;
  const std::string& noted = text_at(record, "message_type");
  call.is_accepted =
      is_checked_delivery(record) && message.is_object() && (noted.empty() || noted == call.type);
  if (call.is_accepted) {
    if (agent_ == "league_manager") {
      if (is_out(record)) take_at_manager(message, call.type);
      if (call.type == "MATCH_RESULT_REPORT" || call.type == "LEAGUE_QUERY" ||
          call.type.ends_with("REGISTER_REQUEST"))
        call.message = message;
    } else if (!is_out(record) && text_at(message, "sender") == "league_manager") {
      take_from_manager(message, call.type);
    }
    if (is_game_call(call.type)) call.game_call = open_game_call(record, message);
    if (agent_.starts_with("referee:") && !is_out(record))
      take_posted_answer(record, message, call.type);
    if (agent_.starts_with("player:") && !is_out(record) && call.type == "GAME_OVER" &&
        text_at(message, "sender").starts_with("referee:")) {
      facts_->ends.push_back({text_at(message, "match_id"), text_at(message, "sender"),
                              text_at(message, "draw_proof"), time_us_, place_});
    }
  }
  open_.open(record, run_, std::move(call));
}

void EvidenceCollector::take_at_manager(const json& message, const std::string& type) {
  if (type == "ROUND_ANNOUNCEMENT") {
    describe(field_at(message, "matches"), field_at(message, "round_id"));
    assign(field_at(message, "matches"));
  } else if (type == "START_MATCH" || type == "MATCH_ASSIGNMENT") {
    // One match for a third-party referee, for which there is no other announcement.
    const json matches = json::array({message});
    describe(matches, field_at(message, "round_id"));
    assign(matches);
  } else if (type == "LEAGUE_COMPLETED" && field_at(message, "final_standings").is_array() &&
             final_run_ != run_) {
    final_run_ = run_;
    FinalTable table{field_at(message, "final_standings"), {}, time_us_, place_};
    const json& voided = field_at(message, "voided_matches");
    for (const json& match : voided.is_array() ? voided : json::array())
      if (match.is_string()) table.voided.insert(match.get<std::string>());
    facts_->finals.push_back(std::move(table));
  }
}

void EvidenceCollector::take_from_manager(const json& message, const std::string& type) {
  if (std::ranges::find(kBroadcasts, type) == kBroadcasts.end()) return;
  if (auto head = head_told_in(message)) facts_->received_heads.push_back({*head, place_});
  if (type == "ROUND_ANNOUNCEMENT")
    describe(field_at(message, "matches"), field_at(message, "round_id"));
}

void EvidenceCollector::describe(const json& matches, const json& round) {
  if (!matches.is_array()) return;
  for (const json& match : matches) {
    if (text_at(match, "match_id").empty()) continue;
    facts_->matches.push_back({text_at(match, "match_id"), "league_manager",
                               text_at(match, "game_type"), text_at(match, "player_A_id"),
                               text_at(match, "player_B_id"), text_at(match, "draw_commitment"),
                               round.is_number_integer() ? round.get<std::int64_t>() : 0, time_us_,
                               place_});
  }
}

void EvidenceCollector::assign(const json& matches) {
  if (!matches.is_array()) return;
  for (const json& match : matches) {
    if (text_at(match, "conversation_id").empty() || text_at(match, "referee_id").empty()) continue;
    facts_->assignments.push_back({text_at(match, "match_id"), text_at(match, "referee_id"),
                                   text_at(match, "conversation_id"),
                                   number_at(match, "attempt").value_or(0), time_us_});
  }
}

std::size_t EvidenceCollector::open_game_call(const json& record, const json& message) {
  bool by_referee = agent_.starts_with("referee:") && is_out(record);
  bool to_player = agent_.starts_with("player:") && !is_out(record);
  const std::string& peer = text_at(record, "peer");
  const std::string& referee = by_referee ? agent_ : text_at(message, "sender");
  if ((!by_referee && !to_player) || !referee.starts_with("referee:")) return OpenCall::kNone;
  if (by_referee && !peer.starts_with("player:")) return OpenCall::kNone;
  GameCall call;
  call.match_id = match_in(text_at(record, "match_id"), message);
  call.conversation = text_at(record, "conversation_id");
  call.player = id_of(by_referee ? peer : agent_);
  call.referee = referee;
  call.is_invitation = type_in(record, message) == "GAME_INVITATION";
  const json& context = field_at(message, "context");
  call.knows_opponent = !call.is_invitation;
  call.opponent_commitment = text_at(context, "opponent_commitment");
  call.time_us = time_us_;
  auto deadline = instant_at(message, "deadline");
  auto sent = instant_at(message, "timestamp");
  if (deadline && sent) call.allowed_us = *deadline - *sent;
  call.place = place_;
  const std::string& commitment =
      text_at(call.is_invitation ? message : context, "draw_commitment");
  call.draw_commitment = commitment;
  if (!commitment.empty())
    facts_->matches.push_back(
        {call.match_id, referee, {}, {}, {}, commitment, 0, time_us_, place_});
  facts_->calls.push_back(std::move(call));
  return facts_->calls.size() - 1;
}

void EvidenceCollector::take_answer(const json& record, const json& body, const json& message,
                                    const OpenCall& call) {
  std::string type = type_in(record, message);
  if (agent_ == "league_manager") {
    if (is_out(record)) take_answer_of_manager(body, message, type, call);
    return;
  }
  if (call.game_call >= facts_->calls.size() || !call.is_accepted) return;
  if (type == reply_type_of(call.type) && field_at(body, "error").is_null())
    answer(facts_->calls[call.game_call], record, message);
}

void EvidenceCollector::answer(GameCall& call, const json& record, const json& message) {
  // An answer that names another match does not answer this call.
  const std::string& named = text_at(message, "match_id");
  if (!named.empty() && named != call.match_id) return;
  call.is_answered = true;
  call.is_answer_accepted = !record.contains("verdict");
  const json& accept = field_at(message, "accept");
  call.accepts =
      accept.is_boolean() ? accept.get<bool>() : message.is_object() && !message.contains("accept");
  call.commitment = text_at(message, "choice_commitment");
  const std::string& choice = text_at(message, "parity_choice");
  call.choice = choice.empty() ? text_at(message, "choice") : choice;
  call.nonce = text_at(message, "choice_nonce");
  call.answered_us = time_us_;
  call.answer_place = place_;
}

/// Takes an answer that a bot sends as a call of its own.
void EvidenceCollector::take_posted_answer(const json& record, const json& message,
                                           const std::string& type) {
  bool is_ack = type == "GAME_JOIN_ACK";
  if (!is_ack && type != "CHOOSE_PARITY_RESPONSE") return;
  auto call = std::find_if(facts_->calls.rbegin(), facts_->calls.rend(), [&](const GameCall& one) {
    return one.is_invitation == is_ack && !one.is_answered &&
           one.match_id == text_at(message, "match_id") &&
           "player:" + one.player == text_at(record, "peer");
  });
  if (call != facts_->calls.rend()) answer(*call, record, message);
}

void EvidenceCollector::take_answer_of_manager(const json& body, const json& message,
                                               const std::string& type, const OpenCall& call) {
  assign(field_at(message, "matches"));
  if (!call.is_accepted) return;
  if (type.ends_with("REGISTER_RESPONSE") && type == reply_type_of(call.type))
    return take_registration(message, type, call);
  bool is_good = body.is_object() && body.contains("result") && type != "LEAGUE_ERROR";
  if (!is_good) return;
  if (call.type == "MATCH_RESULT_REPORT") return take_report(call);
  if (call.type == "LEAGUE_QUERY" && text_at(call.message, "query_type") == "DISPUTE_MATCH" &&
      field_at(message, "success") == json(true)) {
    const json& params = field_at(call.message, "query_params");
    facts_->disputes.push_back({text_at(params, "match_id"), id_of(text_at(call.message, "sender")),
                                text_at(params, "reason"), time_us_, call.place});
  }
}

void EvidenceCollector::take_registration(const json& message, const std::string& type,
                                          const OpenCall& call) {
  if (text_at(message, "status") != "ACCEPTED") return;
  bool is_referee = type.starts_with("REFEREE");
  const std::string& id = text_at(message, is_referee ? "referee_id" : "player_id");
  if (!is_agent_id(id)) return;
  const json& meta = field_at(call.message, is_referee ? "referee_meta" : "player_meta");
  facts_->registrations.push_back({(is_referee ? "referee:" : "player:") + id,
                                   text_at(meta, "log_public_key"),
                                   field_at(meta, "match_credentials") == json(true)});
}

void EvidenceCollector::take_report(const OpenCall& call) {
  json message = call.message;
  envelope::Leniencies taken;
  envelope::read_report(message, taken);
  facts_->reports.push_back({match_in(call.match_id, message), text_at(message, "sender"),
                             call.conversation, field_at(message, "result"),
                             field_at(message, "round_id"), text_at(message, "game_type"), time_us_,
                             call.place});
}

}  // namespace league::tools::auditor
