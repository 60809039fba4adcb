#include "league_manager/program.h"

#include <spdlog/spdlog.h>

#include <atomic>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/agent/host/agent_host.h"
#include "common/agent/runtime/log_flusher.h"
#include "common/agent/runtime/operations_log.h"
#include "common/journal/lock_file.h"
#include "common/journal/memory_journal.h"
#include "common/journal/sqlite_journal.h"
#include "common/transport/link/signals.h"
#include "league_manager/admission/known_senders.h"
#include "league_manager/admission/operator_key.h"
#include "league_manager/files/data_directory.h"
#include "league_manager/files/journal_evidence.h"
#include "league_manager/files/league_projector.h"
#include "league_manager/files/old_logs.h"
#include "league_manager/manager_bus.h"
#include "league_manager/manager_codes.h"
#include "league_manager/manager_pages.h"
#include "league_manager/manager_reload.h"
#include "league_manager/manager_turn.h"
#include "league_manager/manager_webhooks.h"
#include "league_manager/new_league.h"
#include "league_manager/rounds/operator_log.h"
#include "league_manager/rounds/operator_texts.h"
#include "league_manager/service/continuation.h"
#include "league_manager/service/manager_service.h"

namespace league::league_manager {
namespace {

/// A league's journal, keys and settings, new or as they were left.
struct Store {
  std::unique_ptr<journal::SqliteJournal> sqlite;  ///< null for an ephemeral league
  std::unique_ptr<journal::Journal> discarding;  ///< null for any other
  std::unique_ptr<Succession> succession;  ///< null where nobody can take this manager's place
  bool has_turn = true;  ///< false: it was to stop before it led
  std::optional<std::string> given_up;  ///< what the journal lacks, and the league goes on without
  bool is_new = true;  ///< the league begins with this process
  std::optional<journal::LockFile> log_lock;
  LeagueSettings settings;
  std::unique_ptr<TokenVault> vault;
  core::AuthToken operator_key;
  core::AuthToken referee_key;

