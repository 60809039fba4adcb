#include "common/transport/link/signals.h"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <initializer_list>

namespace league::transport::link {

namespace {

/// Blocks the signals' default action and returns a descriptor from which they can be read.
core::FileDescriptor readable_signals(std::initializer_list<int> numbers) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (int number : numbers) sigaddset(&wanted, number);
  ::pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
  return core::FileDescriptor(::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC));
}

}  // namespace

HangUpSignal::HangUpSignal() : signals_(readable_signals({SIGHUP})) {}

bool HangUpSignal::take() {
  signalfd_siginfo info{};
  bool came = false;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) came = true;
  return came;
}

StopSignal::StopSignal() : signals_(readable_signals({SIGINT, SIGTERM})) {
  std::signal(SIGPIPE, SIG_IGN);
  requested_ = open_bell();
}

int StopSignal::wait() { return wait_until(-1); }

int StopSignal::wait_for(std::chrono::milliseconds patience) {
  return wait_until(static_cast<int>(patience.count()));
}

void StopSignal::request_stop() { ring(requested_); }

int StopSignal::wait_until(int milliseconds) {
  std::array<pollfd, 2> wanted{pollfd{signals_.get(), POLLIN, 0},
                               pollfd{requested_.get(), POLLIN, 0}};
  int ready = 0;
  do {
    ready = ::poll(wanted.data(), wanted.size(), milliseconds);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return -1;
  signalfd_siginfo info{};
  if (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    return static_cast<int>(info.ssi_signo);
  }
  return 0;
}

}  // namespace league::transport::link
