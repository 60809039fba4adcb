#include "tools/league/up/local_broker.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

namespace league::tools {
namespace {

namespace fs = std::filesystem;

/// nats-server in the PATH, or in the directories where distributions install servers.
std::optional<fs::path> find_server() {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody changes it
  std::istringstream directories(std::string(path != nullptr ? path : "") +
                                 ":/usr/sbin:/usr/local/sbin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    std::error_code ignored;
    auto file = fs::path(directory) / "nats-server";
    if (!directory.empty() && fs::exists(file, ignored)) return file;
  }
  return std::nullopt;
}

/// Reads the URL from `nats-server_PID.ports`, which the server writes once it listens; nothing
/// before that.
std::optional<std::string> read_url(const fs::path& directory, pid_t pid) {
  std::ifstream in(directory / ("nats-server_" + std::to_string(pid) + ".ports"));
  auto ports = nlohmann::json::parse(in, nullptr, false);
  if (!ports.is_object() || !ports.contains("nats") || !ports["nats"].is_array()) return {};
  for (const auto& url : ports["nats"]) {
    if (url.is_string()) return url.get<std::string>();
  }
  return {};
}

/// Removes the files of killed servers, since the next server can get the same process id.
void remove_old_ports(const fs::path& directory) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (entry.path().extension() == ".ports") fs::remove(entry.path(), ignored);
  }
}

core::Error broker_error(const std::string& why) {
  return {core::ErrorCode::kInternalError, why, {}};
}

}  // namespace

std::optional<std::string> installed_broker_version() {
  constexpr std::chrono::seconds kPatience{5};
  const auto program = find_server();
  if (!program) return std::nullopt;
  auto process = ChildProcess::start(
      {.program = *program, .arguments = {"--version"}, .stderr_file = "/dev/null"});
  if (!process) return std::nullopt;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (bool has_ended = false; !has_ended;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || !process->wait_for_output(left)) break;
    has_ended = process->poll_end().has_value();
    const auto lines = process->read_lines();
    if (!lines.empty()) return lines.front();
  }
  return std::nullopt;
}

core::Result<LocalBroker> LocalBroker::start(const fs::path& data, const fs::path& logs,
                                             transport::link::StopSignal& stop, int port) {
  constexpr std::chrono::seconds kPatience{10};
  constexpr std::chrono::milliseconds kBetweenLooks{20};
  auto program = find_server();
  if (!program)
    return broker_error(
        "--bus needs nats-server, which is not installed (package nats-server); or name a broker "
        "that runs: --bus=nats://HOST:4222");
  fs::path store = data / "bus";
  std::error_code failed;
  fs::create_directories(store, failed);
  if (failed) return broker_error(store.string() + ": " + failed.message());
  remove_old_ports(store);
  auto log = logs / "bus.stderr.log";
  auto process = ChildProcess::start(
      {.program = *program,
       .arguments = {"--addr", "127.0.0.1", "--port", std::to_string(port == 0 ? -1 : port),
                     "--jetstream", "--store_dir", store.string(), "--ports_file_dir",
                     store.string()},
       .stderr_file = log,
       // With its small heap and much garbage the server would collect garbage all the time, which
       // takes a tenth of its processor time.
       .environment_defaults = {"GOGC=400"}});
  if (!process) return process.error();
  auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    if (auto url = read_url(store, process->pid()))
      return LocalBroker(std::move(*process), std::move(*url));
    if (auto ended = process->poll_end())
      return broker_error("nats-server ended " + ended->text() + "; the end of its output (" +
                          log.string() + "):\n" + tail_of(log, 10));
    if (stop.wait_for(kBetweenLooks) >= 0)
      return core::Error{
          core::ErrorCode::kShuttingDown, "interrupted before nats-server was up", {}};
  }
  return broker_error("nats-server did not come up within ten seconds; see " + log.string());
}

}  // namespace league::tools
