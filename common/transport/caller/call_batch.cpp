#include "common/transport/caller/call_batch.h"

#include <algorithm>
#include <utility>

#include "common/rpc/codec.h"
#include "common/rpc/frame_peek.h"

namespace league::transport::caller {

void CallBatch::add(link::Caller& by, link::OutboundCall call,
                    link::Caller::Completion completion) {
  {
    std::lock_guard lock(mutex_);
    if (!is_closed_) {
      caller_ = &by;
      entries_.push_back({std::move(call), std::move(completion)});
      return;
    }
  }
  by.call(std::move(call), std::move(completion));
}

void CallBatch::close() {
  std::vector<Entry> entries;
  {
    std::lock_guard lock(mutex_);
    is_closed_ = true;
    entries.swap(entries_);
  }
  if (entries.empty()) return;
  if (entries.size() == 1)
    return caller_->call(std::move(entries[0].call), std::move(entries[0].completion));
  link::OutboundCall whole = joined(entries);
  caller_->call(std::move(whole),
                [entries = std::move(entries)](link::CallOutcome outcome) mutable {
                  distribute(std::move(entries), outcome);
                });
}

link::OutboundCall CallBatch::joined(const std::vector<Entry>& entries) {
  link::OutboundCall whole;
  const link::OutboundCall& first = entries.front().call;
  whole.endpoint = first.endpoint;
  whole.context = first.context;
  whole.budget = first.budget;
  whole.headers = first.headers;
  whole.deadline = first.deadline;
  whole.is_repeatable = true;
  std::vector<std::string> texts;
  for (const auto& [call, completion] : entries) {
    texts.push_back(call.bytes.str());
    whole.deadline = std::max(whole.deadline, call.deadline);
    whole.is_repeatable = whole.is_repeatable && call.is_repeatable;
  }
  whole.bytes = rpc::encode_batch(texts);
  return whole;
}

void CallBatch::distribute(std::vector<Entry> entries, const link::CallOutcome& outcome) {
  const auto answers =
      outcome.error ? std::nullopt : rpc::batch_messages(outcome.bytes, 2 * entries.size());
  for (auto& [call, completion] : entries) {
    link::CallOutcome own = outcome;
    own.notes = std::make_shared<rpc::MessageNotes>();
    if (answers) {
      const auto answer = std::ranges::find(
          *answers, call.id, [](std::string_view text) { return rpc::peek_frame(text).id; });
      own.bytes = answer == answers->end() ? rpc::SharedText() : std::string(*answer);
    }
    completion(std::move(own));
  }
}

void BatchCaller::call(link::OutboundCall call, Completion completion) {
  auto batch = std::exchange(call.batch, nullptr);
  if (!batch || !link::is_http(call.endpoint))
    return caller_.call(std::move(call), std::move(completion));
  batch->add(caller_, std::move(call), std::move(completion));
}

}  // namespace league::transport::caller
