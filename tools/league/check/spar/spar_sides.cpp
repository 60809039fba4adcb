#include "tools/league/check/spar/spar_sides.h"

#include <filesystem>
#include <thread>

#include "player/core/misbehaviour.h"
#include "player/core/strategy.h"

namespace league::tools::check {
namespace {

/// Whether the word names a way in which our player plays, or misbehaves.
bool is_strategy(const std::string& word) {
  for (std::string_view known : player::known_strategies()) {
    if (known == word) return true;
  }
  const auto misbehaviour = player::parse_misbehaviour(word);
  return misbehaviour && misbehaviour->has_value();
}

core::Result<StartedBot> start_player(const std::string& strategy) {
  std::error_code ignored;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const auto logs = std::filesystem::temp_directory_path() / "league_spar_logs";
  return StartedBot::start("'" + (folder / "player").string() + "' --standalone --port {port} " +
                               "--strategy " + strategy + " --logs '" + logs.string() + "'",
                           "");
}

bool is_somebody_there(const transport::Endpoint& endpoint) {
  if (endpoint.scheme != "http") return true;
  return !raw_http(endpoint, {.pieces = {}, .limit = milliseconds(50)}).front().is_refused;
}

}  // namespace

core::Result<OpenedSide> open_side(Wire& wire, const std::string& word, const std::string& id,
                                   milliseconds limit) {
  OpenedSide opened;
  std::string url = word;
  if (is_strategy(word)) {
    auto program = start_player(word);
    if (!program) return program.error();
    url = "http://127.0.0.1:" + std::to_string(program->port()) + "/mcp";
    opened.program.emplace(std::move(*program));
  }
  auto endpoint = transport::parse_endpoint(url);
  if (!endpoint) return endpoint.error();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!is_somebody_there(*endpoint)) {
    if (std::chrono::steady_clock::now() > until || !opened.program)
      return core::Error{
          core::ErrorCode::kConnectionError, "the bot cannot be reached at " + url, {}};
    std::this_thread::sleep_for(milliseconds(20));
  }
  opened.side.name = word;
  opened.side.bench = std::make_unique<PlayerBench>(
      wire, PlayerBench::Options{
                .bot = {.id = id, .token = {}, .league_id = "league_spar", .endpoint = *endpoint},
                .is_fast = false,
                .limit = limit,
                .is_patient = true});
  if (endpoint->scheme == "http") return opened;
  const BotReply ping = opened.side.bench->call("ping", nlohmann::json::object());
  if (ping.exchange.is_refused)
    return core::Error{core::ErrorCode::kConnectionError,
                       "the bot cannot be reached at " + url + ": " + ping.exchange.trouble,
                       {}};
  return opened;
}

}  // namespace league::tools::check
