#include "tools/league/up/league_plan.h"

#include <algorithm>
#include <map>

#include "common/agent/runtime/config_file.h"
#include "common/rpc/json_text.h"
#include "game/files/game_file.h"
#include "player/core/misbehaviour.h"
#include "player/core/strategy.h"

namespace league::tools {
namespace {

constexpr int kMostSingleProcesses = 16;
// Large distances between the seeds of groups, so that no two players ever get the same seed.
constexpr std::uint64_t kSeedsPerStrategy = 1'000'000;
constexpr std::uint64_t kSeedsPerTransport = 100'000;

core::Result<void> check_strategy(const std::string& name, const game::Definition& game) {
  auto strategies = player::known_strategies(game);
  if (std::find(strategies.begin(), strategies.end(), name) != strategies.end()) return {};
  auto misbehaviour = player::parse_misbehaviour(name);
  if (!misbehaviour) return misbehaviour.error();
  if (*misbehaviour) return {};
  std::string text = "there is no strategy \"" + name.substr(0, 64) + "\"; known strategies:";
  for (auto known : strategies) text.append(" ").append(known);
  text += "; known misbehaviours:";
  for (auto known : player::known_misbehaviours()) text.append(" ").append(known);
  return core::Error{core::ErrorCode::kInternalError, text, {}};
}

std::vector<std::string> shared_arguments(const UpOptions& options) {
  std::vector<std::string> arguments{
      "--mode", options.mode, "--logs", options.logs.string(), "--data", options.data.string()};
  if (!options.bus.empty()) arguments.insert(arguments.end(), {"--bus", options.bus});
  return arguments;
}

void append(std::vector<std::string>& arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
}

std::string file_name(std::string name) {
  std::replace(name.begin(), name.end(), ':', '-');
  return name;
}

/// One process with `count` players of one strategy and transport, of which `first` (from 0) is the
/// first.
struct Group {
  std::string strategy;
  std::size_t strategy_index = 0;
  agent::host::Serving transport = agent::host::Serving::kHttp;
  int first = 0;
  int count = 1;
  bool numbers_itself = false;  ///< the player program adds the numbers
  bool is_mixed = false;  ///< other players have other transports

