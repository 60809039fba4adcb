// A whole bot for every game: ./bot --manager URL [--port N] [--name NAME] [--data FILE].
// Needs Debian's g++ pkg-config libcpp-httplib-dev nlohmann-json3-dev libssl-dev. Build:
//   c++ -std=c++20 -O2 bot.cpp -o bot $(pkg-config --cflags --libs cpp-httplib) -lcrypto
// Your strategy goes into choose_word.
#include <httplib.h>  // clang-format off
#include <openssl/hmac.h>
#include <nlohmann/json.hpp>
using nlohmann::json, std::string, std::vector, std::to_string;
using Bytes = unsigned char*;

std::map<string, string> options = {
    {"--manager", "http://localhost:8000/mcp"}, {"--port", "0"},
    {"--name", "cpp_bot"}, {"--data", "cpp_bot.json"}};
json me;  // what every message carries
json home = json::object();  // what else the manager gave us, which no message carries
nlohmann::ordered_json matches = json::object();  // what we have promised and answered: the last 20
std::mutex mutex;  // protects these three

string hex(const string& bytes) {
  string out;
  for (unsigned char byte : bytes) (out += "0123456789abcdef"[byte >> 4]) += "0123456789abcdef"[byte & 15];
  return out;
}
string unhex(const string& text) {
  string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2) out += char(std::stoi(text.substr(i, 2), nullptr, 16));
  return out;
}
string sha256(const string& text) {
  string out(32, 0);
  EVP_Digest(text.data(), text.size(), Bytes(out.data()), nullptr, EVP_sha256(), nullptr);
  return hex(out);
}
string hmac(const string& key, string text) {
  string out(32, 0);
  const Bytes in = Bytes(text.data());
  HMAC(EVP_sha256(), key.data(), int(key.size()), in, text.size(), Bytes(out.data()), nullptr);
  return out;
}
string random_hex() {
  std::random_device device;
  string out;
  while (out.size() < 32) out += char(device());
  return hex(out);
}
string joined(const vector<string>& parts) {
  string out = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) out += "|" + parts[i];
  return out;
}
string now() {
  const auto time = std::chrono::system_clock::now();
  const time_t seconds = std::chrono::system_clock::to_time_t(time);
  char text[40];
  const size_t size = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", gmtime(&seconds));
  const auto rest = time.time_since_epoch() % std::chrono::seconds(1);
  snprintf(text + size, 9, ".%06dZ", int(rest / std::chrono::microseconds(1)));
  return text;
}

const json even_odd = json::parse(R"({"game_type": "even_odd", "choices": ["even", "odd"],
    "drawn": ["odd", "even", "odd", "even", "odd", "even", "odd", "even", "odd", "even"],
    "payoffs": {"even": {"even": {"even": 1, "odd": 3}, "odd": {"even": 0, "odd": 1}},
                "odd": {"even": {"even": 1, "odd": 0}, "odd": {"even": 3, "odd": 1}}}})");
const json& game() {  // as the manager defines it; docs/games.md
  return home.contains("game") && home["game"].contains("choices") ? home["game"] : even_odd;
}
string choose_word(const json&) {  // the strategy: write your own
  std::uniform_int_distribution<size_t> place(0, game()["choices"].size() - 1);
  std::random_device device;
  return game()["choices"][place(device)];
}

