#include "bus/transport/broker_testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace league::testing {
namespace {

namespace fs = std::filesystem;

std::string find_nats_server() {
  if (const char* chosen = std::getenv("LEAGUE_NATS_SERVER"); chosen != nullptr) return chosen;
  // The distribution's comes first. It is a daemon there, so not always in the PATH of those who
  // are not root.
  std::string path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
  std::istringstream folders("/usr/sbin:" + path + ":/usr/local/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    auto file = fs::path(folder) / "nats-server";
    if (::access(file.c_str(), X_OK) == 0) return file.string();
  }
  return {};
}

/// Looks every two milliseconds, for ten seconds at most.
void wait_until(const std::string& what, const std::function<bool()>& is_so) {
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("no broker: " + what);
    ::poll(nullptr, 0, 2);
  }
}

}  // namespace

bool TestingBroker::is_installed() { return !find_nats_server().empty(); }

TestingBroker::TestingBroker(std::vector<std::string> more) : more_(std::move(more)) {
  std::string name = (fs::temp_directory_path() / "league_broker_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
  directory_ = name;
  spawn();
  wait_until("it wrote no port", [&] {
    port_ = written_port().value_or(0);
    return port_ != 0;
  });
  wait_until("it does not answer", [&] { return is_answering(); });
}

TestingBroker::~TestingBroker() {
  kill();
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

std::string TestingBroker::url() const { return "nats://127.0.0.1:" + std::to_string(port_); }

void TestingBroker::spawn() {
  std::vector<std::string> words = {find_nats_server(), "-a", "127.0.0.1", "-p",
                                    port_ == 0 ? "-1" : std::to_string(port_)};
  if (port_ == 0) words.insert(words.end(), {"--ports_file_dir", directory_.string()});
  words.insert(words.end(), {"-l", (directory_ / "broker.log").string()});
  words.insert(words.end(), more_.begin(), more_.end());
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("no process for the broker");
  if (pid_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

void TestingBroker::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

void TestingBroker::start() {
  kill();
  spawn();
  wait_until("it does not answer", [&] { return is_answering(); });
}

void TestingBroker::freeze() {
  ::kill(pid_, SIGSTOP);
  // It may do some more until all of its threads have stopped.
  int status = 0;
  ::waitpid(pid_, &status, WUNTRACED);
}
void TestingBroker::thaw() { ::kill(pid_, SIGCONT); }

/// `{"nats":["nats://127.0.0.1:40123"], …}`, or `tls://`, in a file that is named after the
/// process.
std::optional<int> TestingBroker::written_port() const {
  constexpr std::string_view kBefore = "://127.0.0.1:";
  for (const auto& entry : fs::directory_iterator(directory_)) {
    if (entry.path().extension() != ".ports") continue;
    std::ifstream in(entry.path());
    std::string text(std::istreambuf_iterator<char>(in), {});
    auto at = text.find(kBefore, text.find("\"nats\""));
    // The end of the document, so that no half of it is read.
    if (at == std::string::npos || text.find('}') == std::string::npos) continue;
    return std::atoi(text.c_str() + at + kBefore.size());
  }
  return std::nullopt;
}

/// It greets with INFO.
bool TestingBroker::is_answering() const {
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  char greeting[4] = {};
  bool is_good = false;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    pollfd readable{fd, POLLIN, 0};
    is_good = ::poll(&readable, 1, 1'000) == 1 && ::recv(fd, greeting, 4, 0) == 4 &&
              std::memcmp(greeting, "INFO", 4) == 0;
  }
  ::close(fd);
  return is_good;
}

}  // namespace league::testing
