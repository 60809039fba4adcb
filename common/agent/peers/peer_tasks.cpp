// What tasks call a peer with.
#include <mutex>

#include "common/agent/peers/peer_client.h"
#include "common/transport/caller/call_batch.h"

namespace league::agent::peers {

task::Task<PeerReply> PeerClient::call(PeerCall call) {
  return task::called_back<PeerReply>([this, call = std::move(call)](auto completion) mutable {
    this->call(std::move(call), std::move(completion));
  });
}

task::Task<core::Result<nlohmann::json>> PeerClient::call_tool(PeerToolCall call) {
  using Said = core::Result<nlohmann::json>;
  return task::called_back<Said>([this, call = std::move(call)](auto completion) mutable {
    call_tool(std::move(call), std::move(completion));
  });
}

task::Task<std::vector<PeerReply>> PeerClient::call_together(std::vector<PeerCall> calls) {
  const auto& endpoint = calls.front().endpoint;
  const bool has_batches = calls.size() > 1 && transport::link::is_http(endpoint) &&
                           style_of(endpoint) == dialects::CallStyle::kToolName;
  if (has_batches) co_return co_await call_as_batch(std::move(calls));
  std::vector<PeerReply> replies;
  for (auto& one : calls) {
    auto reply = co_await call(std::move(one));
    replies.push_back(std::move(reply));
  }
  co_return replies;
}

task::Task<std::vector<PeerReply>> PeerClient::call_as_batch(std::vector<PeerCall> calls) {
  using Replies = std::vector<PeerReply>;
  return task::called_back<Replies>([this, calls = std::move(calls)](auto done) mutable {
    struct Gathered {
      std::mutex mutex;
      Replies replies;
      std::size_t missing;
    };
    auto gathered = std::make_shared<Gathered>();
    gathered->missing = calls.size();
    gathered->replies.resize(calls.size());
    const auto batch = std::make_shared<transport::caller::CallBatch>();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      calls[i].batch = batch;
      call(std::move(calls[i]), [gathered, done, i](PeerReply reply) {
        reply.write_record();
        {
          std::lock_guard lock(gathered->mutex);
          gathered->replies[i] = std::move(reply);
          if (--gathered->missing > 0) return;
        }
        done(std::move(gathered->replies));
      });
    }
    batch->close();
  });
}

}  // namespace league::agent::peers
