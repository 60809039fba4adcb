#include "tools/check/started_bot.h"

#include <signal.h>

#include <utility>

#include "common/core/crypto.h"
#include "common/core/random_source.h"
#include "common/core/text.h"
#include "common/transport/link/socket.h"

namespace league::tools::check {
namespace {

struct ReservedPort {
  std::uint16_t port = 0;
  core::FileDescriptor reservation;
};

/// A port on which no program listens now. Below those that the system gives to outgoing
/// connections, because one of these could take the port before the bot listens on it; and, where
/// that is possible, reserved, because another checker on this machine could give it to its bot.
ReservedPort free_port(core::RandomSource& random) {
  constexpr std::uint16_t kFirst = 20'000;
  constexpr std::uint16_t kLast = 32'000;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto bytes = random.bytes<2>();
    const auto any = static_cast<unsigned>(bytes[0]) << 8U | static_cast<unsigned>(bytes[1]);
    const auto port = static_cast<std::uint16_t>(kFirst + any % (kLast - kFirst));
    auto reservation = transport::link::reserve_name("league-check-port-" + std::to_string(port));
    if (reservation && transport::link::listen_on("127.0.0.1", port))
      return {port, std::move(*reservation)};
  }
  auto socket = transport::link::listen_on("127.0.0.1", 0);
  return {socket ? transport::link::local_address(socket->get()).port : std::uint16_t{0}, {}};
}

}  // namespace

core::Result<StartedBot> StartedBot::start(const std::string& command,
                                           const std::string& manager_url) {
  std::string text = core::replaced(command, "{manager}", manager_url);
  core::CryptoRandom random;
  const bool has_port = text.find("{port}") != std::string::npos;
  auto [port, reservation] = has_port ? free_port(random) : ReservedPort();
  if (port != 0) text = core::replaced(std::move(text), "{port}", std::to_string(port));
  StartedBot bot(std::move(text));
  bot.port_ = port;
  bot.reservation_ = std::move(reservation);
  bot.output_ = std::filesystem::temp_directory_path() /
                ("league_check_" + core::to_hex(random.bytes<8>()) + ".log");
  if (auto launched = bot.launch(); !launched) return launched.error();
  return bot;
}

StartedBot::~StartedBot() {
  kill();
  std::error_code ignored;  // it may be missing
  if (!output_.empty()) std::filesystem::remove(output_, ignored);
}

core::Result<void> StartedBot::launch() {
  auto child = ChildProcess::start({.program = "/bin/sh",
                                    .arguments = {"-c", "exec " + command_ + " >&2"},
                                    .stderr_file = output_,
                                    .environment_defaults = {}});
  if (!child) return child.error();
  child_ = std::make_unique<ChildProcess>(std::move(*child));
  return {};
}

core::Result<void> StartedBot::restart() {
  kill();
  return launch();
}

void StartedBot::kill() {
  if (!child_) return;
  if (child_->pid() > 0) ::kill(-child_->pid(), SIGKILL);
  child_.reset();
}

std::string StartedBot::last_words() const { return tail_of(output_, 5); }

std::string StartedBot::obituary() {
  const auto end = child_ ? child_->poll_end() : std::nullopt;
  if (!end) return {};
  const std::string words = last_words();
  return "its process ended " + end->text() +
         (words.empty() ? ", without any output" : "; its last lines were:\n" + words);
}

bool StartedBot::has_ended() { return !child_ || child_->poll_end().has_value(); }

}  // namespace league::tools::check
