#include "tools/audit/rules/league_testing.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "common/audit/record/log_chain.h"
#include "common/core/crypto.h"
#include "common/core/random_source.h"
#include "common/core/signing_key.h"
#include "game/games.h"
#include "tests/support/temporary_directory.h"
#include "tools/audit/facts/collector.h"
#include "tools/audit/facts/reading.h"

namespace league::tools::auditor {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

}  // namespace

TestLeague::TestLeague(std::vector<std::string> commits, bool is_old)
    : commits_(std::move(commits)), is_old_(is_old) {
  set_seed(seed);
  headers["league_id"] = "l";
  if (!is_old_) headers["league_key"] = std::string(64, 'c');
  register_all();
  announce();
  invite_and_choose();
  report();
}

void TestLeague::dispute() {
  json query = message("LEAGUE_QUERY", "player:P01");
  json reply = message("LEAGUE_QUERY_RESPONSE", "league_manager");
  query["query_type"] = reply["query_type"] = "DISPUTE_MATCH";
  query["query_params"] = {{"match_id", "R1M1"}, {"reason", "not my choice"}};
  reply["success"] = true;
  reply["data"] = {{"match_id", "R1M1"}, {"disputed", true}};
  call("player:P01", "league_manager", query, reply);
}

void TestLeague::set_seed(const std::string& hexadecimal) {
  seed = hexadecimal;
  promised = game::draw_commitment(*game::parse_seed(seed), "R1M1");
}

void TestLeague::give_up(std::size_t kept_results) {
  wait(1000);
  given_up_.push_back({{"at", test_time(now_us_).to_log()},
                       {"text", "journal.mark names entry 22"},
                       {"results", kept_results}});
  wait(20);
}

std::string TestLeague::commitment(const std::string& player) const {
  return game::choice_commitment({.draw_commitment = promised,
                                  .match_id = "R1M1",
                                  .player_id = player,
                                  .choice = choices.at(player),
                                  .nonce = nonces.at(player)});
}

json TestLeague::message(const std::string& type, const std::string& sender) const {
  json made = {{"protocol", "league.v2"},
               {"message_type", type},
               {"sender", sender},
               {"timestamp", test_time(now_us_).to_wire()},
               {"conversation_id", conversation},
               {"auth_token", "tok_x..."},
               {"league_id", "l"}};
  bool is_of_match =
      type.starts_with("GAME_") || type.starts_with("CHOOSE_") || type == "MATCH_RESULT_REPORT";
  if (is_of_match) made["match_id"] = "R1M1";
  if (is_of_match || type == "ROUND_ANNOUNCEMENT") made["round_id"] = 1;
  return made;
}

TestRecord& TestLeague::note(const std::string& agent, const char* dir, const char* kind,
                             const std::string& peer, const json& request, const json& message,
                             int number) {
  now_us_ += 1000;
  auto clock = clocks_us.find(agent);
  const auto own_us = now_us_ + (clock == clocks_us.end() ? 0 : clock->second);
  ordered_json fields = {{"time", test_time(own_us).to_log()},
                         {"mono_ns", now_us_ * 1000 - 1'768'000'000'000'000'000},
                         {"dir", dir},
                         {"kind", kind}};
  if (!is_old_) fields["call"] = number;
  fields["peer"] = peer;
  fields["transport"] = "memory";
  fields["conversation_id"] = text_at(request, "conversation_id");
  if (const auto& type = text_at(message, "message_type"); !type.empty())
    fields["message_type"] = type;
  if (const auto& match = text_at(request, "match_id"); !match.empty()) fields["match_id"] = match;
  return logs_[agent].emplace_back(
      TestRecord{std::move(fields), message, std::string(kind) != "request"});
}

void TestLeague::call(const std::string& from, const std::string& to, const json& request,
                      const json& reply) {
  int own = ++numbers_[from];
  int theirs = ++numbers_[to];
  note(from, "out", "request", to, request, request, own);
  note(to, "in", "request", from, request, request, theirs);
  if (reply.is_null()) {
    wait(5000);
    note(from, "in", "failure", to, request, reply, own).fields["verdict"] = "E001";
    return;
  }
  note(to, "out", "reply", from, request, reply, theirs);
  note(from, "in", "reply", to, request, reply, own);
}

