#include "tools/check/trial/trial_league.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/agent/identity/match_credential.h"
#include "common/agent/identity/registration.h"
#include "common/core/signing_key.h"
#include "common/envelope/codec.h"
#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"
#include "game/commitment.h"
#include "game/draw.h"
#include "tools/check/game_truth.h"

namespace league::tools::check {

using envelope::MessageType;
using game::Side;
using nlohmann::json;

namespace {

constexpr auto kManagerUrl = "http://manager.invalid:80/mcp";
constexpr auto kRefereeId = "REF01";

std::string match_id(int round, int number) {
  return "R" + std::to_string(round) + "M" + std::to_string(number);
}

std::string result_frame(const std::string& request, const json& result) {
  const json frame = json::parse(request, nullptr, false);
  return json{{"jsonrpc", "2.0"}, {"id", schema::field_at(frame, "id")}, {"result", result}}.dump();
}

}  // namespace

/// The opponent of a bot that is tried alone: it commits, chooses at random and is always right.
struct TrialLeague::StandIn {
  struct Hand {
    core::PlayerId player;
    std::string choice;
    std::optional<std::string> nonce;  ///< if it has committed
  };
  core::CryptoRandom random;
  std::map<core::MatchId, Hand> hands;  ///< only on the timer's thread

  std::string answer(const std::string& request) {
    const json frame = json::parse(request, nullptr, false);
    const json& call = schema::field_at(frame, "params");
    const auto from = envelope::decode_envelope(call);
    const bool is_asked = from && from->match_id &&
                          (from->type == MessageType::kGameInvitation ||
                           from->type == MessageType::kChooseParityCall);
    if (!is_asked) return result_frame(request, {{"status", "ok"}});
    Hand& hand = hands[*from->match_id];
    const auto own = [&] {
      return envelope::Envelope{.sender = envelope::Sender::player(hand.player.str()),
                                .timestamp = from->timestamp,
                                .conversation_id = from->conversation_id,
                                .match_id = from->match_id};
    };
    if (from->type == MessageType::kChooseParityCall) {
      return result_frame(request, envelope::encode(own(), envelope::ChooseParityResponse{
                                                               .player_id = hand.player,
                                                               .parity_choice = hand.choice,
                                                               .choice_nonce = hand.nonce}));
    }
    const auto invitation = envelope::decode<envelope::GameInvitation>(call);
    if (!invitation || !invitation->player_id) return result_frame(request, {{"status", "ok"}});
    const envelope::GameJoinAck join = accept(*from->match_id, *invitation, from->timestamp, hand);
    return result_frame(request, envelope::encode(own(), join));
  }

