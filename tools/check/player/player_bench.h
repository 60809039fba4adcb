#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/agent/dialects/call_dialects.h"
#include "common/core/auth_token.h"
#include "common/core/random_source.h"
#include "common/core/result.h"
#include "common/envelope/message_type.h"
#include "common/rpc/id.h"
#include "game/definition.h"
#include "game/draw.h"
#include "tools/check/mock_server.h"
#include "tools/check/trial/registration.h"
#include "tools/check/trial/trial_league.h"
#include "tools/check/wire.h"

namespace league::tools::check {

/// The identity of the bot under test, as far as it is known.
struct BotIdentity {
  std::string id = "P01";
  core::AuthToken token;  ///< empty: the bot has none, so it cannot check the senders of calls
  std::string league_id = "league_check";
  transport::link::Endpoint endpoint;
  std::string league_key = {};
  std::string receipt_key = {};  ///< empty: the checker has given it none
};

/// One match that the checker makes up.
struct TestMatch {
  std::string id;
  int round = 1;
  int attempt = 1;
  int play = 0;  ///< 1, 2, ... for replays
  std::string conversation;
  std::string opponent = "P02";
  bool is_player_a = true;
  game::Seed seed{};
  std::string draw_commitment;  ///< empty: there is no draw commitment, so players cannot commit
  std::string opponent_choice;
  std::string opponent_nonce;
};

/// A parsed answer of the bot.
struct BotReply {
  Exchange exchange;
  nlohmann::json document;  ///< discarded if the body is not JSON
  nlohmann::json message;  ///< the league message, wherever it is, also in a call of the bot's own
  nlohmann::json error;  ///< the JSON-RPC error; null: none
  std::vector<std::string> leniencies;  ///< that were needed to read the frame
  std::string place = "/result";  ///< JSON pointer of `message` in what was received
  /// Why the referee of an open league would refuse it; only for answers to invitations and calls
  /// for a choice, which PlayerBench judges.
  std::optional<core::Error> fault = std::nullopt;
  bool has_joined = false;  ///< such a referee takes it for an accepted invitation

  [[nodiscard]] bool has_answer() const { return exchange.trouble.empty(); }
  /// A text field of the message; empty if it is missing or not a text.
  [[nodiscard]] std::string text(const std::string& field) const;
  /// The code of the JSON-RPC error; 0 if there is none or it is not an integer.
  [[nodiscard]] int code() const;
  /// The JSON-RPC error; nothing if there is none or it is no object.
  [[nodiscard]] std::optional<rpc::ErrorObject> rpc_error() const;
};

/// Parses the answer to the request with this id.
[[nodiscard]] BotReply read_bot_reply(Exchange exchange, const rpc::Id& id);

/// What an open league would have to overlook in this answer to a call of `match`: the names of
/// the leniencies of protocol §9.
[[nodiscard]] std::set<std::string> overlooked_in(const BotReply& reply, envelope::MessageType type,
                                                  const TestMatch& match, const BotIdentity& bot);

// The calls of a referee to a player.
inline constexpr envelope::MessageType kInvite = envelope::MessageType::kGameInvitation;
inline constexpr envelope::MessageType kCall = envelope::MessageType::kChooseParityCall;

/// The messages of one match.
struct PlayedGame {
  TestMatch match;
  BotReply join;
  BotReply choice;
  BotReply over;
};

/// How the bot fared in matches as a league plays them.
struct BotTrial {
  std::string trouble;  ///< why there was none; the checker's own fault. Empty: there was one
  std::optional<referee::Termination> lost_by;  ///< nothing: it lost nothing
  /// The call at which it lost, and why its answer was refused.
  envelope::MessageType lost_at = envelope::MessageType::kGameInvitation;
  BotReply refused;
  core::Error why;
  std::chrono::milliseconds limit{0};  ///< of that call

  [[nodiscard]] bool is_lost_at(envelope::MessageType call) const {
    return lost_by.has_value() && lost_at == call;
  }
};

/// Plays manager and referee for one player. Calls block; thread-safe after `prepare`.
class PlayerBench {
 public:
  struct Options {
    BotIdentity bot;
    bool is_fast = false;
    milliseconds limit{5000};  ///< of each call
  };
  /// `wire` outlives it.
  PlayerBench(Wire& wire, Options options);
  ~PlayerBench();
  PlayerBench(const PlayerBench&) = delete;
  PlayerBench& operator=(const PlayerBench&) = delete;

