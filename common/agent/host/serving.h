#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace league::agent::host {

/// How an agent can be reached. Over HTTP all HTTP forms are served at once; the chosen one
/// determines which URL the agent tells others and how it prefers to answer.
enum class Serving {
  kHttp,  ///< POST, answered with JSON
  kEventStream,  ///< POST, answered with an event stream where the caller accepts one
  kWebSocket,
  kTcp,  ///< lines on a TCP port
  kUnix,  ///< lines on a Unix socket
  kStdio,  ///< lines on the standard streams, for the program that starts this one
  kOutward,  ///< not at all: it opens the connection, and is called at its seat (protocol §10)
  kNats,  ///< a session on a message bus
};

/// The names that `--transport` accepts; the bus has options of its own.
inline constexpr std::array<Serving, 7> kAllServings{
    Serving::kHttp, Serving::kEventStream, Serving::kWebSocket, Serving::kTcp,
    Serving::kUnix, Serving::kStdio,       Serving::kOutward};

/// The name for `--transport`: `http`, `sse`, `websocket`, `tcp`, `unix`, `stdio`,
/// `outward`; `nats` for a bus.
[[nodiscard]] std::string_view serving_name(Serving serving);
[[nodiscard]] std::optional<Serving> parse_serving(std::string_view name);
/// All names, separated by commas.
[[nodiscard]] std::string serving_names();
/// True for the forms that share an HTTP port.
[[nodiscard]] bool is_over_http(Serving serving);

/// The contact_endpoint of an agent that listens at `bind_address` and `port`, or at `socket`:
/// `http://localhost:8101/mcp`, `ws://localhost:8101/mcp`, `tcp://localhost:8101`,
/// `unix:/run/p01.sock`; `outward`; empty for kStdio, which nobody can call, and for
/// kNats, where the session determines the endpoint.
[[nodiscard]] std::string contact_endpoint_of(Serving serving, const std::string& bind_address,
                                              std::uint16_t port,
                                              const std::filesystem::path& socket);

/// The socket path of agent `index` (from 0) in a process with `count` agents: `bot.sock`, or
/// `bot-3.sock`.
[[nodiscard]] std::filesystem::path numbered_socket(const std::filesystem::path& socket, int index,
                                                    int count);

}  // namespace league::agent::host
