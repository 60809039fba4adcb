#include "bus/commands/bus_config.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/core/text.h"

namespace league::tools {
namespace {

std::string render_tls(const BusTls& tls, std::string_view indent) {
  std::string in(indent);
  std::string text = in + "tls {\n" + in + "  cert_file: " + config_string(tls.cert) + "\n" + in +
                     "  key_file: " + config_string(tls.key) + "\n";
  if (!tls.ca.empty()) text += in + "  ca_file: " + config_string(tls.ca) + "\n";
  return text + in + "  timeout: 5\n" + in + "}\n";
}

bool is_number(const std::string& host) {
  return host.starts_with('[') || host.find_first_not_of("0123456789.") == std::string::npos;
}

/// The address to listen on: all interfaces for a host name, since the machine itself may resolve
/// its name to 127.0.1.1, which others cannot reach.
std::string listening(const std::string& host, std::uint16_t port) {
  bool is_own_machine = is_number(host) || host == "localhost";
  return config_string((is_own_machine ? host : "0.0.0.0") + ":" + std::to_string(port));
}

std::string server_name(std::size_t index) { return "broker-" + std::to_string(index + 1); }

std::string render_cluster(const BusConfig& config, std::size_t index) {
  const auto& own = config.brokers[index];
  std::string text =
      "cluster {\n  name: " + config_string(league_token(config.league_id)) +
      "\n  listen: " + listening(own.host, own.route_port) +
      "\n  cluster_advertise: " + config_string(own.host + ":" + std::to_string(own.route_port)) +
      "\n  authorization { user: \"route\", password: " + config_string(config.route_password) +
      ", timeout: 5 }\n";
  if (config.tls) text += render_tls(*config.tls, "  ");
  text += "  routes: [\n";
  for (std::size_t i = 0; i < config.brokers.size(); ++i) {
    if (i == index) continue;
    const auto& other = config.brokers[i];
    text += "    " +
            config_string("nats://route:" + config.route_password + "@" + other.host + ":" +
                          std::to_string(other.route_port)) +
            "\n";
  }
  return text + "  ]\n}\n";
}

std::string url_of(const BusConfig& config) {
  std::string url;
  for (const auto& broker : config.brokers) {
    url += (url.empty() ? "" : ",") + std::string(config.tls ? "tls://" : "nats://") + broker.host +
           ":" + std::to_string(broker.client_port);
  }
  return url;
}

std::optional<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (failed != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::string league_token(const std::string& league_id) {
  constexpr std::string_view kType = "x";
  constexpr std::string_view kBefore = "mcp.events.";
  std::string subject = transport::link::event_subject(league_id, kType);
  return subject.substr(kBefore.size(), subject.size() - kBefore.size() - kType.size() - 1);
}

std::string_view name_of(BusRole role) {
  switch (role) {
    case BusRole::kManager:
      return "manager";
    case BusRole::kOperator:
      return "operator";
    case BusRole::kReferee:
      return "referee";
    case BusRole::kPlayer:
      return "player";
  }
  return "";
}

std::optional<BrokerAddress> BrokerAddress::parse(std::string_view text) {
  BrokerAddress address;
  std::size_t end =
      text.starts_with('[') ? text.find(']') + 1 : std::min(text.find(':'), text.size());
  address.host = text.substr(0, end);
  bool is_good =
      !address.host.empty() && std::all_of(address.host.begin(), address.host.end(), [](char c) {
        return core::is_alphanumeric(c) ||
               std::string_view(".-_[]:").find(c) != std::string_view::npos;
      });
  if (!is_good) return std::nullopt;
  text.remove_prefix(end);
  for (std::uint16_t* port : {&address.client_port, &address.route_port}) {
    if (text.empty()) break;
    if (text.front() != ':') return std::nullopt;
    text.remove_prefix(1);
    auto digits = text.substr(0, text.find(':'));
    auto number = port_of(digits);
    if (!number) return std::nullopt;
    *port = *number;
    text.remove_prefix(digits.size());
  }
  if (!text.empty()) return std::nullopt;
  return address;
}

std::optional<BrokerVersion> BrokerVersion::parse(std::string_view text) {
  for (std::string_view before : {"nats-server: ", "v"}) {
    if (text.starts_with(before)) text.remove_prefix(before.size());
  }
  BrokerVersion version;
  for (int* part : {&version.major, &version.minor, &version.patch}) {
    if (part != &version.major) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), *part);
    if (failed != std::errc() || *part < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  if (!text.empty() && !text.starts_with('-') && !text.starts_with('+')) return std::nullopt;
  return version;
}

std::string BrokerVersion::text() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::string config_string(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string render_broker(const BusConfig& config, std::size_t index) {
  const auto& own = config.brokers[index];
  bool is_cluster = config.brokers.size() > 1;
  std::string text =
      "# A broker of a league. Made by `league bus-config`; run: nats-server -c THIS_FILE\n"
      "server_name: " +
      config_string(server_name(index)) + "\nlisten: " +
      (own.listen.empty() ? listening(own.host, own.client_port) : config_string(own.listen)) +
      "\n";
  if (is_cluster || !own.listen.empty())
    text += "client_advertise: " + config_string(own.host + ":" + std::to_string(own.client_port)) +
            "\n";
  text +=
      "# An agent whose machine has gone is noticed within half a minute.\n"
      "ping_interval: \"10s\"\nping_max: 2\n"
      "# A league message has at most 256 KiB; the rest is for headers and for other payloads.\n"
      "max_payload: 1MB\n";
  if (config.tls) text += render_tls(*config.tls, "");
  if (config.has_streams()) {
    auto store = std::filesystem::path(config.jetstream);
    if (is_cluster) store /= server_name(index);
    text += "jetstream {\n  store_dir: " + config_string(store.string()) +
            "\n  max_memory_store: 64MB\n  max_file_store: 1GB\n";
    if (config.flushes_messages())
      text +=
          "  # A message is on the disk before it is acknowledged (nats-server 2.10 or later).\n"
          "  sync_interval: always\n";
    text += "}\n";
  }
  if (is_cluster) text += render_cluster(config, index);
  return text + "include \"users.conf\"\n";
}

std::string render_credentials(const BusConfig& config, const BusUser& agent) {
  nlohmann::ordered_json object = {{"url", url_of(config)},
                                   {"user", agent.login.user},
                                   {"password", agent.login.password},
                                   {"session", agent.session.str()},
                                   {"league_id", config.league_id}};
  if (agent.role == BusRole::kManager) {
    for (const auto& other : config.agents) {
      if (other.role == BusRole::kReferee || other.role == BusRole::kOperator)
        object["served_first"].push_back(other.session.str());
    }
  }
  if (config.tls && !config.tls->ca_pem.empty()) object["ca"] = config.tls->ca_pem;
  if (config.has_streams() && agent.streams_login) {
    object["streams"] = {{"user", agent.streams_login->user},
                         {"password", agent.streams_login->password}};
  } else if (!config.has_streams() &&
             (agent.role == BusRole::kManager || agent.role == BusRole::kOperator)) {
    // Tells the agent not to ask for streams: a forbidden request gets no answer at all, not even
    // "no responders".
    object["streams"] = false;
  }
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace league::tools
