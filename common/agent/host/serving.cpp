#include "common/agent/host/serving.h"

#include "common/agent/seats/seat_caller.h"

namespace league::agent::host {
namespace {

/// A host under which programs on this machine can reach a bound address. Not `localhost` where
/// nothing listens on ::1: some clients try only the first of its addresses.
std::string host_of(const std::string& bind_address) {
  if (bind_address == "0.0.0.0") return "127.0.0.1";
  if (bind_address == "::") return "localhost";
  bool is_v6 = bind_address.find(':') != std::string::npos;
  return is_v6 ? "[" + bind_address + "]" : bind_address;
}

}  // namespace

std::string_view serving_name(Serving serving) {
  constexpr std::array<std::string_view, 8> kNames = {"http", "sse",   "websocket", "tcp",
                                                      "unix", "stdio", "outward",   "nats"};
  static_assert(kNames.size() == static_cast<std::size_t>(Serving::kNats) + 1);
  return kNames[static_cast<std::size_t>(serving)];
}

std::optional<Serving> parse_serving(std::string_view name) {
  for (Serving serving : kAllServings) {
    if (serving_name(serving) == name) return serving;
  }
  return std::nullopt;
}

std::string serving_names() {
  std::string names;
  for (Serving serving : kAllServings)
    names.append(names.empty() ? "" : ", ").append(serving_name(serving));
  return names;
}

bool is_over_http(Serving serving) {
  return serving == Serving::kHttp || serving == Serving::kEventStream ||
         serving == Serving::kWebSocket;
}

std::string contact_endpoint_of(Serving serving, const std::string& bind_address,
                                std::uint16_t port, const std::filesystem::path& socket) {
  std::string authority = host_of(bind_address) + ":" + std::to_string(port);
  switch (serving) {
    case Serving::kHttp:
    case Serving::kEventStream:
      return "http://" + authority + "/mcp";
    case Serving::kWebSocket:
      return "ws://" + authority + "/mcp";
    case Serving::kTcp:
      return "tcp://" + authority;
    case Serving::kUnix:
      return "unix:" + std::filesystem::absolute(socket).lexically_normal().string();
    case Serving::kOutward:
      return std::string(seats::kOutward);
    case Serving::kStdio:
    case Serving::kNats:
      return {};
  }
  return {};
}

std::filesystem::path numbered_socket(const std::filesystem::path& socket, int index, int count) {
  if (count <= 1) return socket;
  auto name = socket.stem().string() + "-" + std::to_string(index + 1);
  return socket.parent_path() / (name + socket.extension().string());
}

}  // namespace league::agent::host
