#include "tests/support/league_fixture.h"

#include <stdexcept>

#include "common/agent/identity/registration.h"
#include "common/agent/peers/peer_client.h"
#include "common/audit/calls/audited_caller.h"
#include "common/audit/calls/audited_handler.h"
#include "common/journal/memory_journal_testing.h"
#include "common/journal/sqlite_journal.h"
#include "common/transport/caller/link_caller.h"
#include "game/files/game_file.h"
#include "league_manager/events/event_codec.h"
#include "league_manager/service/continuation.h"
#include "league_manager/service/manager_service.h"
#include "player/service/player_service.h"
#include "referee/service/referee_service.h"

namespace league::testing {
namespace {

using nlohmann::json;

constexpr auto kLeagueId = "league_2025_even_odd";

league_manager::events::LeagueSettings with_key(
    league_manager::events::LeagueSettings settings,
    const league_manager::admission::TokenIssuer& token_issuer) {
  settings.league_key = token_issuer.league_key().public_key();
  return settings;
}

league_manager::events::LeagueSettings league_settings(const LeagueFixtureOptions& options) {
  auto settings = league_manager::service::settings_from(options.settings);
  settings.league_id = core::LeagueId(kLeagueId);
  settings.rules = options.game;
  settings.meetings = options.meetings;
  settings.players = options.players_expected > 0 ? options.players_expected : options.players;
  settings.referees = options.referees;
  settings.open_mode = options.mode == envelope::Mode::kOpen;
  return settings;
}

std::filesystem::path log_path(const std::filesystem::path& directory, const std::string& id) {
  auto logs = directory / "logs";
  return id == "league_manager" ? logs / "league" / kLeagueId / "league.log.jsonl"
                                : logs / "agents" / (id + ".log.jsonl");
}

std::string sender_of(const std::string& id, const std::string& name) {
  if (id == "league_manager") return id;
  return (id.starts_with("REF") ? "referee:" : "player:") + name;
}

/// An agent has a name of its own choice until it is registered.
std::unique_ptr<audit::log::AuditLog> open_log(const std::filesystem::path& directory,
                                               const std::string& id, const core::Clock& clock) {
  if (directory.empty()) return nullptr;
  audit::log::AuditLogOptions options;
  bool is_manager = id == "league_manager";
  std::string name = is_manager ? id : "bot_" + id;
  options.path = log_path(directory, name);
  options.agent = sender_of(id, name);
  if (is_manager) options.league.id = kLeagueId;
  options.logs = directory / "logs";
  auto log = audit::log::AuditLog::open(std::move(options), clock);
  if (!log) throw std::runtime_error(log.error().message);
  return std::move(*log);
}

std::string id_text(const char* prefix, int number) {
  std::string digits = std::to_string(number);
  return prefix + std::string(digits.size() < 2 ? 2 - digits.size() : 0, '0') + digits;
}

}  // namespace

const envelope::MessageSchemas& schemas() {
  static const envelope::MessageSchemas kSchemas = *envelope::MessageSchemas::load();
  return kSchemas;
}

/// The way of an agent's calls over connections. What goes wrong there begins when the agents are
/// registered: before, a lost answer would cost an agent its place in the order.
class LeagueFixture::Links final : public transport::link::Connector {
 public:
  Links(LeagueFixture& fixture, const std::string& id)
      : fixture_(fixture),
        faulty_(fixture.links, plan(fixture, id), fixture.time, fixture.time),
        caller_(*this, fixture.time, fixture.time, without_farewell()) {}

  void connect(const transport::link::Endpoint& endpoint, core::Clock::Steady deadline,
               Opened opened) override {
    transport::link::Connector& ours = fixture_.is_registered_ ? faulty_ : plain();
    ours.connect(endpoint, deadline, std::move(opened));
  }
  [[nodiscard]] transport::link::Caller& caller() { return caller_; }