  [[nodiscard]] const BotIdentity& bot() const { return options_.bot; }
  void set_bot(BotIdentity bot) { options_.bot = std::move(bot); }
  [[nodiscard]] bool has_token() const { return !options_.bot.token.empty(); }
  [[nodiscard]] bool is_http() const { return options_.bot.endpoint.scheme == "http"; }
  /// Whether the bot comes to the checker, and sits at a seat.
  [[nodiscard]] bool is_outward() const { return is_seat(options_.bot.endpoint); }
  [[nodiscard]] CheckerSeats& seats() { return wire_.seats(); }
  [[nodiscard]] bool is_fast() const { return options_.is_fast; }
  [[nodiscard]] milliseconds limit() const;

  /// The server at which the bot has registered, and its request; null if it did not have to
  /// register.
  MockServer* server = nullptr;
  std::optional<InboundCall> registration;
  /// What a league's manager makes of that request.
  JudgedRegistration registered;

  /// A new match, so that checks do not disturb each other.
  [[nodiscard]] TestMatch new_match(bool promises_seed = true);
  /// The credential that the referee of the match shows; one that cannot be verified if the bot has
  /// no token.
  [[nodiscard]] std::string credential(const std::string& match_id, int attempt = 1) const;
  /// All credentials so far, each with the text of which it is the HMAC.
  [[nodiscard]] std::map<std::string, std::string> credentials() const;
  [[nodiscard]] std::string opponent_commitment(const TestMatch& match) const;

  // Complete and correct messages.
  [[nodiscard]] nlohmann::json envelope(envelope::MessageType type,
                                        const std::string& conversation) const;
  /// The same from the referee of `match`, with its ids and credential.
  [[nodiscard]] nlohmann::json match_envelope(envelope::MessageType type,
                                              const TestMatch& match) const;
  [[nodiscard]] nlohmann::json invitation(const TestMatch& match) const;
  [[nodiscard]] nlohmann::json choice_call(const TestMatch& match) const;
  /// The GAME_OVER that follows from both players' answers.
  [[nodiscard]] nlohmann::json game_over(const PlayedGame& game) const;
  [[nodiscard]] nlohmann::json game_error(const TestMatch& match) const;
  /// ROUND_ANNOUNCEMENT, LEAGUE_STANDINGS_UPDATE, ROUND_COMPLETED, LEAGUE_COMPLETED, LEAGUE_ERROR.
  [[nodiscard]] nlohmann::json news(envelope::MessageType type) const;

  /// Calls the bot with a message of `type`, in the bot's dialect.
  [[nodiscard]] BotReply ask(envelope::MessageType type, const nlohmann::json& message);
  /// Calls `method` with `params`.
  [[nodiscard]] BotReply call(const std::string& method, const nlohmann::json& params);
  /// Sends bytes that need not be a request.
  [[nodiscard]] BotReply send(const std::string& bytes, const rpc::Id& id);
  [[nodiscard]] std::int64_t next_id() { return ++last_id_; }
  /// The frame of a call in the bot's dialect, for checks that send it themselves.
  [[nodiscard]] std::string frame(envelope::MessageType type, const nlohmann::json& message,
                                  const rpc::Id& id);

  /// Plays a match: invitation, choice and result; `until_choice`: without the result.
  [[nodiscard]] PlayedGame play(const TestMatch& match, bool until_choice = false);
  /// The first matches, which the referee and the manager of a league play with the bot, over
  /// connections of their own; played once.
  [[nodiscard]] const BotTrial& trial();
  /// Ends the matches to which the bot was invited and whose result it has not been told.
  void end_open_matches();
  /// The wire name of the message that was sent last.
  [[nodiscard]] std::string last_sent() const;
  /// Whether the bot usually answers within a quarter of a second.
  [[nodiscard]] bool is_quick() const;
  /// Waits until the bot accepts an invitation, which it may refuse until it has read the answer to
  /// its registration; for a second at most.
  void settle();
  /// One ordinary match, played once and used by many checks.
  [[nodiscard]] const PlayedGame& sample();
  /// Whether the sample was joined and answered with a choice, in whatever dialect.
  [[nodiscard]] bool is_playing();
  /// Whether the bot commits to its choices.
  [[nodiscard]] bool commits();
  /// Whether the bot has declared receipts and got a key for them from this checker.
  [[nodiscard]] bool gives_receipts() const;
  /// Sets `registration` and `registered`, from the bot's request to the server.
  void take_registration(InboundCall call);

