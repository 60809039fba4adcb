#include "common/agent/bus_options.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/core/private_file.h"

namespace league::agent {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

core::Error bus_error(const fs::path& file, const std::string& why) {
  return {core::ErrorCode::kInvalidFieldValue, file.string() + ": " + why, {}};
}

core::Result<void> read_credentials(const fs::path& file, bool needs_url, BusAccess& access) {
  std::ifstream in(file);
  if (!in) return bus_error(file, "cannot be read");
  json credentials = json::parse(in, nullptr, false);
  if (!credentials.is_object()) return bus_error(file, "holds no JSON object");
  auto text = [&credentials](const char* name) {
    auto found = credentials.find(name);
    return found != credentials.end() && found->is_string() ? found->get<std::string>()
                                                            : std::string();
  };
  access.options.credentials.user = text("user");
  access.options.credentials.password = text("password");
  if (access.options.credentials.user.empty()) return bus_error(file, "names no user");
  access.session = transport::BusSession::parse(text("session"));
  if (!access.session) return bus_error(file, "names no session");
  if (access.options.tls.ca.empty()) access.options.tls.ca = text("ca_file");
  if (needs_url) access.options.urls = text("url");
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