 private:
  envelope::GameJoinAck accept(const core::MatchId& match,
                               const envelope::GameInvitation& invitation, core::UtcTimestamp now,
                               Hand& hand) {
    hand.player = *invitation.player_id;
    if (hand.choice.empty()) {
      const auto& words = tested_game()->choices();
      hand.choice = std::string(words[static_cast<unsigned>(random.bytes<1>()[0]) % words.size()]);
      if (invitation.draw_commitment) hand.nonce = core::to_hex(random.bytes<32>());
    }
    envelope::GameJoinAck join{.player_id = hand.player, .arrival_timestamp = now, .accept = true};
    if (hand.nonce) {
      join.choice_commitment =
          game::choice_commitment({.draw_commitment = *invitation.draw_commitment,
                                   .match_id = match.str(),
                                   .player_id = hand.player.str(),
                                   .choice = hand.choice,
                                   .nonce = *hand.nonce});
    }
    return join;
  }
};

std::optional<referee::Termination> TrialMatch::lost_by(const std::string& player) const {
  if (!result) {
    const TrialCall* call = refused_call(player);
    if (call == nullptr) return std::nullopt;
    return call->type == envelope::wire_name(MessageType::kGameInvitation)
               ? referee::Termination::kTimeoutJoin
               : referee::Termination::kTimeoutChoice;
  }
  const bool is_technical =
      result->details.termination &&
      *result->details.termination != referee::termination_name(referee::Termination::kNormal);
  if (!is_technical || (result->winner && result->winner->str() == player)) return std::nullopt;
  const auto& failures = result->details.failures;
  const auto last = std::find_if(failures.rbegin(), failures.rend(), [&](const auto& failure) {
    return failure.player_id.str() == player;
  });
  if (last == failures.rend()) return referee::Termination::kPlayerUnavailable;
  const bool is_join = last->call == referee::call_name(referee::Call::kInvitation);
  return referee::termination_for(
      is_join ? referee::Call::kInvitation : referee::Call::kChooseParity, last->error_code);
}

const TrialCall* TrialMatch::refused_call(const std::string& player) const {
  const auto last = std::find_if(calls.rbegin(), calls.rend(), [&](const TrialCall& call) {
    return call.budget == transport::link::Budget::kGame && call.notes &&
           call.notes->peer == "player:" + player && call.notes->verdict;
  });
  return last == calls.rend() ? nullptr : &*last;
}

TrialLeague::TrialLeague(Options options)
    : options_(std::move(options)), stand_in_(std::make_unique<StandIn>()) {
  settings_.time_limits[MessageType::kGameInvitation] = options_.invitation_limit;
  settings_.time_limits[MessageType::kChooseParityCall] = options_.choice_limit;
  settings_.retry.delay = options_.retry_delay;
  settings_.http.workers = 1;
}

TrialLeague::~TrialLeague() {
  if (delays_) delays_->stop();
  if (referee_) referee_->host->shut_down();
  if (manager_) manager_->host->shut_down();
}

core::Result<std::unique_ptr<TrialLeague::Agent>> TrialLeague::agent() const {
  auto agent = std::make_unique<Agent>();
  auto host = agent::host::AgentHost::create(
      settings_, {.child_logs = std::filesystem::temp_directory_path() / "league_check_children"});
  if (!host) return host.error();
  agent->host = std::move(*host);
  agent::host::AgentHost& its = *agent->host;
  agent->caller =
      std::make_unique<RecordingCaller>(agent->recorder, its.caller(), its.timer(), options_.bus);
  agent->sessions =
      std::make_unique<RecordingCaller>(agent->recorder, its.sessions().caller(), its.timer());
  agent->peers = std::make_unique<agent::peers::PeerClient>(
      *agent->caller, its.schemas(), its.clock(), options_.mode,
      agent::peers::PlainMcp{agent->sessions.get(), its.sessions().refusals()});
  return agent;
}

core::Result<std::unique_ptr<TrialLeague>> TrialLeague::open(Options options) {
  std::unique_ptr<TrialLeague> league(new TrialLeague(std::move(options)));
  if (auto opened = league->open(); !opened) return opened.error();
  return league;
}

core::Result<void> TrialLeague::open() {
  for (auto* one : {&referee_, &manager_}) {
    auto opened = agent();
    if (!opened) return opened.error();
    *one = std::move(*opened);
  }
  agent::host::AgentHost& host = *referee_->host;
  referee_->caller->stand_in(
      kStandInUrl, [this](const std::string& request) { return stand_in_->answer(request); });
  referee_->caller->stand_in(kManagerUrl, [this](const std::string& request) {
    take_report(request);
    return result_frame(request, {{"status", "ok"}});
  });
  auto delays = agent::runtime::ProbingDelayMeter::start(host.runtime(), host.caller(),
                                                         host.timer(), host.clock(), nullptr);
  if (!delays) return delays.error();
  delays_ = std::move(*delays);
  if (auto learnt = games_.learn(*tested_game()); !learnt) return learnt.error();
  referee::service::RefereeOptions options;
  options.mode = options_.mode;
  options.manager = *transport::link::parse_endpoint(kManagerUrl);
  service_ = std::make_unique<referee::service::RefereeService>(
      std::move(options), referee::service::RefereeDependencies{.peers = *referee_->peers,
                                                                .timer = host.timer(),
                                                                .clock = host.clock(),
                                                                .schemas = host.schemas(),
                                                                .games = games_,
                                                                .settings = host.settings(),
                                                                .delays = *delays_,
                                                                .may_start = {}});
  agent::identity::Identity identity;
  identity.id = kRefereeId;
  identity.token = core::AuthToken("tok_ref01_" + core::to_base32(random_.bytes<32>()));
  identity.league = core::LeagueId(options_.league_id);
  identity.league_key = core::SigningKey::generate(random_).public_key();
  identity.match_credentials = true;
  token_ = identity.token;
  service_->set_identity(identity, options_.referee_url);
  return {};
}

void TrialLeague::take_report(const std::string& request) {
  const json frame = json::parse(request, nullptr, false);
  auto report = envelope::decode<envelope::MatchResultReport>(schema::field_at(frame, "params"));
  std::lock_guard lock(mutex_);
  if (report) report_ = std::move(report->result);
}

std::string TrialLeague::seed_of(int round, int number) {
  std::string& seed = seeds_[match_id(round, number)];
  if (seed.empty()) seed = core::to_hex(random_.bytes<32>());
  return seed;
}

envelope::MatchAssignment TrialLeague::assignment(const game::PerSide<TrialSeat>& seats, int round,
                                                  int number) {
  const core::MatchId id(match_id(round, number));
  const auto hash = [](const TrialSeat& seat) {
    return seat.token.empty() ? std::string() : seat.token.hash();
  };
  const auto credential = [&id](const TrialSeat& seat) {
    return seat.token.empty() ? core::AuthToken(kWithoutToken)
                              : agent::identity::match_credential(seat.token, id, 1);
  };
  const auto answer_hash = [&id](const TrialSeat& seat) -> std::optional<std::string> {
    if (!seat.has_receipts) return std::nullopt;
    return agent::identity::answer_credential(seat.token, id, 1).hash();
  };
  const TrialSeat& a = seats[Side::kA];
  const TrialSeat& b = seats[Side::kB];
  envelope::MatchAssignment match;
  match.match_id = id;
  match.game_type = tested_game()->game_type();
  match.player_a_id = core::PlayerId(a.id);
  match.player_b_id = core::PlayerId(b.id);
  match.referee_endpoint = options_.referee_url;
  match.referee_id = core::RefereeId(kRefereeId);
  match.draw_seed = seed_of(round, number);
  match.draw_commitment = game::draw_commitment(*game::parse_seed(match.draw_seed), id.str());
  match.conversation_id = envelope::match_conversation(id, 1);
  match.player_a_endpoint = a.endpoint.url();
  match.player_b_endpoint = b.endpoint.url();
  match.player_a_credential = credential(a);
  match.player_b_credential = credential(b);
  match.player_a_token_hash = hash(a);
  match.player_b_token_hash = hash(b);
  match.player_a_answer_hash = answer_hash(a);
  match.player_b_answer_hash = answer_hash(b);
  match.player_a_receipts = a.has_receipts;
  match.player_b_receipts = b.has_receipts;
  match.player_a_dialect = a.dialect;
  match.player_b_dialect = b.dialect;
  return match;
}

bool TrialLeague::assign(const envelope::MatchAssignment& assignment, int round) {
  const envelope::EnvelopeBuilder envelopes(envelope::Sender::league_manager(),
                                            core::LeagueId(options_.league_id),
                                            referee_->host->clock());
  const auto envelope = envelopes.make(
      MessageType::kRoundAnnouncement,
      {.conversation_id = envelope::round_conversation(round, MessageType::kRoundAnnouncement),
       .auth_token = token_,
       .round_id = round});
  json message = envelope::encode(envelope, envelope::RoundAnnouncement{});
  message["matches"] = envelope::encode_assignments({&assignment, 1});
  transport::link::Inbound inbound;
  inbound.bytes = rpc::encode_request(rpc::Id(++next_id_),
                                      envelope::spec(MessageType::kRoundAnnouncement).method,
                                      rpc::to_json_text(message));
  std::mutex mutex;
  std::condition_variable answered;
  std::optional<transport::link::OutboundReply> reply;
  service_->handler().on_message(
      std::move(inbound), transport::link::ReplySlot([&](transport::link::OutboundReply out) {
        std::lock_guard lock(mutex);
        reply = std::move(out);
        answered.notify_one();
      }));
  {
    std::unique_lock lock(mutex);
    answered.wait(lock, [&] { return reply.has_value(); });
  }
  const json answer = json::parse(reply->bytes.view(), nullptr, false);
  if (reply->after_sent) reply->after_sent();
  const json& result = schema::field_at(answer, "result");
  return result.is_object() && !result.contains("refused");
}

TrialMatch TrialLeague::play(const game::PerSide<TrialSeat>& seats, int round, int number) {
  TrialMatch match;
  match.id = match_id(round, number);
  referee_->recorder.forget();
  {
    std::lock_guard lock(mutex_);
    report_.reset();
  }
  if (!assign(assignment(seats, round, number), round)) return match;
  const auto players = std::ranges::count_if(game::kBothSides, [&](game::Side side) {
    return seats[side].endpoint.url() != kStandInUrl;  // whose calls are not recorded
  });
  const auto has_ended = [&](const Recorder::Calls& calls) {
    const auto is_late = [](const auto& call) {
      return call->is_done && call->exchange.has_timed_out &&
             call->budget == transport::link::Budget::kGame;
    };
    if (options_.gives_up_at_timeout && std::ranges::any_of(calls, is_late)) return true;
    if (!std::ranges::all_of(calls, [](const auto& call) { return call->is_done; })) return false;
    // The report comes first, then GAME_OVER for all players.
    return std::ranges::count(calls, "GAME_OVER", [](const auto& call) { return call->type; }) >=
           players;
  };
  while (!referee_->recorder.wait(std::chrono::milliseconds(50), has_ended)) {
  }
  match.calls = referee_->recorder.calls();
  {
    std::lock_guard lock(mutex_);
    match.result = std::move(report_);
  }
  for (const TrialCall& call : match.calls) {
    const json sent = json::parse(call.exchange.sent, nullptr, false);
    const json& params = schema::field_at(sent, "params");
    if (const auto& reason = schema::text_at(params, "reason"); !reason.empty())
      match.reason = reason;
  }
  return match;
}

}  // namespace league::tools::check
