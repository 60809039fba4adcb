#include "tools/league/commands.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "bus/commands/bus_config.h"
#include "common/core/clock.h"
#include "common/core/crypto.h"
#include "tools/league/up/local_broker.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

struct BusConfigOptions {
  std::string agents_file;
  int players = 0;
  int referees = 1;
  std::string league_id;  // empty: the default of a manager
  std::string directory = "bus";
  std::string listen = "127.0.0.1:4222";
  std::string public_address;
  std::vector<std::string> cluster;
  std::string jetstream;
  std::string broker_version;  // empty: that of the nats-server of this machine
  std::string tls_cert;
  std::string tls_key;
  std::string tls_ca;
  bool may_overwrite = false;
  bool json = false;
};

core::Result<std::vector<BusEntry>> entries_of(const BusConfigOptions& options) {
  if (options.agents_file.empty()) return numbered_bus_agents(options.players, options.referees);
  std::ifstream in(options.agents_file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  auto entries = parse_bus_agents(text);
  if (entries) return entries;
  return core::Error{
      entries.error().code, options.agents_file + ", " + entries.error().message, {}};
}

core::Result<BrokerAddress> broker_of(const std::string& text) {
  if (auto address = BrokerAddress::parse(text)) return *address;
  return core::Error{core::ErrorCode::kInvalidFieldValue,
                     "\"" + text + "\" is not HOST, HOST:PORT or HOST:PORT:ROUTE_PORT",
                     {}};
}

/// The only broker: it listens at --listen, and agents reach it at --public.
core::Result<BrokerAddress> single_broker_of(const BusConfigOptions& options) {
  auto listen = broker_of(options.listen);
  if (!listen) return listen;
  const bool is_any = listen->host == "0.0.0.0" || listen->host == "[::]";
  if (options.public_address.empty()) {
    if (!is_any) return listen;
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       "nobody can connect to " + listen->host +
                           ": say with --public HOST:PORT where agents reach the broker",
                       {}};
  }
  auto address = broker_of(options.public_address);
  if (address) address->listen = listen->host + ":" + std::to_string(listen->client_port);
  return address;
}

core::Result<std::vector<BrokerAddress>> brokers_of(const BusConfigOptions& options) {
  std::vector<BrokerAddress> brokers;
  if (options.cluster.empty()) {
    auto broker = single_broker_of(options);
    if (!broker) return broker.error();
    return std::vector{*broker};
  }
  for (const auto& text : options.cluster) {
    auto broker = broker_of(text);
    if (!broker) return broker.error();
    brokers.push_back(*broker);
  }
  return brokers;
}

/// The certificate authority as text: agents on other machines do not have its file.
core::Result<std::string> read_pem(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  if (text.find("-----BEGIN CERTIFICATE-----") != std::string::npos) return text;
  return core::Error{core::ErrorCode::kInvalidFieldValue,
                     path + (in ? " contains no certificate in PEM" : " cannot be read"),
                     {}};
}