 private:
  [[nodiscard]] transport::link::Connector& plain() { return fixture_.links; }
  static transport::memory::FaultPlan plan(const LeagueFixture& fixture, const std::string& id) {
    auto plan = *fixture.options.links;
    for (char c : id) plan.seed = plan.seed * 131 + static_cast<unsigned char>(c);
    return plan;
  }
  /// Nobody runs the network while it is being destroyed.
  static transport::caller::LinkCallerOptions without_farewell() {
    transport::caller::LinkCallerOptions options;
    options.farewell = std::chrono::milliseconds(0);
    return options;
  }

  LeagueFixture& fixture_;
  transport::memory::FaultyConnector faulty_;
  transport::caller::LinkCaller caller_;
};

/// Where an agent meets the network: recorded on both ways, with faults and deviations. Declared
/// before the agent's service, because the service may hold answers that it never sends.
struct LeagueFixture::Wire {
  Wire(LeagueFixture& fixture, std::string agent_id)
      : id(std::move(agent_id)),
        sink(fixture.recording, id, open_log(fixture.options.directory, id, fixture.time)),
        memory(fixture.network),
        links(fixture.options.links ? std::make_unique<Links>(fixture, id) : nullptr),
        faulty(links ? links->caller() : memory, fixture.time, fixture.time, fixture.options.faults,
               id),
        audited(faulty, sink, clock_of_records(fixture)),
        peers(audited, schemas(), fixture.time, fixture.options.mode) {}

  static const core::Clock& clock_of_records(const LeagueFixture& fixture) {
    if (fixture.options.directory.empty()) return fixture.time;
    return fixture.ticking;
  }

  void listen(LeagueFixture& fixture, transport::link::MessageHandler& service) {
    script = std::make_unique<ScriptedHandler>(service, fixture.time);
    handler =
        std::make_unique<audit::calls::AuditedHandler>(*script, sink, clock_of_records(fixture));
    fixture.network.listen(url_of(id), *handler);
    fixture.links.listen(url_of(id), *handler);
    fixture.wires_[id] = this;
  }

  [[nodiscard]] std::string log_key() const {
    return sink.file() != nullptr ? sink.file()->public_key() : std::string();
  }
  void became(const agent::identity::Identity& given, const std::filesystem::path& directory) {
    identity = given;
    if (sink.file() == nullptr) return;
    auto moved = sink.file()->retarget(log_path(directory, given.id), sender_of(id, given.id),
                                       {.id = given.league.str(), .key = given.league_key});
    if (!moved) throw std::runtime_error(moved.error().message);
  }

  const std::string id;
  RecordingSink sink;
  transport::memory::MemoryCaller memory;
  std::unique_ptr<Links> links;
  FaultyCaller faulty;
  audit::calls::AuditedCaller audited;
  agent::peers::PeerClient peers;
  std::unique_ptr<audit::calls::AuditedHandler> handler;
  std::unique_ptr<ScriptedHandler> script;
  agent::identity::Identity identity;
};

/// What the manager's process leaves behind.
struct LeagueFixture::Store {
  explicit Store(LeagueFixture& fixture)
      : token_issuer(core::LeagueId(kLeagueId), fixture.random) {}

