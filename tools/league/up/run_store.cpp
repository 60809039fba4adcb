#include "tools/league/up/run_store.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/agent/runtime/settings.h"
#include "common/core/crypto.h"
#include "common/core/private_file.h"
#include "common/transport/link/signals.h"
#include "league_manager/files/journal_book.h"
#include "tools/league/up/process_group.h"

namespace league::tools {
namespace {

namespace fs = std::filesystem;
using core::Error;
using core::Result;
using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kLongest = std::size_t{64} << 20;
constexpr const char* kFile = "league_up.json";
constexpr const char* kLock = "league_up.lock";

Error run_error(const std::string& why) { return {core::ErrorCode::kInternalError, why, {}}; }

template <typename T>
json to_json(const T& value) {
  return value;
}

template <typename T>
json to_json(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

template <typename T>
void from_json(const json& kept, T& value) {
  value = kept.get<T>();
}

template <typename T>
void from_json(const json& kept, std::optional<T>& value) {
  value = kept.is_null() ? std::nullopt : std::optional(kept.get<T>());
}

/// An option that is stored.
struct StoredOption {
  const char* name;
  bool may_change;  ///< it may change when the league is continued
  json (*read)(const UpOptions&);
  void (*take)(UpOptions&, const json&);

  /// The key in the file, such as `max_matches`.
  [[nodiscard]] std::string key() const {
    std::string key = std::string(name).substr(2);
    std::replace(key.begin(), key.end(), '-', '_');
    return key;
  }
};

template <auto kMember>
constexpr StoredOption option(const char* name, bool may_change) {
  return {name, may_change, [](const UpOptions& options) { return to_json(options.*kMember); },
          [](UpOptions& options, const json& kept) { from_json(kept, options.*kMember); }};
}

constexpr bool kMayChange = true;
constexpr bool kIsFixed = false;
constexpr std::array kOptions{
    option<&UpOptions::players>("--players", kIsFixed),
    option<&UpOptions::external>("--external", kIsFixed),
    option<&UpOptions::seats>("--seats", kIsFixed),
    option<&UpOptions::referees>("--referees", kIsFixed),
    option<&UpOptions::game>("--game", kIsFixed),
    option<&UpOptions::meetings>("--meetings", kIsFixed),
    option<&UpOptions::strategies>("--strategies", kIsFixed),
    option<&UpOptions::seed>("--seed", kIsFixed),
    option<&UpOptions::mode>("--mode", kIsFixed),
    option<&UpOptions::transport_names>("--transport", kIsFixed),
    option<&UpOptions::bus>("--bus", kIsFixed),
    option<&UpOptions::league_id>("--league", kIsFixed),
    option<&UpOptions::port>("--port", kMayChange),
    option<&UpOptions::max_matches>("--max-matches", kMayChange),
    option<&UpOptions::bind_address>("--bind", kMayChange),
    option<&UpOptions::advertise>("--advertise", kMayChange),
    option<&UpOptions::allow_hosts>("--allow-host", kMayChange),
    option<&UpOptions::require_commitments>("--require-commitments", kMayChange),
    option<&UpOptions::allow_origins>("--allow-origin", kMayChange),
};

std::string shown(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Error contradiction(const std::string& name, const json& wanted, const json& kept,
                    const fs::path& data) {
  bool is_unset = kept.is_null() || (kept.is_string() && kept.get<std::string>().empty());
  return run_error(name + " " + shown(wanted) + " contradicts the league in " + data.string() +
                   ", which was started " +
                   (is_unset ? "without " + name : "with " + name + " " + shown(kept)) +
                   ": omit the option to continue that league, or use another --data to "
                   "start a new one");
}

fs::path same_form(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

/// The stored form of the path of the logs: relative if they are next to the data directory, so
/// that both can be moved together.
std::string kept_logs(const UpOptions& options) {
  fs::path logs = same_form(options.logs);
  fs::path relative = logs.lexically_relative(same_form(options.data).parent_path());
  bool is_beside = !relative.empty() && *relative.begin() != "..";
  return is_beside ? (fs::path("..") / relative).string() : logs.string();
}

fs::path logs_of(const fs::path& data, const std::string& kept) {
  return fs::path(kept).is_absolute() ? fs::path(kept) : (data / kept).lexically_normal();
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// The data directory of the league in `given`, which may also be its parent, as for other
/// commands.
fs::path data_in(const fs::path& given) {
  bool is_run = !is_there(given / kFile) && is_there(given / "data" / kFile);
  return is_run ? given / "data" : given;
}

/// Fails if the directory contains a league that another program has begun.
Result<void> check_owner(const fs::path& data) {
  auto league = league_manager::files::find_data(data);
  if (!league || is_there(*league / kFile)) return {};
  return run_error(league->string() +
                   " holds a league that this command did not begin (there is no " + kFile +
                   "): `league_manager --data " + league->string() +
                   "` continues it. Give another --data to begin a new one");
}

Result<void> make_directory(const fs::path& directory) {
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (!failed) return {};
  return run_error("cannot make the directory " + directory.string() + ": " + failed.message() +
                   "; choose another with --data");
}

/// Gets the lock of a run, after the last program of an earlier run has ended.
Result<journal::LockFile> lock_run(const fs::path& data, transport::link::StopSignal& stop) {
  constexpr std::chrono::seconds kPatience{10};
  constexpr std::chrono::milliseconds kBetweenTries{50};
  constexpr std::chrono::seconds kSilence{1};
  auto begin = std::chrono::steady_clock::now();
  for (bool has_said = false;;) {
    auto lock = journal::LockFile::acquire(data / kLock);
    if (lock) {
      if (auto shared = lock->share_with_children(); !shared) return shared.error();
      return lock;
    }
    auto waited = std::chrono::steady_clock::now() - begin;
    if (!is_there(data / kLock) || waited > kPatience) {
      return run_error(lock.error().message +
                       ". If it was killed, programs that it started are still ending");
    }
    if (waited > kSilence && !std::exchange(has_said, true))
      std::cerr << "waiting for another run in " << data.string() << " to end\n";
    if (stop.wait_for(kBetweenTries) >= 0)
      return Error{core::ErrorCode::kShuttingDown,
                   "interrupted while another run in " + data.string() + " was ending",
                   {}};
  }
}

/// The limits of a league that was begun when they had a file of their own: JSON with comments.
json limits_of_older(const fs::path& file) {
  json limits = json::object();
  if (!is_there(file)) return limits;
  std::ifstream in(file);
  const json all = json::parse(in, nullptr, false, true);
  for (const auto& [name, section] : all.items()) {
    if (!name.starts_with("$") && name != "comment") limits[name] = section;
  }
  return limits;
}

/// The configuration file of the programs. It was named after the players on standard streams when
/// only these had one, and the addresses with which they have registered contain that name.
fs::path programs_config_in(const fs::path& data) {
  const fs::path older = data / "stdio_players.toml";
  return is_there(older) ? older : data / "league_up.toml";
}

}  // namespace

Result<UpOptions> continued_options(const UpOptions& kept, const GivenOptions& given) {
  UpOptions options = kept;
  for (const auto& option : kOptions) {
    if (!given.names.contains(option.name)) continue;
    json wanted = option.read(given.options);
    if (option.may_change) {
      option.take(options, wanted);
    } else if (json present = option.read(kept); wanted != present) {
      return contradiction(option.name, wanted, present, kept.data);
    }
  }
  if (given.names.contains("--logs") && same_form(given.options.logs) != same_form(kept.logs))
    return contradiction("--logs", given.options.logs.string(), kept.logs.string(), kept.data);
  if (!given.options.limits.empty()) options.limits = given.options.limits;
  options.json = given.options.json;
  options.keep = given.options.keep;
  options.browser = given.options.browser;
  return options;
}

Result<RunStore> RunStore::open(GivenOptions given, const core::Clock& clock,
                                transport::link::StopSignal& stop) {
  UpOptions& options = given.options;
  if (options.data.empty()) {
    auto fresh = make_run_directories("runs", clock.utc_now(), {{}, options.logs});
    if (!fresh) return fresh.error();
    options.data = fresh->data;
    options.logs = fresh->logs;
  }
  options.data = data_in(options.data);
  if (auto owned = check_owner(options.data); !owned) return owned.error();
  if (auto made = make_directory(options.data); !made) return made.error();
  auto lock = lock_run(options.data, stop);
  if (!lock) return lock.error();
  RunStore run_store(options, std::move(*lock));
  if (auto taken = run_store.take(given); !taken) return taken.error();
  auto made = make_run_directories("runs", clock.utc_now(), run_store.directories());
  if (!made) return made.error();
  run_store.options_.logs = made->logs;
  run_store.options_.programs_config = programs_config_in(made->data);
  if (!run_store.result_.empty()) return run_store;
  if (auto read = agent::runtime::parse_settings(run_store.options_.limits); !read)
    return run_error((made->data / kFile).string() + ": " + read.error().message);
  if (auto written = run_store.write(); !written) return written.error();
  return run_store;
}

Result<void> RunStore::take(const GivenOptions& given) {
  auto kept = read();
  if (!kept) return kept.error();
  if (!*kept) return {};
  is_continued_ = league_manager::files::find_data(options_.data).has_value();
  auto continued = continued_options(**kept, given);
  if (continued) {
    options_ = std::move(*continued);
  } else if (is_continued_) {
    return continued.error();
  } else {
    nonces_.clear();  // the earlier run was interrupted before its league began, so its options do
                      // not bind
  }
  return {};
}

Result<std::optional<UpOptions>> RunStore::read() {
  const fs::path file = options_.data / kFile;
  auto damaged = [&file](const std::string& why) {
    return run_error(file.string() + ": " + why +
                     "; restore a backup, or continue the league with `league_manager "
                     "--data " +
                     file.parent_path().string() + "`");
  };
  auto content = core::read_private_file(file, kLongest);
  if (!content) return content.error();
  if (!*content) return std::optional<UpOptions>();
  json kept = json::parse(**content, nullptr, false);
  if (!kept.is_object()) return damaged("is not a JSON object");
  UpOptions options;
  options.data = options_.data;
  try {
    if (kept.at("schema_version") != kVersion) return damaged("is of another version");
    const json& given = kept.at("options");
    for (const auto& option : kOptions) {
      // An option that is newer than the league keeps its default.
      if (given.contains(option.key())) option.take(options, given.at(option.key()));
    }
    options.logs = logs_of(options.data, kept.at("logs").get<std::string>());
    options.sockets = kept.value("sockets", "");
    options.limits = kept.value("limits", limits_of_older(options.data / "league_up.limits.json"));
    broker_port_ = kept.value("broker_port", 0);
    nonces_ = kept.value("registration_nonces", nonces_);
    if (kept.contains("result")) result_ = kept.at("result").dump();
  } catch (const json::exception& problem) {
    return damaged(problem.what());
  }
  return std::optional(std::move(options));
}

Result<void> RunStore::write() const {
  json options;
  for (const auto& option : kOptions) options[option.key()] = option.read(options_);
  json kept = {{"schema_version", kVersion},
               {"options", std::move(options)},
               {"limits", options_.limits},
               {"logs", kept_logs(options_)}};
  if (!options_.sockets.empty()) kept["sockets"] = options_.sockets.string();
  if (broker_port_ != 0) kept["broker_port"] = broker_port_;
  if (!nonces_.empty()) kept["registration_nonces"] = nonces_;
  if (!result_.empty()) kept["result"] = json::parse(result_);
  return core::write_private_file(options_.data / kFile,
                                  kept.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

Result<void> RunStore::note_manager(const std::string& league_id, int port) {
  options_.league_id = league_id;
  if (port != 0) options_.port = port;
  return write();
}

Result<void> RunStore::note_broker(int port) {
  broker_port_ = port;
  return write();
}

Result<void> RunStore::note_sockets(const fs::path& directory) {
  options_.sockets = directory;
  return write();
}

Result<void> RunStore::note_result(const std::string& result) {
  result_ = result;
  return write();
}

Result<std::string> RunStore::nonce_of(const std::string& display_name,
                                       core::RandomSource& random) {
  auto [place, is_new] = nonces_.try_emplace(display_name);
  if (!is_new) return place->second;
  place->second = core::to_hex(random.bytes<16>());
  if (auto written = write(); !written) return written.error();
  return place->second;
}

std::string continuing_command(const fs::path& data) {
  auto quoted = [](const std::string& word) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%=,";
    if (word.find_first_not_of(kPlain) == word.npos) return word;
    std::string text = "'";
    for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
  };
  std::error_code failed;
  fs::path program = own_directory() / "league";
  if (auto near = fs::proximate(program, failed); !failed && *near.begin() != "..") program = near;
  return quoted(program.string()) + " up --data " + quoted(data.string());
}

}  // namespace league::tools