  /// The beginning of the players' names: `random-`, with the transport's name if a process with
  /// several players needs it to be unique.
  [[nodiscard]] std::string prefix() const {
    std::string name = file_name(strategy) + "-";
    // Such a process numbers its players from 1, like other processes of the same strategy.
    bool is_plain = !numbers_itself || (transport == agent::host::Serving::kHttp && !is_mixed);
    return is_plain ? name : name + std::string(agent::host::serving_name(transport)) + "-";
  }
  [[nodiscard]] std::string name() const {
    return numbers_itself ? prefix() : prefix() + std::to_string(first + 1);
  }
};

std::vector<std::string> transport_arguments(agent::host::Serving transport,
                                             const UpOptions& options, const std::string& name) {
  if (transport == agent::host::Serving::kHttp) return {};
  std::vector<std::string> arguments{"--transport",
                                     std::string(agent::host::serving_name(transport))};
  if (transport == agent::host::Serving::kUnix)
    append(arguments, {"--socket", (options.sockets / (name + ".sock")).string()});
  return arguments;
}

/// The arguments that belong to these players only.
std::vector<std::string> playing_arguments(const Group& group, const UpOptions& options) {
  std::vector<std::string> arguments{"--name", group.name(), "--strategy", group.strategy};
  // The words of the games that come along are known; those of a file are strategies' names, too.
  if (game::files::is_game_file(options.game)) append(arguments, {"--game", options.game});
  if (options.seed) {
    std::uint64_t seed = *options.seed + group.strategy_index * kSeedsPerStrategy +
                         static_cast<std::uint64_t>(group.transport) * kSeedsPerTransport +
                         static_cast<std::uint64_t>(group.first);
    append(arguments, {"--seed", std::to_string(seed)});
  }
  append(arguments, transport_arguments(group.transport, options, group.name()));
  append(arguments, {"--config", options.programs_config.string()});
  return arguments;
}

ProgramSpec spec_of(const Group& group, const UpOptions& options, const std::string& manager_url) {
  ProgramSpec spec{.role = ProgramSpec::Role::kPlayers,
                   .program = "player",
                   .name = (group.numbers_itself ? "players_" : "player_") + group.name(),
                   .arguments = {"--port", "0", "--manager", manager_url, "--count",
                                 std::to_string(group.count)},
                   .agents = group.count};
  append(spec.arguments, playing_arguments(group, options));
  append(spec.arguments, shared_arguments(options));
  return spec;
}

/// A word of a command line, in quotes if necessary.
std::string quoted(const std::string& word) {
  return word.find(' ') == std::string::npos ? word : "\"" + word + "\"";
}

SubprocessPlayer subprocess_player_of(const Group& group, const UpOptions& options,
                                      const std::filesystem::path& programs) {
  std::string endpoint = "stdio:" + quoted((programs / "player").string());
  for (const auto& word : playing_arguments(group, options)) endpoint += " " + quoted(word);
  return {group.name(), endpoint};
}

bool uses(const UpOptions& options, agent::host::Serving transport) {
  return std::ranges::find(options.transports, transport) != options.transports.end();
}

/// The --endpoints option for addresses that are not allowed by default: Unix sockets and our own
/// player program.
std::vector<std::string> policy_arguments(const UpOptions& options,
                                          const std::filesystem::path& programs) {
  std::string more;
  if (needs_sockets(options)) more += ",unix:" + options.sockets.string() + "/";
  if (uses(options, agent::host::Serving::kStdio))
    more += ",stdio:" + quoted((programs / "player").string());
  if (more.empty()) return {};
  return {"--endpoints", "local" + more};
}

/// Distributes the players among groups.
std::vector<Group> groups_of(const UpOptions& options, const std::vector<std::string>& strategies) {
  int count = options.players - options.external;
  std::vector<Group> groups;
  std::map<std::string, int> dealt;  // number of players so far, by strategy
  std::vector<std::string> distinct;  // a strategy may be named twice in the list
  for (int i = 0; i < count; ++i) {
    const auto& strategy = strategies[static_cast<std::size_t>(i) % strategies.size()];
    auto transport = options.transports[static_cast<std::size_t>(i) % options.transports.size()];
    auto found = std::find(distinct.begin(), distinct.end(), strategy);
    auto index = static_cast<std::size_t>(found - distinct.begin());
    if (found == distinct.end()) distinct.push_back(strategy);
    int number = dealt[strategy]++;
    bool is_alone = count <= kMostSingleProcesses || strategy == "crash" ||
                    transport == agent::host::Serving::kStdio;
    auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.strategy == strategy && group.transport == transport;
    });
    if (is_alone || same == groups.end()) {
      groups.push_back({.strategy = strategy,
                        .strategy_index = index,
                        .transport = transport,
                        .first = number,
                        .count = 1,
                        .is_mixed = options.transports.size() > 1});
    } else {
      ++same->count;
      same->numbers_itself = true;
    }
  }
  return groups;
}

/// The words of a list that are separated by commas.
std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    words.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return words;
}

}  // namespace

core::Result<game::SharedDefinition> game_of(const UpOptions& options) {
  game::Games games = game::Games::standard();
  return game::files::find_game(games, options.game);
}

std::string default_strategies(const game::Definition& game) {
  if (game.game_type() == "even_odd") return "random,even,odd,alternate,frequency,opposite";
  std::string list;
  for (std::string_view name : player::known_strategies(game))
    list.append(list.empty() ? "" : ",").append(name);
  return list;
}

core::Result<std::vector<std::string>> parse_strategies(std::string_view list,
                                                        const game::Definition& game) {
  std::vector<std::string> names;
  for (std::string& name : words_of(list)) {
    std::erase(name, ' ');
    if (name.empty()) continue;
    if (auto known = check_strategy(name, game); !known) return known.error();
    names.push_back(std::move(name));
  }
  if (names.empty())
    return core::Error{core::ErrorCode::kInternalError,
                       "the list of strategies is empty; give at least one, such as random",
                       {}};
  return names;
}

