#include "common/mcp/client_requests.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"

namespace league::mcp {

ClientRequests::~ClientRequests() {
  std::lock_guard lock(state_->mutex);
  for (auto& [id, waiting] : state_->waiting) {
    if (state_->timer != nullptr) state_->timer->cancel(waiting.timer);
  }
  state_->waiting.clear();
}

void ClientRequests::ask(transport::link::PeerChannel& channel, const Question& question,
                         Answered answered) {
  std::string id;
  {
    std::lock_guard lock(state_->mutex);
    id = "server-" + std::to_string(++state_->last_id);
    Waiting& waiting = state_->waiting[id];
    waiting.scope = question.scope;
    waiting.answered = std::move(answered);
    if (state_->timer != nullptr) {
      waiting.timer = state_->timer->schedule(question.timeout, [weak = std::weak_ptr(state_), id] {
        auto state = weak.lock();
        if (!state) return;
        state->give_up(id, {core::ErrorCode::kTimeout, "the client did not answer in time", ""});
      });
    }
  }
  bool is_sent = channel.push(std::make_shared<const std::string>(
      rpc::encode_request(rpc::Id(id), question.method, rpc::to_json_text(question.params))));
  if (is_sent) return;
  state_->give_up(id, {core::ErrorCode::kConnectionError,
                       "the client cannot be asked: it does not take a stream, or is gone", ""});
}

ClientRequests::Answered ClientRequests::State::take(const std::string& id,
                                                     const std::string* scope) {
  std::lock_guard lock(mutex);
  auto found = waiting.find(id);
  if (found == waiting.end()) return nullptr;
  if (scope != nullptr && found->second.scope != *scope) return nullptr;
  Answered answered = std::move(found->second.answered);
  if (timer != nullptr) timer->cancel(found->second.timer);
  waiting.erase(found);
  return answered;
}

void ClientRequests::State::give_up(const std::string& id, const core::Error& why) {
  if (Answered answered = take(id, nullptr)) answered(why);
}

bool ClientRequests::answer(const std::string& scope, rpc::Response response) {
  const std::string* id = response.id.text();
  Answered answered = id == nullptr ? nullptr : state_->take(*id, &scope);
  if (!answered) return false;
  answered(std::move(response));
  return true;
}

void ClientRequests::forget(const std::string& scope) {
  std::vector<std::string> gone;
  {
    std::lock_guard lock(state_->mutex);
    for (const auto& [id, waiting] : state_->waiting) {
      if (waiting.scope == scope) gone.push_back(id);
    }
  }
  for (const auto& id : gone)
    state_->give_up(id, {core::ErrorCode::kConnectionError, "the client is gone", ""});
}

}  // namespace league::mcp