  league_manager::admission::TokenIssuer token_issuer;
  journal::MemoryJournal journal;
};

struct LeagueFixture::Manager {
  explicit Manager(LeagueFixture& fixture)
      : wire(fixture, "league_manager"),
        log([&fixture](const league_manager::rounds::OperatorLine& line) {
          fixture.operator_lines.push_back((line.is_warning ? "! " : "") + std::string(line.event) +
                                           ": " + line.text);
        }),
        records(fixture.time.utc_now()),
        ledger(with_key(league_settings(fixture.options), fixture.store_->token_issuer),
               fixture.store_->journal, fixture.time),
        envelopes(envelope::Sender::league_manager(), core::LeagueId(kLeagueId), fixture.time),
        league_runner({.ledger = ledger,
                       .token_issuer = fixture.store_->token_issuer,
                       .peers = wire.peers,
                       .timer = fixture.time,
                       .clock = fixture.time,
                       .random = fixture.random,
                       .settings = fixture.options.settings,
                       .envelopes = envelopes,
                       .may_start = {},
                       .log = &log,
                       .delays = &fixture.manager_delays}),
        endpoints(transport::link::EndpointPolicy::local()),
        service({.mode = fixture.options.mode,
                 .league_id = core::LeagueId(kLeagueId),
                 .operator_key = core::AuthToken(kOperatorKey),
                 .league_key = fixture.store_->token_issuer.league_key().public_key(),
                 .game = fixture.options.game},
                {.ledger = ledger,
                 .league_runner = league_runner,
                 .token_issuer = fixture.store_->token_issuer,
                 .random = fixture.random,
                 .clock = fixture.time,
                 .schemas = schemas(),
                 .envelopes = envelopes,
                 .endpoints = endpoints,
                 .timer = fixture.time,
                 .log = &log,
                 .records = &records}) {
    ledger.observe(
        [this](const league_manager::events::Events& events) { records.on_events(events); });
    ledger.observe([this](const league_manager::events::Events& events) { log.on_events(events); });
    if (auto opened = ledger.open(); !opened) throw std::runtime_error(opened.error().message);
    log.begin();
    wire.sink.show_to([this](const audit::record::Record& record) { records.on_record(record); });
    wire.listen(fixture, service.handler());
    league_runner.on_finished([&fixture] { fixture.is_over_ = true; });
    league_runner.start(fixture.options.registration_window);
  }

  Wire wire;
  league_manager::rounds::OperatorLog log;
  league_manager::service::AgentRecords records;
  league_manager::files::Ledger ledger;
  envelope::EnvelopeBuilder envelopes;
  league_manager::rounds::LeagueRunner league_runner;
  league_manager::admission::EndpointAdmission endpoints;
  league_manager::service::ManagerService service;
};

struct LeagueFixture::Referee {
  Referee(LeagueFixture& fixture, std::string id)
      : wire(fixture, std::move(id)),
        service({.max_concurrent_matches = fixture.options.capacity,
                 .mode = fixture.options.mode,
                 .manager = *transport::link::parse_endpoint(kManagerUrl)},
                {.peers = wire.peers,
                 .timer = fixture.time,
                 .clock = fixture.time,
                 .schemas = schemas(),
                 .games = games,
                 .settings = fixture.options.settings,
                 .delays = fixture.delays,
                 .may_start = {}}) {
    wire.listen(fixture, service.handler());
  }
  void set_identity(const agent::identity::Identity& identity) {
    if (auto learnt = game::files::learn_game(games, identity.game); !learnt)
      throw std::runtime_error(learnt.error().message);
    service.set_identity(identity, url_of(wire.id));
  }

  Wire wire;
  game::Games games = game::Games::standard();
  referee::service::RefereeService service;
};

struct LeagueFixture::Player {
  Player(LeagueFixture& fixture, std::string id, std::string strategy)
      : wire(fixture, std::move(id)),
        random(fixture.options.seed + std::hash<std::string>{}(wire.id)),
        nonces(fixture.options.seed + std::hash<std::string>{}("nonces of " + wire.id)),
        service(std::move(*player::service::PlayerService::create({.display_name = "bot_" + wire.id,
                                                                   .strategy = std::move(strategy),
                                                                   .mode = fixture.options.mode,
                                                                   .standalone = false},
                                                                  {.timer = fixture.time,
                                                                   .clock = fixture.time,
                                                                   .random = random,
                                                                   .schemas = schemas(),
                                                                   .nonces = &nonces}))) {
    wire.listen(fixture, service->handler());
  }
  void set_identity(const agent::identity::Identity& identity) {
    if (auto learnt = service->learn_game(identity); !learnt)
      throw std::runtime_error(learnt.error().message);
    service->set_identity(identity);
  }

