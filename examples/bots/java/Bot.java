// A whole Even/Odd bot: java Bot.java --manager URL [--port N] [--name NAME] [--data FILE]. Needs nothing but a JDK 17.
import static java.util.stream.Collectors.joining;
import com.sun.net.httpserver.HttpServer; import java.math.BigDecimal; import java.net.*; import java.net.http.*; import java.nio.file.*; import java.nio.file.attribute.*; import java.security.*;
import java.time.*; import java.time.format.*; import java.util.*; import java.util.concurrent.*; import java.util.regex.*; import javax.crypto.Mac; import javax.crypto.spec.SecretKeySpec;
class Bot {
  static class Json extends LinkedHashMap<String, Object> {  // an object without what is null; other values are List, String, BigDecimal, Boolean and null
    static final Pattern TOKEN = Pattern.compile("\\s*+([{}\\[\\]:,]|\"[^\"\\\\\\x00-\\x1f]*+(\\\\([\"\\\\/bfnrt]|u\\p{XDigit}{4})[^\"\\\\\\x00-\\x1f]*+)*+\"|"
        + "-?(0|[1-9]\\d*+)(\\.\\d++)?([eE][+-]?\\d{1,8})?|true|false|null)\\s*+"), ESCAPE = Pattern.compile("\\\\(u....|.)");
    Json(Object... pairs) { for (int i = 0; i < pairs.length; i += 2) if (pairs[i + 1] != null) put((String) pairs[i], pairs[i + 1]); }
    String text(String field) { return get(field) instanceof String text ? text : ""; }
    Json object(String field) { return get(field) instanceof Json object ? object : new Json(); }
    static Object read(String text) { Matcher in = TOKEN.matcher(text); Object value = value(next(in), in); require(in.regionStart() == text.length(), "no JSON"); return value; }
    static String next(Matcher in) { require(in.lookingAt(), "no JSON"); String token = in.group(1); in.region(in.end(), in.regionEnd()); return token; }
    static Object value(String token, Matcher in) {
      if (token.startsWith("\"")) return ESCAPE.matcher(token.substring(1, token.length() - 1)).replaceAll(one -> Matcher.quoteReplacement(one.group(1).length() > 1
          ? "" + (char) Integer.parseInt(one.group(1), 1, 5, 16) : one.group(1).equals("/") ? "/" : one.group().translateEscapes()));
      if (!"[{".contains(token)) return switch (token) { case "true" -> true; case "false" -> false; case "null" -> null; default -> new BigDecimal(token); };
      List<Object> parts = new ArrayList<>();
      for (String one = next(in); !one.equals(token.equals("[") ? "]" : "}"); one = next(in)) {
        boolean isSeparator = one.equals(token.equals("{") && parts.size() % 2 == 1 ? ":" : ",");
        require(isSeparator != parts.isEmpty(), "no JSON");
        parts.add(value(isSeparator ? next(in) : one, in));
      }
      return token.equals("[") ? parts : new Json(parts.toArray());
    }
    static String write(Object value) {
      if (value instanceof Json map) return map.keySet().stream().map(key -> write(key) + ":" + write(map.get(key))).collect(joining(",", "{", "}"));
      if (value instanceof List<?> list) return list.stream().map(Json::write).collect(joining(",", "[", "]"));
      return !(value instanceof String text) ? String.valueOf(value) : text.chars().mapToObj(c -> c < ' ' || c > '~' || c == '"' || c == '\\' ? String.format("\\u%04x", c) : "" + (char) c)
          .collect(joining("", "\"", "\""));
    }
  }
  static class Refused extends RuntimeException { final Json error; Refused(int code, String text, Json data) { super(text); error = new Json("code", code, "message", text, "data", data); } }
  static Json options = new Json("manager", "http://localhost:8000/mcp", "port", "0", "name", "java_bot", "data", "java_bot.json");
  static Json me, matches = new Json();  // who the manager says we are; what we have promised in each open match
  static final Json METHODS = new Json("handle_game_invitation", " match_id game_type role_in_match opponent_id", "choose_parity", " match_id", "notify_match_result", " match_id",
      "get_player_state", "", "notify_round", "", "update_standings", "", "notify_round_completed", "", "notify_league_completed", "", "notify_league_error", "", "notify_game_error", "");
  static final Json FORMS = new Json("protocol", "league\\.v2(\\.\\d+)?", "conversation_id", "(?s).{1,100}", "game_type", "even_odd", "role_in_match", "PLAYER_[AB]",
      "timestamp", "(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d|\\d{8}T\\d\\d:\\d\\d:\\d\\d|\\d{8}T\\d{6})(\\.\\d{1,9})?(Z|\\+00:00)");
  static final DateTimeFormatter DIGITS = DateTimeFormatter.ofPattern("uuuuMMdd'T'HHmmss").withResolverStyle(ResolverStyle.STRICT);
  static String chooseWord(Json call) { return new SecureRandom().nextBoolean() ? "even" : "odd"; }  // the game: write your own
  static String now() { return Instant.now().toString().substring(0, 19) + "Z"; }
  static byte[] bytes(String... parts) { return String.join("|", parts).getBytes(java.nio.charset.StandardCharsets.UTF_8); }
  static String hex(byte[] bytes) { return HexFormat.of().formatHex(bytes); }
  static String randomHex() { byte[] out = new byte[32]; new SecureRandom().nextBytes(out); return hex(out); }
  static String sha(byte[]... parts) throws Exception { MessageDigest hash = MessageDigest.getInstance("SHA-256"); for (byte[] part : parts) hash.update(part); return hex(hash.digest()); }
  static byte[] mac(byte[] key, String... parts) throws Exception { Mac mac = Mac.getInstance("HmacSHA256"); mac.init(new SecretKeySpec(key, "HmacSHA256")); return mac.doFinal(bytes(parts)); }
  static void require(boolean holds, String why) { if (!holds) throw new IllegalArgumentException(why); }
  static void demand(boolean holds, String code, String name, String field, String why) {
    if (!holds) throw new Refused(-32602, "Invalid params: " + why, new Json("error_code", code, "error_name", name, "field", "/" + field));
  }
  static Json message(String type, Json call, Object... fields) {  // goes back to the conversation and match of its call
    Json out = new Json("protocol", "league.v2", "message_type", type, "sender", "player:" + me.text("player_id"), "timestamp", now());
    for (String field : List.of("conversation_id", "round_id", "match_id")) if (call.containsKey(field)) out.put(field, call.get(field));
    out.putAll(me); out.putAll(new Json(fields)); return out;
  }
  static void check(Json call, String required) throws Exception {
    for (String field : ("protocol message_type sender timestamp conversation_id" + required).split(" ")) {
      demand(call.containsKey(field), "E003", "MISSING_REQUIRED_FIELD", field, field + " is missing");
      demand(call.get(field) instanceof String text && (!FORMS.containsKey(field) || text.matches(FORMS.text(field))), "E023", "INVALID_FIELD_VALUE", field, field + " has no allowed value");
    }
    try { LocalDateTime.parse(call.text("timestamp").replaceAll("[:-]|[.Z+].*", ""), DIGITS);
    } catch (DateTimeException why) { demand(false, "E021", "INVALID_TIMESTAMP", "timestamp", "there is no such time"); }
    String shown = call.text("auth_token"), match = call.text("match_id"), token = me.text("auth_token");
    boolean isRight = match.isEmpty() && shown.equals(token);  // from the manager; a referee shows what only we and the manager can compute
    for (int n = 1; n <= 16 && !match.isEmpty() && !token.isEmpty(); n++) isRight |= shown.equals(hex(mac(bytes(token), match + "#" + n)));
    demand(isRight && !shown.isEmpty(), "E012", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is missing or wrong");
  }
  static void save() throws Exception {  // before we send what binds us; nobody else may read the token
    Path fresh = Path.of(options.text("data") + ".new");
    if (Files.notExists(fresh)) Files.createFile(fresh, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.move(Files.writeString(fresh, Json.write(new Json("me", me, "matches", matches))), Path.of(options.text("data")), StandardCopyOption.REPLACE_EXISTING);
  }
  static Json join(Json call) throws Exception {
    String match = call.text("match_id"), draw = call.text("draw_commitment");
    Json mine = matches.object(match);
    if (!draw.equals(mine.get("draw")) || "".equals(mine.get("handed")))  // else it is a repetition and gets the same promise
      matches.put(match, mine = new Json("draw", draw, "choice", chooseWord(call), "nonce", randomHex(), "opponent", call.get("opponent_id"), "role", call.get("role_in_match")));
    save();
    Object bound = draw.isEmpty() ? null : sha(bytes(draw, match, me.text("player_id"), mine.text("choice"), mine.text("nonce")));
    return message("GAME_JOIN_ACK", call, "arrival_timestamp", now(), "accept", true, "choice_commitment", bound);
  }
  static Json choose(Json call) throws Exception {
    Json mine = (Json) matches.computeIfAbsent(call.text("match_id"), match -> new Json("draw", "", "choice", chooseWord(call)));
    mine.putIfAbsent("handed", call.object("context").text("opponent_commitment")); save();
    return message("CHOOSE_PARITY_RESPONSE", call, "parity_choice", mine.get("choice"), "choice_nonce", mine.get("draw").equals("") ? null : mine.get("nonce"));
  }
  static void judge(Json call, Json mine) throws Exception {  // the result has to follow from the promised seed and from what both have bound themselves to
    Json result = call.object("game_result"), choices = result.object("choices"), bound = call.object("choice_commitments"), nonces = call.object("choice_nonces");
    if (mine.text("draw").isEmpty() || result.text("status").equals("TECHNICAL_LOSS")) return;
    String self = me.text("player_id"), other = mine.text("opponent"), match = call.text("match_id"), draw = mine.text("draw"), winner = null;
    byte[] seed = HexFormat.of().parseHex(call.text("draw_proof"));
    require(sha(seed, bytes(match)).equals(draw), "another seed was promised");
    require(mine.text("choice").equals(choices.get(self)) && mine.text("nonce").equals(nonces.get(self)), "I did not choose that");
    require(bound.text(other).equals(mine.get("handed")), "the opponent's commitment is another one");
    for (String id : bound.keySet()) require(sha(bytes(draw, match, id, choices.text(id), nonces.text(id))).equals(bound.get(id)), "a commitment is not opened");
    nonces.keySet().retainAll(bound.keySet());  // others do not count
    String a = mine.text("role").equals("PLAYER_A") ? self : other, b = a.equals(self) ? other : self;
    int number = 0;
    for (int i = 0; number == 0; i++)
      for (byte one : mac(seed, match, choices.text(a), choices.text(b), nonces.text(a), nonces.text(b), "" + i)) if (number == 0 && (one & 255) < 250) number = (one & 255) % 10 + 1;
    if (!choices.text(a).equals(choices.text(b))) winner = choices.text(a).equals(number % 2 == 0 ? "even" : "odd") ? a : b;
    require(BigDecimal.valueOf(number).equals(result.get("drawn_number")) && Objects.equals(winner, result.get("winner_player_id")), "the number is " + number);
  }
  static Json gameOver(Json call) throws Exception {
    try { judge(call, matches.object(call.text("match_id")));
    } catch (RuntimeException why) {  // the dispute goes to the manager and stays open
      Json query = message("LEAGUE_QUERY", call, "query_type", "DISPUTE_MATCH", "query_params", new Json("match_id", call.get("match_id"), "reason", why.getMessage()));
      CompletableFuture.runAsync(() -> post("league_query", query));
      demand(false, "E035", "INVALID_RESULT", "game_result", "the result does not follow: " + why.getMessage());
    }
    matches.remove(call.text("match_id"));
    return new Json("status", "ok");
  }
  static synchronized Json result(String method, Json call) throws Exception {
    if (method.equals("ping")) return new Json("status", "ok");
    if (!METHODS.containsKey(method)) throw new Refused(method.isEmpty() ? -32600 : -32601, "No such method", null);
    check(call, METHODS.text(method));
    return switch (method) { case "handle_game_invitation" -> join(call); case "choose_parity" -> choose(call); case "notify_match_result" -> gameOver(call);
      default -> new Json("status", "ok", "player_id", me.get("player_id")); };
  }
  static Json answer(String body) {
    Json out = new Json("jsonrpc", "2.0");
    out.put("id", null);
    try {
      Json frame = Json.read(body) instanceof Json object ? object : new Json();
      out.put("id", frame.get("id"));
      out.put("result", result(frame.text("method"), frame.object("params")));
    } catch (Refused why) { out.put("error", why.error);
    } catch (RuntimeException | StackOverflowError why) { out.put("error", new Json("code", -32700, "message", "Parse error"));
    } catch (Exception why) { out.put("error", new Json("code", -32603, "message", "Internal error")); }
    return out;
  }
  static Json post(String method, Json params) {
    HttpRequest call = HttpRequest.newBuilder(URI.create(options.text("manager"))).header("Content-Type", "application/json").timeout(Duration.ofSeconds(10))
        .POST(HttpRequest.BodyPublishers.ofString(Json.write(new Json("jsonrpc", "2.0", "id", 1, "method", method, "params", params)))).build();
    try { return ((Json) Json.read(HttpClient.newHttpClient().send(call, HttpResponse.BodyHandlers.ofString()).body())).object("result");
    } catch (java.io.IOException | InterruptedException | RuntimeException why) { return null; }
  }
  public static void main(String[] words) throws Exception {
    System.setProperty("sun.net.httpserver.nodelay", "true");  // or each answer waits for 40 ms
    for (int i = 0; i + 1 < words.length; i += 2) options.put(words[i].substring(2), words[i + 1]);
    me = new Json("player_id", options.text("name").replaceAll("\\W", "_"));
    Path file = Path.of(options.text("data"));
    if (Files.exists(file) && Json.read(Files.readString(file)) instanceof Json kept) { me = kept.object("me"); matches = kept.object("matches"); }
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(options.text("port"))), 100);
    server.createContext("/", exchange -> {
      byte[] reply = bytes(Json.write(answer(new String(exchange.getRequestBody().readNBytes(1 << 20), java.nio.charset.StandardCharsets.UTF_8))));
      exchange.getResponseHeaders().set("Content-Type", "application/json"); exchange.sendResponseHeaders(200, reply.length);
      exchange.getResponseBody().write(reply); exchange.close();
    });
    server.setExecutor(Executors.newCachedThreadPool()); server.start();
    String nonce = randomHex(), contact = "http://127.0.0.1:" + server.getAddress().getPort() + "/mcp";
    Json meta = new Json("display_name", options.get("name"), "version", "1.0.0", "game_types", List.of("even_odd"), "protocol_version", "2.1.0", "contact_endpoint", contact), reply = null;
    for (; reply == null; Thread.sleep(reply == null ? 2000 : 0))  // shows the token of before, so that we come back as who we were
      reply = post("register_player", message("LEAGUE_REGISTER_REQUEST", new Json("conversation_id", "conv" + nonce), "player_meta", meta, "registration_nonce", nonce));
    System.out.println(reply.get("status") + " " + reply.get("player_id") + " " + reply.get("reason") + " " + reply.get("error_description"));
    if (!reply.text("status").equals("ACCEPTED")) System.exit(1);
    synchronized (Bot.class) { for (String field : List.of("player_id", "auth_token", "league_id")) if (reply.get(field) != null) me.put(field, reply.get(field)); save(); }
  }
}