// --- Messages ---------------------------------------------------------------------------------------------
struct Refused { int code; string text; json data; };  // becomes a JSON-RPC error
void demand(bool holds, string code, string name, string field, string why) {
  if (holds) return;
  throw Refused{-32602, why, {{"error_code", code}, {"error_name", name}, {"field", "/" + field}}};
}
string text(const json& object, const string& field) {
  const json value = object.value(field, json());
  return value.is_string() ? value.get<string>() : "";
}
// Goes back to the conversation and match of its call.
json message(const string& type, const json& call, const json& fields) {
  json out = {{"protocol", "league.v2"}, {"message_type", type}, {"timestamp", now()}};
  out["sender"] = "player:" + text(me, "player_id");
  for (const char* field : {"conversation_id", "round_id", "match_id"})
    if (call.contains(field)) out[field] = call[field];
  out.update(me);
  out.update(fields);
  return out;
}
// Whether `text` names a time that there is: written back it is the same.
bool has_form(const string& text, const char* form) {
  tm t{};
  char back[32];
  const char* end = strptime(text.c_str(), form, &t);
  timegm(&t);
  return end && strftime(back, sizeof back, form, &t) && text == back + string(end) &&
         std::regex_match(end, std::regex("(\\.\\d{1,9})?(Z|\\+00:00)"));
}
void check_message(const json& call, vector<string> required) {
  required.insert(required.begin(), {"protocol", "message_type", "sender", "timestamp", "conversation_id"});
  for (const string& field : required)
    demand(!text(call, field).empty(), "E003", "MISSING_REQUIRED_FIELD", field, field + " is no text");
  const string time = text(call, "timestamp");
  const bool is_time = has_form(time, "%Y-%m-%dT%H:%M:%S") || has_form(time, "%Y%m%dT%H:%M:%S") ||
                       has_form(time, "%Y%m%dT%H%M%S");
  demand(is_time, "E021", "INVALID_TIMESTAMP", "timestamp", "not UTC, or no time");
  demand(text(call, "protocol").starts_with("league.v2"), "E018", "PROTOCOL_VERSION_MISMATCH", "protocol",
         "not league.v2");
  const json played = game()["game_type"];
  demand(call.value("game_type", played) == played, "E028", "GAME_TYPE_NOT_SUPPORTED", "game_type",
         "not the game of this league");
  demand(text(call, "conversation_id").size() <= 100, "E024", "FIELD_TOO_LONG", "conversation_id",
         "more than 100 characters");
  demand(call.value("role_in_match", "PLAYER_A").starts_with("PLAYER_"), "E023", "INVALID_FIELD_VALUE",
         "role_in_match", "PLAYER_A or PLAYER_B");
}
// The attempt at a match that the call's credential proves; the manager shows our token, and its calls have
// none. A referee shows what only we and the manager can compute.
int check_caller(const json& call) {
  const string shown = text(call, "auth_token"), match = text(call, "match_id");
  const string token = text(me, "auth_token");
  int attempt = match.empty() && shown == token ? 0 : -1;
  for (int n = 1; n <= 16 && !match.empty(); ++n)
    if (shown == hex(hmac(token, match + "#" + to_string(n)))) attempt = n;
  const string announced = text(matches.value(match, json::object()), "credential");
  if (announced == (shown.empty() ? "none" : "token:" + sha256(shown))) return 1;  // a third party's referee
  demand(!token.empty() && attempt >= 0, "E012", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is wrong");
  return attempt;
}

// --- Playing ----------------------------------------------------------------------------------------------
void save() {  // before anything leaves that binds us
  const string file = options["--data"], fresh = file + ".new";
  std::ofstream(fresh) << nlohmann::ordered_json{{"me", me}, {"home", home}, {"matches", matches}};
  std::rename(fresh.c_str(), file.c_str());
}
nlohmann::ordered_json& match_of(const string& id) {
  if (!matches.contains(id)) matches[id] = {{"calls", json::array()}};
  if (matches.size() > 20) matches.erase(matches.begin());  // the oldest
  return matches[id];
}
json news(const json&) { return {{"status", "ok"}, {"player_id", me["player_id"]}}; }
json announced(const json& call) {  // the manager promises the seed of each match
  for (const json& row : call.value("matches", json::array())) {
    const string draw = text(row, "draw_commitment"), self = text(me, "player_id");
    if (text(row, "player_A_id") != self && text(row, "player_B_id") != self) continue;
    auto& mine = match_of(text(row, "match_id"));
    if (!draw.empty() && text(mine, "draw").empty()) mine["draw"] = draw;
    mine["credential"] = text(row, "referee_credential");
  }
  return news(call);
}
struct Answer { string type; json fields; string kind, said; };  // the last two: for the receipt
void dispute(const json& call, const string& why);


Answer join(const json& call, json& mine, const json& at) {
  const string id = text(call, "match_id"), draw = text(call, "draw_commitment");
  const string shows = text(mine, "credential");  // a third party's referee need not know the seed
  if (draw.empty() && !shows.empty() && shows != "match") mine["draw"] = "";  // then nobody commits
  demand(mine.value("draw", draw) == draw, "E040", "COMMITMENT_MISMATCH", "draw_commitment",
         "another seed was promised");
  demand(mine.value("at", at) <= at, "E033", "STALE_ATTEMPT", "context", "a later attempt has begun");
  const bool is_shown_alone = mine.value("handed", "?").empty();  // the next attempt needs a fresh choice
  if (!mine.contains("nonce") || (is_shown_alone && mine["at"] != at)) {  // else the same promise again
    mine.erase("handed");
    mine.update({{"draw", draw}, {"choice", choose_word(call)}, {"nonce", random_hex()},
                 {"opponent", text(call, "opponent_id")}, {"role", text(call, "role_in_match")}});
  }
  mine["at"] = at;
  json fields = {{"accept", true}};
  const string promise = joined({draw, id, text(me, "player_id"), mine["choice"], mine["nonce"]});
  if (!draw.empty()) fields["choice_commitment"] = sha256(promise);
  return {"GAME_JOIN_ACK", fields, "JOIN", "true|" + text(fields, "choice_commitment")};
}
Answer choose(const json& call, json& mine, const json& at) {
  const string theirs = text(call.value("context", json::object()), "opponent_commitment");
  const bool is_invited = mine.contains("at") ? mine["at"] == at : !home.contains("receipt_key");
  demand(is_invited, "E031", "MATCH_NOT_OPEN", "context", "I was not invited to this attempt");
  if (!mine.contains("choice")) mine["choice"] = choose_word(call);  // not invited: bound to nothing
  if (mine.value("handed", theirs) != theirs) dispute(call, "I was handed two commitments of my opponent");
  demand(mine.value("handed", theirs) == theirs, "E040", "COMMITMENT_MISMATCH", "context/opponent_commitment",
         "there was another one");
  mine["handed"] = theirs;
  json fields = {{"parity_choice", mine["choice"]}};
  if (!text(mine, "draw").empty() && mine.contains("nonce")) fields["choice_nonce"] = mine["nonce"];
  const string said = joined({mine["choice"], text(fields, "choice_nonce"), theirs});
  return {"CHOOSE_PARITY_RESPONSE", fields, "CHOICE", said};
}

// Answers a call of a match, with a receipt: only we and the manager can make one, so a referee cannot report
// what we have not said. The calls are noted for get_match_record, which the manager asks if a referee says
// that we have failed.
json play(Answer (*handler)(const json&, json&, const json&), const json& call, int attempt) {
  const auto begin = std::chrono::steady_clock::now();
  const string id = text(call, "match_id"), key = text(home, "receipt_key");
  const json context = call.value("context", json::object());
  const json at = {attempt, context.value("play", 0)};
  json mine = match_of(id), fields;
  const string type = text(call, "message_type").substr(0, 40);
  json note = {{"message_type", type}, {"attempt", attempt}, {"play", at[1]}, {"at", now()}};
  const auto keep = [&] {  // before the answer leaves
    note["answered_at"] = now();
    note["answer_ms"] = (std::chrono::steady_clock::now() - begin) / std::chrono::milliseconds(1);
    mine["calls"].push_back(note);
    if (mine["calls"].size() > 32) mine["calls"].erase(0);
    match_of(id) = mine;
    save();
  };
  try {
    demand(context.value("attempt", attempt) == attempt, "E023", "INVALID_FIELD_VALUE", "context/attempt",
           "not what the credential proves");
    Answer answer = handler(call, mine, at);
    fields = answer.fields;
    if (!key.empty() && context.contains("attempt")) {
      const string about = joined({id, to_string(attempt), at[1].dump(), text(mine, "draw"), answer.said});
      fields["receipt"] = hex(hmac(key, joined({answer.kind, text(home, "league_key"), about})));
    }
    note.update(fields);
    if (answer.kind == "CHOICE" && mine["handed"] != "") note["opponent_commitment"] = mine["handed"];
    if (answer.kind == "JOIN") fields["arrival_timestamp"] = now();
    if (!key.empty())  // a referee never sees our token
      fields["auth_token"] = hex(hmac(text(me, "auth_token"), "answer|" + id + "#" + to_string(attempt)));
    keep();
    return message(answer.type, call, fields);
  } catch (const Refused& why) {
    note.update({{"refused", why.data["error_code"]}, {"reason", why.text}, {"caller_fault", true}});
    mine = match_of(id);
    keep();
    throw;
  }
}
json match_record(const json& call) {
  const string token = text(me, "auth_token"), id = text(call, "match_id");
  demand(!token.empty() && text(call, "auth_token") == token, "E012", "AUTH_TOKEN_INVALID", "auth_token",
         "auth_token is not my own");
  const json calls = matches.contains(id) ? json(matches[id]["calls"]) : json::array();
  return {{"match_id", id}, {"player_id", me["player_id"]}, {"calls", calls}};
}

// --- Results ----------------------------------------------------------------------------------------------
int draw_number(const string& seed, const string& drawn, int size, int counter = 0) {
  for (unsigned char byte : hmac(seed, drawn + "|" + to_string(counter)))
    if (byte < 256 - 256 % size) return byte % size + 1;
  return draw_number(seed, drawn, size, counter + 1);
}
int points(const string& role, const string& own, const string& other, const json& number) {
  const json& payoffs = game().contains("roles") ? game()["roles"].at(role) : game().at("payoffs");
  const json& table = number.is_null() ? payoffs : payoffs.at(game()["drawn"].at(number.get<size_t>() - 1));
  return table.at(own).at(other);
}
// What is false in a result: it follows from the promised seed and from what both have bound themselves to.
string fault_in(const json& call, const json& mine) try {
  if (!mine.contains("nonce") || !mine.contains("handed")) return "I was not asked for a choice";
  const json &result = call.at("game_result"), &choices = result.at("choices");
  const json &bound = call.at("choice_commitments"), &nonces = call.at("choice_nonces");
  const string self = text(me, "player_id"), other = mine.at("opponent"), match = text(call, "match_id");
  const string draw = mine.at("draw"), seed = unhex(text(call, "draw_proof"));
  if (sha256(seed + match) != draw) return "another seed was promised";
  const bool is_mine = choices.at(self) == mine.at("choice") && nonces.at(self) == mine.at("nonce");
  if (!is_mine) return "I did not choose that";
  if (text(bound, other) != mine.at("handed")) return "the opponent's commitment is another one";
  if (!bound.contains(self)) return "my commitment is missing";
  for (const auto& [id, one] : bound.items())
    if (sha256(joined({draw, match, id, text(choices, id), text(nonces, id)})) != one)
      return "the commitment of " + id + " is not opened";
  const string a = mine.at("role") == "PLAYER_A" ? self : other, b = a == self ? other : self;
  const auto used = [&](const string& id) { return bound.contains(id) ? text(nonces, id) : ""; };
  const string of_a = choices.at(a), of_b = choices.at(b);
  const int size = int(game().value("drawn", json::array()).size());
  json number, winner;  // null: there is none
  if (size) number = draw_number(seed, joined({match, of_a, of_b, used(a), used(b)}), size);
  const int lead = points("PLAYER_A", of_a, of_b, number) - points("PLAYER_B", of_b, of_a, number);
  if (lead) winner = lead > 0 ? a : b;
  if (result.at("drawn_number") == number && result.at("winner_player_id") == winner) return "";
  return "the number is " + number.dump() + ", the winner " + winner.dump();
} catch (const std::exception& why) { return why.what(); }

string failure;  // why the last call got no result
json post(const string& method, const json& params) {
  const string url = options["--manager"];
  const size_t slash = url.find('/', url.find("//") + 2);
  const string path = slash == string::npos ? "/mcp" : url.substr(slash);
  const json body = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
  const auto answer = httplib::Client(url.substr(0, slash)).Post(path, body.dump(), "application/json");
  const json frame = json::parse(answer ? answer->body : "", nullptr, false);
  if (frame.is_object() && frame.contains("result")) return frame["result"];
  std::lock_guard lock(mutex);
  failure = answer ? "HTTP " + to_string(answer->status) + " without a result" : to_string(answer.error());
  return {};
}
void dispute(const json& call, const string& why) {  // goes to the manager and stays open
  const json query = {{"query_type", "DISPUTE_MATCH"},
                      {"query_params", {{"match_id", call["match_id"]}, {"reason", why}}}};
  std::thread(post, "league_query", message("LEAGUE_QUERY", call, query)).detach();
}
json game_over(const json& call) {
  const json mine = matches.value(text(call, "match_id"), json::object());
  const json result = call.value("game_result", json::object());
  const bool have_we_won = text(result, "winner_player_id") == me["player_id"];
  if (text(result, "status") != "TECHNICAL_LOSS") {
    const string why = text(mine, "draw").empty() ? "" : fault_in(call, mine);
    if (!why.empty()) dispute(call, why);
    demand(why.empty(), "E035", "INVALID_RESULT", "game_result", "the result does not follow: " + why);
  } else if (mine.contains("calls") && home.contains("receipt_key") && !have_we_won) {
    int slowest = 0;
    for (const json& one : mine["calls"]) slowest = std::max(slowest, one["answer_ms"].get<int>());
    const string count = to_string(mine["calls"].size()), within = to_string(slowest) + " ms";
    if (slowest < 5000) dispute(call, "I got " + count + " calls and answered each within " + within);
  }
  return news(call);
}

// --- JSON-RPC ---------------------------------------------------------------------------------------------
const std::map<string, Answer (*)(const json&, json&, const json&)> plays = {
    {"handle_game_invitation", join}, {"choose_parity", choose}};
const std::map<string, json (*)(const json&)> methods = {
    {"notify_match_result", game_over}, {"notify_round", announced}, {"get_player_state", news},
    {"update_standings", news}, {"notify_round_completed", news}, {"notify_league_completed", news},
    {"notify_league_error", news}, {"notify_game_error", news}};
const std::map<string, vector<string>> required = {
    {"handle_game_invitation", {"match_id", "game_type", "role_in_match", "opponent_id"}},
    {"choose_parity", {"match_id"}}, {"notify_match_result", {"match_id"}}};

json result_of(const string& method, const json& call) {
  std::lock_guard lock(mutex);
  if (method == "ping") return news(call);
  if (method == "get_match_record") return match_record(call);
  if (!methods.contains(method) && !plays.contains(method)) throw Refused{-32601, "Method not found", {}};
  check_message(call, required.contains(method) ? required.at(method) : vector<string>());
  const int attempt = check_caller(call);
  return plays.contains(method) ? play(plays.at(method), call, attempt) : methods.at(method)(call);
}
string answer(const string& body) {
  const auto is_flat = [](int level, json::parse_event_t, json&) { return level < 100; };
  const json frame = json::parse(body, is_flat, false);
  json out = {{"jsonrpc", "2.0"}, {"id", frame.is_object() ? frame.value("id", json()) : json()}};
  try {
    if (frame.is_discarded()) throw Refused{-32700, "Parse error", {}};
    if (!frame.is_object() || text(frame, "method").empty()) throw Refused{-32600, "Invalid Request", {}};
    out["result"] = result_of(text(frame, "method"), frame.value("params", json::object()));
  } catch (const Refused& why) {
    out["error"] = {{"code", why.code}, {"message", why.text}, {"data", why.data}};
  } catch (const std::exception& why) {
    out["error"] = {{"code", -32602}, {"message", string("Invalid params: ") + why.what()}};
  }
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}
// Shows the token and nonce of before, so that we come back as who we were, and get our receipt_key. Tries
// until the manager answers.
void register_bot(int port) {
  if (!home.contains("registration_nonce")) home["registration_nonce"] = random_hex();
  const json meta = {{"display_name", options["--name"]}, {"version", "1.0.0"}, {"game_types", {"even_odd"}},
                     {"receipts", true}, {"protocol_version", "2.1.0"}, {"game_definitions", true},
                     {"contact_endpoint", "http://127.0.0.1:" + to_string(port) + "/mcp"}};
  const json fields = {{"conversation_id", "conv" + random_hex()}, {"player_meta", meta},
                       {"registration_nonce", home["registration_nonce"]}};
  const json call = message("LEAGUE_REGISTER_REQUEST", json::object(), fields);
  json reply;
  for (bool is_first = true; !(reply = post("register_player", call)).is_object(); is_first = false) {
    if (is_first) std::cerr << options["--manager"] << ": " << failure << "; trying again every 2 s\n";
    sleep(2);
  }
  for (const char* field : {"status", "player_id", "reason", "error_description"})
    if (const string one = text(reply, field); !one.empty()) std::cout << one << " ";
  std::cout << std::endl;
  if (text(reply, "status") != "ACCEPTED") std::_Exit(1);
  std::lock_guard lock(mutex);
  for (const char* field : {"player_id", "auth_token", "league_id"}) me[field] = reply[field];
  for (const char* field : {"receipt_key", "league_key", "game"})
    if (reply.contains(field)) home[field] = reply[field];
  save();
}
int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  me = {{"player_id", std::regex_replace(options["--name"], std::regex("\\W"), "_").substr(0, 64)}};
  umask(077);  // nobody else may read the token
  if (std::ifstream file(options["--data"]); file) {
    const auto kept = nlohmann::ordered_json::parse(file);
    if (kept.is_object()) me = kept["me"], home = kept["home"], matches = kept["matches"];
  }
  httplib::Server server;
  server.set_tcp_nodelay(true);  // else an answer's body waits for its head's acknowledgement
  server.new_task_queue = [] { return new httplib::ThreadPool(64); };  // a silent connection holds a thread
  server.set_payload_max_length(1 << 20).Post(".*", [](const auto& request, auto& response) {
    response.set_content(answer(request.body), "application/json");
  });
  int port = std::stoi(options["--port"]);
  if (port == 0) port = server.bind_to_any_port("127.0.0.1");
  else if (!server.bind_to_port("127.0.0.1", port)) return 1;
  std::thread(register_bot, port).detach();
  server.listen_after_bind();
}