void TestLeague::register_all() {
  for (const std::string agent : {"referee:REF01", "player:P01", "player:P02"}) {
    bool is_referee = agent.starts_with("referee");
    json meta = {{"display_name", id_of(agent)},
                 {"version", "1.0.0"},
                 {"game_types", {"even_odd"}},
                 {"contact_endpoint", "http://localhost:8101/mcp"},
                 {"log_public_key", test_key_of(agent).public_key()}};
    if (is_referee) {
      meta["max_concurrent_matches"] = 1;
      if (!is_old_) meta["match_credentials"] = true;
    }
    json request =
        message(is_referee ? "REFEREE_REGISTER_REQUEST" : "LEAGUE_REGISTER_REQUEST", agent);
    request.erase("auth_token");
    request["conversation_id"] = "conv" + id_of(agent) + "reg1";
    request[is_referee ? "referee_meta" : "player_meta"] = meta;
    json reply = message(is_referee ? "REFEREE_REGISTER_RESPONSE" : "LEAGUE_REGISTER_RESPONSE",
                         "league_manager");
    reply["conversation_id"] = request["conversation_id"];
    reply["status"] = "ACCEPTED";
    reply["reason"] = nullptr;
    reply[is_referee ? "referee_id" : "player_id"] = id_of(agent);
    call(agent, "league_manager", request, reply);
  }
}

void TestLeague::announce() {
  json match = {{"match_id", "R1M1"},         {"game_type", "even_odd"},
                {"player_A_id", "P01"},       {"player_B_id", "P02"},
                {"referee_id", "REF01"},      {"referee_endpoint", "http://localhost:8001/mcp"},
                {"draw_commitment", promised}};
  for (const std::string agent : {"player:P01", "player:P02", "referee:REF01"}) {
    json request = message("ROUND_ANNOUNCEMENT", "league_manager");
    request["conversation_id"] = "convround1announcement";
    if (agent == "referee:REF01") {
      match["attempt"] = attempt;
      match["conversation_id"] = conversation;
    }
    request["matches"] = json::array({match});
    call("league_manager", agent, request, {{"status", "ok"}});
  }
}

json TestLeague::result() const {
  const game::Definition& rules = *game::even_odd();
  game::Bindings bindings;
  game::Choices chosen;
  json listed = json::object(), opened = json::object();
  for (game::Side side : game::kBothSides) {
    std::string player = side == game::Side::kA ? "P01" : "P02";
    chosen[side] = choices.at(player);
    if (std::ranges::find(commits_, player) == commits_.end()) continue;
    listed[player] = commitment(player);
    opened[player] = nonces.at(player);
    bindings.commitments[side] = commitment(player);
    bindings.nonces[side] = nonces.at(player);
  }
  auto parsed = *game::parse_seed(seed);
  auto played =
      game::play(rules,
                 {.seed = parsed, .match_id = "R1M1", .choices = chosen, .bindings = bindings})
          .result;
  auto points = game::points_of(rules, played);
  auto winner = game::winner_of(played.outcome);
  json details = {{"draw_proof", seed},
                  {"draw_version", listed.empty() ? 1 : 2},
                  {"drawn_number", *played.drawn_number},
                  {"number_parity", *rules.kind_of(*played.drawn_number)},
                  {"choices", choices},
                  {"attempt", attempt},
                  {"replays", 0},
                  {"termination", "NORMAL"},
                  {"failures", json::array()}};
  if (!listed.empty()) {
    details["choice_commitments"] = listed;
    details["choice_nonces"] = opened;
  }
  json id = !winner ? json() : json(*winner == game::Side::kA ? "P01" : "P02");
  return {{"winner", id},
          {"score", {{"P01", points[game::Side::kA]}, {"P02", points[game::Side::kB]}}},
          {"details", details}};
}

