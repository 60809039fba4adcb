#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/agent/host/agent_server.h"
#include "common/agent/host/seat_tools.h"
#include "league_manager/admission/admission.h"
#include "league_manager/admission/endpoint_admission.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/files/ledger.h"
#include "league_manager/rounds/league_runner.h"
#include "league_manager/service/agent_tools.h"
#include "league_manager/service/event_tool.h"
#include "league_manager/service/manager_resources.h"
#include "league_manager/service/referee_tools.h"
#include "league_manager/spectators/figure_keeper.h"
#include "league_manager/spectators/registration_board.h"
#include "league_manager/spectators/replication_figures.h"

namespace league::league_manager::service {

struct ManagerOptions {
  envelope::Mode mode = envelope::Mode::kOpen;  ///< towards agents that register, ask and report
  core::LeagueId league_id;
  core::AuthToken operator_key;
  std::string league_key = {};  ///< public
  bool publishes_events = false;  ///< which are signed with that key
  game::SharedDefinition game = game::even_odd();  ///< that the league plays
};

/// The dependencies of a manager; all references outlive it.
struct ManagerDependencies {
  files::Ledger& ledger;
  rounds::LeagueRunner& league_runner;
  const admission::TokenIssuer& token_issuer;
  core::RandomSource& random;
  const core::Clock& clock;
  const envelope::MessageSchemas& schemas;
  const envelope::EnvelopeBuilder& envelopes;
  admission::EndpointAdmission& endpoints;
  core::Timer& timer;
  const admission::Admission* admission = nullptr;  ///< null: every caller may register
  spectators::RegistrationBoard* registrations =
      nullptr;  ///< null: spectators are not told of refusals
  rounds::OperatorLog* log = nullptr;  ///< null: the operator is told nothing
  agent::seats::Seats* seats = nullptr;  ///< null: players cannot come to this manager
  AgentRecords* records = nullptr;  ///< null: agents get no report on themselves
  bus::EventSubscriptions* events = nullptr;  ///< null where the program is on no bus
  ManagerResources::News news = {};  ///< empty: nobody can read them
  /// The latest figures beside the points; they or the function may be empty.
  std::function<spectators::FigureKeeper::Latest()> figures = {};
  spectators::ReplicationSource replication = {};  ///< empty: the league has one manager only
  /// Shows the league as of all durable events; false, without doing so, if that is not possible
  /// now. For the status of a league that waits for others; empty: its status waits, too.
  std::function<bool(const std::function<void(const League&)>&)> read_durable = {};
  std::function<void()> after_answer = {};  ///< for fault tests: a command's answer has been sent
};

/// Answers registrations, reports, queries and the operator's commands. The LeagueRunner carries
/// out their consequences. Thread-safe.
class ManagerService {
 public:
  ManagerService(ManagerOptions options, const ManagerDependencies& dependencies);

  [[nodiscard]] transport::link::MessageHandler& handler() { return server_; }
  /// For further tools, before the first message arrives.
  [[nodiscard]] agent::host::AgentServer& server() { return server_; }
  /// State and figures of the league, as `get_league_status` shows them.
  [[nodiscard]] nlohmann::json status() const;

 private:
  void bind_handlers();
  /// The part of `status` that comes from the journal.
  [[nodiscard]] nlohmann::json status_of(const League& league) const;
  /// With the other managers, how much luck explains, and what is known of the champion.
  [[nodiscard]] nlohmann::json completed(nlohmann::json status) const;
  void bind_seats();
  [[nodiscard]] spectators::FigureKeeper::Latest figures() const {
    return deps_.figures ? deps_.figures() : nullptr;
  }
  [[nodiscard]] core::Result<void> check_token(const envelope::Envelope& envelope) const;
  /// Reports a registration that is not even a valid message, since no event records it.
  void note_not_admitted(envelope::MessageType type, const nlohmann::json& message,
                         const rpc::MessageContext& context, const core::Error& error) const;
  /// Tells the operator that the report of the referee that has the match was refused.
  void note_refused_report(const core::Error& error, const rpc::MessageNotes& request) const;
  [[nodiscard]] nlohmann::json league_error(const core::Error& error,
                                            const std::string& original_type,
                                            const core::ConversationId& conversation) const;

  template <typename Request>
  void on_register(agent::host::Call<Request> call);
  template <typename Request>
  void register_at(std::shared_ptr<agent::host::Call<Request>> call,
                   const core::Result<transport::link::Endpoint>& endpoint);
  template <typename Request>
  void accept(const std::shared_ptr<agent::host::Call<Request>>& call,
              const RegistrationDecision& decision, const transport::link::Endpoint& endpoint);
  template <typename Request>
  void reject(const std::shared_ptr<agent::host::Call<Request>>& call, const core::Error& error);
  void note_answered() const {
    if (deps_.after_answer) deps_.after_answer();
  }
  struct OpenReport;
  void on_report(agent::host::Call<envelope::MatchResultReport> call);
  void decide_report(const std::shared_ptr<OpenReport>& open);
  void ask_players(const std::shared_ptr<OpenReport>& open);
  void answer_report(OpenReport& open, const core::Result<events::Events>& stored);
  void on_query(agent::host::Call<envelope::LeagueQuery> call);
  void on_dispute(agent::host::Call<envelope::LeagueQuery> call);
  void on_get_league_status(agent::host::ToolCall call);
  void on_get_standings(agent::host::ToolCall call);
  /// Adds to the request the identity under which a sender that shows `shown` is admitted, or
  /// returns why it is refused.
  void admit(RegistrationRequest& request, const std::string& shown) const;
  /// Tells the operator and the spectators.
  void note_refused(events::AgentKind kind, std::string_view name, std::string_view endpoint,
                    const std::string& shown, const core::Error& error) const;
  void on_start_league(agent::host::ToolCall call);
  void on_operate_league(agent::host::ToolCall call);
  void on_new_token(agent::host::ToolCall call);

  const ManagerOptions options_;
  const ManagerDependencies deps_;
  agent::host::AgentServer server_;
  ManagerResources resources_;
  AgentTools agents_;
  std::optional<agent::host::SeatTools> seat_tools_;
  RefereeTools referees_;
  EventTool events_;
};

}  // namespace league::league_manager::service
