#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/core/auth_token.h"
#include "common/core/result.h"
#include "common/transport/link/endpoint.h"
#include "common/transport/link/signals.h"

namespace league::tools::connection {

/// The options of `league connect`.
struct ConnectOptions {
  transport::link::Endpoint manager;  ///< over http or https
  std::optional<transport::link::Endpoint> bot;  ///< nothing: as it says when it registers
  std::optional<std::uint16_t> listen;  ///< the bot registers itself, at this port
  std::string name;  ///< needed unless the bot registers itself
  core::AuthToken code;  ///< empty: the league asks for none
  std::filesystem::path file;  ///< of the bot's identity
};

/// Keeps a bot at a seat of the manager until the signal, or until there is no point in coming
/// back. Says on stdout what happens, and on stderr what is wrong. Returns the exit code.
[[nodiscard]] int keep_connected(const ConnectOptions& options, transport::link::StopSignal& stop);

}  // namespace league::tools::connection
