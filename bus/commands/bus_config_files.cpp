#include "bus/commands/bus_config.h"

#include <system_error>

#include "common/core/private_file.h"

namespace league::tools {
namespace {

namespace fs = std::filesystem;

core::Error place_error(const fs::path& path, const std::string& why) {
  return {core::ErrorCode::kInternalError, path.string() + ": " + why, {}};
}

core::Result<void> make_private_directory(const fs::path& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (!failed) fs::permissions(path, fs::perms::owner_all, failed);
  if (failed) return place_error(path, failed.message());
  return {};
}

/// Removes the files of an earlier configuration, since credentials of removed users would be
/// confusing. Does not touch other files.
core::Result<void> clear(const fs::path& directory) {
  std::error_code failed;
  std::vector<fs::path> old = {directory / "users.conf"};
  for (const auto& entry : fs::directory_iterator(directory, failed)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with("server") && name.ends_with(".conf")) old.push_back(entry.path());
  }
  std::error_code none;  // the directory may be missing
  for (const auto& entry : fs::directory_iterator(directory / "credentials", none)) {
    if (entry.path().extension() == ".json") old.push_back(entry.path());
  }
  for (const auto& path : old) {
    if (!failed) fs::remove(path, failed);
    if (failed) return place_error(path, failed.message());
  }
  return {};
}

core::Result<void> prepare(const fs::path& directory, bool may_overwrite) {
  std::error_code failed;
  if (fs::exists(directory, failed)) {
    bool is_empty = fs::is_directory(directory, failed) && fs::is_empty(directory, failed);
    if (!is_empty && !may_overwrite)
      return place_error(directory,
                         "already exists; its passwords may be in use. Choose another --dir, or "
                         "add --force to replace everything in it");
    if (!is_empty) {
      if (auto cleared = clear(directory); !cleared) return cleared;
    }
  }
  if (auto made = make_private_directory(directory); !made) return made;
  return make_private_directory(directory / "credentials");
}

}  // namespace

core::Result<BusConfigFiles> write_bus_config(const fs::path& directory, const BusConfig& config,
                                              bool may_overwrite) {
  if (auto ready = prepare(directory, may_overwrite); !ready) return ready.error();
  BusConfigFiles files{{}, directory / "users.conf", directory / "credentials"};
  auto write = [](const fs::path& path, const std::string& text) {
    return core::write_private_file(path, text, core::Flush::kLater);
  };
  if (auto done = write(files.users, render_users(config)); !done) return done.error();
  for (std::size_t i = 0; i < config.brokers.size(); ++i) {
    std::string number = config.brokers.size() > 1 ? "-" + std::to_string(i + 1) : "";
    files.brokers.push_back(directory / ("server" + number + ".conf"));
    if (auto done = write(files.brokers.back(), render_broker(config, i)); !done)
      return done.error();
  }
  for (const auto& agent : config.agents) {
    auto path = files.credentials / (agent.name + ".json");
    if (auto done = write(path, render_credentials(config, agent)); !done) return done.error();
  }
  return files;
}

}  // namespace league::tools
