#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/agent/host/agent_server.h"
#include "common/agent/runtime/settings.h"
#include "common/envelope/round_messages.h"
#include "common/schema/fields.h"
#include "common/task/task.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/files/ledger.h"
#include "league_manager/hosts/hosted_player.h"
#include "league_manager/rounds/operator_log.h"
#include "player/service/open_match_file.h"

namespace league::league_manager::hosts {

/// A player as the tools name it.
struct NamedPlayer {
  std::string player_id{};
  std::string display_name{};

  void describe(schema::Fields& a);
};

/// A finished match, as its player sees it.
struct HostResult {
  std::string match_id{};
  std::string result{};
  NamedPlayer opponent{};
  std::optional<std::string> lost_by = std::nullopt;  ///< how it was decided without play
  std::optional<std::string> own_choice = std::nullopt;
  std::optional<std::string> opponent_choice = std::nullopt;
  std::optional<int> number = std::nullopt;

  void describe(schema::Fields& a);
};

/// What the tools answer; what is nothing or empty is left out.
struct HostAnswer {
  std::string player{};  ///< the word that brings its client back, which is a secret
  NamedPlayer self{};
  std::string state{};
  std::optional<int> round = std::nullopt;
  std::optional<int> rounds = std::nullopt;
  std::optional<std::string> match_id = std::nullopt;
  std::optional<NamedPlayer> opponent = std::nullopt;
  std::string choice{};  ///< that is sealed
  std::vector<std::string> choices{};  ///< between which it is to choose, with the limit
  std::string choose_by{};
  std::int64_t remaining_s = 0;
  std::optional<envelope::StandingsRow> row = std::nullopt;
  std::vector<HostResult> results{};
  std::string text{};  ///< the same for a model

  void describe(schema::Fields& a);
};

/// What the tools need; all references outlive them.
struct HostDependencies {
  agent::host::AgentServer& server;  ///< the manager's, which gets the tools
  files::Ledger& ledger;
  const admission::TokenIssuer& token_issuer;
  agent::seats::Seats& seats;
  core::Timer& timer;
  const core::Clock& clock;
  core::RandomSource& random;
  const envelope::MessageSchemas& schemas;
  core::LeagueId league_id;
  std::string league_key;  ///< public
  std::chrono::milliseconds limit;  ///< within which a choice has to be made
  game::SharedDefinition game;  ///< that the league plays
  std::filesystem::path open_matches = {};  ///< file of the choices; empty: in memory only
  rounds::OperatorLog* log = nullptr;  ///< null: the operator is told nothing
};

/// The tools of clients that have tools only, such as chat programs: `join_league`, `await_turn`,
/// `play`, `my_results`, and the prompt `play_a_match`. The manager runs the player of each for it.
/// A client is recognised by its session or connection, or by the word that join_league has given
/// to it, which is the player's token. Thread-safe. Source: protocol §10.
class HostTools {
 public:
  /// Adds the tools to the server.
  explicit HostTools(HostDependencies dependencies);
  ~HostTools();
  HostTools(const HostTools&) = delete;
  HostTools& operator=(const HostTools&) = delete;

  /// Ends what waits; no player gets a call any more.
  void stop();

 private:
  using json = nlohmann::json;
  using Held = std::shared_ptr<HostedPlayer>;  ///< also by the calls of its client
  using Handler = task::Task<void> (HostTools::*)(agent::host::ToolCall);

  void bind(const char* name, Handler handler);
  void add_prompt();
  task::Task<void> join_league(agent::host::ToolCall call);
  task::Task<void> await_turn(agent::host::ToolCall call);
  task::Task<void> play(agent::host::ToolCall call);
  task::Task<void> my_results(agent::host::ToolCall call);

  /// Asks the person at the client for the choice, by elicitation.
  task::Task<void> ask_person(Held player, std::shared_ptr<mcp::RequestContext> client);
  /// Waits for news of the player and tells the client every few seconds that it does so.
  task::Task<bool> wait_for_news(Held player, std::chrono::seconds limit,
                                 std::shared_ptr<mcp::RequestContext> client);
  /// The answer of the manager to a registration that a client makes.
  task::Task<core::Result<std::string>> register_player(std::string name, std::string code,
                                                        rpc::MessageContext context);
  void dispute(const agent::identity::Identity& identity, const player::DisputedMatch& match);
  void post(const std::string& method, json message, rpc::MessageContext context,
            std::function<void(std::string)> answered);

  /// The player of the call's session, or of the word in its arguments, at its seat.
  [[nodiscard]] core::Result<Held> player_of(const agent::host::ToolCall& call);
  [[nodiscard]] core::Result<Held> player_of_word(const std::string& word);
  /// The player `id` of the league, which is run for a client.
  [[nodiscard]] core::Result<Held> take(const std::string& id);
  void bind_session(const std::string& scope, const HostedPlayer& player);
  void sit(HostedPlayer& player);

  /// What the client is told by await_turn.
  [[nodiscard]] HostAnswer situation(HostedPlayer& player) const;
  /// What it is told by my_results, with the last `most` matches.
  [[nodiscard]] static HostAnswer summary(const League& league, const HostedPlayer& player,
                                          std::size_t most);
  void answer(agent::host::ToolCall& call, json answer);

  const HostDependencies deps_;
  std::unique_ptr<player::service::OpenMatchFile> open_matches_;  ///< null until it is needed
  std::map<std::string, Held> players_;  ///< by id
  std::vector<Held> retired_;  ///< who have played, and whose places were given away
  std::map<std::string, std::string> sessions_;  ///< the player's id by session, the newest of each
  std::set<std::string> joining_;  ///< sessions that wait for their registration
  std::set<std::string> asking_;  ///< players whose clients have an open question
  int registrations_ = 0;
  task::Scope scope_;  // last: its tasks use the rest
};

}  // namespace league::league_manager::hosts
