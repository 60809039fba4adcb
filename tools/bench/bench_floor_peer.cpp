// A process of the floor under a match: plain sockets, without anything that the programs of a
// league share.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <deque>
#include <iostream>
#include <iterator>
#include <vector>

#include "common/core/file_descriptor.h"
#include "common/transport/link/socket.h"
#include "tools/bench/bench_floor.h"

namespace league::tools::bench {
namespace {

using FloorClock = std::chrono::steady_clock;

constexpr std::size_t kRequestBody = 480;  // about the mean of a match's calls without commitments
constexpr std::size_t kAnswerBody = 420;
constexpr std::chrono::seconds kConnectPatience{5};

std::string with_body(std::string head, std::size_t bytes) {
  head += "Content-Type: application/json\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n";
  return head.append(bytes, '0');
}

std::string fixed_request() {
  return with_body(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n",
      kRequestBody);
}

std::string fixed_answer() { return with_body("HTTP/1.1 200 OK\r\n", kAnswerBody); }

bool write_all(int fd, const std::string& bytes) {
  return ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
}

/// An epoll set, read-only: which descriptors can be read.
class ReadySet {
 public:
  ReadySet() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

  void add(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }

  /// Blocks until at least one can be read, or for a tenth of a second.
  template <typename Each>
  void wait(Each each) {
    const int count =
        ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), 100);
    for (int i = 0; i < count; ++i) each(events_[static_cast<std::size_t>(i)].data.fd);
  }

 private:
  core::FileDescriptor epoll_;
  std::array<epoll_event, 256> events_{};
};

/// Answers each request with the same bytes. All requests have the same size, so only bytes are
/// counted.
class FloorServer {
 public:
  explicit FloorServer(core::FileDescriptor listener) : listener_(std::move(listener)) {
    ready_.add(listener_.get());
    ready_.add(STDIN_FILENO);
  }

  int run() {
    while (!is_over_) {
      ready_.wait([this](int fd) {
        if (fd == STDIN_FILENO) {
          is_over_ = true;
        } else if (fd == listener_.get()) {
          accept_one();
        } else {
          answer(fd);
        }
      });
    }
    return 0;
  }

 private:
  void accept_one() {
    const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    transport::link::set_no_delay(fd);
    if (received_.size() <= static_cast<std::size_t>(fd))
      received_.resize(static_cast<std::size_t>(fd) + 1);
    received_[static_cast<std::size_t>(fd)] = 0;
    ready_.add(fd);
  }

  void answer(int fd) {
    const ssize_t size = ::read(fd, buffer_.data(), buffer_.size());
    if (size <= 0) {
      if (size == 0 || errno != EAGAIN) ::close(fd);
      return;
    }
    std::size_t& received = received_[static_cast<std::size_t>(fd)];
    received += static_cast<std::size_t>(size);
    for (; received >= request_bytes_; received -= request_bytes_) {
      if (!write_all(fd, answer_)) is_over_ = true;  // the referee misses the answer and says so
    }
  }

  const core::FileDescriptor listener_;
  const std::size_t request_bytes_ = fixed_request().size();
  const std::string answer_ = fixed_answer();
  ReadySet ready_;
  std::vector<std::size_t> received_;  ///< by descriptor: bytes of a request that is not complete
  std::array<char, 65536> buffer_{};
  bool is_over_ = false;
};

/// Plays matches: two invitations at once, two questions for a choice at once, then two ends of the
/// game and the report at once; when all three are answered, the next match begins. Opens a
/// connection to each peer at once, and more when they are needed.
class FloorReferee {
 public:
  explicit FloorReferee(const FloorPeerOptions& options) : options_(options) {
    peers_.resize(static_cast<std::size_t>(options.players) + 1);
    for (auto& peer : peers_) peer.port = options.players_port;
    peers_.back().port = options.manager_port;
    matches_.resize(static_cast<std::size_t>(options.concurrent_matches));
    for (auto& peer : peers_) has_failed_ = !connect(peer) || has_failed_;
  }

  /// False if a connection has failed.
  bool play() {
    const auto begun = FloorClock::now();
    const auto until =
        begun + std::chrono::nanoseconds(static_cast<std::int64_t>(options_.seconds * 1e9));
    for (auto& match : matches_) begin(match);
    while (!has_failed_ && FloorClock::now() < until)
      ready_.wait([this](int fd) { on_answer(fd); });
    took_ = FloorClock::now() - begun;
    return !has_failed_;
  }

