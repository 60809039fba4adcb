#include "league_manager/event_desk.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "league_manager/manager_tools.h"

namespace league::league_manager {

using core::Error;
using core::ErrorCode;

EventDesk::EventDesk(agent::AgentServer& server, EventFeed* feed, std::string league_id)
    : feed_(feed), league_id_(std::move(league_id)) {
  server.bind_tool(events_subscribe_tool(),
                   [this](agent::ToolCall call) { on_subscribe(std::move(call)); });
}

void EventDesk::on_subscribe(agent::ToolCall call) {
  const auto& context = call.context;
  std::optional<transport::BusSession> session;
  if (context.transport.type == rpc::TransportType::kNats && context.session.session_id)
    session = transport::BusSession::parse(context.session.session_id->view());
  if (feed_ == nullptr || !session) {
    return call.reply.refuse(
        {ErrorCode::kUnexpectedMessage,
         "events are pushed to sessions on the message bus only; here, subscribe to "
         "league://standings with resources/subscribe, or ask get_standings and get_league_status",
         ""});
  }
  auto wish = read_event_wish(call.arguments);
  if (!wish) return call.reply.refuse(wish.error());
  call.reply.send({{"status", "ok"},
                   {"league_id", league_id_},
                   {"subject", transport::session_out(*session)},
                   {"is_kept", feed_->is_kept()}},
                  [this, session = *session, wish = std::move(*wish)] {
                    feed_->subscribe(session, wish);  // after the answer, which comes first
                  });
}

}  // namespace league::league_manager
