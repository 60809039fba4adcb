#include "tools/gateway/gateway_links.h"

#include <vector>

#include "tools/gateway/gateway_translation.h"

namespace league::tools::gateway {
namespace {

using core::Error;
using core::ErrorCode;

bool is_of_a_session(std::string_view method) {
  return method == "logging/setLevel" || method == "resources/subscribe" ||
         method == "resources/unsubscribe";
}

}  // namespace

void GatewayLinks::State::tell_sharers(const rpc::Notification& note) {
  std::vector<std::function<void(const rpc::Notification&)>> told;
  {
    std::lock_guard lock(mutex);
    for (const auto& [owner, entry] : clients) {
      if (!entry.link && entry.client.on_notification) told.push_back(entry.client.on_notification);
    }
  }
  for (const auto& tell : told) tell(note);
}

void GatewayLinks::State::on_call_ended(const std::string& owner, const GatewayLink* link,
                                        core::Clock::Steady now) {
  std::lock_guard lock(mutex);
  auto found = clients.find(owner);
  // The client may have a new session by now.
  if (found == clients.end() || found->second.link.get() != link || found->second.running == 0)
    return;
  --found->second.running;
  found->second.used_at = now;
}

GatewayLinks::GatewayLinks(const mcp::client::SessionTools& tools, audit::record::RecordSink& log,
                           GatewayLinksOptions options)
    : tools_(tools), log_(log), options_(std::move(options)), shared_(make_shared_link()) {}

GatewayLinks::~GatewayLinks() {
  std::map<std::string, Entry> ended;
  {
    std::lock_guard lock(state_->mutex);
    ended.swap(state_->clients);
  }
}

GatewayLinks::LinkPtr GatewayLinks::make_shared_link() const {
  GatewayLinkOptions shared = options_.shared;
  shared.on_notification = [weak = std::weak_ptr(state_)](const rpc::Notification& note) {
    if (auto state = weak.lock()) state->tell_sharers(note);
  };
  return std::make_shared<GatewayLink>(tools_, scope_, log_, std::move(shared));
}

void GatewayLinks::connect() { shared_->connect(); }

bool GatewayLinks::begins_with_own(const GatewayClient& client) const {
  const std::string& scheme = options_.shared.endpoint.scheme;
  return scheme == "http" || scheme == "https" || !askable(client.capabilities).empty();
}

GatewayLinks::LinkPtr GatewayLinks::make_own(const GatewayClient& client) const {
  GatewayLinkOptions own = options_.shared;
  own.is_own = true;
  own.client_capabilities = askable(client.capabilities);
  own.on_notification = client.on_notification;
  own.on_request = client.on_request;
  own.on_change = nullptr;  // only for the shared session: it reports on the backend, not on
                            // clients
  return std::make_shared<GatewayLink>(tools_, scope_, log_, std::move(own));
}

core::Result<void> GatewayLinks::make_room(EvictedLink& evicted) {
  if (state_->own < options_.most_own) return {};
  auto idlest = state_->clients.end();
  for (auto it = state_->clients.begin(); it != state_->clients.end(); ++it) {
    bool is_idle = it->second.link && it->second.running == 0;
    if (is_idle && (idlest == state_->clients.end() || it->second.used_at < idlest->second.used_at))
      idlest = it;
  }
  bool has_rested = idlest != state_->clients.end() &&
                    tools_.clock.steady_now() - idlest->second.used_at >= options_.idle;
  if (!has_rested) {
    return Error{ErrorCode::kOverloaded,
                 "all " + std::to_string(options_.most_own) +
                     " sessions that clients may have with the backend are in use",
                 {}};
  }
  evicted = {std::move(idlest->second.link), std::move(idlest->second.client.on_forgotten)};
  state_->clients.erase(idlest);
  --state_->own;
  return {};
}

core::Result<void> GatewayLinks::begin(GatewayClient client) {
  EvictedLink before;
  EvictedLink evicted;
  core::Result<void> done;
  {
    std::lock_guard lock(state_->mutex);
    if (auto found = state_->clients.find(client.owner); found != state_->clients.end()) {
      before.link = std::move(found->second.link);
      if (before.link) --state_->own;
      state_->clients.erase(found);
    }
    Entry entry;
    entry.used_at = tools_.clock.steady_now();
    if (begins_with_own(client)) {
      done = make_room(evicted);
      if (done) {
        entry.link = make_own(client);
        ++state_->own;
      }
    }
    if (done) {
      std::string owner = client.owner;
      entry.client = std::move(client);
      state_->clients.emplace(std::move(owner), std::move(entry));
    }
  }
  if (evicted.on_forgotten) evicted.on_forgotten();
  return done;
}

void GatewayLinks::end(const std::string& owner) {
  LinkPtr link;
  {
    std::lock_guard lock(state_->mutex);
    auto found = state_->clients.find(owner);
    if (found == state_->clients.end()) return;
    link = std::move(found->second.link);
    if (link) --state_->own;
    state_->clients.erase(found);
  }
}

GatewayLinks::Entry* GatewayLinks::entry_of(const GatewayCall& call) {
  if (call.owner.empty() || call.is_modern) return nullptr;
  auto found = state_->clients.find(call.owner);
  return found == state_->clients.end() ? nullptr : &found->second;
}

core::Result<GatewayLinks::LinkPtr> GatewayLinks::link_for(const GatewayCall& call,
                                                           EvictedLink& evicted) {
  std::lock_guard lock(state_->mutex);
  Entry* entry = entry_of(call);
  if (entry == nullptr) return shared_;
  if (!entry->link && is_of_a_session(call.request.method)) {
    if (auto room = make_room(evicted); !room) return room.error();
    entry->link = make_own(entry->client);
    ++state_->own;
  }
  if (!entry->link) return shared_;
  ++entry->running;
  entry->used_at = tools_.clock.steady_now();
  return entry->link;
}

GatewayBackend::Cancel GatewayLinks::forward(GatewayCall call, Answered answered) {
  EvictedLink evicted;
  auto link = link_for(call, evicted);
  if (evicted.on_forgotten) evicted.on_forgotten();
  if (!link) {
    answered(gateway_failure(call.request.id, link.error().message));
    return nullptr;
  }
  if (*link == shared_) {
    call.on_request = nullptr;
    return shared_->forward(std::move(call), std::move(answered));
  }
  // The deleter runs even if the call is cancelled before it is sent: then there is no answer, but
  // the completion is destroyed.
  std::shared_ptr<void> use(nullptr, [weak = std::weak_ptr(state_), owner = call.owner,
                                      raw = link->get(), &clock = tools_.clock](void*) {
    if (auto state = weak.lock()) state->on_call_ended(owner, raw, clock.steady_now());
  });
  return (*link)->forward(std::move(call), [use = std::move(use), answered = std::move(answered)](
                                               GatewayAnswer answer) mutable {
    use = nullptr;
    answered(std::move(answer));
  });
}

void GatewayLinks::describe(const GatewayCall& call, Answered answered) {
  LinkPtr link = shared_;
  {
    std::lock_guard lock(state_->mutex);
    const Entry* entry = entry_of(call);
    if (entry != nullptr && entry->link) link = entry->link;
  }
  link->describe(call, std::move(answered));
}

void GatewayLinks::notify(const std::string& owner, const rpc::Notification& note) {
  LinkPtr link;
  {
    std::lock_guard lock(state_->mutex);
    auto found = state_->clients.find(owner);
    if (found != state_->clients.end()) link = found->second.link;
  }
  if (link) link->notify(owner, note);
}

std::size_t GatewayLinks::own() const {
  std::lock_guard lock(state_->mutex);
  return state_->own;
}

}  // namespace league::tools::gateway