  [[nodiscard]] journal::Journal& journal() const {
    if (succession) return succession->journal();
    return sqlite ? static_cast<journal::Journal&>(*sqlite) : *discarding;
  }
};

/// Keeps other managers from the league's conversation log.
core::Result<void> lock_log(Store& store, const ProgramOptions& options,
                            const core::LeagueId& league) {
  auto log = audit::league_log_path(options.common.logs, league.str());
  if (!log) return log.error();
  std::error_code failed;  // told by the lock
  std::filesystem::create_directories(log->parent_path(), failed);
  auto lock = journal::LockFile::acquire(log->parent_path() / "league.lock");
  if (!lock) {
    auto error = lock.error();
    error.message += "; two managers cannot write one conversation log (--logs)";
    return error;
  }
  store.log_lock = std::move(*lock);
  return {};
}

/// Waits until this manager leads, where there are several; then the journal is the league's.
core::Result<void> take_turn(Store& store, const ProgramOptions& options,
                             const TurnDependencies& turn) {
  if (!options.replication) return {};
  auto creation = read_creation(*store.sqlite);
  if (!creation) return creation.error();
  auto league = *creation ? (*creation)->league_id : store.settings.league_id;
  if (auto locked = lock_log(store, options, league); !locked) return locked;
  auto succession = wait_for_turn(options, league, *store.sqlite, turn);
  if (!succession) return succession.error();
  store.succession = std::move(*succession);
  store.has_turn = store.succession != nullptr;
  return {};
}

/// Where this manager has left traces of its league.
EvidencePlaces places_of(const Store& store, const ProgramOptions& options) {
  return {DataDirectory(options.data), options.common.logs, store.settings.league_id.str()};
}

core::Result<void> open_journal(Store& store, const ProgramOptions& options,
                                const core::Clock& clock, const TurnDependencies& turn,
                                journal::SqliteJournalOptions journal_options) {
  if (options.is_ephemeral) {
    store.discarding = std::make_unique<journal::DiscardingJournal>();
    return {};
  }
  // Where others may have the journal they are asked first.
  bool is_alone = !options.replication && !options.is_new;
  journal_options.check = [&] {
    return is_alone ? check_empty_journal(places_of(store, options)) : core::Result<void>();
  };
  auto opened = journal::SqliteJournal::open(std::move(journal_options));
  if (!opened) return opened.error();
  store.sqlite = std::move(*opened);
  if (auto taken = take_turn(store, options, turn); !taken || !store.has_turn) return taken;
  if (!options.is_new) {
    bool has_followed = store.succession && store.succession->has_followed();
    auto given_up = check_journal(store.journal(), places_of(store, options),
                                  {has_followed, options.accepts_loss}, clock);
    if (!given_up) return given_up.error();
    store.given_up = std::move(*given_up);
  }
  store.sqlite->accept();
  auto creation = read_creation(*store.sqlite);
  if (!creation) return creation.error();
  if (!*creation && options.is_standby) {
    return core::Error{core::ErrorCode::kInternalError,
                       "the manager that was to begin league " + store.settings.league_id.str() +
                           " is gone before it had: start that one again, then this one",
                       ""};
  }
  store.is_new = !*creation;
  if (store.is_new) return {};
  if (!std::filesystem::exists(DataDirectory(options.data).secret_key())) {
    return core::Error{core::ErrorCode::kInternalError,
                       "secret.key is missing in " + options.data.string() +
                           ", which holds a league: put it back from a backup, or add --new to "
                           "archive the league and begin another",
                       ""};
  }
  return continue_with(store.settings, **creation,
                       {options.league_id, options.players, options.referees}, *options.games);
}

core::Result<void> open_keys(Store& store, const ProgramOptions& options,
                             core::RandomSource& random) {
  DataDirectory data(options.data);
  auto vault = TokenVault::open(store.settings.league_id, data.secret_key(), random);
  if (!vault) return vault.error();
  store.vault = std::make_unique<TokenVault>(std::move(*vault));
  if (auto known = take_league_key(store.settings, *store.vault); !known) return known;
  auto key = open_operator_key(options.operator_key_file.empty()
                                   ? data.operator_key()
                                   : std::filesystem::path(options.operator_key_file),
                               random);
  if (!key) return key.error();
  store.operator_key = *key;
  auto referees = open_referee_key(data.referee_key(), store.vault->referee_key());
  if (!referees) return referees.error();
  store.referee_key = *referees;
  return {};
}

/// The program ends because of `error`, and lets another lead if it did.
int give_up(const Store& store, const core::Error& error) {
  if (store.succession) store.succession->finish();
  if (store.sqlite) store.sqlite->close();  // what it still calls back to is there until here
  return agent::fail(error);
}

/// Opens the data directory. The journal comes first: its lock keeps a second manager out.
core::Result<Store> open_store(const ProgramOptions& options, LeagueSettings settings,
                               const core::Clock& clock, core::RandomSource& random,
                               const TurnDependencies& turn,
                               journal::SqliteJournalOptions journal_options) {
  DataDirectory data(options.data);
  if (options.is_new) {
    auto archived = data.archive(clock.utc_now());
    if (!archived) return archived.error();
    if (!archived->empty())
      spdlog::info("the league that was here is now in {}", archived->string());
  }
  if (auto prepared = data.prepare(); !prepared) return prepared.error();
  Store store;
  store.settings = std::move(settings);
  journal_options.file = data.journal();
  journal_options.mark = data.journal_mark();
  auto opened = open_journal(store, options, clock, turn, std::move(journal_options));
  if (opened && store.has_turn && !store.log_lock)
    opened = lock_log(store, options, store.settings.league_id);
  if (opened && store.has_turn) opened = open_keys(store, options, random);
  if (opened) return store;
  if (store.succession) store.succession->finish();
  if (store.sqlite) store.sqlite->close();
  return opened.error();
}

}  // namespace

// All parts of the program, in the order of their lifetimes. It is to become a class.
// NOLINTNEXTLINE(readability-function-size)
int run(const ProgramOptions& options, transport::StopSignal& stop, const FaultHooks& hooks,
        ManagerReload* reload) {
  auto settings = options.common.settings();
  if (!settings) return agent::fail(settings.error());
  auto policy = transport::EndpointPolicy::parse(options.endpoints);
  if (!policy) return agent::fail(policy.error());
  if (auto usable = ManagerCodes::check(options.registration_codes); !usable)
    return agent::fail(usable.error());
  auto host_options = options.common.host_options();
  if (!host_options) return agent::fail(host_options.error());
  auto host = agent::AgentHost::create(*settings, *host_options);
  if (!host) return agent::fail(host.error());
  if (auto able = check_turn(options, **host); !able) return agent::fail(able.error());

  core::CryptoRandom random;
  const core::Clock& clock = (*host)->clock();
  std::atomic<int> exit_code{0};
  auto store = open_store(options, league_settings(options, *settings, clock), clock, random,
                          {**host, random, stop},
                          {.file = {},
                           .on_failure =
                               [&](const core::Error& error) {
                                 exit_code = agent::fail(error);
                                 stop.request_stop();
                               },
                           .fault_point = hooks.journal,
                           .vfs = hooks.vfs});
  if (!store) return agent::fail(store.error());
  if (!store->has_turn) return exit_code;
  const core::LeagueId id = store->settings.league_id;
  auto log = audit::league_log_path(options.common.logs, id.str());
  if (!log) return give_up(*store, log.error());
  AgentRecords records(clock.utc_now());
  Metrics metrics;
  auto port = agent::AgentPort::open(
      **host, {.log = *log,
               .agent = "league_manager",
               .league = {id.str(), store->settings.league_key, store->is_new},
               .logs = options.common.logs,
               .mode = options.common.parsed_mode(),
               .log_key = options.data / "log.key",
               .session_file = options.data / "bus.session",
               .on_record = [&records, &metrics](const audit::Record& one) {
                 records.on_record(one);
                 metrics.on_record(one);
               }});
  if (!port) return give_up(*store, port.error());

  remove_old_logs(options.common.logs, options.keep_logs);
  Ledger ledger(store->settings, store->journal(), clock);
  agent::ProjectionWriter projections;
  LeagueProjector projector(projections, options.data, id);
  if (store->sqlite) {
    if (auto usable = projector.check(); !usable) return give_up(*store, usable.error());
  }
  ManagerPages pages(ledger, metrics, projector, random, clock);
  std::unique_ptr<ManagerWebhooks> webhooks;
  OperatorLog operator_log([&pages, &webhooks](const OperatorLine& line) {
    agent::write_event(line.is_warning, line.event, line.text, line.fields);
    pages.on_line(line);
    if (webhooks) webhooks->on_line(line);
  });
  auto opened_webhooks = ManagerWebhooks::open(options.webhooks, options.data / "webhook.secret",
                                               **host, ledger, operator_log);
  if (!opened_webhooks) return give_up(*store, opened_webhooks.error());
  webhooks = std::move(*opened_webhooks);
  ledger.observe([&operator_log](const Events& events) { operator_log.on_events(events); });
  ledger.observe([&records](const Events& events) { records.on_events(events); });
  if (auto opened = ledger.open(); !opened) return give_up(*store, opened.error());
  operator_log.begin();
  auto fits = ledger.read([&](const League& league) { return check_vault(league, *store->vault); });
  if (!fits) return give_up(*store, fits.error());
  if (store->given_up) {
    if (auto noted = note_given_up(ledger, *store->given_up); !noted)
      return give_up(*store, noted.error());
  }
  Succession* const succession = store->succession.get();
  if (succession != nullptr) {
    if (auto begun = begin_serving(*succession, ledger); !begun)
      return give_up(*store, begun.error());
  }
  auto delays = agent::ProbingDelayMeter::start((*host)->runtime(), (*host)->caller(),
                                                (*host)->timer(), clock, (*host)->bus());
  if (!delays) return give_up(*store, delays.error());
  EventOffice events = open_events(**host, **port, id);
  envelope::EnvelopeBuilder envelopes(envelope::Sender::league_manager(), id, clock);
  Conductor conductor(
      {.ledger = ledger,
       .vault = *store->vault,
       .peers = (*port)->peers(),
       .timer = (*host)->timer(),
       .clock = clock,
       .random = random,
       .settings = *settings,
       .envelopes = envelopes,
       .may_start = [&log_file = (*port)->log()] { return log_file.free_space_ok(); },
       .log_head = [&log_file = (*port)->log()] { return log_file.sealed_head(); },
       .seal_log = [&log_file =
                        (*port)->log()] { (void)log_file.seal_now(std::chrono::seconds(2)); },
       .term = succession != nullptr ? std::optional<int>(succession->term()) : std::nullopt,
       .events = events.board.get(),
       .log = &operator_log,
       .delays = delays->get()});
  Admission admission({.referees = options.referee_admission,
                       .referee_key = store->referee_key,
                       .referee_key_file = DataDirectory(options.data).referee_key().string()});
  const auto digest_of = [&vault = *store->vault](auto code) { return vault.code_digest(code); };
  ManagerCodes codes(options.registration_codes, digest_of, admission, pages.registrations(),
                     operator_log);
  if (auto read = codes.read(ledger); !read) return give_up(*store, read.error());
  EndpointAdmission endpoints((*host)->bus() != nullptr ? policy->with_bus() : std::move(*policy));
  ManagerService service({.mode = options.common.parsed_mode(),
                          .league_id = id,
                          .operator_key = store->operator_key,
                          .league_key = store->settings.league_key,
                          .publishes_events = events.board != nullptr},
                         {.ledger = ledger,
                          .conductor = conductor,
                          .vault = *store->vault,
                          .random = random,
                          .clock = clock,
                          .schemas = (*host)->schemas(),
                          .envelopes = envelopes,
                          .endpoints = endpoints,
                          .timer = (*host)->timer(),
                          .admission = &admission,
                          .registrations = &pages.registrations(),
                          .log = &operator_log,
                          .records = &records,
                          .events = events.feed.get(),
                          .after_answer = hooks.after_answer});
  conductor.on_finished([&] {
    operator_log.say(false, "LEAGUE_COMPLETED", end_of_league(id, service.status()));
    std::printf("finished %s\n", id.str().c_str());  // for `league up`: everybody has been told
    std::fflush(stdout);
    projections.hurry();
  });

  LeadersHandler handler(service.handler(), succession);
  auto listen = options.common.listen_options(*settings, options.common.port);
  listen.recognise = KnownSenders(ledger, store->operator_key, admission);
  listen.pages = pages.pages((*port)->log());
  auto served = (*port)->serve(std::move(listen), handler);
  if (!served) return give_up(*store, served.error());
  if (auto joined = join_bus(**host, **port, handler, conductor, ledger, id); !joined) {
    (*port)->stop_serving();
    return give_up(*store, joined.error());
  }
  const agent::LogFlusher flusher((*host)->timer());
  codes.follow((*host)->timer());
  if (reload != nullptr) reload->follow((*host)->timer(), *settings, **port, operator_log);
  conductor.start(std::chrono::seconds(options.registration_window_seconds));
  if (store->sqlite) projector.start();
  std::string url = options.common.contact_endpoint((*port)->port());
  if (ledger.is_continued()) {
    operator_log.say(false, "LEAGUE_CONTINUED", continuation_of(id, url, service.status()));
  } else {
    operator_log.say(false, "LEAGUE_OPENED",
                     "league " + id.str() + " waits for " +
                         std::to_string(store->settings.players) + " players and " +
                         std::to_string(store->settings.referees) + " referees at " + url);
  }
  const auto& common = options.common;
  if (auto told = who_can_register(common.bind_address, common.bus.is_wanted(), admission);
      !told.empty())
    spdlog::warn(told);
  agent::announce_ready(url, id.str());

  stop.wait();
  webhooks->finish();
  conductor.stop();
  if (events.feed) events.feed->stop();
  (*port)->stop_serving();
  pages.stop();
  (*delays)->stop();
  if (succession != nullptr) succession->finish();
  (*host)->shut_down();
  if (store->sqlite) store->sqlite->close();
  projections.stop();
  return exit_code;
}

}  // namespace league::league_manager
