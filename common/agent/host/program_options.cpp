#include "common/agent/host/program_options.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/agent/host/option_table.h"
#include "common/agent/runtime/log.h"
#include "common/agent/runtime/operations_log.h"
#include "common/transport/http/cors_rules.h"
#include "common/transport/link/socket.h"

namespace league::agent::host {
namespace {

std::vector<std::string> names_of_servings(bool may_be_child) {
  std::vector<std::string> names;
  for (Serving serving : kAllServings) {
    const bool is_for_players = serving == Serving::kStdio || serving == Serving::kOutward;
    if (!is_for_players || may_be_child) names.emplace_back(serving_name(serving));
  }
  return names;
}

}  // namespace

envelope::Mode ProgramOptions::parsed_mode() const {
  return mode == "strict" ? envelope::Mode::kStrict : envelope::Mode::kOpen;
}

core::Result<runtime::Settings> ProgramOptions::settings() const {
  return runtime::settings_of(config);
}

std::string ProgramOptions::manager_url(const std::string& given) const {
  if (!given.empty()) return given;
  return bus.is_wanted() ? "nats:manager" : "http://localhost:8000/mcp";
}

AgentHostOptions ProgramOptions::host_options() const {
  AgentHostOptions options;
  options.bus = bus;
  if (!schema_directory.empty()) options.schema_directory = schema_directory;
  options.child_logs = logs / "children";
  return options;
}

Serving ProgramOptions::serving() const {
  if (bus.is_wanted() && !listens_beside_bus) return Serving::kNats;
  return parse_serving(transport).value_or(Serving::kHttp);
}

ListenOptions ProgramOptions::listen_options(const runtime::Settings& settings,
                                             std::uint16_t at_port,
                                             const std::filesystem::path& at_socket) const {
  ListenOptions listen;
  listen.serving = serving();
  listen.socket = at_socket.empty() ? socket : at_socket;
  auto& http = listen.http;
  http.bind_address = bind_address;
  http.port = at_port;
  http.limits.max_head = settings.http.max_head_bytes;
  http.limits.max_body = settings.http.max_body_bytes;
  http.limits.request_timeout = settings.http.request_time;
  http.limits.idle_timeout = settings.http.idle_time;
  http.allow_hosts = allow_hosts;
  if (const auto announced = transport::link::parse_endpoint(advertise);
      announced && !announced->host.empty())
    http.allow_hosts.push_back(announced->host.find(':') == std::string::npos
                                   ? announced->host
                                   : "[" + announced->host + "]");
  http.allow_origins = allow_origins;
  return listen;
}

std::string ProgramOptions::contact_endpoint(std::uint16_t actual_port,
                                             const std::filesystem::path& at_socket) const {
  if (!advertise.empty()) return advertise;
  return contact_endpoint_of(serving(), bind_address, actual_port,
                             at_socket.empty() ? socket : at_socket);
}

void add_config(CLI::App& app) {
  app.add_option("--config",
                 "file of options and limits (TOML, see config/league.toml); options on the "
                 "command line take precedence over the file")
      ->type_name("TEXT");
}

void add_allow_origin(CLI::App& app, std::vector<std::string>& origins) {
  const CLI::Validator as_origin(
      [](std::string& text) {
        auto origin = transport::http::parse_origin(text);
        if (!origin) return origin.error().message;
        text = *origin;
        return std::string();
      },
      "ORIGIN", "origin");
  app.add_option("--allow-origin", origins,
                 "origin of web pages that may call, such as https://example.org; *: every origin; "
                 "may be repeated (default: only pages of this program's own port)")
      ->allow_extra_args(false)
      ->transform(as_origin);
}

void add_program_options(CLI::App& app, ProgramOptions& options) {
  app.add_option("--port", options.port, "port to listen on; 0: any free port")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  app.add_option("--bind", options.bind_address, "numeric address to listen on")
      ->capture_default_str();
  app.add_option(
         "--transport", options.transport,
         std::string("transport over which others reach this program: http (sse and "
                     "websocket share its port), tcp") +
             (options.may_be_child ? ", unix, stdio for the program that starts it, or outward: "
                                     "not at all, the player "
                                     "opens the connection and is called at its seat at the manager"
                                   : " or unix; clients that only support stdio use "
                                     "`league gateway --stdio`"))
      ->check(CLI::IsMember(names_of_servings(options.may_be_child)))
      ->capture_default_str();
  app.add_option("--socket", options.socket, "file of the Unix socket, for --transport unix");
  app.add_option("--bus", options.bus.urls,
                 "message bus to use instead of direct connections: nats://HOST:4222; separate the "
                 "brokers of a cluster by commas");
  app.add_option("--bus-credentials", options.bus.credentials,
                 "this program's credentials file, made by `league bus-config`");
  app.add_option("--bus-ca", options.bus.tls.ca,
                 "PEM file of the broker's certificate authority, for tls://");
  app.add_option("--bus-cert", options.bus.tls.cert,
                 "PEM file of this program's certificate, with --bus-key");
  app.add_option("--bus-key", options.bus.tls.key, "PEM file of the key of that certificate");
  app.add_option("--advertise,--public-url", options.advertise,
                 "URL under which others reach this program (default: http://127.0.0.1:PORT/mcp)");
  app.add_option("--allow-host", options.allow_hosts,
                 "additional host name under which others may call this program; may be repeated")
      ->expected(1, -1);
  add_allow_origin(app, options.allow_origins);
  app.add_option(
         "--mode", options.mode,
         "open accepts small deviations from the protocol and records them, strict refuses them")
      ->check(CLI::IsMember({"open", "strict"}))
      ->capture_default_str();
  add_config(app);
  app.add_option("--logs", options.logs, "directory of the conversation logs")
      ->capture_default_str();
  app.add_option("--schemas", options.schema_directory,
                 "directory of JSON schemas to use instead of the built-in ones");
  app.add_option("--log-level", options.log_level,
                 "level of detail on stderr: trace, debug, info, warn, error, off")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
  app.add_option("--log-format", options.log_format,
                 "format of stderr: text for people, json for machines (one object per line)")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.set_version_flag("--version", std::string(LEAGUE_VERSION));
}

std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv,
                                      ProgramOptions& options) {
  if (auto code = parse_arguments(app, argc, argv, &options.config)) return code;
  runtime::set_up_log(
      app.get_name(), options.log_level,
      options.log_format == "json" ? runtime::LogFormat::kJson : runtime::LogFormat::kText);
  return std::nullopt;
}

core::Result<void> ProgramOptions::check_ports(int count) const {
  const bool has_ports = is_over_http(serving()) || serving() == Serving::kTcp;
  for (int i = 0; has_ports && port != 0 && i < count; ++i) {
    auto tried = transport::link::listen_on(bind_address, static_cast<std::uint16_t>(port + i));
    if (!tried) return tried.error();
  }
  return {};
}

int fail(const core::Error& error) {
  return refuse(error.message);  // it may contain text that other people wrote
}

void announce_ready(const std::string& endpoint, const std::string& id) {
  std::printf("ready %s%s%s\n", endpoint.c_str(), id.empty() ? "" : " ", id.c_str());
  std::fflush(stdout);
}

}  // namespace league::agent::host
