// How a referee shows a match to whoever asks.
#include <nlohmann/json.hpp>

#include "common/schema/fields.h"
#include "common/schema/json_fields.h"
#include "referee/service/referee_service.h"

namespace league::referee::service {
namespace {

using core::ErrorCode;
using nlohmann::json;

json state_of(const MatchSnapshot& snapshot) {
  const auto& played = snapshot.played;
  return schema::object_to_json([&](schema::Fields& a) {
    a.required("match_id", snapshot.match_id, "game_type", snapshot.game_type, "state",
               state_name(snapshot.state));
    a.object("players", [&](schema::Fields& seats) {
      for (Side side : kBothSides) {
        seats.object(snapshot.players[side].str(), [&](schema::Fields& seat) {
          seat.required("role", side_name(side), "state", seat_state_name(snapshot.seats[side]));
          if (!played) return;
          seat.nullable("choice", played->result.choices[side]);
          seat.required("score", snapshot.points[side]);
        });
      }
    });
    if (!played) return;
    a.required("status", status_name(played->result), "reason", played->reason);
    a.nullable("drawn_number", played->result.drawn_number);
  });
}

}  // namespace

void RefereeService::on_get_match_state(agent::host::ToolCall call) {
  core::MatchId id(schema::text_at(call.arguments, "match_id"));
  std::shared_ptr<MatchRunner> runner;
  std::optional<MatchSnapshot> snapshot;
  {
    std::lock_guard lock(mutex_);
    if (auto found = running_.find(id); found != running_.end()) runner = found->second;
    if (auto done = finished_.find(id); !runner && done != finished_.end()) snapshot = done->second;
  }
  if (runner) snapshot = runner->snapshot();
  if (!snapshot) {
    return call.reply.refuse({ErrorCode::kMatchNotFound,
                              "this referee has no match \"" + id.str().substr(0, 64) + "\"",
                              "/match_id"});
  }
  call.reply.send(state_of(*snapshot));
}

}  // namespace league::referee::service
