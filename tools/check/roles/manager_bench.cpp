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

BotReply ManagerBench::keep(const std::string& name, const std::string& method,
                            const json& message) {
  BotReply reply = rpc_.call(method, message);
  if (!name.empty()) kept_[name] = reply;
  return reply;
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

void ManagerBench::probe_frames() {
  kept_["unknown_method"] = rpc_.call("league_check_no_such_method", json::object());
  kept_["invalid_request"] = rpc_.send(R"({"jsonrpc":"2.0","id":7711})", rpc::Id(7711));
  if (rpc_.is_http()) kept_["parse_error"] = rpc_.send("{\"jsonrpc\": ", rpc::Id(1));
  kept_["ping"] = rpc_.call("ping", json::object());
  kept_["start_without_key"] = rpc_.call("start_league", json::object());
}

void ManagerBench::probe_registrations() {
  BroughtAgent stranger;
  stranger.name = "check_stranger";
  const auto probe = [&](const std::string& name, const std::function<void(json&)>& change) {
    json message = registration(stranger);
    message["registration_nonce"] = "league_check_" + name;
    change(message);
    keep(name, "register_player", message);
  };
  probe("without_meta", [](json& m) { m.erase("player_meta"); });
  probe("bad_timestamp", [](json& m) { m["timestamp"] = "2025-01-15 10:30:00"; });
  probe("other_protocol", [](json& m) { m["protocol"] = "league.v3"; });
  probe("other_version", [](json& m) { m["player_meta"]["protocol_version"] = "3.0.0"; });
  probe("unknown_game", [](json& m) { m["player_meta"]["game_types"] = {"chess"}; });
  probe("no_games", [](json& m) { m["player_meta"]["game_types"] = json::array(); });
  probe("bad_endpoint", [](json& m) { m["player_meta"]["contact_endpoint"] = "not a url"; });
  probe("long_name", [](json& m) { m["player_meta"]["display_name"] = std::string(51, 'n'); });
  probe("null_name", [](json& m) { m["player_meta"]["display_name"] = nullptr; });
}

void ManagerBench::probe_queries() {
  const BroughtAgent& player = players_.front();
  const std::string sender = "player:" + player.id;
  const auto query = [&](const std::string& name, const std::string& type,
                         const std::function<void(json&)>& change = nullptr) {
    json message = envelope("LEAGUE_QUERY", sender, player.token.reveal());
    message["query_type"] = type;
    if (change) change(message);
    keep(name, "league_query", message);
  };
  query("standings", "GET_STANDINGS");
  query("extra_field", "GET_STANDINGS", [](json& m) { m["league_check_extra"] = {{"a", 1}}; });
  query("unknown_query", "GET_EVERYTHING");
  query("without_token", "GET_STANDINGS", [](json& m) { m.erase("auth_token"); });
  query("wrong_token", "GET_STANDINGS",
        [](json& m) { m["auth_token"] = "tok_leaguecheck_must_not_be_repeated"; });
  query("foreign_sender", "GET_STANDINGS", [](json& m) { m["sender"] = "player:P98"; });
  query("without_query_type", "GET_STANDINGS", [](json& m) { m.erase("query_type"); });
  json again = registration(players_.front());
  again["auth_token"] = player.token.reveal();
  keep("again_with_token", "register_player", again);
  // The manager may have given a new token.
  const auto fresh = kept("again_with_token").text("auth_token");
  if (!fresh.empty()) players_.front().token = core::AuthToken(fresh);
}

json ManagerBench::report_message(const json& row, const BroughtAgent& referee) const {
  const auto text = [&row](const char* field) { return text_at(row, field); };
  const auto seed = game::parse_seed(text("draw_seed"));
  GameTruth truth{.match_id = text("match_id"),
                  .players = {text("player_A_id"), text("player_B_id")},
                  .choices = {game_word(0), game_word(1)},
                  .commitments = {},
                  .nonces = {},
                  .seed = seed ? *seed : game::Seed{},
                  .is_first_a = true};
  const json fields = game_over_fields(truth);
  const json& result = fields["game_result"];
  json message = envelope("MATCH_RESULT_REPORT", "referee:" + referee.id, referee.token.reveal());
  message["conversation_id"] = row.value("conversation_id", json("convmatch001"));
  message.update({{"round_id", row.value("round_id", json(1))},
                  {"match_id", truth.match_id},
                  {"game_type", tested_game()->game_type()},
                  {"result",
                   {{"winner", result["winner_player_id"]},
                    {"score", score_of(truth)},
                    {"details",
                     {{"drawn_number", result["drawn_number"]},
                      {"number_parity", result["number_parity"]},
                      {"choices", result["choices"]},
                      {"attempt", row.value("attempt", json(1))},
                      {"failures", json::array()},
                      {"termination", "NORMAL"},
                      {"draw_version", 1},
                      {"draw_proof", text("draw_seed")}}}}}});
  return message;
}

void ManagerBench::probe_reports(const json& row, const json& message) {
  const auto lie = [&](const std::string& name, const std::function<void(json&)>& change) {
    json changed = message;
    change(changed);
    keep(name, "report_match_result", changed);
  };
  const std::string a = text_at(row, "player_A_id");
  const std::string b = text_at(row, "player_B_id");
  lie("report_number", [](json& m) {
    json& number = m["result"]["details"]["drawn_number"];
    number = false_number(number);
  });
  lie("report_winner", [&](json& m) {
    m["result"]["winner"] = m["result"]["winner"] == json(a) ? b : a;
    m["result"]["score"] = {{a, m["result"]["winner"] == json(a) ? 3 : 0},
                            {b, m["result"]["winner"] == json(b) ? 3 : 0}};
  });
  lie("report_score", [&](json& m) { m["result"]["score"] = {{a, 300}, {b, 0}}; });
  lie("report_seed", [](json& m) { m["result"]["details"]["draw_proof"] = std::string(64, '7'); });
  lie("report_choice", [&](json& m) { m["result"]["details"]["choices"][a] = "Even"; });
  lie("report_round", [](json& m) { m["round_id"] = 7; });
  lie("report_match", [](json& m) { m["match_id"] = "R7M7"; });
  lie("report_game", [](json& m) { m["game_type"] = "chess"; });
  lie("report_player_token", [&](json& m) { m["auth_token"] = players_.front().token.reveal(); });
  lie("report_player_sender", [&](json& m) {
    m["auth_token"] = players_.front().token.reveal();
    m["sender"] = "player:" + players_.front().id;
  });
  lie("report_without_token", [](json& m) { m.erase("auth_token"); });
  lie("report_stranger", [](json& m) {
    m["result"]["winner"] = "P999";
    m["result"]["score"] = {{"P999", 3}};
  });
  keep("report", "report_match_result", message);
  keep("report_again", "report_match_result", message);
  lie("report_conflict",
      [&](json& m) { m["result"]["winner"] = m["result"]["winner"] == json(a) ? b : a; });
}

void ManagerBench::collect_assignments() {
  seen_.resize(referees_.size());
  for (std::size_t at = 0; at < referees_.size(); ++at) {
    const auto calls = referees_[at].server->calls(seen_[at]);
    seen_[at] += calls.size();
    for (const InboundCall& call : calls) {
      if (call.type() != "ROUND_ANNOUNCEMENT") continue;
      for (json row : call.message.value("matches", json::array())) {
        if (!row.is_object()) continue;
        row["round_id"] = call.message.value("round_id", json(1));
        row["check_referee"] = at;
        const json id = row.value("match_id", json());
        const bool is_known = std::ranges::any_of(assignments_, [&id](const json& known) {
          return known.value("match_id", json()) == id;
        });
        if (!is_known) assignments_.push_back(std::move(row));
      }
    }
  }
  most_at_once_ = std::max(most_at_once_, assignments_.size() - reported_);
}

void ManagerBench::report(const json& row) {
  const json message =
      report_message(row, referees_.at(row.value("check_referee", std::size_t{0})));
  if (reported_ == 0) {
    probe_reports(row, message);
  } else {
    keep("later_report", "report_match_result", message);
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

/// Registrations that resemble that of the first player.
void ManagerBench::probe_copies() {
  json same_name = registration(players_.front());
  same_name["registration_nonce"] = "league_check_same_name";
  same_name["player_meta"]["contact_endpoint"] = "http://127.0.0.1:9/mcp";
  keep("same_name", "register_player", same_name);
  json same_place = registration(players_.front());
  same_place["registration_nonce"] = "league_check_same_place";
  same_place["player_meta"]["display_name"] = "check_double";
  keep("same_place", "register_player", same_place);
  keep("same_nonce", "register_player", registration(players_.front()));
  if (const auto fresh = kept("same_nonce").text("auth_token"); !fresh.empty())
    players_.front().token = core::AuthToken(fresh);
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
  probe_registrations();
  probe_copies();
  wait_for_start();
  BroughtAgent late;
  late.name = "check_late";
  keep("late", "register_player", registration(late));
  play_matches();
  json query =
      envelope("LEAGUE_QUERY", "player:" + players_.front().id, players_.front().token.reveal());
  query["query_type"] = "GET_STANDINGS";
  keep("final_standings", "league_query", query);
  query["query_type"] = "GET_SCHEDULE";
  keep("schedule", "league_query", query);
  return {};
}

}  // namespace league::tools::check
