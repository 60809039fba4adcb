#include "common/transport/link/endpoint_policy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "common/core/text.h"
#include "common/transport/link/command_line.h"
#include "common/transport/link/resolver.h"
#include "common/transport/link/subject.h"

namespace league::transport::link {

namespace {

constexpr unsigned kMappedBits = 96;

/// Never called: this-network, link-local with the metadata services of clouds, multicast, reserved
/// and broadcast; what hides an IPv4 address inside an IPv6 one (compatible, NAT64, 6to4, Teredo);
/// metadata addresses outside of these.
constexpr std::array<std::string_view, 14> kNever{
    "0.0.0.0/8",    "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4",   "100.100.100.200",
    "192.0.0.192",  "::/128",         "fe80::/10",   "ff00::/8",      "fd00:ec2::254",
    "64:ff9b::/96", "2002::/16",      "2001::/32",   "64:ff9b:1::/48"};

constexpr std::array<std::string_view, 6> kLocal{"127.0.0.0/8",    "10.0.0.0/8", "172.16.0.0/12",
                                                 "192.168.0.0/16", "::1",        "fc00::/7"};

bool is_in(const std::vector<IpRange>& ranges, const IpBytes& address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const IpRange& range) { return range.contains(address); });
}

template <std::size_t N>
std::vector<IpRange> ranges_of(const std::array<std::string_view, N>& texts) {
  std::vector<IpRange> out;
  for (auto text : texts) {
    if (auto range = IpRange::parse(text)) out.push_back(*range);
  }
  return out;
}

/// ::a.b.c.d, the deprecated form, but for ::1.
bool is_compatible_v4(const IpBytes& address) {
  bool is_prefix_zero =
      std::all_of(address.begin(), address.begin() + 12, [](auto byte) { return byte == 0; });
  return is_prefix_zero && address != IpBytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
}

bool is_never_allowed(const IpBytes& address) {
  return is_compatible_v4(address) || is_in(ranges_of(kNever), address);
}

bool is_host_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
  });
}

/// Word by word; only the last one of the beginning may name a directory in place of a file in it.
bool begins_with(const std::vector<std::string>& command,
                 const std::vector<std::string>& beginning) {
  if (beginning.empty()) return true;
  if (command.size() < beginning.size()) return false;
  auto last = beginning.size() - 1;
  if (!std::equal(beginning.begin(), beginning.end() - 1, command.begin())) return false;
  if (command[last] == beginning[last]) return true;
  return beginning[last].ends_with('/') && command[last].starts_with(beginning[last]) &&
         (command[last] + "/").find("/../") == std::string::npos;
}

}  // namespace

std::optional<IpBytes> parse_ip(const std::string& text) {
  IpBytes bytes{};
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (::inet_pton(AF_INET, text.c_str(), bytes.data() + 12) == 1) return bytes;
  return std::nullopt;
}

