#include "common/agent/bus_options.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/core/private_file.h"

namespace league::agent {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Both connections go to the same address: nothing else tells them apart.
constexpr const char* kOfStreams = "streams: ";

core::Error bus_error(const fs::path& file, const std::string& why) {
  return {core::ErrorCode::kInvalidFieldValue, file.string() + ": " + why, {}};
}

std::string text_of(const json& object, const char* name) {
  auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

core::Result<transport::NatsCredentials> read_user(const fs::path& file, const json& object,
                                                   const std::string& what) {
  transport::NatsCredentials credentials;
  if (object.is_object()) {
    credentials.user = text_of(object, "user");
    credentials.password = text_of(object, "password");
  }
  if (credentials.user.empty()) return bus_error(file, what + "names no user");
  return credentials;
}

core::Result<void> read_credentials(const fs::path& file, bool needs_url, BusAccess& access) {
  std::ifstream in(file);
  if (!in) return bus_error(file, "cannot be read");
  json credentials = json::parse(in, nullptr, false);
  if (!credentials.is_object()) return bus_error(file, "holds no JSON object");
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
  access.session = transport::BusSession::parse(text_of(credentials, "session"));
  if (!access.session) return bus_error(file, "names no session");
  if (access.options.tls.ca.empty()) access.options.tls.ca = text_of(credentials, "ca_file");
  if (needs_url) access.options.urls = text_of(credentials, "url");
  if (access.options.urls.empty())
    return bus_error(file, "has no url: say where the broker is with --bus");
  return {};
}

}  // namespace

core::Result<BusAccess> read_bus_access(const BusOptions& options, const std::string& name) {
  BusAccess access;
  access.options.urls = options.urls;
  access.options.name = name;
  access.options.tls = options.tls;
  if (!options.credentials.empty()) {
    auto read = read_credentials(options.credentials, options.urls.empty(), access);
    if (!read) return read.error();
  }
  return access;
}

core::Result<std::unique_ptr<transport::Bus>> connect_bus(
    const BusAccess& access, std::function<void(std::string)> on_fault) {
  auto options = access.options;
  options.on_fault = std::move(on_fault);
  auto bus = transport::NatsBus::connect(options);
  if (!bus) return bus.error();
  return std::unique_ptr<transport::Bus>(std::move(*bus));
}

core::Result<std::unique_ptr<transport::Bus>> connect_streams(
    const BusAccess& access, std::function<void(std::string)> on_fault) {
  if (!access.streams_credentials) return std::unique_ptr<transport::Bus>();
  auto second = access;
  second.options.credentials = *access.streams_credentials;
  second.options.name += " (streams)";
  if (on_fault) {
    on_fault = [told = std::move(on_fault)](const std::string& fault) { told(kOfStreams + fault); };
  }
  auto bus = connect_bus(second, std::move(on_fault));
  if (bus) return bus;
  auto error = bus.error();
  error.message = kOfStreams + error.message;
  return error;
}

core::Error no_streams_error(const std::string& who) {
  return {core::ErrorCode::kInvalidFieldValue,
          who +
              " needs streams, and by the credentials the brokers keep none: make the brokers' "
              "configuration anew with `league bus-config --jetstream DIRECTORY` and hand its "
              "files out again",
          {}};
}

core::Result<transport::BusSession> open_bus_session(const fs::path& file,
                                                     core::RandomSource& random) {
  if (file.empty()) return transport::BusSession::make(random);
  auto kept = core::read_private_file(file);
  if (!kept) return kept.error();
  if (*kept) {
    auto session = transport::BusSession::parse((*kept)->substr(0, (*kept)->find('\n')));
    if (!session) return bus_error(file, "holds no session; remove it to begin a new one");
    return *session;
  }
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  auto session = transport::BusSession::make(random);
  if (auto written = core::write_private_file(file, session.str() + "\n"); !written)
    return written.error();
  return session;
}

}  // namespace league::agent