  Wire wire;
  ScriptedRandom random;
  ScriptedRandom nonces;  // so that the same seed plays the same league
  std::unique_ptr<player::service::PlayerService> service;
};

LeagueFixture::LeagueFixture(LeagueFixtureOptions given)
    : options(std::move(given)), random(options.seed) {
  store_ = std::make_unique<Store>(*this);
  manager_ = std::make_unique<Manager>(*this);
  for (int i = 1; i <= options.referees; ++i)
    referees_.push_back(std::make_unique<Referee>(*this, id_text("REF", i)));
  for (int i = 1; i <= options.players; ++i) {
    const auto& strategy =
        options.strategies[static_cast<std::size_t>(i - 1) % options.strategies.size()];
    players_.push_back(std::make_unique<Player>(*this, id_text("P", i), strategy));
  }
}

LeagueFixture::~LeagueFixture() {
  manager_->league_runner.stop();
  time.clear();  // what waits refers to the agents
  links.shut_down();
  for (auto& [id, wire] : wires_) wire->links.reset();  // ends calls, while there are agents
  settle();
  time.clear();
}

namespace {

template <typename Agent>
task::Task<void> enter(task::Task<core::Result<agent::identity::Identity>> registration,
                       Agent* agent, std::filesystem::path directory, bool* is_done) {
  const auto identity = co_await std::move(registration);
  if (!identity) throw std::runtime_error("registration: " + identity.error().message);
  if (identity->id != agent->wire.id)
    throw std::runtime_error(agent->wire.id + " became " + identity->id);
  agent->wire.became(*identity, directory);
  agent->set_identity(*identity);
  *is_done = true;
}

}  // namespace

template <typename Agent>
void LeagueFixture::register_one(Agent& agent, envelope::Role role) {
  auto registration = agent::identity::register_agent(
      {agent.wire.peers, time, time, random, options.settings},
      {.role = role,
       .display_name = "bot_" + agent.wire.id,
       .contact_endpoint = url_of(agent.wire.id),
       .game_types = {"even_odd"},
       .max_concurrent_matches = options.capacity,
       .manager = *transport::link::parse_endpoint(kManagerUrl),
       .log_public_key = agent.wire.log_key(),
       .receipts = options.receipts && role == envelope::Role::kPlayer,
       .game_definitions = true});
  bool is_done = false;
  std::exception_ptr fault;
  task::Scope tasks(task::Executor(), [&fault](auto thrown) { fault = std::move(thrown); });
  tasks.spawn(enter(std::move(registration), &agent, options.directory, &is_done));
  run_until([&] { return is_done || fault; });
  if (fault) std::rethrow_exception(fault);
}

void LeagueFixture::register_all() {
  for (auto& referee : referees_) register_one(*referee, envelope::Role::kReferee);
  for (auto& player : players_) register_one(*player, envelope::Role::kPlayer);
  is_registered_ = true;
  links.cut_all();  // what follows goes by connections with faults
}

bool LeagueFixture::run_until(const std::function<bool()>& condition,
                              std::chrono::nanoseconds limit) {
  auto end = time.steady_now() + limit;
  while (!condition()) {
    if (run_one()) continue;
    if (time.steady_now() >= end || !time.advance_to_next()) return false;
  }
  return true;
}

bool LeagueFixture::play(std::chrono::nanoseconds limit) {
  if (!is_registered_) register_all();
  return run_until([this] { return is_over_; }, limit);
}

void LeagueFixture::pass(std::chrono::nanoseconds time_span) {
  auto end = time.steady_now() + time_span;
  bool is_passed = false;
  time.schedule(time_span, [&is_passed] { is_passed = true; });
  run_until([&] { return is_passed && time.steady_now() >= end; }, time_span);
  settle();
}

std::string LeagueFixture::url_of(const std::string& id) {
  if (id == "league_manager") return kManagerUrl;
  bool is_referee = id.starts_with("REF");
  int number = std::stoi(id.substr(is_referee ? 3 : 1));
  return "http://127.0.0.1:" + std::to_string((is_referee ? 8000 : 8100) + number) + "/mcp";
}

void LeagueFixture::restart_manager() {
  manager_->league_runner.stop();
  disconnect("league_manager");
  dead_managers_.push_back(std::move(manager_));
  manager_ = std::make_unique<Manager>(*this);
}

ScriptedHandler& LeagueFixture::script(const std::string& id) { return *wires_.at(id)->script; }

void LeagueFixture::disconnect(const std::string& id) {
  network.close(url_of(id));
  links.close(url_of(id));
}

void LeagueFixture::connect(const std::string& id) {
  network.listen(url_of(id), *wires_.at(id)->handler);
  links.listen(url_of(id), *wires_.at(id)->handler);
}

core::AuthToken LeagueFixture::token_of(const std::string& id) const {
  return wires_.at(id)->identity.token;
}

int LeagueFixture::running_matches(int referee) const {
  return static_cast<int>(referees_[static_cast<std::size_t>(referee)]->service.running_matches());
}

LeagueFixture::Answer LeagueFixture::post(const std::string& id, const std::string& bytes) {
  transport::memory::MemoryCaller caller(network);
  transport::link::OutboundCall call;
  call.endpoint = *transport::link::parse_endpoint(url_of(id));
  call.bytes = bytes;
  call.deadline = time.steady_now() + std::chrono::seconds(60);
  Answer answer;
  bool is_done = false;
  caller.call(std::move(call), [&](transport::link::CallOutcome outcome) {
    if (outcome.error) throw std::runtime_error("post: " + outcome.error->message);
    answer = {outcome.http_status, outcome.bytes.str(), json::parse(outcome.bytes, nullptr, false)};
    is_done = true;
  });
  run_until([&] { return is_done; });
  return answer;
}

json LeagueFixture::call(const std::string& id, const std::string& method, json params) {
  json frame = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(params)}};
  return post(id, frame.dump()).frame;
}

