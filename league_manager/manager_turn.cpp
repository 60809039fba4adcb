#include "league_manager/manager_turn.h"

#include <cstdlib>
#include <optional>

#include "common/agent/runtime/log.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/events/event_codec.h"
#include "league_manager/files/data_directory.h"
#include "league_manager/standby/standby_takeover.h"

namespace league::league_manager {
namespace {

core::Error key_missing(const std::filesystem::path& file, const core::LeagueId& league) {
  return {core::ErrorCode::kInternalError,
          file.string() +
              " is missing: copy secret.key from the data directory of the manager that "
              "leads league " +
              league.str() +
              " (it is secret and never sent over the bus); without it the tokens of the league's "
              "agents would be invalid here",
          ""};
}

/// Checks once, with the first registered agent in the journal, that its token was made with the
/// key of this data directory.
class KeyCheck {
 public:
  KeyCheck(core::LeagueId league, std::filesystem::path file, core::RandomSource& random)
      : league_(std::move(league)), file_(std::move(file)), random_(random) {}

  [[nodiscard]] core::Result<void> is_there() const {
    if (std::filesystem::exists(file_)) return {};
    return key_missing(file_, league_);
  }
  [[nodiscard]] core::Result<void> check(const journal::EventRecord& record) {
    if (is_done_ || record.type != "AGENT_REGISTERED") return {};
    auto event = events::from_record(record);
    if (!event) return event.error();
    if (auto there = is_there(); !there) return there;
    auto token_issuer = admission::TokenIssuer::open(league_, file_, random_);
    if (!token_issuer) return token_issuer.error();
    const auto& agent = std::get<events::AgentRegistered>(event->body);
    is_done_ = true;
    auto token = token_issuer->token(agent.agent.id(), agent.credential.nonce);
    if (token.hash() == agent.credential.token_hash) return {};
    return core::Error{core::ErrorCode::kInternalError,
                       file_.string() + " is not the key of league " + league_.str() +
                           ": copy the one of the manager that leads it",
                       ""};
  }

 private:
  const core::LeagueId league_;
  const std::filesystem::path file_;
  core::RandomSource& random_;
  bool is_done_ = false;
};

/// Warns of a lease that is shorter than an election: when a broker of a cluster fails, the others
/// elect a new leader of the stream and accept no messages meanwhile.
void warn_of_short_lease(const agent::runtime::Settings::Bus& bus) {
  constexpr std::chrono::seconds kLongestElection{10};
  if (bus.replicas == 1 || bus.lease > kLongestElection) return;
  agent::runtime::log::warn(
      "bus.lease_ms is {}: a cluster that loses a broker may need 10000 ms until it accepts "
      "messages again, and then this manager would end; 20000 is better",
      bus.lease.count());
}

}  // namespace

core::Result<void> check_turn(const ProgramOptions& options, const agent::host::AgentHost& host) {
  if (!options.is_replicated() || host.has_streams()) return {};
  return agent::bus::no_streams_error(options.is_standby ? "--standby" : "--replicate");
}

core::Result<std::unique_ptr<standby::Leadership>> wait_for_turn(
    const ProgramOptions& options, const core::LeagueId& league, journal::Journal& local,
    const TurnDependencies& dependencies) {
  auto& host = dependencies.host;
  warn_of_short_lease(host.settings().bus);
  auto key = std::make_shared<KeyCheck>(league, files::DataDirectory(options.data).secret_key(),
                                        dependencies.random);
  standby::StandbyTakeoverOptions wanted;
  wanted.league = league.str();
  wanted.replication = options.replication;
  wanted.begins_leagues = !options.is_standby;
  wanted.starts_anew = options.is_new && !options.is_standby;
  wanted.lease = host.settings().bus.lease;
  wanted.replicas = host.settings().bus.replicas;
  wanted.journal_max_mib = host.settings().bus.journal_max_mib;
  wanted.holder_file = files::DataDirectory(options.data).lease_holder();
  wanted.check_follower = [key] { return key->is_there(); };
  wanted.check_record = [key](const journal::EventRecord& record) { return key->check(record); };
  wanted.on_fenced = [](const std::string& why) {
    std::_Exit(agent::host::fail(
        {core::ErrorCode::kShuttingDown, "this manager no longer leads and ends: " + why, ""}));
  };
  auto session =
      host.on_bus()->session().value_or(transport::link::BusSession::make(dependencies.random));
  auto takeover = std::make_unique<standby::StandbyTakeover>(
      standby::StandbyTakeoverDependencies{host.on_bus()->streams_bus(), session, host.clock(),
                                           host.timer(), dependencies.random},
      std::move(wanted));
  auto leads = takeover->lead(local, dependencies.stop);
  if (!leads) return leads.error();
  if (!*leads) return std::unique_ptr<standby::Leadership>();
  return std::unique_ptr<standby::Leadership>(std::move(takeover));
}

core::Result<void> begin_serving(standby::Leadership& leadership, files::Ledger& ledger) {
  auto done = ledger.commit_and_wait([&](const League&, core::UtcTimestamp now) {
    return events::Events{{now, events::LeagueContinued{leadership.term()}}};
  });
  if (done) leadership.serve();
  return done;
}

}  // namespace league::league_manager