core::Result<std::vector<agent::host::Serving>> parse_transports(std::string_view list) {
  std::vector<agent::host::Serving> transports;
  for (std::string& name : words_of(list)) {
    auto known = agent::host::parse_serving(name);
    if (!known) {
      return core::Error{core::ErrorCode::kInternalError,
                         "there is no transport \"" + name.substr(0, 64) + "\"; there are " +
                             agent::host::serving_names(),
                         {}};
    }
    transports.push_back(*known);
  }
  if (transports.empty()) transports.push_back(agent::host::Serving::kHttp);
  return transports;
}

agent::host::Serving host_transport(const UpOptions& options) {
  bool is_one = options.transports.size() == 1;
  const auto first = options.transports.front();
  const bool can_be_called =
      first != agent::host::Serving::kStdio && first != agent::host::Serving::kOutward;
  return is_one && can_be_called ? first : agent::host::Serving::kHttp;
}

bool needs_sockets(const UpOptions& options) { return uses(options, agent::host::Serving::kUnix); }

ProgramSpec manager_spec(const UpOptions& options, const std::filesystem::path& programs) {
  ProgramSpec spec{.role = ProgramSpec::Role::kManager,
                   .program = "league_manager",
                   .name = "league_manager",
                   .arguments = {"--port", std::to_string(options.port), "--players",
                                 std::to_string(options.all_players()), "--referees",
                                 std::to_string(options.referees), "--config",
                                 options.programs_config.string()}};
  if (options.game != UpOptions().game) append(spec.arguments, {"--game", options.game});
  if (options.meetings > 1)
    append(spec.arguments, {"--meetings", std::to_string(options.meetings)});
  if (!options.league_id.empty()) append(spec.arguments, {"--league", options.league_id});
  if (!options.bind_address.empty()) append(spec.arguments, {"--bind", options.bind_address});
  if (!options.advertise.empty()) append(spec.arguments, {"--advertise", options.advertise});
  for (const auto& host : options.allow_hosts) append(spec.arguments, {"--allow-host", host});
  if (options.require_commitments) append(spec.arguments, {"--require-commitments"});
  for (const auto& origin : options.allow_origins)
    append(spec.arguments, {"--allow-origin", origin});
  append(spec.arguments, transport_arguments(host_transport(options), options, spec.name));
  append(spec.arguments, policy_arguments(options, programs));
  append(spec.arguments, shared_arguments(options));
  return spec;
}

std::vector<ProgramSpec> referee_specs(const UpOptions& options, const std::string& manager_url,
                                       const std::filesystem::path& programs) {
  std::vector<ProgramSpec> specs;
  for (int i = 1; i <= options.referees; ++i) {
    std::string name = "referee-" + std::to_string(i);
    ProgramSpec spec{.role = ProgramSpec::Role::kReferee,
                     .program = "referee",
                     .name = name,
                     .arguments = {"--port", "0", "--manager", manager_url, "--name", name,
                                   "--config", options.programs_config.string()}};
    append(spec.arguments, {"--admission-key", (options.data / "referee.key").string()});
    if (options.max_matches > 0)
      append(spec.arguments, {"--max-matches", std::to_string(options.max_matches)});
    append(spec.arguments, transport_arguments(host_transport(options), options, name));
    auto policy = policy_arguments(options, programs);
    if (!policy.empty()) append(spec.arguments, {"--endpoints", "any" + policy[1].substr(5)});
    append(spec.arguments, shared_arguments(options));
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::string programs_config_text(const UpOptions& options) {
  std::string text = agent::runtime::config_text(options.limits);
  if (!uses(options, agent::host::Serving::kStdio)) return text;
  text += "[player]\n";
  const auto arguments = shared_arguments(options);
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    text += arguments[i].substr(2) + " = ";
    rpc::append_json_string(text, arguments[i + 1]);  // a basic string of TOML is one of JSON
    text += '\n';
  }
  return text;
}

LeaguePlan plan_players(const UpOptions& options, const std::vector<std::string>& strategies,
                        const std::string& manager_url, const std::filesystem::path& programs) {
  LeaguePlan plan;
  for (const auto& group : groups_of(options, strategies)) {
    if (group.transport == agent::host::Serving::kStdio) {
      plan.subprocess_players.push_back(subprocess_player_of(group, options, programs));
    } else {
      plan.specs.push_back(spec_of(group, options, manager_url));
    }
  }
  return plan;
}

}  // namespace league::tools
