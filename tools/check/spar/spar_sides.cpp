#include "tools/check/spar/spar_sides.h"

#include <filesystem>
#include <thread>

#include "player/core/misbehaviour.h"
#include "player/core/strategy.h"

namespace league::tools::check {
namespace {

constexpr const char* kLeague = "league_spar";

/// Whether the word is a strategy or a misbehaviour of our player.
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

bool is_somebody_there(const transport::link::Endpoint& endpoint) {
  if (endpoint.scheme != "http") return true;
  return !raw_http(endpoint, {.pieces = {}, .limit = milliseconds(50)}).front().is_refused;
}

/// Starts the bot with `command` and waits for its registration.
core::Result<BotIdentity> start_registering(OpenedSide& opened, const std::string& command,
                                            const std::string& id, CheckerBus* bus) {
  constexpr milliseconds kPatience{60'000};
  auto runtime = transport::front::HttpRuntime::start();
  if (!runtime) return runtime.error();
  opened.runtime = std::move(*runtime);
  auto manager = MockManager::open(
      *opened.runtime, {.league_id = std::string(kLeague) + "_" + id, .player_id = id, .bus = bus});
  if (!manager) return manager.error();
  opened.manager = std::move(*manager);
  auto program = StartedBot::start(command, opened.manager->url());
  if (!program) return program.error();
  opened.program.emplace(std::move(*program));
  const auto is_registration = [](const InboundCall& call) {
    return call.type() == "LEAGUE_REGISTER_REQUEST";
  };
  const auto until = std::chrono::steady_clock::now() + kPatience;
  std::optional<InboundCall> call;
  while (!call && !opened.program->has_ended() && std::chrono::steady_clock::now() < until)
    call = opened.manager->server().wait_for(is_registration, 0, milliseconds(200));
  if (!call)
    return core::Error{core::ErrorCode::kTimeout,
                       std::string("the bot has ") +
                           (opened.program->has_ended() ? "ended without registering"
                                                        : "not registered within 60 s") +
                           "; the end of its output: " + opened.program->last_words(),
                       {}};
  const auto meta = call->message.value("player_meta", nlohmann::json());
  auto endpoint = transport::link::parse_endpoint(text_at(meta, "contact_endpoint"));
  if (!endpoint) return endpoint.error();
  return BotIdentity{.id = id,
                     .token = opened.manager->token(),
                     .league_id = opened.manager->options().league_id,
                     .endpoint = *endpoint};
}

}  // namespace

core::Result<OpenedSide> open_side(Wire& wire, const std::string& word, const std::string& id,
                                   milliseconds limit) {
  OpenedSide opened;
  opened.side.name = word;
  if (word.find("{manager}") != std::string::npos) {
    auto bot = start_registering(opened, word, id, wire.bus());
    if (!bot) return bot.error();
    opened.side.bench = std::make_unique<PlayerBench>(
        wire, PlayerBench::Options{
                  .bot = std::move(*bot), .is_fast = false, .limit = limit, .is_patient = true});
    opened.side.bench->server = &opened.manager->server();
    opened.side.bench->settle();
    return opened;
  }
  std::string url = word;
  if (is_strategy(word)) {
    auto program = start_player(word);
    if (!program) return program.error();
    url = "http://127.0.0.1:" + std::to_string(program->port()) + "/mcp";
    opened.program.emplace(std::move(*program));
  }
  auto endpoint = transport::link::parse_endpoint(url);
  if (!endpoint) return endpoint.error();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!is_somebody_there(*endpoint)) {
    if (std::chrono::steady_clock::now() > until || !opened.program)
      return core::Error{
          core::ErrorCode::kConnectionError, "the bot cannot be reached at " + url, {}};
    std::this_thread::sleep_for(milliseconds(20));
  }
  opened.side.bench = std::make_unique<PlayerBench>(
      wire, PlayerBench::Options{
                .bot = {.id = id, .token = {}, .league_id = kLeague, .endpoint = *endpoint},
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
