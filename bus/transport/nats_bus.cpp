#include "bus/transport/nats_bus.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "bus/transport/nats_library.h"
#include "bus/transport/nats_link.h"
#include "bus/transport/nats_slow_consumer.h"
#include "common/transport/link/handle.h"

namespace league::transport::bus {
namespace {

std::string joined(const std::vector<std::string>& urls) {
  std::string all;
  for (const auto& url : urls) all += (all.empty() ? "" : ",") + without_credentials(url);
  return all;
}

/// Whether we log in as a user, so that the broker can distinguish its clients.
bool is_user(const NatsBusOptions& options, const std::string& url) {
  return !options.credentials.user.empty() || !options.tls.cert.empty() || has_user(url);
}

/// The index where the part after the scheme begins.
std::size_t authority_at(std::string_view url) {
  auto scheme = url.find("://");
  return scheme == std::string_view::npos ? 0 : scheme + 3;
}

bool is_bus_port(std::string_view text) {
  if (text.empty() || text.size() > 5) return false;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return false;
  }
  int port = std::stoi(std::string(text));
  return port > 0 && port <= 65535;
}

/// HOST, HOST:PORT, [ADDRESS], [ADDRESS]:PORT.
bool is_bus_host(std::string_view text) {
  bool is_printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127 && c != '/'; });
  if (!is_printable || text.empty()) return false;
  auto end = text.front() == '[' ? text.find(']') : std::string_view::npos;
  if (text.front() == '[' && end == std::string_view::npos) return false;
  auto colon = text.find(':', end == std::string_view::npos ? 0 : end);
  if (colon == 0) return false;
  return colon == std::string_view::npos || is_bus_port(text.substr(colon + 1));
}

bool is_bus_url(std::string_view url) {
  auto at = authority_at(url);
  auto scheme = url.substr(0, at);
  if (!scheme.empty() && scheme != "nats://" && scheme != "tls://") return false;
  auto authority = url.substr(at);
  auto user = authority.rfind('@');
  return is_bus_host(user == std::string_view::npos ? authority : authority.substr(user + 1));
}

}  // namespace

core::Result<std::shared_ptr<Bus>> connect_nats(const NatsBusOptions& options) {
  auto urls = parse_bus_urls(options.urls);
  if (!urls) return urls.error();
  prepare_nats();
  NatsSettings settings(*urls, options);
  if (settings.error()) return *settings.error();
  std::vector<NatsStalls::SettingsMaker> brokers;
  for (const auto& url : *urls) {
    if (is_user(options, url))
      brokers.push_back([url, options] { return NatsSettings({url}, options); });
  }
  auto link = std::make_shared<NatsLink>(
      joined(*urls), std::move(settings), options.on_fault,
      std::make_unique<NatsStalls>(std::move(brokers), options.on_fault));
  if (auto opened = link->open(); !opened) return opened.error();
  return link::make_handle<Bus>(std::move(link), [](NatsLink& ended) { ended.close(); });
}

core::Result<std::vector<std::string>> parse_bus_urls(std::string_view list) {
  std::vector<std::string> urls;
  for (auto rest = list; !rest.empty();) {
    auto comma = rest.find(',');
    auto url = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    while (url.starts_with(' ')) url.remove_prefix(1);
    while (url.ends_with(' ') || url.ends_with('/')) url.remove_suffix(1);
    if (!is_bus_url(url)) {
      return core::Error{core::ErrorCode::kInvalidFieldValue,
                         "\"" + without_credentials(url) +
                             "\" is not a broker: write nats://HOST:PORT or tls://HOST:PORT",
                         "url"};
    }
    urls.push_back(authority_at(url) == 0 ? "nats://" + std::string(url) : std::string(url));
  }
  if (urls.empty()) {
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       "no broker is named: write nats://HOST:PORT", "url"};
  }
  return urls;
}

bool has_user(std::string_view url) {
  auto at = authority_at(url);
  auto user = url.rfind('@');
  return user != std::string_view::npos && user > at &&
         url.substr(at, user - at).find(':') != std::string_view::npos;
}

std::string without_credentials(std::string_view url) {
  auto at = authority_at(url);
  auto user = url.rfind('@');
  if (user == std::string_view::npos || user < at) return std::string(url);
  return std::string(url.substr(0, at)) + std::string(url.substr(user + 1));
}

}  // namespace league::transport::bus
