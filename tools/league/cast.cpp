#include "tools/league/cast.h"

#include <algorithm>

#include "player/misbehaviour.h"
#include "player/strategy.h"

namespace league::tools {
namespace {

constexpr int kMostSingleProcesses = 16;
// Far apart, so that the players of one strategy never get the seeds of another's.
constexpr std::uint64_t kSeedsPerStrategy = 1'000'000;

core::Result<void> check_strategy(const std::string& name) {
  auto strategies = player::known_strategies();
  if (std::find(strategies.begin(), strategies.end(), name) != strategies.end()) return {};
  auto misbehaviour = player::parse_misbehaviour(name);
  if (!misbehaviour) return misbehaviour.error();
  if (*misbehaviour) return {};
  std::string text = "there is no strategy \"" + name.substr(0, 64) + "\"; there are";
  for (auto known : strategies) text.append(" ").append(known);
  text += ", and to try a league's patience";
  for (auto known : player::known_misbehaviours()) text.append(" ").append(known);
  return core::Error{core::ErrorCode::kInternalError, text, {}};
}

std::vector<std::string> shared_arguments(const UpOptions& options) {
  std::vector<std::string> arguments{"--mode", options.mode, "--logs", options.logs.string()};
  if (!options.limits_file.empty())
    arguments.insert(arguments.end(), {"--limits", options.limits_file});
  return arguments;
}

void append(std::vector<std::string>& arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
}

std::string file_name(std::string name) {
  std::replace(name.begin(), name.end(), ':', '-');
  return name;
}

/// `count` players of one strategy from the `first` on (from 0), in one process.
struct Group {
  std::string strategy;
  std::size_t strategy_index = 0;
  int first = 0;
  int count = 1;
  bool numbers_itself = false;  ///< the player program adds the numbers
};

Part part_of(const Group& group, const UpOptions& options, const std::string& manager_url) {
  std::string prefix = file_name(group.strategy) + "-";
  std::string name = group.numbers_itself ? prefix : prefix + std::to_string(group.first + 1);
  Part part{
      .role = Part::Role::kPlayers,
      .program = "player",
      .name = group.numbers_itself ? "players_" + file_name(group.strategy) : "player_" + name,
      .arguments = {"--port", "0", "--manager", manager_url, "--name", name, "--strategy",
                    group.strategy, "--count", std::to_string(group.count), "--data",
                    options.data.string()},
      .agents = group.count};
  if (options.seed) {
    std::uint64_t seed = *options.seed + group.strategy_index * kSeedsPerStrategy +
                         static_cast<std::uint64_t>(group.first);
    append(part.arguments, {"--seed", std::to_string(seed)});
  }
  append(part.arguments, shared_arguments(options));
  return part;
}

}  // namespace

core::Result<std::vector<std::string>> parse_strategies(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    std::size_t comma = std::min(list.find(','), list.size());
    std::string name(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    std::erase(name, ' ');
    if (name.empty()) continue;
    if (auto known = check_strategy(name); !known) return known.error();
    names.push_back(std::move(name));
  }
  if (names.empty())
    return core::Error{core::ErrorCode::kInternalError,
                       "the list of strategies is empty; give at least one, such as random",
                       {}};
  return names;
}

Part manager_part(const UpOptions& options) {
  Part part{.role = Part::Role::kManager,
            .program = "league_manager",
            .name = "league_manager",
            .arguments = {"--port", std::to_string(options.port), "--players",
                          std::to_string(options.players), "--referees",
                          std::to_string(options.referees), "--data", options.data.string()}};
  if (!options.league_id.empty()) append(part.arguments, {"--league", options.league_id});
  if (!options.bind_address.empty()) append(part.arguments, {"--bind", options.bind_address});
  if (!options.advertise.empty()) append(part.arguments, {"--advertise", options.advertise});
  for (const auto& host : options.allow_hosts) append(part.arguments, {"--allow-host", host});
  append(part.arguments, shared_arguments(options));
  return part;
}

std::vector<Part> referee_parts(const UpOptions& options, const std::string& manager_url) {
  std::vector<Part> parts;
  for (int i = 1; i <= options.referees; ++i) {
    std::string name = "referee-" + std::to_string(i);
    Part part{.role = Part::Role::kReferee,
              .program = "referee",
              .name = name,
              .arguments = {"--port", "0", "--manager", manager_url, "--name", name, "--data",
                            options.data.string()}};
    if (options.max_matches > 0)
      append(part.arguments, {"--max-matches", std::to_string(options.max_matches)});
    append(part.arguments, shared_arguments(options));
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<Part> player_parts(const UpOptions& options, const std::vector<std::string>& strategies,
                               const std::string& manager_url) {
  int count = options.players - options.external;
  // A strategy may be named twice in the list; its players are numbered through.
  std::vector<std::string> distinct;
  std::vector<int> dealt;
  std::vector<Part> singles;
  for (int i = 0; i < count; ++i) {
    const auto& strategy = strategies[static_cast<std::size_t>(i) % strategies.size()];
    auto found = std::find(distinct.begin(), distinct.end(), strategy);
    auto index = static_cast<std::size_t>(found - distinct.begin());
    if (found == distinct.end()) {
      distinct.push_back(strategy);
      dealt.push_back(0);
    }
    int number = dealt[index]++;
    if (count <= kMostSingleProcesses || strategy == "crash") {
      singles.push_back(part_of({.strategy = strategy, .strategy_index = index, .first = number},
                                options, manager_url));
    }
  }
  if (count <= kMostSingleProcesses) return singles;
  std::vector<Part> parts = std::move(singles);
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    if (distinct[i] == "crash") continue;
    parts.push_back(part_of({.strategy = distinct[i],
                             .strategy_index = i,
                             .first = 0,
                             .count = dealt[i],
                             .numbers_itself = dealt[i] > 1},
                            options, manager_url));
  }
  return parts;
}

}  // namespace league::tools