void TestLeague::invite_and_choose() {
  auto commits = [&](const std::string& player) {
    return std::ranges::find(commits_, player) != commits_.end();
  };
  for (const std::string player : {"P01", "P02"}) {
    json invitation = message("GAME_INVITATION", "referee:REF01");
    invitation["game_type"] = "even_odd";
    invitation["role_in_match"] = player == "P01" ? "PLAYER_A" : "PLAYER_B";
    invitation["opponent_id"] = player == "P01" ? "P02" : "P01";
    invitation["draw_commitment"] = promised;
    json ack = message("GAME_JOIN_ACK", "player:" + player);
    ack["player_id"] = player;
    ack["arrival_timestamp"] = ack["timestamp"];
    ack["accept"] = true;
    if (commits(player)) ack["choice_commitment"] = commitment(player);
    call("referee:REF01", "player:" + player, invitation, ack);
  }
  for (const std::string player : {"P01", "P02"}) {
    const std::string opponent = player == "P01" ? "P02" : "P01";
    json asked = message("CHOOSE_PARITY_CALL", "referee:REF01");
    asked["player_id"] = player;
    asked["game_type"] = "even_odd";
    asked["deadline"] = test_time(now_us_ + 30'000'000).to_wire();
    asked["context"] = {{"opponent_id", opponent}, {"draw_commitment", promised}};
    if (commits(opponent)) asked["context"]["opponent_commitment"] = commitment(opponent);
    json answer = message("CHOOSE_PARITY_RESPONSE", "player:" + player);
    answer["player_id"] = player;
    answer["parity_choice"] = choices[player];
    if (commits(player)) answer["choice_nonce"] = nonces[player];
    call("referee:REF01", "player:" + player, asked, answer);
  }
}

void TestLeague::report() {
  json report = message("MATCH_RESULT_REPORT", "referee:REF01");
  report["game_type"] = "even_odd";
  report["result"] = result();
  call("referee:REF01", "league_manager", report, {{"status", "ok"}});
}

void TestLeague::end_match() {
  const json reported = result();
  const json& details = reported["details"];
  for (const std::string player : {"player:P01", "player:P02"}) {
    json over = message("GAME_OVER", "referee:REF01");
    over["game_type"] = "even_odd";
    over["game_result"] = {{"status", reported["winner"].is_null() ? "DRAW" : "WIN"},
                           {"winner_player_id", reported["winner"]},
                           {"drawn_number", details["drawn_number"]},
                           {"number_parity", details["number_parity"]},
                           {"choices", choices},
                           {"reason", "the number decides"}};
    over["reason"] = "the number decides";
    call("referee:REF01", player, over, {{"status", "ok"}});
  }
}

void TestLeague::lose(const std::string& termination, const std::string& called,
                      const std::string& code) {
  change("", "MATCH_RESULT_REPORT", [&](json& report) {
    json& details = report["result"]["details"];
    details["termination"] = termination;
    details["drawn_number"] = nullptr;
    details["number_parity"] = nullptr;
    details["failures"] = {
        {{"player_id", "P02"}, {"call", called}, {"error_code", code}, {"attempt", 1}}};
    report["result"]["winner"] = "P01";
    report["result"]["score"] = {{"P01", 3}, {"P02", 0}};
  });
}

void TestLeague::change(const std::string& agent, const std::string& type,
                        const std::function<void(json&)>& change) {
  for (auto& [name, log] : logs_) {
    if (!agent.empty() && name != agent) continue;
    for (TestRecord& record : log) {
      if (text_at(record.message, "message_type") == type) change(record.message);
    }
  }
}

void TestLeague::drop(const std::string& agent, const std::string& type) {
  std::set<json> calls;
  for (const TestRecord& record : logs_[agent]) {
    if (text_at(record.message, "message_type") == type) calls.insert(record.fields["call"]);
  }
  std::erase_if(logs_[agent], [&](const TestRecord& record) {
    return calls.contains(json(record.fields["call"]));
  });
}

}  // namespace league::tools::auditor
