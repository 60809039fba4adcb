// Malformed and hostile input. The bot only has to survive it and play on.
#include "tools/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using envelope::MessageType;
using nlohmann::json;

constexpr const char* kCatch =
    "Catch every exception while you handle a request, answer with an error, and continue with the "
    "next request.";

/// An invitation with one field of another type, or of a monstrous size.
struct Wrong {
  const char* id;
  const char* text;
  void (*change)(json&);
};

json nested(int depth) {
  json value = 1;
  for (int i = 0; i < depth; ++i) value = json::array({std::move(value)});
  return value;
}

const Wrong kWrong[] = {
    {"P-5/huge-text", "The bot keeps working after a string of 100,000 characters.",
     [](json& m) { m["opponent_id"] = std::string(100'000, 'x'); }},
    {"P-5/object-for-text", "The bot keeps working after an object in place of a string.",
     [](json& m) {
       m["match_id"] = {{"$ne", nullptr}};
     }},
    {"P-5/array-for-text", "The bot keeps working after an array in place of a string.",
     [](json& m) {
       m["conversation_id"] = json::array({1, 2, 3});
     }},
    {"P-5/object-for-number", "The bot keeps working after an object in place of a number.",
     [](json& m) { m["round_id"] = json::object(); }},
    {"P-5/boolean-for-text", "The bot keeps working after a boolean in place of a string.",
     [](json& m) { m["sender"] = true; }},
    {"P-5/control-characters",
     "The bot keeps working after an id with control characters and a NUL.",
     [](json& m) { m["opponent_id"] = std::string("P\0\x01\x1b[31m02", 10); }},
    {"P-5/path-in-id", "The bot keeps working after an id that looks like a file path.",
     [](json& m) { m["match_id"] = "../../../../tmp/league_check"; }},
    {"P-5/many-fields", "The bot keeps working after a message with 5,000 unknown fields.",
     [](json& m) {
       for (int i = 0; i < 5000; ++i) m["x" + std::to_string(i)] = i;
     }},
    {"P-5/nested-50", "The bot keeps working after a value nested 50 levels deep.",
     [](json& m) { m["league_check_extra"] = nested(50); }},
};

const Probe<PlayerBench> kHostile[] = {
    {"P-5/wrong-context", Level::kRobust,
     "The bot keeps working after a `context` that is a string.", kCatch,
     [](PlayerBench& bench) {
       json message = bench.choice_call(bench.new_match(false));
       message["context"] = "none";
       return expect_alive(bench, bench.ask(MessageType::kChooseParityCall, message));
     }},
    {"P-5/wrong-game-over", Level::kRobust,
     "The bot keeps working after a GAME_OVER without `game_result`.", kCatch,
     [](PlayerBench& bench) {
       json message = bench.game_over(bench.play(bench.new_match(), true));
       message.erase("game_result");
       return expect_alive(bench, bench.ask(MessageType::kGameOver, message));
     }},
    {"P-5/wrong-standings", Level::kRobust,
     "The bot keeps working after `standings` that are not an array.", kCatch,
     [](PlayerBench& bench) {
       json message = bench.news(MessageType::kLeagueStandingsUpdate);
       message["standings"] = {{"rank", "first"}};
       return expect_alive(bench, bench.ask(MessageType::kLeagueStandingsUpdate, message));
     }},
    {"P-5/wrong-announcement", Level::kRobust,
     "The bot keeps working after an announcement whose `matches` are not objects with the right "
     "fields.",
     kCatch,
     [](PlayerBench& bench) {
       json message = bench.news(MessageType::kRoundAnnouncement);
       message["matches"] = json::array({nullptr, 7, json::object(), "R1M1"});
       return expect_alive(bench, bench.ask(MessageType::kRoundAnnouncement, message));
     }},
    {"P-5/empty-body", Level::kRobust, "The bot keeps working after a request with an empty body.",
     kCatch, [](PlayerBench& bench) { return survive_bytes(bench, ""); }},
    {"P-5/no-utf8", Level::kRobust, "The bot keeps working after a body that is not UTF-8.", kCatch,
     [](PlayerBench& bench) {
       return survive_bytes(bench, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\xc0\"}");
     }},
    {"P-5/deep-json", Level::kRobust, "The bot keeps working after JSON nested 20,000 levels deep.",
     "Limit the depth, or catch the parser's error (in Python: RecursionError).",
     [](PlayerBench& bench) {
       return survive_bytes(bench, std::string(20'000, '[') + std::string(20'000, ']'));
     }},
    {"P-5/huge-number", Level::kRobust,
     "The bot keeps working after a number too large for any type (1e999).", kCatch,
     [](PlayerBench& bench) {
       return survive_bytes(bench, R"({"jsonrpc":"2.0","id":1e999,"method":"ping","params":{}})");
     }},
    {"P-5/json-scalar", Level::kRobust,
     "The bot keeps working after a body that is JSON but not an object (null, 42, \"text\").",
     kCatch,
     [](PlayerBench& bench) {
       if (auto verdict = survive_bytes(bench, "null"); !verdict.passed()) return verdict;
       if (auto verdict = survive_bytes(bench, "42"); !verdict.passed()) return verdict;
       return survive_bytes(bench, "\"text\"");
     }},
    {"P-5/large-body", Level::kRobust,
     "The bot answers or refuses a body of 2 MiB, and keeps working.",
     "Refuse bodies above a limit that you choose, for example with HTTP status 413.",
     [](PlayerBench& bench) {
       json message = bench.invitation(bench.new_match());
       message["league_check_extra"] = std::string(2U << 20U, 'x');
       return expect_alive(bench, bench.ask(MessageType::kGameInvitation, message));
     }},
};

}  // namespace

void add_hostile_checks(PlayerBench& bench, Checks& out) {
  for (const Wrong& wrong : kWrong) {
    out.push_back({{.id = wrong.id, .level = Level::kRobust, .text = wrong.text, .fix = kCatch},
                   [&bench, &wrong] {
                     json message = bench.invitation(bench.new_match());
                     wrong.change(message);
                     return expect_alive(bench, bench.ask(MessageType::kGameInvitation, message));
                   }});
  }
  add_probes(bench, kHostile, out);
}

}  // namespace league::tools::check
