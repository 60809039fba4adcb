#include "league_manager/service/event_tool.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace league::league_manager::service {

using core::Error;
using core::ErrorCode;

namespace {

/// A reader that gets events through the channel of its call.
class ChannelReader : public bus::EventReader {
 public:
  explicit ChannelReader(std::shared_ptr<transport::link::PeerChannel> channel)
      : channel_(std::move(channel)) {}

  bool tell(const std::string& text, const std::string& id, std::string_view type) override {
    return channel_->push_event(std::make_shared<const std::string>(text), id, type);
  }
  [[nodiscard]] bool is_open() const override { return channel_->is_open(); }

 private:
  const std::shared_ptr<transport::link::PeerChannel> channel_;
};

/// A reader over HTTP: the answer is an event stream, which ends with the actual JSON-RPC answer.
class AnswerReader final : public ChannelReader {
 public:
  AnswerReader(std::shared_ptr<transport::link::PeerChannel> channel, agent::peers::Reply reply,
               nlohmann::json answer)
      : ChannelReader(std::move(channel)), reply_(std::move(reply)), answer_(std::move(answer)) {}
  ~AnswerReader() override { reply_.send(answer_); }
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  /// Confirms the subscription before the first event; false if the client does not accept a
  /// stream.
  bool begin() {
    nlohmann::json first = {
        {"jsonrpc", "2.0"}, {"method", "notifications/events_subscribed"}, {"params", answer_}};
    return tell(first.dump(), {}, "message");
  }
  void refuse(const Error& why) { reply_.refuse(why); }

 private:
  agent::peers::Reply reply_;
  const nlohmann::json answer_;
};

}  // namespace

EventTool::EventTool(agent::host::AgentServer& server, bus::EventSubscriptions* feed,
                     std::string league_id)
    : feed_(feed), league_id_(std::move(league_id)) {
  // Without a bus there are no events, so the tool is not offered at all.
  if (feed_ == nullptr) return;
  server.bind_tool("events_subscribe",
                   [this](agent::host::ToolCall call) { on_subscribe(std::move(call)); });
}

void EventTool::on_subscribe(agent::host::ToolCall call) {
  const auto& context = call.context;
  std::optional<transport::link::BusSession> session;
  if (context.transport.type == rpc::TransportType::kNats && context.session)
    session = transport::link::BusSession::parse(context.session->view());
  auto filter = bus::read_event_filter(call.arguments);
  if (!filter) return call.reply.refuse(filter.error());
  nlohmann::json answer = {
      {"status", "ok"}, {"league_id", league_id_}, {"is_kept", feed_->is_kept()}};
  if (!session) return stream(std::move(call), std::move(*filter), std::move(answer));
  answer["subject"] = transport::link::session_out(*session);
  call.reply.send(answer, [this, session = *session, filter = std::move(*filter)] {
    feed_->subscribe(session, filter);  // only after the answer, which must come first
  });
}

void EventTool::stream(agent::host::ToolCall call, bus::EventFilter filter, nlohmann::json answer) {
  if (!call.channel) {
    return call.reply.refuse(
        {ErrorCode::kUnexpectedMessage,
         "events are sent as an event stream: over HTTP send Accept: text/event-stream", ""});
  }
  if (call.context.transport.as_http() == nullptr) {
    auto reader = std::make_shared<ChannelReader>(call.channel);
    auto added = feed_->subscribe(reader, std::move(filter));
    return added ? call.reply.send(answer) : call.reply.refuse(added.error());
  }
  auto reader =
      std::make_shared<AnswerReader>(call.channel, std::move(call.reply), std::move(answer));
  if (!reader->begin()) {
    return reader->refuse({ErrorCode::kUnexpectedMessage,
                           "events are sent as an event stream, which this client does not accept",
                           ""});
  }
  if (auto added = feed_->subscribe(reader, std::move(filter)); !added)
    reader->refuse(added.error());
}

}  // namespace league::league_manager::service
