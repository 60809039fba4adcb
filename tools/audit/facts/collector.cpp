#include "tools/audit/facts/collector.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "common/envelope/report_forms.h"
#include "tools/audit/facts/facts.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/facts/record.h"

namespace league::tools::auditor {

// What the messages say that become facts.

void describe(schema::Fields& a, Described& match) {
  a.defaulted("match_id", match.match_id, "game_type", match.game_type, "player_A_id",
              match.player_a, "player_B_id", match.player_b, "draw_commitment", match.commitment);
}

void describe(schema::Fields& a, Assignment& match) {
  a.defaulted("match_id", match.match_id, "referee_id", match.referee, "conversation_id",
              match.conversation, "attempt", match.attempt);
}

void describe(schema::Fields& a, Registration& meta) {
  a.defaulted("log_public_key", meta.log_key, "match_credentials", meta.match_credentials,
              "receipts", meta.receipts);
}

void describe(schema::Fields& a, FinalTable& table) {
  a.defaulted("final_standings", table.standings, "voided_matches", table.voided, "meetings",
              table.meetings);
}

void describe(schema::Fields& a, ToldEnd::Attestation& attestation) {
  a.defaulted("statement", attestation.statement, "signature", attestation.signature);
}

void describe(schema::Fields& a, ToldEnd& end) {
  a.defaulted("final_standings", end.standings, "attestation", end.attestation);
}

void describe(schema::Fields& a, ReceivedGameOver& over) {
  a.defaulted("match_id", over.match_id, "sender", over.sender, "draw_proof", over.seed);
}

void describe(schema::Fields& a, AcceptedReport& report) {
  a.defaulted("sender", report.sender, "result", report.result, "round_id", report.round,
              "game_type", report.game_type);
}

void describe(schema::Fields& a, Dispute& dispute) {
  a.defaulted("match_id", dispute.match_id, "reason", dispute.reason);
}

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> kBroadcasts = {
    "ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED"};

bool is_game_call(const std::string& type) {
  return type == "GAME_INVITATION" || type == "CHOOSE_PARITY_CALL";
}

/// Whether a receiver's log must have a message of `type` that was acknowledged. The rules of
/// choices ask for the calls of a match.
bool is_delivered(const std::string& type) {
  return type == "GAME_OVER" || type == "MATCH_RESULT_REPORT" ||
         std::ranges::find(kBroadcasts, type) != kBroadcasts.end();
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

}  // namespace

void EvidenceCollector::begin_record(const audit::log::RecordLine& line, const LogPosition& place,
                                     std::int64_t time_us) {
  place_ = place;
  agent_ = line.agent;
  time_us_ = time_us;
  if (run_ != line.run) numbers_.clear();
  run_ = line.run;
  version_ = line.version;
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

/// A reply or failure has its request in the log, by the number of the call, and no call has two
/// different replies. In logs without these numbers nothing can be said.
void EvidenceCollector::note_stray(const Record& record) {
  if (!record.call) return;
  const auto number = static_cast<std::uint64_t>(*record.call);
  if (record.is_request()) {
    numbers_.try_emplace(number, 0);
    return;
  }
  auto known = numbers_.find(number);
  if (known == numbers_.end()) {
    contents_.strays.push_back({false, time_us_, place_});
    return;
  }
  const std::uint64_t body = record.body.value_or(0);
  if (!record.is_reply() || body == 0) return;
  if (known->second != 0 && known->second != body)
    contents_.strays.push_back({true, time_us_, place_});
  known->second = body;
}

void EvidenceCollector::take(const Record& record, const json& body, const json& message) {
  if (record.is_request()) {
    take_question(record, body, message);
    take_event(record, body, message, nullptr);
    return take_request(record, message);
  }
  auto call = open_.close(record, run_, type_in(record, message));
  take_event(record, body, message, call ? &*call : nullptr);
  if (call && record.is_reply()) take_answer(record, body, message, *call);
}

void EvidenceCollector::take_question(const Record& record, const json& body, const json& message) {
  if (agent_ != "league_manager" || !record.is_out) return;
  const std::string& method = text_at(body, "method");
  const bool is_asked =
      method == "get_match_record" ||
      (method == "tools/call" && text_at(field_at(body, "params"), "name") == "get_match_record");
  const std::string& peer = record.peer;
  if (is_asked && peer.starts_with("player:"))
    facts_->questions.push_back({match_in(record.match_id, message), id_of(peer), time_us_});
}

/// Takes what a message of the manager says about the end of its journal and of the league.
void EvidenceCollector::take_heads(const json& message, const std::string& type) {
  if (type != "ROUND_COMPLETED" && type != "LEAGUE_COMPLETED") return;
  if (const auto head = head_at(message, "journal_head"))
    facts_->journal_heads.push_back({*head, time_us_, place_});
  // In some dialects the message is inside of another object, and is not read here.
  if (type != "LEAGUE_COMPLETED") return;
  auto end = schema::read_loosely<ToldEnd>(message);
  end.place = place_;
  if (end.standings.is_array()) facts_->told_ends.push_back(std::move(end));
}

bool EvidenceCollector::asks_for(const Record& record, const std::string& type) const {
  const OpenCall* call = open_.find(record, run_, type);
  return call != nullptr && reply_type_of(call->type) == type;
}

void EvidenceCollector::take_request(const Record& record, const json& message) {
  OpenCall call;
  call.type = type_in(record, message);
  call.conversation = record.conversation_id;
  call.match_id = record.match_id;
  call.place = place_;
  call.peer = record.peer;
  call.body = record.body.value_or(0);
  call.time_us = time_us_;
  call.is_out = record.is_out;
  const std::string& noted = record.message_type;
  call.is_accepted =
      record.is_checked_delivery() && message.is_object() && is_own_word(record, message) &&
      (noted.empty() || noted == call.type || record.is_out);  // a tool's name, in our own call
  if (call.is_accepted) {
    if (agent_ == "league_manager") {
      if (record.is_out) take_at_manager(message, call.type);
      if (call.type == "MATCH_RESULT_REPORT" || call.type == "LEAGUE_QUERY" ||
          call.type.ends_with("REGISTER_REQUEST"))
        call.message = message;
    } else if (!record.is_out && text_at(message, "sender") == "league_manager") {
      take_from_manager(message, call.type);
    }
    if (agent_.starts_with("referee:") && record.is_out && call.type == "MATCH_RESULT_REPORT")
      call.message = message;
    if (is_game_call(call.type)) call.game_call = open_game_call(record, message);
    if (agent_.starts_with("referee:") && !record.is_out)
      take_posted_answer(record, message, call.type);
  }
  // Also one that the player has refused, if its referee has said it: a player refuses a GAME_OVER
  // that is false.
  const bool is_proven = version_ >= 3 && !record.said_by.empty() && message.is_object() &&
                         is_own_word(record, message);
  if ((call.is_accepted || is_proven) && agent_.starts_with("player:") && !record.is_out &&
      call.type == "GAME_OVER") {
    auto over = schema::read_loosely<ReceivedGameOver>(message);
    over.conversation = call.conversation;
    over.message = message;
    over.time_us = time_us_;
    over.place = place_;
    if (over.sender.starts_with("referee:")) facts_->ends.push_back(std::move(over));
  }
  open_.open(record, run_, std::move(call));
}

void EvidenceCollector::take_at_manager(const json& message, const std::string& type) {
  take_heads(message, type);
  if (type == "ROUND_ANNOUNCEMENT") {
    describe(list_at(message, "matches"), field_at(message, "round_id"));
    assign(list_at(message, "matches"));
  } else if (type == "START_MATCH" || type == "MATCH_ASSIGNMENT") {
    // One match for a third-party referee, for which there is no other announcement.
    const json matches = json::array({message});
    describe(matches, field_at(message, "round_id"));
    assign(matches);
  } else if (type == "LEAGUE_COMPLETED" && final_run_ != run_) {
    auto table = schema::read_loosely<FinalTable>(message);
    if (!table.standings.is_array()) return;
    final_run_ = run_;
    table.time_us = time_us_;
    table.place = place_;
    facts_->finals.push_back(std::move(table));
  }
}

void EvidenceCollector::take_from_manager(const json& message, const std::string& type) {
  if (std::ranges::find(kBroadcasts, type) == kBroadcasts.end()) return;
  if (auto head = head_told_in(message)) facts_->received_heads.push_back({*head, place_});
  take_heads(message, type);
  if (type == "ROUND_ANNOUNCEMENT")
    describe(list_at(message, "matches"), field_at(message, "round_id"));
}

void EvidenceCollector::describe(const json& matches, const json& round) {
  for (const json& match : matches) {
    auto one = schema::read_loosely<Described>(match);
    if (one.match_id.empty()) continue;
    one.sender = "league_manager";
    one.round = round.is_number_integer() ? round.get<std::int64_t>() : 0;
    one.time_us = time_us_;
    one.place = place_;
    facts_->matches.push_back(std::move(one));
  }
}

void EvidenceCollector::assign(const json& matches) {
  for (const json& match : matches) {
    auto one = schema::read_loosely<Assignment>(match);
    one.time_us = time_us_;
    if (!one.conversation.empty() && !one.referee.empty())
      facts_->assignments.push_back(std::move(one));
  }
}

void EvidenceCollector::take_answer(const Record& record, const json& body, const json& message,
                                    const OpenCall& call) {
  std::string type = type_in(record, message);
  if (agent_ == "league_manager") {
    if (record.is_out) take_answer_of_manager(body, message, type, call);
  }
  if (call.is_out && is_delivered(call.type) && call.body != 0 && !record.has_verdict &&
      record.http_status <= 200)
    facts_->delivered.push_back({call.body, call.peer, call.type, call.time_us, call.place});
  const auto own_head = head_at(message, "log_head");
  const bool is_completed = call.type == "ROUND_COMPLETED" || call.type == "LEAGUE_COMPLETED";
  if (agent_ == "league_manager" && call.is_out && is_completed && own_head)
    facts_->agent_heads.push_back({call.peer, *own_head, place_});
  if (agent_ == "league_manager") return;
  bool is_taken =
      body.is_object() && body.contains("result") && !record.has_verdict && type != "LEAGUE_ERROR";
  if (call.message.is_object() && is_taken) facts_->sent_reports.push_back(report_in(call));
  if (call.game_call >= facts_->calls.size() || !call.is_accepted) return;
  if (type == reply_type_of(call.type) && field_at(body, "error").is_null())
    answer(facts_->calls[call.game_call], record, message);
}

void EvidenceCollector::take_answer_of_manager(const json& body, const json& message,
                                               const std::string& type, const OpenCall& call) {
  assign(list_at(message, "matches"));
  if (!call.is_accepted) return;
  if (type.ends_with("REGISTER_RESPONSE") && type == reply_type_of(call.type))
    return take_registration(message, type, call);
  bool is_good = body.is_object() && body.contains("result") && type != "LEAGUE_ERROR";
  if (!is_good) return;
  if (call.type == "MATCH_RESULT_REPORT") return facts_->reports.push_back(report_in(call));
  if (call.type == "LEAGUE_QUERY" && text_at(call.message, "query_type") == "DISPUTE_MATCH" &&
      field_at(message, "success") == json(true)) {
    auto dispute = schema::read_loosely<Dispute>(field_at(call.message, "query_params"));
    dispute.player = id_of(text_at(call.message, "sender"));
    dispute.time_us = time_us_;
    dispute.place = call.place;
    facts_->disputes.push_back(std::move(dispute));
  }
}

void EvidenceCollector::take_registration(const json& message, const std::string& type,
                                          const OpenCall& call) {
  if (text_at(message, "status") != "ACCEPTED") return;
  bool is_referee = type.starts_with("REFEREE");
  const std::string& id = text_at(message, is_referee ? "referee_id" : "player_id");
  if (!is_agent_id(id)) return;
  auto registration = schema::read_loosely<Registration>(
      field_at(call.message, is_referee ? "referee_meta" : "player_meta"));
  registration.agent = (is_referee ? "referee:" : "player:") + id;
  facts_->registrations.push_back(std::move(registration));
  auto& games = facts_->games;
  if (games.size() == 2) return;
  auto game = game::Definition::read(field_at(message, "game"));
  if (game && (games.empty() || games.front().first != *game))
    games.emplace_back(std::move(*game), place_);
}

AcceptedReport EvidenceCollector::report_in(const OpenCall& call) const {
  json message = call.message;
  envelope::Leniencies taken;
  envelope::read_report(message, taken);
  auto report = schema::read_loosely<AcceptedReport>(message);
  report.match_id = match_in(call.match_id, message);
  report.conversation = call.conversation;
  report.time_us = time_us_;
  report.place = call.place;
  return report;
}

}  // namespace league::tools::auditor
