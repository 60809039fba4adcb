#include "league_manager/program/manager_turn.h"

#include <cstdlib>
#include <optional>

#include "bus/agent/nats_host.h"
#include "bus/standby/replicated_journal.h"
#include "common/agent/runtime/log.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/events/event_codec.h"
#include "league_manager/files/data_directory.h"

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

/// Checks that there is a key in this data directory, and once, with the first registered agent in
/// the journal, that its token was made with it.
class KeyCheck {
 public:
  KeyCheck(core::LeagueId league, std::filesystem::path file, core::RandomSource& random)
      : league_(std::move(league)), file_(std::move(file)), random_(random) {}

  [[nodiscard]] core::Result<void> check(const journal::EventRecord& record) {
    if (is_done_) return {};
    if (!std::filesystem::exists(file_)) return key_missing(file_, league_);
    if (record.type != "AGENT_REGISTERED") return {};
    auto event = events::from_record(record);
    if (!event) return event.error();
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

}  // namespace

core::Result<void> check_turn(const ProgramOptions& options, const agent::host::AgentHost& host) {
  const auto* bus = host.on_bus();
  if (!options.is_replicated() || (bus != nullptr && bus->has_streams())) return {};
  return agent::bus::no_streams_error(options.is_standby ? "--standby" : "--replicate");
}

core::Result<std::unique_ptr<Leadership>> wait_for_turn(const ProgramOptions& options,
                                                        const core::LeagueId& league,
                                                        journal::SqliteJournal& local,
                                                        const TurnDependencies& dependencies) {
  auto& host = dependencies.host;
  auto& nats = *agent::bus::nats_of(host);
  const files::DataDirectory data(options.data);
  const auto& settings = host.settings().bus;
  auto key = std::make_shared<KeyCheck>(league, data.secret_key(), dependencies.random);
  stream::ReplicationOptions wanted;
  wanted.stream = {league.str(), settings.replicas,
                   transport::bus::stream_bytes(settings.journal_max_mib)};
  wanted.paths = {data.replication(), data.lose_after(), data.put_aside()};
  wanted.begins_leagues = !options.is_standby;
  wanted.starts_anew = options.is_new && !options.is_standby;
  wanted.check = [key](const journal::EventRecord& record) { return key->check(record); };
  wanted.on_end = [](const std::string& why) {
    std::_Exit(agent::host::fail(
        {core::ErrorCode::kShuttingDown, "this manager no longer leads and ends: " + why, ""}));
  };
  auto session = nats.session().value_or(transport::link::BusSession::make(dependencies.random));
  auto journal = stream::ReplicatedJournal::create(
      {{nats.streams_bus(), session, host.clock(), host.timer(), dependencies.random}, local},
      std::move(wanted));
  if (!journal) return journal.error();
  auto leads = (*journal)->lead(dependencies.stop);
  if (!leads) return leads.error();
  if (!*leads) return std::unique_ptr<Leadership>();
  return std::unique_ptr<Leadership>(std::move(*journal));
}

}  // namespace league::league_manager
