#include <utility>

#include "common/transport/caller/link_pool.h"

namespace league::transport::caller {

bool LinkCaller::Pool::make_room(Actions& actions) {
  if (link_count_ < options_.max_connections) return true;
  Peer* owner = nullptr;
  LinkPointer oldest;
  for (auto& [key, peer] : peers_) {
    for (const auto& link : peer.links) {
      if (!link->ids.empty() || (oldest && oldest->last_used <= link->last_used)) continue;
      owner = &peer;
      oldest = link;
    }
  }
  if (!oldest) return false;
  remove_link(*owner, oldest, actions);
  return true;
}

void LinkCaller::Pool::open_link(const std::string& key, Peer& peer, const JobPointer& job,
                                 Actions& actions) {
  peer.is_connecting = true;
  ++link_count_;
  actions.push_back([this, key, endpoint = peer.endpoint, deadline = job->call.deadline] {
    connector_.connect(endpoint, deadline, [weak = weak_from_this(), key](auto connection) {
      if (auto self = weak.lock()) self->on_opened(key, std::move(connection));
    });
  });
}

void LinkCaller::Pool::remove_link(Peer& peer, const LinkPointer& link, Actions& actions) {
  auto erased = std::erase(peer.links, link);
  link_count_ -= erased;
  changed_.notify_all();
  // Closed and destroyed without the lock; another thread may still be using it.
  if (erased > 0) actions.push_back([link] { link->client->close(); });
}

void LinkCaller::Pool::on_opened(
    const std::string& key, core::Result<std::shared_ptr<link::MessageConnection>> connection) {
  auto link = std::make_shared<Link>();
  if (connection) {
    ConnectionClientOptions options;
    options.peer = key.substr(0, key.rfind('@'));
    options.on_closed = [weak = weak_from_this(), weak_link = std::weak_ptr<Link>(link),
                         key](const core::Error& why) {
      auto self = weak.lock();
      auto closed = weak_link.lock();
      if (self && closed) self->on_link_closed(key, closed, why);
    };
    link->client =
        ConnectionClient::start(*std::move(connection), clock_, timer_, std::move(options));
  }
  Actions actions;
  std::optional<core::Error> failure;
  {
    std::lock_guard lock(mutex_);
    auto& peer = peers_[key];
    peer.is_connecting = false;
    // Only a value was moved. NOLINTNEXTLINE(bugprone-use-after-move)
    if (!connection) failure = connection.error();
    if (link->lost) failure = link->lost;
    if (failure || is_stopping_) {
      --link_count_;
      changed_.notify_all();
    } else {
      link->last_used = clock_.steady_now();
      peer.links.push_back(link);
      pump(key, peer, actions);
    }
  }
  run(actions);
  if (failure) fail_waiting(key, *failure);
}

void LinkCaller::Pool::watch_idle(const std::string& key, const LinkPointer& link) {
  core::Clock::Steady due;
  {
    std::lock_guard lock(mutex_);
    due = (link->ids.empty() ? link->last_used : clock_.steady_now()) + options_.connection_idle;
  }
  timer_.schedule(due - clock_.steady_now(),
                  [weak = weak_from_this(), key, weak_link = std::weak_ptr<Link>(link)] {
                    auto self = weak.lock();
                    auto idle = weak_link.lock();
                    if (self && idle) self->on_idle(key, idle);
                  });
}

void LinkCaller::Pool::on_idle(const std::string& key, const LinkPointer& link) {
  Actions actions;
  {
    std::lock_guard lock(mutex_);
    auto found = peers_.find(key);
    if (is_stopping_ || found == peers_.end()) return;
    if (link->ids.empty() && link->last_used + options_.connection_idle <= clock_.steady_now()) {
      remove_link(found->second, link, actions);
      drop_if_unused(key);
    }
  }
  if (actions.empty() && !link->lost) return watch_idle(key, link);
  run(actions);
}

void LinkCaller::Pool::on_link_closed(const std::string& key, const LinkPointer& link,
                                      const core::Error& why) {
  Actions actions;
  {
    std::lock_guard lock(mutex_);
    link->lost = why;
    auto found = peers_.find(key);
    if (found == peers_.end()) return;
    remove_link(found->second, link, actions);
    if (!is_stopping_) pump(key, found->second, actions);
    drop_if_unused(key);
  }
  run(actions);
}

}  // namespace league::transport::caller
