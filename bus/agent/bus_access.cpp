#include "bus/agent/bus_access.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/core/private_file.h"
#include "common/schema/json_fields.h"

namespace league::agent::bus {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Prefixes of errors: all connections go to the same address, so only these tell them apart.
constexpr const char* kOfStreams = "streams: ";
constexpr const char* kOfReferees = "referees: ";

core::Error bus_error(const fs::path& file, const std::string& why) {
  return {core::ErrorCode::kInvalidFieldValue, file.string() + ": " + why, {}};
}

core::Result<transport::bus::NatsCredentials> read_user(const fs::path& file, const json& object,
                                                        const std::string& what) {
  transport::bus::NatsCredentials credentials;
  if (object.is_object()) {
    credentials.user = schema::text_at(object, "user");
    credentials.password = schema::text_at(object, "password");
  }
  if (credentials.user.empty()) return bus_error(file, what + "names no user");
  return credentials;
}

core::Result<std::set<transport::link::BusSession>> read_served_first(const fs::path& file,
                                                                      const json& credentials) {
  std::set<transport::link::BusSession> sessions;
  const json listed = credentials.value("served_first", json::array());
  if (!listed.is_array()) return bus_error(file, "served_first is not a list of sessions");
  for (const auto& one : listed) {
    auto session =
        one.is_string() ? transport::link::BusSession::parse(one.get<std::string>()) : std::nullopt;
    if (!session) return bus_error(file, "served_first is not a list of sessions");
    sessions.insert(*session);
  }
  return sessions;
}

core::Result<void> read_credentials(const fs::path& file, bool needs_url, BusAccess& access) {
  std::ifstream in(file);
  if (!in) return bus_error(file, "cannot be read");
  json credentials = json::parse(in, nullptr, false);
  if (!credentials.is_object()) return bus_error(file, "is not a JSON object");
  auto user = read_user(file, credentials, "");
  if (!user) return user.error();
  access.options.credentials = std::move(*user);
  auto streams = credentials.find("streams");
  if (streams != credentials.end() && *streams == json(false)) {
    access.has_streams = false;
  } else if (streams != credentials.end()) {
    auto other = read_user(file, *streams, "streams ");
    if (!other) return other.error();
    access.streams_credentials = std::move(*other);
  }
  auto first = read_served_first(file, credentials);
  if (!first) return first.error();
  access.served_first = std::move(*first);
  access.session = transport::link::BusSession::parse(schema::text_at(credentials, "session"));
  if (!access.session) return bus_error(file, "names no session");
  if (access.options.tls.ca.empty()) {
    access.options.tls.ca_pem = schema::text_at(credentials, "ca");
    if (access.options.tls.ca_pem.empty())
      access.options.tls.ca = schema::text_at(credentials, "ca_file");
  }
  if (needs_url) access.options.urls = schema::text_at(credentials, "url");
  if (access.options.urls.empty())
    return bus_error(file, "has no url: say where the broker is with --bus");
  return {};
}

}  // namespace

core::Result<BusAccess> read_bus_access(const BusOptions& options, const std::string& name) {
  BusAccess access;
  access.options.urls = options.urls;
  access.options.name = name;
  access.options.tls.ca = options.tls.ca;
  access.options.tls.cert = options.tls.cert;
  access.options.tls.key = options.tls.key;
  if (!options.credentials.empty()) {
    auto read = read_credentials(options.credentials, options.urls.empty(), access);
    if (!read) return read.error();
  }
  return access;
}

core::Result<std::shared_ptr<transport::bus::Bus>> connect_bus(
    const BusAccess& access, std::function<void(std::string)> on_fault) {
  auto options = access.options;
  options.on_fault = std::move(on_fault);
  return transport::bus::connect_nats(options);
}

namespace {

/// Opens another connection; its errors and faults begin with `prefix`.
core::Result<std::shared_ptr<transport::bus::Bus>> connect_beside(
    const BusAccess& second, const char* prefix, std::function<void(std::string)> on_fault) {
  if (on_fault) {
    on_fault = [prefix, told = std::move(on_fault)](const std::string& fault) {
      told(prefix + fault);
    };
  }
  auto bus = connect_bus(second, std::move(on_fault));
  if (bus) return bus;
  auto error = bus.error();
  error.message = prefix + error.message;
  return error;
}

}  // namespace

core::Result<std::shared_ptr<transport::bus::Bus>> connect_streams(
    const BusAccess& access, std::function<void(std::string)> on_fault) {
  if (!access.streams_credentials) return std::shared_ptr<transport::bus::Bus>();
  auto second = access;
  second.options.credentials = *access.streams_credentials;
  second.options.name += " (streams)";
  return connect_beside(second, kOfStreams, std::move(on_fault));
}

core::Result<std::shared_ptr<transport::bus::Bus>> connect_first(
    const BusAccess& access, std::function<void(std::string)> on_fault) {
  if (access.served_first.empty()) return std::shared_ptr<transport::bus::Bus>();
  auto second = access;
  second.options.name += " (referees)";
  second.options.has_own_threads = true;
  return connect_beside(second, kOfReferees, std::move(on_fault));
}

core::Error no_streams_error(const std::string& who) {
  return {
      core::ErrorCode::kInvalidFieldValue,
      who +
          " needs streams, but according to the credentials the brokers store none: recreate the "
          "brokers' configuration with `league bus-config --jetstream DIRECTORY`, and "
          "distribute its files again",
      {}};
}

core::Result<transport::link::BusSession> open_bus_session(const fs::path& file,
                                                           core::RandomSource& random) {
  if (file.empty()) return transport::link::BusSession::make(random);
  auto kept = core::read_private_file(file);
  if (!kept) return kept.error();
  if (*kept) {
    auto session = transport::link::BusSession::parse((*kept)->substr(0, (*kept)->find('\n')));
    if (!session) return bus_error(file, "contains no session; remove it to begin a new one");
    return *session;
  }
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  auto session = transport::link::BusSession::make(random);
  if (auto written = core::write_private_file(file, session.str() + "\n"); !written)
    return written.error();
  return session;
}

}  // namespace league::agent::bus