  [[nodiscard]] std::string result() const {
    return "done " + std::to_string(played_) + ' ' + std::to_string(calls_) + ' ' +
           std::to_string(std::chrono::nanoseconds(took_).count());
  }

 private:
  struct Peer {
    int port = 0;
    std::vector<int> idle;  ///< connections without a call
  };
  struct Match {
    int stage = 0;
    int awaited = 0;  ///< answers
    std::size_t first = 0;  ///< of the two players
    std::size_t second = 0;
  };
  struct Connection {
    Match* match = nullptr;
    Peer* peer = nullptr;
    std::size_t received = 0;
  };

  void begin(Match& match) {
    match.stage = 0;
    match.first = next_player();
    match.second = next_player();
    next_stage(match);
  }

  /// In turn, so that no player is in two matches unless more are played than there are pairs.
  std::size_t next_player() { return next_++ % (peers_.size() - 1); }

  void next_stage(Match& match) {
    ++match.stage;
    call(match, peers_[match.first]);
    call(match, peers_[match.second]);
    if (match.stage == 3) call(match, peers_.back());
  }

  void call(Match& match, Peer& peer) {
    if (peer.idle.empty() && !connect(peer)) {
      has_failed_ = true;
      return;
    }
    const int fd = peer.idle.back();
    peer.idle.pop_back();
    connections_[static_cast<std::size_t>(fd)] = {&match, &peer, 0};
    ++match.awaited;
    if (!write_all(fd, request_)) has_failed_ = true;
  }

  bool connect(Peer& peer) {
    auto socket = transport::link::connect_to("127.0.0.1", static_cast<std::uint16_t>(peer.port),
                                              FloorClock::now() + kConnectPatience);
    if (!socket) return false;
    const int fd = socket->get();
    open_.push_back(*std::move(socket));
    if (connections_.size() <= static_cast<std::size_t>(fd))
      connections_.resize(static_cast<std::size_t>(fd) + 1);
    ready_.add(fd);
    peer.idle.push_back(fd);
    return true;
  }

  void on_answer(int fd) {
    const ssize_t size = ::read(fd, buffer_.data(), buffer_.size());
    if (size <= 0) {
      has_failed_ = size == 0 || errno != EAGAIN;
      return;
    }
    Connection& connection = connections_[static_cast<std::size_t>(fd)];
    connection.received += static_cast<std::size_t>(size);
    if (connection.received < answer_bytes_) return;
    ++calls_;
    Match& match = *connection.match;
    connection.peer->idle.push_back(fd);
    if (--match.awaited > 0) return;
    if (match.stage < 3) {
      next_stage(match);
    } else {
      ++played_;
      begin(match);
    }
  }

  const FloorPeerOptions& options_;
  const std::string request_ = fixed_request();
  const std::size_t answer_bytes_ = fixed_answer().size();
  ReadySet ready_;
  std::vector<Peer> peers_;  ///< the players, then the manager
  std::vector<Match> matches_;
  std::vector<Connection> connections_;  ///< by descriptor
  std::vector<core::FileDescriptor> open_;
  std::array<char, 65536> buffer_{};
  std::size_t next_ = 0;
  std::uint64_t played_ = 0;
  std::uint64_t calls_ = 0;
  FloorClock::duration took_{};
  bool has_failed_ = false;
};

int serve_floor() {
  auto listener = transport::link::listen_on("127.0.0.1", 0);
  if (!listener) {
    std::cerr << "error: " << listener.error().message << '\n';
    return 2;
  }
  std::cout << "ready " << transport::link::local_address(listener->get()).port << std::endl;
  return FloorServer(*std::move(listener)).run();
}

}  // namespace

int run_floor_peer(const FloorPeerOptions& options) {
  if (options.role != "referee") return serve_floor();
  FloorReferee referee(options);
  std::cout << "ready" << std::endl;
  std::string line;
  if (!std::getline(std::cin, line)) return 0;
  if (!referee.play()) {
    std::cerr << "error: a connection of the floor has failed\n";
    return 2;
  }
  std::cout << referee.result() << std::endl;
  while (std::getline(std::cin, line)) {
  }
  return 0;
}

}  // namespace league::tools::bench
