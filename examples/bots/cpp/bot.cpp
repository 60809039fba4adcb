// A whole Even/Odd bot: ./bot --manager URL [--port N] [--name NAME] [--data FILE]. Needs Debian's g++ pkg-config libcpp-httplib-dev nlohmann-json3-dev libssl-dev.
// Build: c++ -std=c++20 -O2 bot.cpp -o bot $(pkg-config --cflags --libs cpp-httplib) -lcrypto
#include <httplib.h>  // clang-format off
#include <openssl/hmac.h>
#include <nlohmann/json.hpp>
using nlohmann::json, std::string, std::vector, std::to_string; using Bytes = unsigned char*;
std::map<string, string> options = {{"--manager", "http://localhost:8000/mcp"}, {"--port", "0"}, {"--name", "cpp_bot"}, {"--data", "cpp_bot.json"}};
json me, matches = json::object(); std::mutex mutex;  // who the manager says we are, what we have promised in each open match, and what protects both
struct Refused { int code; string text; json data; };  // becomes a JSON-RPC error
string hex(const string& bytes) { string out; for (unsigned char byte : bytes) (out += "0123456789abcdef"[byte >> 4]) += "0123456789abcdef"[byte & 15]; return out; }
string unhex(const string& text) { string out; for (size_t i = 0; i + 1 < text.size(); i += 2) out += char(std::stoi(text.substr(i, 2), nullptr, 16)); return out; }
string sha256(const string& text) { string out(32, 0); EVP_Digest(text.data(), text.size(), Bytes(out.data()), nullptr, EVP_sha256(), nullptr); return hex(out); }
string hmac(const string& key, string text) { string out(32, 0); HMAC(EVP_sha256(), key.data(), int(key.size()), Bytes(text.data()), text.size(), Bytes(out.data()), nullptr); return out; }
string random_hex() { std::random_device device; string out; while (out.size() < 32) out += char(device()); return hex(out); }
string choose_word(const json&) { return random_hex() < "8" ? "even" : "odd"; }  // the game: write your own
string now() { char out[32]; time_t t = time(nullptr); strftime(out, sizeof out, "%Y-%m-%dT%H:%M:%SZ", gmtime(&t)); return out; }
string text(const json& call, const string& field) { const json value = call.value(field, json()); return value.is_string() ? value.get<string>() : ""; }
string joined(const vector<string>& parts) { string out = parts[0]; for (size_t i = 1; i < parts.size(); ++i) out += "|" + parts[i]; return out; }
bool has_form(const string& text, const char* form) {  // and names a time that there is: written back it is the same
  tm t{}; char back[32]; const char* end = strptime(text.c_str(), form, &t); timegm(&t);
  return end && strftime(back, sizeof back, form, &t) && text == back + string(end) && std::regex_match(end, std::regex("(\\.\\d{1,9})?(Z|\\+00:00)"));
}
void demand(bool holds, string code, string name, string field, string why) { if (!holds) throw Refused{-32602, why, {{"error_code", code}, {"error_name", name}, {"field", "/" + field}}}; }
json message(const string& type, const json& call, const json& fields) {  // goes back to the conversation and match of its call
  json out = {{"protocol", "league.v2"}, {"message_type", type}, {"sender", "player:" + text(me, "player_id")}, {"timestamp", now()}};
  for (const char* field : {"conversation_id", "round_id", "match_id"}) if (call.contains(field)) out[field] = call[field];
  out.update(me); out.update(fields); return out;
}
void check(const json& call, vector<string> required) {
  required.insert(required.begin(), {"protocol", "message_type", "sender", "timestamp", "conversation_id"});
  for (const string& field : required) demand(!text(call, field).empty(), "E003", "MISSING_REQUIRED_FIELD", field, field + " is missing, or no text");
  demand(text(call, "protocol").starts_with("league.v2"), "E018", "PROTOCOL_VERSION_MISMATCH", "protocol", "not league.v2");
  demand(call.value("game_type", "even_odd") == "even_odd", "E028", "GAME_TYPE_NOT_SUPPORTED", "game_type", "only even_odd");
  demand(text(call, "conversation_id").size() <= 100, "E024", "FIELD_TOO_LONG", "conversation_id", "more than 100 characters");
  demand(call.value("role_in_match", "PLAYER_A").starts_with("PLAYER_"), "E023", "INVALID_FIELD_VALUE", "role_in_match", "PLAYER_A or PLAYER_B");
  const string time = text(call, "timestamp"), shown = text(call, "auth_token"), match = text(call, "match_id"), token = text(me, "auth_token");
  demand(has_form(time, "%Y-%m-%dT%H:%M:%S") || has_form(time, "%Y%m%dT%H:%M:%S") || has_form(time, "%Y%m%dT%H%M%S"), "E021", "INVALID_TIMESTAMP", "timestamp", "not UTC, or no time");
  bool is_right = match.empty() && shown == token;  // from the manager; a referee shows what only we and the manager can compute
  for (int n = 1; n <= 16 && !match.empty() && !token.empty(); ++n) is_right |= shown == hex(hmac(token, match + "#" + to_string(n)));
  demand(is_right && !shown.empty(), "E012", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is missing or wrong");
}
void save() { std::ofstream(options["--data"] + ".new") << json{me, matches}; std::rename((options["--data"] + ".new").c_str(), options["--data"].c_str()); }  // before we send what binds us
json join(const json& call) {
  const string match = text(call, "match_id"), draw = text(call, "draw_commitment");
  json &mine = matches[match], fields = {{"arrival_timestamp", now()}, {"accept", true}};
  if (mine.is_null() || mine["draw"] != draw || mine.value("handed", "?").empty())  // else it is a repetition and gets the same promise
    mine = {{"draw", draw}, {"choice", choose_word(call)}, {"nonce", random_hex()}, {"opponent", text(call, "opponent_id")}, {"role", text(call, "role_in_match")}};
  save(); if (!draw.empty()) fields["choice_commitment"] = sha256(joined({draw, match, text(me, "player_id"), mine["choice"], mine["nonce"]}));
  return message("GAME_JOIN_ACK", call, fields);
}
json choose(const json& call) {
  json& mine = matches[text(call, "match_id")];
  if (mine.is_null()) mine = {{"draw", ""}, {"choice", choose_word(call)}};
  if (!mine.contains("handed")) mine["handed"] = text(call.value("context", json::object()), "opponent_commitment");
  save(); return message("CHOOSE_PARITY_RESPONSE", call, mine["draw"] == "" ? json{{"parity_choice", mine["choice"]}} : json{{"parity_choice", mine["choice"]}, {"choice_nonce", mine["nonce"]}});
}
string fault_in(const json& call, const json& mine) try {  // the result has to follow from the promised seed and from what both have bound themselves to
  const json &result = call.at("game_result"), &choices = result.at("choices"), &bound = call.at("choice_commitments"), &nonces = call.at("choice_nonces");
  const string self = text(me, "player_id"), other = mine.at("opponent"), match = text(call, "match_id"), draw = mine.at("draw"), seed = unhex(text(call, "draw_proof"));
  if (sha256(seed + match) != draw) return "another seed was promised";
  if (choices.at(self) != mine.at("choice") || nonces.at(self) != mine.at("nonce")) return "I did not choose that";
  if (text(bound, other) != mine.value("handed", "?")) return "the opponent's commitment is another one";
  for (const auto& [id, one] : bound.items()) if (sha256(joined({draw, match, id, text(choices, id), text(nonces, id)})) != one) return "a commitment is not opened";
  const string a = mine.at("role") == "PLAYER_A" ? self : other, b = a == self ? other : self, nonce_a = bound.contains(a) ? text(nonces, a) : "", nonce_b = bound.contains(b) ? text(nonces, b) : "";
  const string drawn = joined({match, text(choices, a), text(choices, b), nonce_a, nonce_b, ""}); int number = 0;
  for (int i = 0; number == 0; ++i) for (unsigned char byte : hmac(seed, drawn + to_string(i))) if (number == 0 && byte < 250) number = byte % 10 + 1;
  const json winner = choices.at(a) == choices.at(b) ? json() : json((choices.at(a) == "odd") == (number % 2 == 1) ? a : b);
  return result.at("drawn_number") == number && result.at("winner_player_id") == winner ? "" : "the number is " + to_string(number);
} catch (const std::exception& why) { return why.what(); }
json post(const string& method, const json& params) {
  const string url = options["--manager"]; const size_t path = url.find('/', url.find("//") + 2);
  const json body = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
  const auto answer = httplib::Client(url.substr(0, path)).Post(path == string::npos ? "/mcp" : url.substr(path), body.dump(), "application/json");
  const json frame = json::parse(answer ? answer->body : "", nullptr, false); return frame.is_object() ? frame.value("result", json()) : json();
}
json news(const json&) { return {{"status", "ok"}, {"player_id", me["player_id"]}}; }
json game_over(const json& call) {
  const json mine = matches.value(text(call, "match_id"), json::object()), result = call.value("game_result", json::object());
  const string why = text(mine, "draw").empty() || text(result, "status") == "TECHNICAL_LOSS" ? "" : fault_in(call, mine);
  const json query = {{"query_type", "DISPUTE_MATCH"}, {"query_params", {{"match_id", call["match_id"]}, {"reason", why}}}};
  if (!why.empty()) std::thread(post, "league_query", message("LEAGUE_QUERY", call, query)).detach();  // the dispute goes to the manager and stays open
  demand(why.empty(), "E035", "INVALID_RESULT", "game_result", "the result does not follow: " + why);
  matches.erase(text(call, "match_id")); return news(call);
}
const std::map<string, std::pair<json (*)(const json&), vector<string>>> methods = {  // who answers, and what it needs
    {"handle_game_invitation", {join, {"match_id", "game_type", "role_in_match", "opponent_id"}}}, {"choose_parity", {choose, {"match_id"}}}, {"notify_match_result", {game_over, {"match_id"}}},
    {"ping", {news, {}}}, {"get_player_state", {news, {}}}, {"notify_round", {news, {}}}, {"update_standings", {news, {}}}, {"notify_round_completed", {news, {}}},
    {"notify_league_completed", {news, {}}}, {"notify_league_error", {news, {}}}, {"notify_game_error", {news, {}}}};
string answer(const string& body) {
  const json frame = json::parse(body, [](int level, json::parse_event_t, json&) { return level < 100; }, false);
  json out = {{"jsonrpc", "2.0"}, {"id", frame.is_object() ? frame.value("id", json()) : json()}};
  try {
    const auto method = frame.is_object() ? methods.find(text(frame, "method")) : methods.end();
    if (method == methods.end()) throw Refused{frame.is_discarded() ? -32700 : frame.is_object() && !text(frame, "method").empty() ? -32601 : -32600, "not a call of a method of mine", {}};
    std::lock_guard lock(mutex);
    if (method->first != "ping") check(frame.value("params", json::object()), method->second.second);
    out["result"] = method->second.first(frame.value("params", json()));
  } catch (const Refused& why) { out["error"] = {{"code", why.code}, {"message", why.text}, {"data", why.data}};
  } catch (const std::exception& why) { out["error"] = {{"code", -32602}, {"message", string("Invalid params: ") + why.what()}}; }
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}
void register_bot(int port) {  // shows the token of before, so that we come back as who we were; tries until the manager answers
  const json meta = {{"display_name", options["--name"]}, {"version", "1.0.0"}, {"game_types", {"even_odd"}}, {"contact_endpoint", "http://127.0.0.1:" + to_string(port) + "/mcp"}};
  json reply, fields = {{"conversation_id", "conv" + random_hex()}, {"player_meta", meta}, {"registration_nonce", random_hex()}};
  while (!(reply = post("register_player", message("LEAGUE_REGISTER_REQUEST", json::object(), fields))).is_object()) sleep(2);
  std::cout << text(reply, "status") << " " << text(reply, "player_id") << " " << text(reply, "reason") << text(reply, "error_description") << std::endl;
  if (text(reply, "status") != "ACCEPTED") std::_Exit(1);
  std::lock_guard lock(mutex); for (const char* field : {"player_id", "auth_token", "league_id"}) me[field] = reply[field];
  save();
}
int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) options[argv[i]] = argv[i + 1];
  me = {{"player_id", std::regex_replace(options["--name"], std::regex("\\W"), "_")}}; umask(077);  // nobody else may read the token
  if (std::ifstream file(options["--data"]); file) { const json kept = json::parse(file); me = kept[0]; matches = kept[1]; }
  httplib::Server server; server.new_task_queue = [] { return new httplib::ThreadPool(64); };  // a connection that is silent holds a thread until its limit
  server.set_payload_max_length(1 << 20).Post(".*", [](const auto& request, auto& response) { response.set_content(answer(request.body), "application/json"); });
  int port = std::stoi(options["--port"]);
  if (port == 0) port = server.bind_to_any_port("127.0.0.1"); else if (!server.bind_to_port("127.0.0.1", port)) return 1;
  std::thread(register_bot, port).detach(); server.listen_after_bind();
}
