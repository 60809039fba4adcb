#include "league_manager/hosts/hosted_player.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "common/agent/runtime/log.h"
#include "common/core/text.h"
#include "common/envelope/message_type.h"
#include "common/rpc/codec.h"
#include "common/rpc/frame_peek.h"

namespace league::league_manager::hosts {

using core::Error;
using core::ErrorCode;

/// The player's end of its seat.
class HostedPlayer::Line final : public transport::link::PeerChannel,
                                 public std::enable_shared_from_this<Line> {
 public:
  Line(HostedPlayer& player, std::string id) : player_(player), id_(std::move(id)) {}

  bool push(std::shared_ptr<const std::string> bytes) override {
    if (!is_open_) return false;
    player_.context_.executor.post([this, self = shared_from_this(), bytes = std::move(bytes)] {
      if (is_open_) player_.deliver(self, bytes);
    });
    return true;
  }
  void close() override { is_open_ = false; }
  [[nodiscard]] bool is_open() const override { return is_open_; }
  [[nodiscard]] const std::string& id() const override { return id_; }

 private:
  HostedPlayer& player_;  ///< used while it is open
  const std::string id_;
  std::atomic<bool> is_open_{true};
};

HostedPlayer::HostedPlayer(Context context, std::string display_name,
                           agent::identity::Identity identity)
    : context_(std::move(context)),
      display_name_(std::move(display_name)),
      identity_(std::move(identity)) {}

core::Result<std::unique_ptr<player::service::PlayerService>> HostedPlayer::make_service() {
  game::Games games;
  if (auto learnt = games.learn(*context_.game); !learnt) return learnt.error();
  auto made = player::service::PlayerService::create(
      {.display_name = display_name_, .games = std::move(games)},
      {.timer = context_.timer,
       .clock = context_.clock,
       .random = context_.random,
       .schemas = context_.schemas,
       .open_matches = context_.open_matches,
       .ask = [this](player::OpenMatch match, std::function<void(std::string)> chosen) {
         ask(std::move(match), std::move(chosen));
       }});
  if (!made) return made.error();
  auto& service = **made;
  service.on_match_over([this](const player::PlayedMatch& match) { end(match.match_id); });
  service.on_league_completed([this](const auto& /*end*/) {
    has_news_ = true;
    wake();
  });
  service.on_dispute(
      [this](const player::DisputedMatch& match) { context_.dispute(identity_, match); });
  if (context_.open_matches != nullptr) {
    const core::PlayerId id(identity_.id);
    service.resume(context_.open_matches->matches_of(id),
                   context_.open_matches->credentials_of(id));
  }
  service.set_identity(identity_);
  return made;
}

player::service::PlayerService* HostedPlayer::service() {
  if (!service_) {
    auto made = make_service();
    if (!made) {
      agent::runtime::log::error("{} cannot be run for its client: {}", identity_.id,
                                 made.error().message);
      return nullptr;
    }
    service_ = std::move(*made);
  }
  return service_.get();
}

player::MatchHistory HostedPlayer::history() const {
  return service_ ? service_->history() : player::MatchHistory();
}

HostedPlayer::~HostedPlayer() { close(); }

void HostedPlayer::close() {
  if (line_) line_->close();
  wake();
}

bool HostedPlayer::is_seated() const { return line_ && line_->is_open(); }

void HostedPlayer::sit() {
  if (is_seated()) return;
  static std::atomic<std::uint64_t> last{0};
  line_ = std::make_shared<Line>(*this, "host-" + std::to_string(++last));
  context_.seats.open(identity_.id, context_.seats.name_session(identity_.id),
                      agent::seats::Line::kHost, line_);
}

void HostedPlayer::deliver(const std::shared_ptr<Line>& line,
                           std::shared_ptr<const std::string> bytes) {
  const auto frame = rpc::peek_frame(*bytes);
  if (frame.kind != rpc::FrameKind::kRequest) return;
  // Whoever joins and leaves gets a notice, for which no service is made.
  if (!service_ && frame.method == envelope::spec(envelope::MessageType::kLeagueError).method) {
    (void)context_.seats.take_answer(
        *line, rpc::SharedText(rpc::encode_result(frame.id, R"({"status":"ok"})")));
    return;
  }
  player::service::PlayerService* const player = service();
  if (player == nullptr) return;
  transport::link::Inbound message;
  message.bytes = std::move(bytes);
  message.context = rpc::MessageContext::now(context_.clock, rpc::MessageDirection::kInternal,
                                             rpc::TransportContext::memory());
  player->handler().on_message(
      std::move(message), transport::link::ReplySlot([&seats = context_.seats,
                                                      line](transport::link::OutboundReply reply) {
        (void)seats.take_answer(*line, reply.bytes);
      }));
}

void HostedPlayer::ask(player::OpenMatch match, std::function<void(std::string)> chosen) {
  // Another play of a match takes the place of the one before; what was missed is over by now.
  std::erase_if(asked_, [&](const Asked& asked) {
    return asked.turn.match == match.match_id || asked.is_missed;
  });
  // The referee counts from before the call arrived here.
  const auto time = context_.limit - context_.limit / 60;
  Turn turn{.match = match.match_id,
            .opponent = match.opponent_id,
            .until = context_.clock.utc_now().after(time)};
  auto at_end = std::make_unique<task::ScheduledCall>(context_.timer);
  at_end->set(time, [this] { context_.executor.post([this] { expire(); }); });
  asked_.push_back({std::move(turn), std::move(chosen), std::move(at_end)});
  has_news_ = true;
  wake();
}

void HostedPlayer::end(const core::MatchId& match) {
  std::erase_if(asked_, [&](const Asked& asked) {
    if (asked.turn.match != match) return false;
    if (asked.turn.choice.empty()) missed_ = asked.turn;
    return true;
  });
  has_news_ = true;
  wake();
}

void HostedPlayer::expire() {
  for (Asked& asked : asked_) {
    const bool is_late = asked.turn.choice.empty() && context_.clock.utc_now() >= asked.turn.until;
    if (asked.is_missed || !is_late) continue;
    // The answer stays owed until the match is over: dropped, it would be an error of ours.
    asked.is_missed = true;
    missed_ = asked.turn;
    has_news_ = true;
    // The seat is empty from now on, so that nobody waits for this client before it is back.
    if (!line_) continue;
    line_->close();
    context_.seats.on_channel_closed(*line_);
  }
}

Turn* HostedPlayer::turn() {
  expire();
  const auto open =
      std::ranges::find_if(asked_, [](const Asked& asked) { return !asked.is_missed; });
  return open == asked_.end() ? nullptr : &open->turn;
}

bool HostedPlayer::has_news() {
  const Turn* now = turn();
  return has_news_ || (now != nullptr && now->choice.empty());
}

void HostedPlayer::note_told() {
  has_news_ = false;
  if (Turn* now = turn()) now->is_shown = true;
}

HostedPlayer::Taken HostedPlayer::choose(const std::string& word) {
  Turn* now = turn();
  if (now == nullptr || (!now->is_shown && now->choice.empty())) {
    std::string text = "no match that you have seen waits for your choice: call await_turn first";
    if (missed_ && now == nullptr)
      text = missed_->match.str() +
             " is over: your choice came too late, and the match is lost. "
             "Call await_turn to play the next one";
    return {.refusal = Error{ErrorCode::kMatchNotOpen, std::move(text), "/choice"}};
  }
  if (!now->choice.empty()) {
    return {.refusal = Error{ErrorCode::kUnexpectedMessage,
                             "you have chosen \"" + now->choice + "\" in " + now->match.str() +
                                 ", which is sealed and stays: call await_turn for the result",
                             "/choice"}};
  }
  const std::string given(core::trimmed(word));
  const std::string choice(context_.game->choice_like(given).value_or(given));
  if (auto known = context_.game->check_choice(choice); !known) {
    return {.refusal = Error{known.error().code, known.error().message, "/choice"}};
  }
  now->choice = choice;
  const auto asked =
      std::ranges::find_if(asked_, [&](const Asked& one) { return one.turn.match == now->match; });
  const Turn taken = *now;
  if (auto chosen = std::exchange(asked->chosen, nullptr)) chosen(choice);
  return {.turn = taken};
}

void HostedPlayer::wake() {
  if (auto waiting = std::exchange(waiting_, nullptr)) waiting->count_down();
}

task::Task<bool> HostedPlayer::wait(std::chrono::nanoseconds limit) {
  const auto mine = std::make_shared<task::Latch>(1);
  waiting_ = mine;
  // The time for a choice ends without anybody saying so.
  const bool is_woken = co_await mine->wait_for(context_.timer, limit);
  if (waiting_ == mine) waiting_ = nullptr;
  co_return !is_woken || waiting_ == nullptr;
}

}  // namespace league::league_manager::hosts