bool IpRange::contains(const IpBytes& address) const {
  for (unsigned bit = 0; bit < prefix; bit += 8) {
    unsigned counted = std::min(8U, prefix - bit);
    auto mask = static_cast<std::uint8_t>(0xffU << (8 - counted));
    if (((base[bit / 8] ^ address[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

std::optional<IpRange> IpRange::parse(std::string_view text) {
  std::size_t slash = text.find('/');
  auto base = parse_ip(std::string(text.substr(0, slash)));
  if (!base) return std::nullopt;
  IpRange range{*base, 128};
  if (slash == std::string_view::npos) return range;
  bool is_v4 = text.substr(0, slash).find(':') == std::string_view::npos;
  std::string_view digits = text.substr(slash + 1);
  unsigned bits = 0;
  auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (fault != std::errc{} || end != digits.data() + digits.size() || bits > (is_v4 ? 32 : 128)) {
    return std::nullopt;
  }
  range.prefix = is_v4 ? bits + kMappedBits : bits;
  return range;
}

EndpointPolicy::EndpointPolicy() : resolver_(resolve) {}

EndpointPolicy EndpointPolicy::local() { return *parse("local"); }
EndpointPolicy EndpointPolicy::any() { return *parse("any"); }

core::Result<void> EndpointPolicy::add(std::string_view item) {
  constexpr std::string_view kUnix = "unix:";
  constexpr std::string_view kStdio = "stdio";
  if (item == "any") {
    allows_any_ = true;
  } else if (item == "local") {
    for (const auto& range : ranges_of(kLocal)) ranges_.push_back(range);
  } else if (item.starts_with("unix:/") && item.find("/../") == std::string_view::npos) {
    sockets_.emplace_back(item.substr(kUnix.size()));
  } else if (item == "nats") {
    allows_bus_ = true;
  } else if (item == kStdio) {
    commands_.push_back({});
  } else if (item.starts_with("stdio:") && item.size() > kStdio.size() + 1) {
    auto words = split_command(item.substr(kStdio.size() + 1));
    if (!words) return core::Error{core::ErrorCode::kInvalidFieldValue, words.error().message, {}};
    commands_.push_back(*std::move(words));
  } else if (auto range = IpRange::parse(item)) {
    ranges_.push_back(*range);
  } else if (is_host_name(item)) {
    hosts_.push_back(core::lower_case(item));
  } else {
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       "endpoint policy: \"" + std::string(item) +
                           "\" is neither a host, an address nor a block such as 10.1.0.0/16, nor "
                           "unix:/directory/ or stdio:COMMAND",
                       {}};
  }
  return {};
}

core::Result<EndpointPolicy> EndpointPolicy::parse(std::string_view text) {
  EndpointPolicy policy;
  policy.name_ = std::string(text);
  if (text.empty()) {
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       "endpoint policy: expected local, any or a list of hosts and blocks",
                       {}};
  }
  while (!text.empty()) {
    std::size_t end = std::min(text.find(','), text.size());
    if (auto added = policy.add(text.substr(0, end)); !added) return added.error();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return policy;
}

EndpointPolicy EndpointPolicy::with_resolver(Resolver resolver) const {
  EndpointPolicy copy = *this;
  copy.resolver_ = std::move(resolver);
  return copy;
}

core::Result<Endpoint> EndpointPolicy::admit(Endpoint endpoint) const {
  endpoint.pinned_address.clear();
  if (!has_host(endpoint)) return admit_local_peer(std::move(endpoint));
  if (endpoint.host == "localhost") {
    auto v4 = parse_ip("127.0.0.1");
    auto v6 = parse_ip("::1");
    if (is_allowed(endpoint, *v4) && is_allowed(endpoint, *v6)) return endpoint;
    return refuse(endpoint, "localhost is not in the policy");
  }
  std::vector<std::string> addresses{endpoint.host};
  if (!parse_ip(endpoint.host)) {
    auto resolved = resolver_(endpoint.host);
    if (!resolved) return refuse(endpoint, resolved.error().message);
    addresses = *std::move(resolved);
  }
  for (const auto& text : addresses) {
    auto address = parse_ip(text);
    if (!address || is_never_allowed(*address)) {
      return refuse(endpoint, "its address " + text + " is never called");
    }
    if (!is_allowed(endpoint, *address)) {
      return refuse(endpoint, "its address " + text + " is outside of the policy");
    }
  }
  if (addresses.empty()) return refuse(endpoint, "the host has no address");
  endpoint.pinned_address = addresses.front();
  return endpoint;
}

core::Result<Endpoint> EndpointPolicy::admit_local_peer(Endpoint endpoint) const {
  if (endpoint.scheme == "nats") return admit_session(std::move(endpoint));
  if (endpoint.scheme == "seat")
    return refuse(endpoint, "a player that comes to us registers with \"outward\"");
  bool is_command = endpoint.scheme == "stdio";
  bool is_named = false;
  if (is_command) {
    auto words = split_command(endpoint.path);
    if (!words) return words.error();
    is_named = std::any_of(commands_.begin(), commands_.end(),
                           [&](const auto& entry) { return begins_with(*words, entry); });
  } else {
    is_named = std::any_of(sockets_.begin(), sockets_.end(), [&](const std::string& entry) {
      return entry.ends_with('/') ? endpoint.path.starts_with(entry) : endpoint.path == entry;
    });
  }
  if (is_named) return endpoint;
  return core::Error{
      core::ErrorCode::kEndpointNotAllowed,
      "endpoint " + endpoint.url() +
          (is_command
               ? ": commands are run only where the league's operator names them: --endpoints "
                 "local,stdio:COMMAND"
               : ": Unix sockets are called only where the league's operator names them: "
                 "--endpoints local,unix:/DIRECTORY/") +
          " (endpoint policy: " + name_ + ")",
      {}};
}

core::Result<Endpoint> EndpointPolicy::admit_session(Endpoint endpoint) const {
  if (!allows_bus_) return refuse(endpoint, "this program is on no bus");
  if (!BusSession::parse(endpoint.path)) return refuse(endpoint, "it names no session");
  return endpoint;
}

EndpointPolicy EndpointPolicy::with_bus() const {
  EndpointPolicy copy = *this;
  copy.allows_bus_ = true;
  return copy;
}

bool EndpointPolicy::is_allowed(const Endpoint& endpoint, const IpBytes& address) const {
  return allows_any_ || is_in(ranges_, address) ||
         std::find(hosts_.begin(), hosts_.end(), endpoint.host) != hosts_.end();
}

core::Error EndpointPolicy::refuse(const Endpoint& endpoint, const std::string& why) const {
  return {core::ErrorCode::kEndpointNotAllowed,
          "endpoint " + endpoint.url() + ": " + why + " (endpoint policy: " + name_ +
              "); use an address that the league's operator allows",
          {}};
}

}  // namespace league::transport::link