/// Paths must be absolute, since the broker can be started in any directory.
std::string absolute_path(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

std::string this_years_league() {
  constexpr std::size_t kYear = 4;
  return "league_" + core::SystemClock().utc_now().to_wire().substr(0, kYear) + "_even_odd";
}

/// The version of the brokers, as far as it is known. Only where there are streams it matters.
core::Result<std::optional<BrokerVersion>> broker_version_of(const BusConfigOptions& options) {
  std::optional<BrokerVersion> version;
  if (options.broker_version.empty()) {
    if (options.jetstream.empty()) return version;
    if (const auto installed = installed_broker_version())
      version = BrokerVersion::parse(*installed);
    return version;
  }
  version = BrokerVersion::parse(options.broker_version);
  if (version) return version;
  return core::Error{core::ErrorCode::kInvalidFieldValue,
                     "--broker-version \"" + options.broker_version +
                         "\" is not a version such as 2.10.27 (`nats-server --version`)",
                     {}};
}

core::Result<BusConfig> config_of(const BusConfigOptions& options) {
  auto version = broker_version_of(options);
  if (!version) return version.error();
  auto entries = entries_of(options);
  if (!entries) return entries.error();
  auto brokers = brokers_of(options);
  if (!brokers) return brokers.error();
  auto authority = read_pem(options.tls_ca);
  if (!authority) return authority.error();
  core::CryptoRandom random;
  BusConfig config{.league_id = options.league_id.empty() ? this_years_league() : options.league_id,
                   .agents = make_bus_agents(*entries, random),
                   .brokers = *brokers,
                   .tls = std::nullopt,
                   .jetstream = absolute_path(options.jetstream),
                   .broker_version = *version,
                   .route_password = core::to_hex(random.bytes<16>())};
  if (!options.tls_cert.empty())
    config.tls = BusTls{absolute_path(options.tls_cert), absolute_path(options.tls_key),
                        absolute_path(options.tls_ca), *authority};
  return config;
}

/// How durable a message is that the brokers have acknowledged, in one line.
std::string durability_of(const BusConfig& config) {
  const auto& version = config.broker_version;
  if (config.flushes_messages())
    return "the brokers flush each message to their disks before they acknowledge it; these files "
           "are for nats-server 2.10 and later (yours is " +
           version->text() + "), and earlier versions refuse them";
  const std::string own = "; the journal of the leading manager itself is flushed in any case";
  if (version)
    return "nats-server " + version->text() +
           " acknowledges a message before its disk has it (2.10 and later can flush first)" + own;
  return "the version of the brokers is not known (--broker-version), so these files are for "
         "nats-server 2.9, too, which acknowledges a message before its disk has it" +
         own;
}

void warn(const BusConfig& config) {
  if (config.has_streams() && !config.flushes_messages())
    std::cerr << "note: " << durability_of(config) << '\n';
  if (const auto& login = config.agents.front().login; login.stored_password == login.password)
    std::cerr << "warning: this system cannot make bcrypt hashes, so users.conf contains the "
                 "passwords themselves; let only the broker read it\n";
  bool is_local = true;
  for (const auto& broker : config.brokers)
    is_local = is_local && (broker.host.starts_with("127.") || broker.host == "localhost" ||
                            broker.host == "[::1]");
  if (!config.tls && !is_local)
    std::cerr << "warning: without --tls-cert and --tls-key, passwords and tokens cross the "
                 "network unencrypted\n";
}

/// `1 referee`, `2 referees`.
std::string how_many(const BusConfig& config, BusRole role) {
  int number = 0;
  for (const auto& agent : config.agents) number += agent.role == role ? 1 : 0;
  return std::to_string(number) + " " + std::string(name_of(role)) + (number == 1 ? "" : "s");
}

void print_files_json(const BusConfig& config, const BusConfigFiles& files) {
  nlohmann::json object = {{"league_id", config.league_id},
                           {"broker_version", nullptr},
                           {"flushes_messages", config.flushes_messages()},
                           {"users", files.users.string()},
                           {"servers", nlohmann::json::array()},
                           {"credentials", nlohmann::json::object()}};
  if (config.broker_version) object["broker_version"] = config.broker_version->text();
  for (const auto& path : files.brokers) object["servers"].push_back(path.string());
  for (const auto& agent : config.agents)
    object["credentials"][agent.name] = (files.credentials / (agent.name + ".json")).string();
  print_json(object);
}

void print_files(const BusConfig& config, const BusConfigFiles& files) {
  std::cout << "users of " << safe_text(config.league_id) << ": the manager, the operator, "
            << how_many(config, BusRole::kReferee) << ", " << how_many(config, BusRole::kPlayer)
            << '\n';
  for (const auto& path : files.brokers)
    std::cout << "  " << path.string() << "  configuration of a broker\n";
  std::cout << "  " << files.users.string()
            << "  users and permissions; must be in the same directory\n"
               "  "
            << files.credentials.string()
            << "/NAME.json  url, user, password and session; give each agent only its own file\n";
  if (config.flushes_messages()) std::cout << durability_of(config) << '\n';
  std::cout << "next, " << (files.brokers.size() > 1 ? "on each broker's machine:" : "type:")
            << '\n';
  for (const auto& path : files.brokers) std::cout << "  nats-server -c " << path.string() << '\n';
  constexpr std::size_t kEnoughToAgree = 3;
  if (config.has_streams() && files.brokers.size() >= kEnoughToAgree)
    std::cout << "to keep streams when a broker fails, put this into the manager's --config file:\n"
                 "  [limits.bus]\n  replicas = 3\n";
  std::cout << std::flush;
}

int make_bus_config(const BusConfigOptions& options) {
  auto config = config_of(options);
  if (!config) return fail(config.error());
  auto files = write_bus_config(options.directory, *config, options.may_overwrite);
  if (!files) return fail(files.error());
  warn(*config);
  if (options.json) {
    print_files_json(*config, *files);
  } else {
    print_files(*config, *files);
  }
  return 0;
}

void add_who(CLI::App& command, BusConfigOptions& options) {
  constexpr int kMost = 10'000;
  auto* file =
      command
          .add_option(
              "--agents", options.agents_file,
              "file with one line per agent: `player NAME [SESSION]` or `referee NAME [SESSION]`")
          ->check(CLI::ExistingFile);
  command
      .add_option("--players", options.players, "number of players, named player01, player02, ...")
      ->check(CLI::Range(1, kMost))
      ->excludes(file);
  command
      .add_option("--referees", options.referees, "number of referees, named referee01, ... (1)")
      ->check(CLI::Range(0, kMost))
      ->excludes(file);
  command.add_option("--league", options.league_id,
                     "the league's id (default: league_YEAR_even_odd)");
}

void add_where(CLI::App& command, BusConfigOptions& options) {
  auto* listen = command.add_option("--listen", options.listen,
                                    "HOST:PORT at which the broker listens and agents reach it");
  listen->capture_default_str();
  auto* address = command.add_option(
      "--public", options.public_address,
      "HOST:PORT at which agents reach the broker, if it is another one (a service, a NAT)");
  command
      .add_option("--cluster", options.cluster,
                  "HOST[:PORT[:ROUTE_PORT]] of each broker of a cluster, separated by commas")
      ->delimiter(',')
      ->excludes(listen)
      ->excludes(address);
  command.add_option("--jetstream", options.jetstream,
                     "directory in which the brokers store streams; without it they store none");
  command.add_option(
      "--broker-version", options.broker_version,
      "version of the brokers, such as 2.10.27: from 2.10 on they flush each message "
      "of a stream before they acknowledge it (default: that of the nats-server of "
      "this machine, else before 2.10)");
  auto* cert = command.add_option("--tls-cert", options.tls_cert, "the brokers' certificate (PEM)");
  auto* key = command.add_option("--tls-key", options.tls_key, "its key (PEM)")->needs(cert);
  cert->needs(key);
  command
      .add_option("--tls-ca", options.tls_ca,
                  "certificate of the authority that signed it (PEM), unless that is a public one; "
                  "it is copied into the credentials files")
      ->needs(cert);
}

}  // namespace