  /// The names of the ways in which the bot was called, and of the leniencies that its answers
  /// needed.
  [[nodiscard]] std::set<std::string> ways() const;
  [[nodiscard]] std::set<std::string> leniencies() const;
  /// Adds a leniency that was needed elsewhere, in the bot's registration.
  void add_leniency(std::string name);
  /// Texts that must not appear in reports.
  [[nodiscard]] std::vector<std::string> secrets() const;

  /// Whether a league takes `reply` for an accepted invitation.
  [[nodiscard]] static bool accepts(const BotReply& reply) { return reply.has_joined; }
  /// The choice as `reply` writes it, under either name; empty where there is no text.
  [[nodiscard]] static std::string word_in(const BotReply& reply);
  /// The intended choice: ` Even` is `even`, so that only the check of the spelling fails for a
  /// wrong one. Empty if the intention is unclear, or if a league refuses the answer for another
  /// reason.
  [[nodiscard]] static std::string choice_in(const BotReply& reply);
  /// Whether the choice in the sample is spelt correctly: only then can GAME_OVER contain it.
  [[nodiscard]] bool spells_its_choice() {
    return word_in(sample().choice) == choice_in(sample().choice);
  }

 private:
  struct Judge;
  /// Finds out in which dialect the bot accepts messages of `type`. Returns the failed exchange if
  /// the bot did not answer, so that the caller does not have to wait for a silent bot again.
  std::optional<BotReply> find_way(envelope::MessageType type, const nlohmann::json& message);
  [[nodiscard]] BotReply read(Exchange exchange, const rpc::Id& id);
  /// Fills in what a referee would make of `answer`, the bytes that answer `message`.
  void judge(BotReply& reply, const nlohmann::json& message, const rpc::Id& id,
             std::string answer) const;
  [[nodiscard]] BotTrial play_trial();
  [[nodiscard]] BotTrial play_trial_round(TrialLeague& league,
                                          const game::PerSide<TrialSeat>& seats, int round);
  [[nodiscard]] BotTrial lost_trial(const TrialMatch& match, PlayedGame& game);
  /// Remembers how the bot was called, if the league took its answer.
  void learn(const TrialCall& call);
  void note_sent(const nlohmann::json& message, const BotReply& reply);
  /// Tells a bot that answers by calls of its own where the referee of `invitation`'s match is.
  void announce(const nlohmann::json& invitation);
  /// The answer to `message`, which `send` sends; if it is only a receipt, waits for the bot's own
  /// call and returns that instead. Source: protocol, clause 9.3.
  [[nodiscard]] BotReply exchange(const nlohmann::json& message,
                                  const std::function<BotReply()>& send);

  Wire& wire_;
  Options options_;
  std::unique_ptr<Judge> judge_;
  core::CryptoRandom random_;
  std::atomic<std::int64_t> last_id_{0};
  std::atomic<int> last_match_{0};
  std::atomic<int> timeouts_{0};
  std::atomic<bool> posts_back_{false};
  mutable std::mutex mutex_;  // guards the rest
  std::map<envelope::MessageType, agent::dialects::CallDialect> ways_;
  std::set<std::string> leniencies_;
  std::optional<BotTrial> trial_;
  std::optional<PlayedGame> lost_game_;  ///< what came in the match that the trial lost
  std::map<std::string, TestMatch> open_;
  std::string last_sent_;
  std::vector<std::chrono::nanoseconds> answered_in_;
  std::optional<PlayedGame> sample_;
  mutable std::map<std::string, std::string> credentials_;
};

}  // namespace league::tools::check
