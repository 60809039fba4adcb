#include "bus/transport/memory_bus_testing.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "bus/transport/bus.h"
#include "bus/transport/handler_gate.h"

namespace league::transport::memory {
namespace {

std::string_view take_token(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('.'), rest.size());
  const auto token = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return token;
}

/// Whether `subject` matches `pattern`: `*` is one token, a final `>` one or more.
bool subject_matches(std::string_view pattern, std::string_view subject) {
  while (!pattern.empty() && !subject.empty()) {
    auto expected = take_token(pattern);
    if (expected == ">") return true;
    auto token = take_token(subject);
    if (expected != "*" && expected != token) return false;
  }
  return pattern.empty() && subject.empty();
}

}  // namespace

/// Members are guarded by the core's lock.
struct MemoryBroker::Client {
  std::string name;
  bool is_cut = false;
  bool is_connected = false;
  std::uint64_t connection = 0;  ///< what is on its way by an earlier one is lost
  std::vector<std::shared_ptr<bus::HandlerGate<bool>>> watchers = {};
};

struct MemoryBroker::Listener {
  std::shared_ptr<Client> client;
  std::string pattern;
  std::string queue;
  bus::HandlerGate<bus::BusMessage> gate;
};

class MemoryBroker::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(Post post, std::size_t limit) : max_payload(limit), post_(std::move(post)) {}

  const std::size_t max_payload;

  std::shared_ptr<Client> add(std::string name);
  void remove(const std::shared_ptr<Client>& client);
  void add(std::shared_ptr<Listener> listener);
  void remove(const std::shared_ptr<Listener>& listener);
  void watch(Client& client, std::shared_ptr<bus::HandlerGate<bool>> watcher);
  void unwatch(Client& client, const std::shared_ptr<bus::HandlerGate<bool>>& watcher);
  void publish(const Client& from, const bus::BusMessage& message);
  void set_cut(const std::string& name, bool is_cut);
  void set_running(bool is_running);
  bool is_connected(const Client& client);

 private:
  using Listeners = std::vector<std::shared_ptr<Listener>>;
  Listeners chosen(const std::string& subject);
  void deliver(const std::shared_ptr<Listener>& to, std::uint64_t connection,
               const bus::BusMessage& message);
  void update(Client& client);

  const Post post_;
  std::mutex mutex_;
  bool is_running_ = true;
  std::uint64_t turn_ = 0;
  std::vector<std::shared_ptr<Client>> clients_;
  Listeners listeners_;
};

std::shared_ptr<MemoryBroker::Client> MemoryBroker::Core::add(std::string name) {
  auto client = std::make_shared<Client>();
  client->name = std::move(name);
  std::lock_guard lock(mutex_);
  client->is_connected = is_running_;
  clients_.push_back(client);
  return client;
}

void MemoryBroker::Core::remove(const std::shared_ptr<Client>& client) {
  Listeners ended;
  std::vector<std::shared_ptr<bus::HandlerGate<bool>>> watchers;
  {
    std::lock_guard lock(mutex_);
    client->is_connected = false;
    std::erase(clients_, client);
    std::erase_if(listeners_, [&](const auto& listener) {
      if (listener->client != client) return false;
      ended.push_back(listener);
      return true;
    });
    watchers.swap(client->watchers);
  }
  // Closing waits for handlers, which may need the lock.
  for (const auto& listener : ended) listener->gate.close();
  for (const auto& watcher : watchers) watcher->close();
}

void MemoryBroker::Core::add(std::shared_ptr<Listener> listener) {
  std::lock_guard lock(mutex_);
  listeners_.push_back(std::move(listener));
}

void MemoryBroker::Core::remove(const std::shared_ptr<Listener>& listener) {
  {
    std::lock_guard lock(mutex_);
    std::erase(listeners_, listener);
  }
  listener->gate.close();
}

void MemoryBroker::Core::watch(Client& client, std::shared_ptr<bus::HandlerGate<bool>> watcher) {
  std::lock_guard lock(mutex_);
  client.watchers.push_back(std::move(watcher));
}

void MemoryBroker::Core::unwatch(Client& client,
                                 const std::shared_ptr<bus::HandlerGate<bool>>& watcher) {
  {
    std::lock_guard lock(mutex_);
    std::erase(client.watchers, watcher);
  }
  watcher->close();
}

/// Under the lock: who gets what is published at `subject`.
MemoryBroker::Core::Listeners MemoryBroker::Core::chosen(const std::string& subject) {
  Listeners all;
  std::map<std::string, Listeners> groups;
  for (const auto& listener : listeners_) {
    if (!listener->client->is_connected || !subject_matches(listener->pattern, subject)) continue;
    (listener->queue.empty() ? all : groups[listener->queue]).push_back(listener);
  }
  if (!groups.empty()) ++turn_;
  for (const auto& [queue, members] : groups) all.push_back(members[turn_ % members.size()]);
  return all;
}

