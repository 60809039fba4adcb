#include "common/agent/host/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace league::agent::host {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

bool may_draw(int fd) {
  const std::string_view kind = environment("TERM");
  return ::isatty(fd) == 1 && !kind.empty() && kind != "dumb";
}

bool may_colour(int fd) { return may_draw(fd) && environment("NO_COLOR").empty(); }

}  // namespace league::agent::host