json LeagueFixture::message(const std::string& type, const std::string& sender,
                            const std::string& token, json fields) const {
  json message = {{"protocol", "league.v2"},
                  {"message_type", type},
                  {"sender", sender},
                  {"timestamp", time.utc_now().to_wire()},
                  {"conversation_id", "convtest001"},
                  {"league_id", kLeagueId}};
  if (!token.empty()) message["auth_token"] = token;
  message.update(fields);
  return message;
}

void LeagueFixture::close_files() {
  for (auto& [id, wire] : wires_) wire->sink.file()->close();
  auto directory = options.directory / "data" / "journal";
  std::filesystem::create_directories(directory);
  journal::SqliteJournalOptions journal_options;
  journal_options.file = directory / "journal.sqlite";
  auto journal = journal::SqliteJournal::open(std::move(journal_options));
  if (!journal) throw std::runtime_error(journal.error().message);
  auto copied = store_->journal.replay([&](const journal::Entry& entry) -> core::Result<void> {
    (*journal)->append({entry.record}, [](const auto&) {});
    return {};
  });
  if (!copied) throw std::runtime_error(copied.error().message);
  (*journal)->close();
}

json LeagueFixture::status() const { return manager_->service.status(); }

league_manager::events::Events LeagueFixture::events() const {
  league_manager::events::Events events;
  auto replayed = store_->journal.replay([&](const journal::Entry& entry) -> core::Result<void> {
    auto event = league_manager::events::from_record(entry.record);
    if (!event) return event.error();
    events.push_back(std::move(*event));
    return {};
  });
  if (!replayed) throw std::runtime_error(replayed.error().message);
  return events;
}

void LeagueFixture::read(const std::function<void(const league_manager::League&)>& look) const {
  manager_->ledger.read([&](const league_manager::League& league) { look(league); });
}

}  // namespace league::testing
