#include "tools/league/up/live_page.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "common/agent/host/terminal.h"
#include "common/core/counted.h"
#include "common/transport/link/endpoint.h"
#include "tools/league/up/qr_code.h"

namespace league::tools {
namespace {

/// An IPv4 address under which other machines may reach this one; empty: it has none.
std::string own_address() {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(found, ::freeifaddrs);
  for (const ifaddrs* one = found; one != nullptr; one = one->ifa_next) {
    const bool is_usable = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (!is_usable || one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in address{};
    std::memcpy(&address, one->ifa_addr, sizeof address);
    std::array<char, INET_ADDRSTRLEN> text{};
    if (::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size()) != nullptr)
      return text.data();
  }
  return {};
}

/// Whether other machines reach the manager of `options`.
bool is_open_to_others(const UpOptions& options) {
  return !options.advertise.empty() ||
         (!options.bind_address.empty() && !options.bind_address.starts_with("127.") &&
          options.bind_address != "::1");
}

}  // namespace

std::string live_page_of(const std::string& manager_url) {
  const auto endpoint = transport::link::parse_endpoint(manager_url);
  if (!endpoint) return {};
  const std::string& scheme = endpoint->scheme;
  if (scheme == "http" || scheme == "ws") return "http://" + endpoint->authority() + "/";
  if (scheme == "https" || scheme == "wss") return "https://" + endpoint->authority() + "/";
  return {};
}

std::vector<std::string> invitation_to_play(const UpOptions& options,
                                            const std::string& manager_url, bool shows_blocks) {
  auto endpoint = transport::link::parse_endpoint(manager_url);
  if (!endpoint || live_page_of(manager_url).empty())
    return {"warning: --seats needs a manager that browsers can reach (--transport http)"};
  const bool is_open = is_open_to_others(options);
  if (is_open && options.advertise.empty()) {
    const bool is_any = options.bind_address == "0.0.0.0" || options.bind_address == "::";
    endpoint->host = is_any ? own_address() : options.bind_address;
    if (endpoint->host.empty()) endpoint->host = "localhost";
  }
  const std::string page = live_page_of(endpoint->url()) + "play";
  std::vector<std::string> lines{"play at " + page + " (" + core::counted(options.seats, "seat") +
                                 "); the league starts when all seats are taken"};
  if (!is_open) {
    lines.emplace_back(
        "only browsers on this machine reach this address; for others start with --bind 0.0.0.0");
  } else if (shows_blocks) {
    for (auto& line : qr_lines(qr_code(page))) lines.push_back(std::move(line));
  }
  return lines;
}

bool terminal_shows_blocks() {
  if (!agent::host::may_draw(STDERR_FILENO)) return false;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody changes it
    if (value == nullptr || *value == '\0') continue;
    const std::string text = value;
    return text.find("UTF-8") != text.npos || text.find("utf8") != text.npos;
  }
  return false;
}

void open_in_browser(const std::string& url) {
  std::string script = R"(xdg-open "$1" </dev/null >/dev/null 2>&1 &)";
  std::string name = "sh";
  std::string option = "-c";
  std::string argument = url;
  std::array<char*, 6> arguments{name.data(), option.data(),   script.data(),
                                 name.data(), argument.data(), nullptr};
  pid_t shell = 0;
  if (::posix_spawnp(&shell, "sh", nullptr, nullptr, arguments.data(), environ) == 0)
    ::waitpid(shell, nullptr, 0);  // it ends at once: the browser is its child
}

}  // namespace league::tools