void MemoryBroker::Core::publish(const Client& from, const bus::BusMessage& message) {
  bus::BusMessage sent = message;
  sent.is_no_responders = false;
  std::vector<std::pair<std::shared_ptr<Listener>, std::uint64_t>> to;
  {
    std::lock_guard lock(mutex_);
    if (!from.is_connected) return;
    auto listeners = chosen(sent.subject);
    if (listeners.empty() && !sent.reply.empty()) {
      sent = {sent.reply, {}, {}, {}, true};
      listeners = chosen(sent.subject);
      std::erase_if(listeners, [&](const auto& one) { return one->client.get() != &from; });
    }
    for (auto& listener : listeners) {
      auto connection = listener->client->connection;
      to.emplace_back(std::move(listener), connection);
    }
  }
  for (const auto& [listener, connection] : to) deliver(listener, connection, sent);
}

void MemoryBroker::Core::deliver(const std::shared_ptr<Listener>& to, std::uint64_t connection,
                                 const bus::BusMessage& message) {
  post_([self = shared_from_this(), to, connection, message] {
    {
      std::lock_guard lock(self->mutex_);
      if (to->client->connection != connection) return;
    }
    to->gate.run(message);
  });
}

void MemoryBroker::Core::set_cut(const std::string& name, bool is_cut) {
  std::lock_guard lock(mutex_);
  for (const auto& client : clients_) {
    if (client->name != name) continue;
    client->is_cut = is_cut;
    update(*client);
  }
}

void MemoryBroker::Core::set_running(bool is_running) {
  std::lock_guard lock(mutex_);
  is_running_ = is_running;
  for (const auto& client : clients_) update(*client);
}

/// Under the lock, so that the watchers hear of changes in their order.
void MemoryBroker::Core::update(Client& client) {
  bool is_connected = is_running_ && !client.is_cut;
  if (client.is_connected == is_connected) return;
  client.is_connected = is_connected;
  if (!is_connected) ++client.connection;
  for (const auto& watcher : client.watchers) {
    post_([watcher, is_connected] { watcher->run(is_connected); });
  }
}

bool MemoryBroker::Core::is_connected(const Client& client) {
  std::lock_guard lock(mutex_);
  return client.is_connected;
}

class MemoryBroker::MemoryBus final : public bus::Bus {
 public:
  MemoryBus(std::shared_ptr<Core> core, std::string name)
      : core_(std::move(core)), client_(core_->add(std::move(name))) {}
  ~MemoryBus() override { core_->remove(client_); }

  core::Result<void> publish(const bus::BusMessage& message) override {
    auto checked = bus::check_bus_message(message, core_->max_payload);
    if (checked) core_->publish(*client_, message);
    return checked;
  }
  core::Result<std::unique_ptr<Subscription>> subscribe(const std::string& subject,
                                                        const std::string& queue,
                                                        Handler handler) override {
    if (auto checked = bus::check_bus_subscription(subject, queue); !checked)
      return checked.error();
    std::shared_ptr<Listener> listener(new Listener{
        client_, subject, queue, bus::HandlerGate<bus::BusMessage>(std::move(handler))});
    core_->add(listener);
    return std::make_unique<Subscription>([core = core_, listener] { core->remove(listener); });
  }
  std::unique_ptr<Subscription> watch(StateHandler handler) override {
    auto watcher = std::make_shared<bus::HandlerGate<bool>>(std::move(handler));
    core_->watch(*client_, watcher);
    return std::make_unique<Subscription>(
        [core = core_, client = client_, watcher] { core->unwatch(*client, watcher); });
  }
  [[nodiscard]] bool is_connected() const override { return core_->is_connected(*client_); }
  /// What was published is on its way by then; who drives the steps decides when it arrives.
  bool flush(std::chrono::milliseconds /*patience*/) override { return is_connected(); }
  [[nodiscard]] std::size_t max_payload() const override { return core_->max_payload; }
  [[nodiscard]] std::string url() const override { return "memory://broker"; }

 private:
  std::shared_ptr<Core> core_;
  std::shared_ptr<Client> client_;
};

MemoryBroker::MemoryBroker(Post post, std::size_t max_payload)
    : core_(std::make_shared<Core>(std::move(post), max_payload)) {}

MemoryBroker::~MemoryBroker() { stop(); }

std::unique_ptr<bus::Bus> MemoryBroker::connect(std::string name) {
  return std::make_unique<MemoryBus>(core_, std::move(name));
}

void MemoryBroker::cut(const std::string& name) { core_->set_cut(name, true); }
void MemoryBroker::heal(const std::string& name) { core_->set_cut(name, false); }
void MemoryBroker::stop() { core_->set_running(false); }
void MemoryBroker::start() { core_->set_running(true); }

void MemoryBroker::restart() {
  stop();
  start();
}

}  // namespace league::transport::memory
