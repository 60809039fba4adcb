#include "tools/check/cases/conversation.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "tools/check/game_truth.h"

namespace league::tools::check {

using envelope::MessageType;
using nlohmann::json;

namespace {

struct Word {
  std::string_view word;
  MessageType type;
};

constexpr std::array<Word, 9> kWords{{{"invite", kInvite},
                                      {"call", kCall},
                                      {"over", MessageType::kGameOver},
                                      {"error", MessageType::kGameError},
                                      {"round", MessageType::kRoundAnnouncement},
                                      {"standings", MessageType::kLeagueStandingsUpdate},
                                      {"round_end", MessageType::kRoundCompleted},
                                      {"league_end", MessageType::kLeagueCompleted},
                                      {"league_error", MessageType::kLeagueError}}};

json correct_message(const Talk& talk, MessageType type) {
  const PlayerBench& bench = talk.bench;
  if (type == kInvite) return bench.invitation(talk.match);
  if (type == kCall) return bench.choice_call(talk.match);
  if (type == MessageType::kGameOver) return bench.game_over(talk.game);
  if (type == MessageType::kGameError) return bench.game_error(talk.match);
  return bench.news(type);
}

/// Whether `word` only says how the match is from here on.
bool set_match(TestMatch& match, std::string_view word) {
  if (word == "attempt1" || word == "attempt2") {
    match.attempt = word.back() - '0';
  } else if (word == "replay") {
    match.play = 1;
  } else if (word == "unbound") {
    match.draw_commitment.clear();
  } else if (word == "unannounced") {
    match.round = 951;
    match.id = "R951M" + match.id.substr(match.id.find('M') + 1);
  } else {
    return false;
  }
  return true;
}

/// What the names in changes to `message` stand for; `another_...` is what is wrong in GAME_OVER.
Names names_of(const Talk& talk, const json& message) {
  const std::string& other = talk.match.opponent;
  Names names{{"self", talk.bench.bot().id}, {"other", other}};
  if (talk.match.attempt > 1) names["earlier"] = talk.bench.credential(talk.match.id, 1);
  if (!message.contains("game_result")) {
    names["elsewhere"] = talk.bench.credential("R77M7");
    return names;
  }
  const json& result = message["game_result"];
  const bool has_won = value_at(result, "winner_player_id") == json(other);
  const json& choice = value_at(result, "choices/" + talk.bench.bot().id);
  names["another_choice"] = game_word(choice == game_word(0) ? 1 : 0);
  names["another_number"] = false_number(value_at(result, "drawn_number"));
  names["another_winner"] = has_won ? json(nullptr) : json(other);
  names["another_status"] = has_won ? "DRAW" : "WIN";
  return names;
}

void take_step(Talk& talk, const std::string& word, const json& changes) {
  if (word == "other") {
    if (talk.other.id.empty()) talk.other = talk.bench.new_match();
    return std::swap(talk.match, talk.other);
  }
  if (set_match(talk.match, word)) return;
  talk.game.match = talk.match;
  if (word == "announce") return announce(talk.bench, talk.match);
  const auto* known = std::ranges::find(kWords, word, &Word::word);
  if (known == kWords.end()) return talk.replies.push_back(talk.bench.call(word, changes));
  if (known->type == MessageType::kGameOver && PlayerBench::choice_in(talk.game.choice).empty())
    talk.game.choice.message = {{"parity_choice", game_word(0)}};
  json message = correct_message(talk, known->type);
  change(message, changes, names_of(talk, message));
  talk.replies.push_back(talk.bench.ask(known->type, message));
  if (known->type == kInvite) talk.game.join = talk.last();
  if (known->type == kCall) talk.game.choice = talk.last();
}

Verdict converse(PlayerBench& bench, const Conversation& row) {
  if ((row.traits & kNeedsReceipts) != 0 && !bench.gives_receipts()) return skip(kNoReceipts);
  Talk talk = hold(bench, row.steps);
  talk.because = row.because;
  return row.judge(talk);
}

}  // namespace

Talk hold(PlayerBench& bench, const std::string& steps) {
  Talk talk{.bench = bench, .match = bench.new_match()};
  std::istringstream text(steps);
  for (std::string word; text >> word;) {
    json changes = json::object();
    if ((text >> std::ws).peek() == '{' || text.peek() == '[') text >> changes;
    take_step(talk, word, changes);
  }
  return talk;
}

void add_conversations(PlayerBench& bench, std::span<const Conversation> rows, Checks& out,
                       Obstacle<PlayerBench> obstacle) {
  add_cases(bench, rows, out, &converse, obstacle);
}

Verdict accepts(const Talk& talk) { return expect_accepted(talk.last(), talk.because); }

Verdict chooses(const Talk& talk) { return expect_choice(talk.last(), talk.because); }

Verdict refuses(const Talk& talk) { return expect_refused(talk.last(), talk.because); }

Verdict acknowledges(const Talk& talk) { return expect_acknowledged(talk.last()); }

Verdict expect_code(const BotReply& reply, int code) {
  return expect(reply.code() == code, reply.exchange, "/error/code", std::to_string(code),
                reply.code() == 0 ? shown_answer(reply) : std::to_string(reply.code()));
}

Verdict plays_on(const Talk& talk) { return expect_alive(talk.bench, talk.last()); }

}  // namespace league::tools::check
