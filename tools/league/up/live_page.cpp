#include "tools/league/up/live_page.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "common/transport/link/endpoint.h"

namespace league::tools {

std::string live_page_of(const std::string& manager_url) {
  const auto endpoint = transport::link::parse_endpoint(manager_url);
  if (!endpoint) return {};
  const std::string& scheme = endpoint->scheme;
  if (scheme == "http" || scheme == "ws") return "http://" + endpoint->authority() + "/";
  if (scheme == "https" || scheme == "wss") return "https://" + endpoint->authority() + "/";
  return {};
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
