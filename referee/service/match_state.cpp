// How a referee shows a match to whoever asks.
#include <nlohmann/json.hpp>

#include "common/schema/json_fields.h"
#include "referee/service/referee_service.h"

namespace league::referee::service {
namespace {

using core::ErrorCode;
using nlohmann::json;

json state_of(const MatchSnapshot& snapshot) {
  json seats = json::object();
  for (Side side : kBothSides) {
    json seat = {{"role", side_name(side)}, {"state", seat_state_name(snapshot.seats[side])}};
    if (snapshot.played) {
      const auto& choice = snapshot.played->result.choices[side];
      seat["choice"] = choice ? json(*choice) : json(nullptr);
      seat["score"] = snapshot.points[side];
    }
    seats[snapshot.players[side].str()] = std::move(seat);
  }
  json state = {{"match_id", snapshot.match_id.str()},
                {"game_type", snapshot.game_type},
                {"state", state_name(snapshot.state)},
                {"players", std::move(seats)}};
  if (snapshot.played) {
    state["status"] = status_name(snapshot.played->result);
    state["reason"] = snapshot.played->reason;
    const auto& number = snapshot.played->result.drawn_number;
    state["drawn_number"] = number ? json(*number) : json(nullptr);
  }
  return state;
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
