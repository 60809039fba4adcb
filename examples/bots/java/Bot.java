// A whole Even/Odd bot: java Bot.java --manager URL [--port N] [--name NAME] [--data FILE]. Needs nothing but a JDK 17.
import com.sun.net.httpserver.HttpServer; import java.net.*; import java.net.http.*; import java.nio.file.*; import java.nio.file.attribute.*; import java.security.*; import java.time.*; import java.time.format.*;
import java.util.*; import java.util.concurrent.*; import java.util.regex.*; import javax.crypto.Mac; import javax.crypto.spec.SecretKeySpec; import static java.nio.charset.StandardCharsets.UTF_8;
class Bot {
  static class Json extends LinkedHashMap<String, String> {  // an object: its members without those that are null, each as JSON text
    static final Pattern TOKEN = Pattern.compile("\\s*+([{}\\[\\]:,]|\"([^\"\\\\\\x00-\\x1f]|\\\\[\"\\\\/bfnrtu])*+\"|-?\\d[\\d.eE+-]*+|true|false|null)\\s*+"), ESCAPE = Pattern.compile("\\\\(u....|.)");
    Json(Object... pairs) { for (int i = 0; i < pairs.length; i += 2) if (pairs[i + 1] != null) put((String) pairs[i], pairs[i + 1] instanceof String text ? quoted(text) : "" + pairs[i + 1]); }
    static Json read(String text) {
      Json out = new Json(); String key = ""; int depth = 0, begin = 0; Matcher in = TOKEN.matcher(text);
      for (; in.regionStart() < text.length(); in.region(in.end(), text.length())) {
        if (!in.lookingAt() || depth == 0 && in.regionStart() > 0) throw new Refused(-32700, "Parse error", null); String one = in.group(1); depth -= "}]".contains(one) ? 1 : 0;
        if (depth == 1 && one.equals(":")) begin = in.end(); else if (depth == 1 && begin == 0) key = one;
        if (begin > 0 && (depth == 0 || depth == 1 && one.equals(","))) { out.put(unquoted(key), text.substring(begin, in.start()).strip()); begin = 0; } depth += "{[".contains(one) ? 1 : 0;
      }
      if (depth != 0 || text.isBlank()) throw new Refused(-32700, "Parse error", null); out.values().removeIf("null"::equals); return out;
    }
    static String quoted(String text) { return '"' + text.replaceAll("[\\\\\"]", "\\\\$0").replaceAll("\\p{Cntrl}", " ") + '"'; }
    static String unquoted(String json) { return ESCAPE.matcher(json.substring(1, json.length() - 1)).replaceAll(one -> Matcher.quoteReplacement(one.group(1).length() > 1
        ? "" + (char) Integer.parseInt(one.group(1), 1, 5, 16) : one.group(1).equals("/") ? "/" : one.group().translateEscapes())); }
    String text(String field) { return getOrDefault(field, "").startsWith("\"") ? unquoted(get(field)) : ""; }
    Json object(String field) { return getOrDefault(field, "").startsWith("{") ? read(get(field)) : new Json(); }
    public String toString() { List<String> parts = new ArrayList<>(); forEach((key, value) -> parts.add(quoted(key) + ":" + value)); return "{" + String.join(",", parts) + "}"; }
  }
  static class Refused extends RuntimeException { final Json error; Refused(int code, String text, Json data) { super(text); error = new Json("code", code, "message", text, "data", data); } }
  static Json options = new Json("manager", "http://localhost:8000/mcp", "port", "0", "name", "java_bot", "data", "java_bot.json"), me, matches = new Json();  // who we are; what we have promised in each open match
  static final Map<String, String> METHODS = new HashMap<>(Map.of("handle_game_invitation", " match_id game_type role_in_match opponent_id", "choose_parity", " match_id", "notify_match_result", " match_id"));
  static final Map<String, String> FORMS = Map.of("protocol", "league\\.v2(\\.\\d+)?", "match_id", "\\w+", "conversation_id", "(?s).{1,100}", "game_type", "even_odd", "role_in_match", "PLAYER_[AB]");
  static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("[uuuu-MM-dd'T'HH:mm:ss][uuuuMMdd'T'HH:mm:ss][uuuuMMdd'T'HHmmss]'UTC'").withResolverStyle(ResolverStyle.STRICT);
  static String chooseWord(Json call) { return new SecureRandom().nextBoolean() ? "even" : "odd"; }  // the game: write your own
  static String now() { return Instant.now().toString().substring(0, 19) + "Z"; } static byte[] bytes(String... parts) { return String.join("|", parts).getBytes(UTF_8); }
  static String hex(byte[] bytes) { return HexFormat.of().formatHex(bytes); } static String randomHex() { byte[] out = new byte[32]; new SecureRandom().nextBytes(out); return hex(out); }
  static String sha(byte[]... parts) throws Exception { MessageDigest hash = MessageDigest.getInstance("SHA-256"); for (byte[] part : parts) hash.update(part); return hex(hash.digest()); }
  static byte[] mac(byte[] key, String... parts) throws Exception { Mac mac = Mac.getInstance("HmacSHA256"); mac.init(new SecretKeySpec(key, "HmacSHA256")); return mac.doFinal(bytes(parts)); }
  static void require(boolean holds, String why) { if (!holds) throw new IllegalArgumentException(why); }
  static void demand(boolean holds, String code, String name, String field, String why) { if (!holds) throw new Refused(-32602, why, new Json("error_code", code, "error_name", name, "field", "/" + field)); }
  static Json message(String type, Json call, Object... fields) {  // goes back to the conversation and match of its call
    Json out = new Json("protocol", "league.v2", "message_type", type, "sender", "player:" + me.text("player_id"), "timestamp", now());
    for (String field : List.of("conversation_id", "round_id", "match_id")) if (call.containsKey(field)) out.put(field, call.get(field));
    out.putAll(me); out.putAll(new Json(fields)); return out;
  }
  static void check(Json call, String required) throws Exception {
    for (String field : ("protocol message_type sender timestamp conversation_id" + required).split(" ")) demand(call.containsKey(field), "E003", "MISSING_REQUIRED_FIELD", field, field + " is missing");
    for (String field : FORMS.keySet()) demand(!call.containsKey(field) || call.get(field).startsWith("\"") && call.text(field).matches(FORMS.get(field)), "E023", "INVALID_FIELD_VALUE", field, "not an allowed " + field);
    try { LocalDateTime.parse(call.text("timestamp").replaceFirst("(\\.\\d{1,9})?(Z|\\+00:00)$", "UTC"), TIME); } catch (DateTimeException why) { demand(false, "E021", "INVALID_TIMESTAMP", "timestamp", "no time in UTC"); }
    String shown = call.text("auth_token"), match = call.text("match_id"), token = me.text("auth_token");
    boolean isRight = match.isEmpty() && shown.equals(token);  // from the manager; a referee shows what only we and the manager can compute
    for (int n = 1; n <= 16 && !match.isEmpty() && !token.isEmpty(); n++) isRight |= shown.equals(hex(mac(bytes(token), match + "#" + n)));
    demand(isRight && !shown.isEmpty(), "E012", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is missing or wrong");
  }
  static void save(String match, Json mine) throws Exception {  // before we send what binds us; nobody else may read the token
    Path fresh = Path.of(options.text("data") + ".new"); if (match != null) matches.put(match, "" + mine);
    if (Files.notExists(fresh)) Files.createFile(fresh, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.move(Files.writeString(fresh, "" + new Json("me", me, "matches", matches)), Path.of(options.text("data")), StandardCopyOption.REPLACE_EXISTING);
  }
  static Json join(Json call) throws Exception {
    String match = call.text("match_id"), draw = call.text("draw_commitment"); Json mine = matches.object(match);
    if (!mine.containsKey("draw") || !draw.equals(mine.text("draw")) || mine.containsKey("handed") && mine.text("handed").isEmpty())  // else it is a repetition and gets the same promise
      mine = new Json("draw", draw, "choice", chooseWord(call), "nonce", randomHex(), "opponent", call.text("opponent_id"), "role", call.text("role_in_match"));
    save(match, mine); Object bound = draw.isEmpty() ? null : sha(bytes(draw, match, me.text("player_id"), mine.text("choice"), mine.text("nonce")));
    return message("GAME_JOIN_ACK", call, "arrival_timestamp", now(), "accept", true, "choice_commitment", bound);
  }
  static Json choose(Json call) throws Exception {
    Json mine = matches.containsKey(call.text("match_id")) ? matches.object(call.text("match_id")) : new Json("draw", "", "choice", chooseWord(call));
    mine.putIfAbsent("handed", Json.quoted(call.object("context").text("opponent_commitment"))); save(call.text("match_id"), mine);
    return message("CHOOSE_PARITY_RESPONSE", call, "parity_choice", mine.text("choice"), "choice_nonce", mine.text("draw").isEmpty() ? null : mine.text("nonce"));
  }
  static void judge(Json call, Json mine) throws Exception {  // the result has to follow from the promised seed and from what both have bound themselves to
    Json result = call.object("game_result"), choices = result.object("choices"), bound = call.object("choice_commitments"), nonces = call.object("choice_nonces");
    if (mine.text("draw").isEmpty() || result.text("status").equals("TECHNICAL_LOSS")) return;
    String self = me.text("player_id"), other = mine.text("opponent"), match = call.text("match_id"), draw = mine.text("draw"), winner = "";
    byte[] seed = HexFormat.of().parseHex(call.text("draw_proof")); int number = 0; require(sha(seed, bytes(match)).equals(draw), "another seed was promised");
    require(mine.text("choice").equals(choices.text(self)) && mine.text("nonce").equals(nonces.text(self)) && bound.text(other).equals(mine.text("handed")), "my choice or the opponent's commitment was another one");
    for (String id : bound.keySet()) require(sha(bytes(draw, match, id, choices.text(id), nonces.text(id))).equals(bound.text(id)), "a commitment is not opened");
    nonces.keySet().retainAll(bound.keySet()); String a = mine.text("role").equals("PLAYER_A") ? self : other, b = a.equals(self) ? other : self;
    for (int i = 0; number == 0; i++) for (byte one : mac(seed, match, choices.text(a), choices.text(b), nonces.text(a), nonces.text(b), "" + i)) if (number == 0 && (one & 255) < 250) number = (one & 255) % 10 + 1;
    if (!choices.text(a).equals(choices.text(b))) winner = choices.text(a).equals(number % 2 == 0 ? "even" : "odd") ? a : b;
    require(("" + number).equals(result.get("drawn_number")) && winner.equals(result.text("winner_player_id")), "the number is " + number);
  }
  static Json gameOver(Json call) throws Exception {
    try { judge(call, matches.object(call.text("match_id"))); } catch (RuntimeException why) {  // the dispute goes to the manager and stays open
      Json query = message("LEAGUE_QUERY", call, "query_type", "DISPUTE_MATCH", "query_params", new Json("match_id", call.text("match_id"), "reason", why.getMessage()));
      CompletableFuture.runAsync(() -> post("league_query", query)); demand(false, "E035", "INVALID_RESULT", "game_result", "the result does not follow: " + why.getMessage());
    }
    matches.remove(call.text("match_id")); return new Json("status", "ok");
  }
  static synchronized Json result(String method, Json call) throws Exception {
    if (!METHODS.containsKey(method)) throw new Refused(method.isEmpty() ? -32600 : -32601, "no such method", null); if (!method.equals("ping")) check(call, METHODS.get(method));
    return switch (method) { case "handle_game_invitation" -> join(call); case "choose_parity" -> choose(call); case "notify_match_result" -> gameOver(call);
      default -> new Json("status", "ok", "player_id", me.text("player_id")); };
  }
  static Json answer(String body) {
    Json out = new Json("jsonrpc", "2.0"); out.put("id", "null");
    try { Json frame = Json.read(body); out.put("id", frame.getOrDefault("id", "null")); out.put("result", "" + result(frame.text("method"), frame.object("params"))); }
    catch (Refused why) { out.put("error", "" + why.error); } catch (Exception why) { out.put("error", "" + new Json("code", -32602, "message", "" + why)); }
    return out;
  }
  static Json post(String method, Json params) {
    HttpRequest call = HttpRequest.newBuilder(URI.create(options.text("manager"))).header("Content-Type", "application/json").timeout(Duration.ofSeconds(10))
        .POST(HttpRequest.BodyPublishers.ofString("" + new Json("jsonrpc", "2.0", "id", 1, "method", method, "params", params))).build();
    try { return Json.read(HttpClient.newHttpClient().send(call, HttpResponse.BodyHandlers.ofString()).body()).object("result"); } catch (Exception why) { return null; }
  }
  public static void main(String[] words) throws Exception {
    for (String news : "ping get_player_state notify_round update_standings notify_round_completed notify_league_completed notify_league_error notify_game_error".split(" ")) METHODS.put(news, "");
    for (int i = 0; i + 1 < words.length; i += 2) options.put(words[i].substring(2), Json.quoted(words[i + 1])); System.setProperty("sun.net.httpserver.nodelay", "true");  // or each answer waits for 40 ms
    me = new Json("player_id", options.text("name").replaceAll("\\W", "_")); Path file = Path.of(options.text("data"));
    if (Files.exists(file)) { Json kept = Json.read(Files.readString(file)); me = kept.object("me"); matches = kept.object("matches"); }
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(options.text("port"))), 100);
    server.createContext("/", exchange -> {
      byte[] reply = bytes("" + answer(new String(exchange.getRequestBody().readNBytes(1 << 20), UTF_8)));
      exchange.getResponseHeaders().set("Content-Type", "application/json"); exchange.sendResponseHeaders(200, reply.length); exchange.getResponseBody().write(reply); exchange.close();
    });
    server.setExecutor(Executors.newCachedThreadPool()); server.start(); String nonce = randomHex(), contact = "http://127.0.0.1:" + server.getAddress().getPort() + "/mcp";
    Json reply = null, meta = new Json("display_name", options.text("name"), "version", "1.0.0", "protocol_version", "2.1.0", "contact_endpoint", contact); meta.put("game_types", "[\"even_odd\"]");
    for (; reply == null; Thread.sleep(reply == null ? 2000 : 0))  // shows the token of before, so that we come back as who we were
      reply = post("register_player", message("LEAGUE_REGISTER_REQUEST", new Json("conversation_id", "conv" + nonce), "player_meta", meta, "registration_nonce", nonce));
    System.out.println(String.join(" ", reply.text("status"), reply.text("player_id"), reply.text("reason"), reply.text("error_description")).strip());
    if (!reply.text("status").equals("ACCEPTED")) System.exit(1);
    synchronized (Bot.class) { for (String field : List.of("player_id", "auth_token", "league_id")) if (reply.containsKey(field)) me.put(field, reply.get(field)); save(null, null); }
  }
}
