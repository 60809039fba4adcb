#include "league_manager/core/roster.h"

#include <utility>

#include "common/core/comparable_address.h"
#include "common/envelope/display_name.h"

namespace league::league_manager {

namespace {

std::optional<events::AgentRef> look_up(
    const std::unordered_map<std::string, events::AgentRef>& index, const std::string& key) {
  auto found = index.find(key);
  if (found == index.end()) return std::nullopt;
  return found->second;
}

std::string address_key(const std::string& endpoint) {
  return core::ComparableAddress::parse(endpoint).text();
}

/// Removes `key` from the index, unless it belongs to another agent by now.
void remove_from(std::unordered_map<std::string, events::AgentRef>& index, const std::string& key,
                 events::AgentRef ref) {
  auto found = index.find(key);
  if (found != index.end() && found->second == ref) index.erase(found);
}

}  // namespace

std::optional<events::AgentRef> Roster::find(std::string_view id) const {
  auto ref = events::AgentRef::parse(id);
  return ref && contains(*ref) && !agent(*ref).is_free ? ref : std::nullopt;
}

std::vector<int> Roster::free_seats(events::AgentKind kind) const {
  std::vector<int> seats;
  for (int i = 0; i < count(kind); ++i) {
    if (agent({kind, i}).is_free) seats.push_back(i);
  }
  return seats;
}

events::AgentRef Roster::next_seat(events::AgentKind kind) const {
  const std::vector<int> free = free_seats(kind);
  return {kind, free.empty() ? count(kind) : free.front()};
}

std::optional<events::AgentRef> Roster::find_by_token_hash(const std::string& hash) const {
  return look_up(by_token_hash_, hash);
}

std::optional<events::AgentRef> Roster::find_by_endpoint(const std::string& endpoint) const {
  return look_up(by_endpoint_, address_key(endpoint));
}

std::string Roster::name_key(events::AgentKind kind, const std::string& display_name) {
  return std::string(events::agent_kind_name(kind)) + ':' + envelope::comparable_name(display_name);
}

std::optional<events::AgentRef> Roster::find_by_name(events::AgentKind kind,
                                                     const std::string& display_name) const {
  return look_up(by_name_, name_key(kind, display_name));
}

std::optional<events::AgentRef> Roster::find_by_registration_nonce(
    const std::string& nonce_hash) const {
  return look_up(by_registration_nonce_, nonce_hash);
}

std::optional<events::AgentRef> Roster::find_by_code(const std::string& code_digest) const {
  return look_up(by_code_, code_digest);
}

void Roster::add(events::AgentRef seat, events::Agent agent) {
  auto& agents = list(seat.kind);
  if (seat.index == count(seat.kind)) agents.emplace_back();
  agents[static_cast<std::size_t>(seat.index)] = std::move(agent);
  index(seat);
}

void Roster::free(events::AgentRef ref) {
  unindex(ref);
  list(ref.kind)[static_cast<std::size_t>(ref.index)].is_free = true;
}

void Roster::update(const events::AgentReregistered& event) {
  unindex(event.agent);
  events::Agent& agent = list(event.agent.kind)[static_cast<std::size_t>(event.agent.index)];
  agent.profile = event.profile;
  agent.credential = event.credential;
  agent.registration_nonce_hash = event.registration_nonce_hash;
  agent.is_awaited = false;
  if (event.recognised_by == events::Recognition::kOperator) agent.awaits_nonce = true;
  if (!event.registration_nonce_hash.empty()) agent.awaits_nonce = false;
  index(event.agent);
}

void Roster::keep_credential(events::AgentRef ref, core::UtcTimestamp until) {
  events::Agent& agent = list(ref.kind)[static_cast<std::size_t>(ref.index)];
  agent.past_credentials.push_back({agent.credential.nonce, until});
}

void Roster::await_referees() {
  for (events::Agent& referee : referees_) referee.is_awaited = true;
}

void Roster::index(events::AgentRef ref) {
  const events::Agent& one = agent(ref);
  by_token_hash_[one.credential.token_hash] = ref;
  by_endpoint_[address_key(one.profile.endpoint)] = ref;
  by_name_.try_emplace(name_key(ref.kind, one.profile.display_name), ref);
  if (!one.registration_nonce_hash.empty())
    by_registration_nonce_[one.registration_nonce_hash] = ref;
  if (one.profile.code_digest) by_code_[*one.profile.code_digest] = ref;
  if (one.profile.has_seat_limits()) ++people_;
}

void Roster::unindex(events::AgentRef ref) {
  const events::Agent& one = agent(ref);
  by_token_hash_.erase(one.credential.token_hash);
  remove_from(by_endpoint_, address_key(one.profile.endpoint), ref);
  remove_from(by_name_, name_key(ref.kind, one.profile.display_name), ref);
  by_registration_nonce_.erase(one.registration_nonce_hash);
  if (one.profile.code_digest) remove_from(by_code_, *one.profile.code_digest, ref);
  if (one.profile.has_seat_limits()) --people_;
}

}  // namespace league::league_manager