void add_bus_config_command(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<BusConfigOptions>();
  CLI::App* command = app.add_subcommand(
      "bus-config", "write a broker's configuration: one user per agent, limited to its subjects");
  add_who(*command, *options);
  add_where(*command, *options);
  command->add_option("--dir", options->directory, "directory to write to")->capture_default_str();
  command->add_flag("--force", options->may_overwrite, "replace everything in --dir");
  command->add_flag("--json", options->json, "print one JSON object for machines");
  command->footer(
      "Examples:\n"
      "  league bus-config --players 8 --referees 2 --jetstream bus/streams\n"
      "  league bus-config --agents agents.txt --league league_2026_even_odd --listen "
      "broker.example:4222 --tls-cert cert.pem --tls-key key.pem --tls-ca ca.pem\n"
      "  league bus-config --players 100 --cluster a.example,b.example,c.example --jetstream "
      "/var/lib/league\n"
      "Give each agent only its own DIR/credentials/NAME.json.\n"
      "Exit codes: 0 the files were written, 2 wrong usage or the files cannot be written.");
  command->callback([options, &chosen] {
    if (options->agents_file.empty() && options->players == 0)
      throw CLI::RequiredError("--agents FILE or --players N");
    chosen = [options] { return make_bus_config(*options); };
  });
}

}  // namespace league::tools
