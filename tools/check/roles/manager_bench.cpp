#include "tools/check/roles/manager_bench.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "common/core/clock.h"
#include "tools/check/game_truth.h"

namespace league::tools::check {

using nlohmann::json;

ManagerBench::ManagerBench(Wire& wire, transport::front::HttpRuntime& runtime, Options options)
    : runtime_(runtime),
      options_(std::move(options)),
      rpc_(wire, {.bot = {.id = "", .token = {}, .league_id = "", .endpoint = options_.manager},
                  .is_fast = options_.is_fast,
                  .limit = milliseconds(options_.is_fast ? 1500 : 5000)}) {}

const BotReply& ManagerBench::kept(const std::string& name) const {
  static const BotReply kNothing;
  const auto it = kept_.find(name);
  return it == kept_.end() ? kNothing : it->second;
}

std::vector<std::string> ManagerBench::secrets() const {
  std::vector<std::string> all;
  for (const auto* agents : {&players_, &referees_}) {
    for (const BroughtAgent& agent : *agents) all.push_back(agent.token.reveal());
  }
  if (!options_.operator_key.empty()) all.push_back(options_.operator_key.reveal());
  return all;
}

namespace {

std::vector<InboundCall> calls_of(const std::vector<BroughtAgent>& agents,
                                  const std::string& type) {
  std::vector<InboundCall> found;
  if (agents.empty() || !agents.front().server) return found;
  for (InboundCall& call : agents.front().server->calls()) {
    if (call.type() == type) found.push_back(std::move(call));
  }
  return found;
}

}  // namespace

std::vector<InboundCall> ManagerBench::to_player(const std::string& type) const {
  return calls_of(players_, type);
}

std::vector<InboundCall> ManagerBench::to_referee(const std::string& type) const {
  return calls_of(referees_, type);
}

json ManagerBench::envelope(const std::string& type, const std::string& sender,
                            const std::string& token) const {
  json message = {{"protocol", "league.v2"},
                  {"message_type", type},
                  {"sender", sender},
                  {"timestamp", core::SystemClock().utc_now().to_wire()},
                  {"conversation_id", "convleaguecheck001"}};
  if (!token.empty()) message["auth_token"] = token;
  if (type.find("REGISTER") == std::string::npos) message["league_id"] = league_id_;
  return message;
}

json ManagerBench::registration(const BroughtAgent& agent) const {
  json message = envelope(agent.is_referee ? "REFEREE_REGISTER_REQUEST" : "LEAGUE_REGISTER_REQUEST",
                          (agent.is_referee ? "referee:" : "player:") + agent.name, "");
  json meta = {{"display_name", agent.name},
               {"version", "1.0.0"},
               {"game_types", {tested_game()->game_type()}},
               {"contact_endpoint", agent.server ? agent.server->url() : "http://127.0.0.1:9/mcp"},
               {"protocol_version", "2.1.0"}};
  if (agent.is_referee) {
    meta["max_concurrent_matches"] = 2;
    meta["match_credentials"] = true;
  }
  message[agent.is_referee ? "referee_meta" : "player_meta"] = std::move(meta);
  message["registration_nonce"] = "league_check_" + agent.name;
  return message;
}

const BotReply& ManagerBench::keep(const std::string& name, const std::string& method,
                                   const json& message) {
  return kept_[name] = rpc_.call(method, message);
}

core::Result<void> ManagerBench::open_servers() {
  const auto add = [this](std::vector<BroughtAgent>& agents, std::size_t count, bool is_referee) {
    for (std::size_t i = 0; i < count; ++i) {
      BroughtAgent agent;
      agent.is_referee = is_referee;
      agent.name = (is_referee ? "check_referee_" : "check_player_") + std::to_string(i + 1);
      auto server = MockServer::open(runtime_, "127.0.0.1", 0, [](const InboundCall&) {
        return MockAnswer{.result = {{"status", "ok"}}};
      });
      if (!server) return core::Result<void>(server.error());
      agent.server = std::move(*server);
      agents.push_back(std::move(agent));
    }
    return core::Result<void>();
  };
  if (auto opened = add(players_, options_.players, false); !opened) return opened;
  return add(referees_, options_.referees, true);
}

void ManagerBench::register_agent(BroughtAgent& agent) {
  agent.registration =
      rpc_.call(agent.is_referee ? "register_referee" : "register_player", registration(agent));
  agent.id = agent.registration.text(agent.is_referee ? "referee_id" : "player_id");
  agent.token = core::AuthToken(agent.registration.text("auth_token"));
  const std::string league = agent.registration.text("league_id");
  if (!league.empty()) league_id_ = league;
}

void ManagerBench::probe(ManagerPhase phase, const std::string& method, const json& correct,
                         const Names& names) {
  for (const ManagerProbe& one : probes_) {
    if (one.phase != phase) continue;
    json message = correct;
    // Every registration is one of its own.
    if (phase == ManagerPhase::kStrangers)
      message["registration_nonce"] = "league_check_" + std::to_string(kept_.size());
    change(message, json::parse(one.changes), names);
    keep(one.name, method, message);
  }
}

void ManagerBench::probe_frames() {
  probe(ManagerPhase::kPing, "ping", json::object(), {});
  probe(ManagerPhase::kStart, "start_league", json::object(), {});
  keep("unknown_method", "league_check_no_such_method", json::object());
  kept_["invalid_request"] = rpc_.send(R"({"jsonrpc":"2.0","id":7711})", rpc::Id(7711));
  if (rpc_.is_http()) kept_["parse_error"] = rpc_.send("{\"jsonrpc\": ", rpc::Id(1));
}

json ManagerBench::query(const char* type) const {
  const BroughtAgent& player = players_.front();
  json message = envelope("LEAGUE_QUERY", "player:" + player.id, player.token.reveal());
  message["query_type"] = type;
  return message;
}

void ManagerBench::register_again(const std::string& name, const json& message) {
  // The manager may give a new token.
  const auto fresh = keep(name, "register_player", message).text("auth_token");
  if (!fresh.empty()) players_.front().token = core::AuthToken(fresh);
}

void ManagerBench::probe_queries() {
  probe(ManagerPhase::kQueries, "league_query", query("GET_STANDINGS"), {});
  json again = registration(players_.front());
  again["auth_token"] = players_.front().token.reveal();
  register_again("again_with_token", again);
}

json ManagerBench::report_message(const AssignedMatch& match) const {
  const BroughtAgent& referee = referees_.at(match.referee);
  const auto seed = game::parse_seed(match.seed);
  const GameTruth truth{.match_id = match.id,
                        .players = {match.player_a, match.player_b},
                        .choices = {game_word(0), game_word(1)},
                        .commitments = {},
                        .nonces = {},
                        .seed = seed ? *seed : game::Seed{},
                        .is_first_a = true};
  const json result = value_at(game_over_fields(truth), "game_result");
  json details = {{"attempt", match.attempt},
                  {"failures", json::array()},
                  {"termination", "NORMAL"},
                  {"draw_version", 1},
                  {"draw_proof", match.seed}};
  for (const char* field : {"drawn_number", "number_parity", "choices"})
    details[field] = value_at(result, field);
  json message = envelope("MATCH_RESULT_REPORT", "referee:" + referee.id, referee.token.reveal());
  change(message,
         {{"round_id", match.round},
          {"game_type", tested_game()->game_type()},
          {"result",
           {{"winner", value_at(result, "winner_player_id")},
            {"score", score_of(truth)},
            {"details", details}}}},
         {});
  // The manager's own texts, which may begin with a dollar sign.
  message["conversation_id"] = match.conversation;
  message["match_id"] = match.id;
  return message;
}

void ManagerBench::probe_reports(const AssignedMatch& match, const json& message) {
  const std::string& a = match.player_a;
  const std::string& b = match.player_b;
  const bool has_a_won = value_at(message, "result/winner") == json(a);
  const BroughtAgent& player = players_.front();
  const Names names{
      {"a", a},
      {"b", b},
      {"another_number", false_number(value_at(message, "result/details/drawn_number"))},
      {"another_winner", has_a_won ? b : a},
      {"another_score", {{a, has_a_won ? 0 : 3}, {b, has_a_won ? 3 : 0}}},
      {"player_token", player.token.reveal()},
      {"player_sender", "player:" + player.id}};
  for (const ManagerPhase phase :
       {ManagerPhase::kLies, ManagerPhase::kReport, ManagerPhase::kConflicts})
    probe(phase, "report_match_result", message, names);
}

void ManagerBench::collect_assignments() {
  seen_.resize(referees_.size());
  for (std::size_t at = 0; at < referees_.size(); ++at) {
    const auto calls = referees_[at].server->calls(seen_[at]);
    seen_[at] += calls.size();
    for (const InboundCall& call : calls) {
      if (call.type() != "ROUND_ANNOUNCEMENT") continue;
      for (const json& row : value_at(call.message, "matches")) {
        if (!row.is_object()) continue;
        AssignedMatch match{.id = text_at(row, "match_id"),
                            .player_a = text_at(row, "player_A_id"),
                            .player_b = text_at(row, "player_B_id"),
                            .seed = text_at(row, "draw_seed"),
                            .round = call.message.value("round_id", json(1)),
                            .attempt = row.value("attempt", json(1)),
                            .conversation = row.value("conversation_id", json("convmatch001")),
                            .referee = at};
        if (std::ranges::find(assignments_, match.id, &AssignedMatch::id) == assignments_.end())
          assignments_.push_back(std::move(match));
      }
    }
  }
  most_at_once_ = std::max(most_at_once_, assignments_.size() - reported_);
}

void ManagerBench::report(const AssignedMatch& match) {
  const json message = report_message(match);
  if (reported_ == 0) {
    probe_reports(match, message);
  } else {
    probe(ManagerPhase::kLater, "report_match_result", message, {});
  }
  ++reported_;
}

bool ManagerBench::has_news(milliseconds limit) const {
  const auto until = std::chrono::steady_clock::now() + limit;
  const auto is_news = [](const InboundCall& call) {
    return call.type() == "ROUND_ANNOUNCEMENT" || call.type() == "LEAGUE_COMPLETED";
  };
  while (std::chrono::steady_clock::now() < until) {
    for (std::size_t at = 0; at < referees_.size(); ++at) {
      const std::size_t from = at < seen_.size() ? seen_[at] : 0;
      if (referees_[at].server->wait_for(is_news, from, milliseconds(10))) return true;
    }
  }
  return false;
}

void ManagerBench::play_matches() {
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::seconds(options_.is_fast ? 3 : 20);
  while (std::chrono::steady_clock::now() < until) {
    collect_assignments();
    while (reported_ < assignments_.size()) report(assignments_[reported_]);
    if (!to_referee("LEAGUE_COMPLETED").empty()) break;
    if (!has_news(milliseconds(options_.is_fast ? 800 : 4000))) break;
  }
  (void)players_.front().server->wait_for(
      [](const InboundCall& call) { return call.type() == "LEAGUE_COMPLETED"; }, 0,
      milliseconds(1500));
}

void ManagerBench::wait_for_start() {
  if (!options_.operator_key.empty())
    keep("start", "start_league", {{"operator_key", options_.operator_key.reveal()}});
  if (!options_.start_command.empty() && std::system(options_.start_command.c_str()) != 0)
    std::cerr << "the command of --start-command has failed\n";
  if (has_news(milliseconds(options_.is_fast ? 1500 : 4000)) || options_.is_fast) return;
  std::cerr << "all agents are registered, and the league has not started; start it now (next time "
               "--start-command COMMAND can do that)"
            << std::endl;
  (void)has_news(options_.patience);
}

core::Result<void> ManagerBench::play() {
  if (has_played_) return {};
  has_played_ = true;
  if (auto opened = open_servers(); !opened) return opened;
  probe_frames();
  for (BroughtAgent& player : players_) {
    if (&player == &players_.back()) break;  // the league may start with the last one
    register_agent(player);
  }
  if (players_.size() == 1) register_agent(players_.front());
  probe_queries();
  for (BroughtAgent& referee : referees_) register_agent(referee);
  if (players_.size() > 1) register_agent(players_.back());
  // After all others: a manager that accepts what it should refuse still plays with the right ones.
  const auto stranger = [this](const char* name) {
    BroughtAgent agent;
    agent.name = name;
    return registration(agent);
  };
  probe(ManagerPhase::kStrangers, "register_player", stranger("check_stranger"), {});
  probe(ManagerPhase::kCopies, "register_player", registration(players_.front()), {});
  register_again("same_nonce", registration(players_.front()));
  wait_for_start();
  probe(ManagerPhase::kLate, "register_player", stranger("check_late"), {});
  play_matches();
  probe(ManagerPhase::kEnd, "league_query", query("GET_SCHEDULE"), {});
  return {};
}

}  // namespace league::tools::check
