// A whole bot: java Bot.java --manager URL [--port N] [--name NAME] [--data FILE].
// Plays every game. Needs nothing but a JDK 17. Your strategy goes into chooseWord.
import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;
import java.net.*;
import java.net.http.*;
import java.nio.file.*;
import java.nio.file.attribute.*;
import java.security.*;
import java.time.*;
import java.time.format.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Bot {
  /** A JSON object: its members without those that are null, each as JSON text. */
  static class Json extends LinkedHashMap<String, String> {
    static final Pattern TOKEN = Pattern.compile("\\s*+([{}\\[\\]:,]"
        + "|\"([^\"\\\\\\x00-\\x1f]|\\\\[\"\\\\/bfnrtu])*+\"|-?\\d[\\d.eE+-]*+|true|false|null)\\s*+");
    static final Pattern ESCAPE = Pattern.compile("\\\\(u....|.)");

    Json(Object... pairs) {
      for (int i = 0; i < pairs.length; i += 2) {
        Object value = pairs[i + 1];
        if (value != null) put((String) pairs[i], value instanceof String text ? quoted(text) : "" + value);
      }
    }

    static Json read(String text) {
      Json out = new Json();
      String key = "";
      int depth = 0, begin = 0;
      Matcher in = TOKEN.matcher(text);
      for (; in.regionStart() < text.length(); in.region(in.end(), text.length())) {
        boolean isSecond = depth == 0 && in.regionStart() > 0;
        if (!in.lookingAt() || isSecond) throw new Refused(-32700, "Parse error", null);
        String one = in.group(1);
        depth -= "}]".contains(one) ? 1 : 0;
        if (depth == 1 && one.equals(":")) begin = in.end();
        else if (depth == 1 && begin == 0) key = one;
        if (begin > 0 && (depth == 0 || depth == 1 && one.equals(","))) {
          out.put(unquoted(key), text.substring(begin, in.start()).strip());
          begin = 0;
        }
        depth += "{[".contains(one) ? 1 : 0;
      }
      if (depth != 0 || text.isBlank()) throw new Refused(-32700, "Parse error", null);
      out.values().removeIf("null"::equals);
      return out;
    }

    static String quoted(String text) {
      return '"' + text.replaceAll("[\\\\\"]", "\\\\$0").replaceAll("\\p{Cntrl}", " ") + '"';
    }

    static String unquoted(String json) {
      return ESCAPE.matcher(json.substring(1, json.length() - 1)).replaceAll(one -> Matcher.quoteReplacement(
          one.group(1).length() > 1 ? "" + (char) Integer.parseInt(one.group(1), 1, 5, 16)
          : one.group(1).equals("/") ? "/" : one.group().translateEscapes()));
    }

    String text(String field) {
      return getOrDefault(field, "").startsWith("\"") ? unquoted(get(field)) : "";
    }

    Json object(String field) {
      return getOrDefault(field, "").startsWith("{") ? read(get(field)) : new Json();
    }

    /** The words in an array of words; none where there is no array. */
    List<String> words(String field) {
      List<String> words = new ArrayList<>(List.of(getOrDefault(field, "").split("[^\\w-]+")));
      words.removeIf(String::isEmpty);
      return words;
    }

    /** The objects in an array of objects. */
    List<Json> objects(String field) {
      List<Json> out = new ArrayList<>();
      int depth = 0, begin = 0;
      Matcher in = TOKEN.matcher(getOrDefault(field, ""));
      for (; in.lookingAt() && in.end() < in.regionEnd(); in.region(in.end(), in.regionEnd())) {
        depth += "{[".contains(in.group(1)) ? 1 : "}]".contains(in.group(1)) ? -1 : 0;
        if (depth == 2 && in.group(1).equals("{")) begin = in.start();
        if (depth == 1 && in.group(1).equals("}")) out.add(read(get(field).substring(begin, in.end())));
      }
      return out;
    }

    public String toString() {
      List<String> parts = new ArrayList<>();
      forEach((key, value) -> parts.add(quoted(key) + ":" + value));
      return "{" + String.join(",", parts) + "}";
    }
  }

  static class Refused extends RuntimeException {
    final Json error;

    Refused(int code, String text, Json data) {
      super(text);
      error = new Json("code", code, "message", text, "data", data);
    }
  }

  static Json options = new Json("manager", "http://localhost:8000/mcp", "port", "0", "name", "java_bot",
                                 "data", "java_bot.json");
  static Json me, home = new Json();  // what every message carries; what else the manager gave us
  static Json matches = new Json();  // what we have promised and answered, by match: the last 20

  static final Json EVEN_ODD = Json.read("""
      {"game_type": "even_odd", "choices": ["even", "odd"],
       "drawn": ["odd", "even", "odd", "even", "odd", "even", "odd", "even", "odd", "even"],
       "payoffs": {"even": {"even": {"even": 1, "odd": 3}, "odd": {"even": 0, "odd": 1}},
                   "odd": {"even": {"even": 1, "odd": 0}, "odd": {"even": 3, "odd": 1}}}}""");

  static Json game() {  // as the manager defines it; docs/games.md
    Json told = home.object("game");
    return told.containsKey("choices") ? told : EVEN_ODD;
  }

  static String chooseWord(Json call) {  // the strategy: write your own
    List<String> choices = game().words("choices");
    return choices.get(new SecureRandom().nextInt(choices.size()));
  }

  // --- Messages -------------------------------------------------------------------------------------------
  static final Map<String, String> METHODS = new HashMap<>(Map.of(  // and the fields that each needs
      "handle_game_invitation", " match_id game_type role_in_match opponent_id",
      "choose_parity", " match_id", "notify_match_result", " match_id"));
  static final Map<String, String> FORMS = Map.of(
      "protocol", "league\\.v2(\\.\\d+)?", "message_type", "\\w{1,40}", "match_id", "\\w+",
      "conversation_id", "(?s).{1,100}", "role_in_match", "PLAYER_[AB]");
  static final DateTimeFormatter TIME = DateTimeFormatter
      .ofPattern("[uuuu-MM-dd'T'HH:mm:ss][uuuuMMdd'T'HH:mm:ss][uuuuMMdd'T'HHmmss]'UTC'")
      .withResolverStyle(ResolverStyle.STRICT);
  static final DateTimeFormatter NOW = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'");

  static String now() { return LocalDateTime.now(ZoneOffset.UTC).format(NOW); }
  static byte[] bytes(Object... parts) {
    return String.join("|", Arrays.stream(parts).map(String::valueOf).toList()).getBytes(UTF_8);
  }
  static String hex(byte[] bytes) { return HexFormat.of().formatHex(bytes); }
  static String randomHex() {
    byte[] out = new byte[32];
    new SecureRandom().nextBytes(out);
    return hex(out);
  }
  static String sha(byte[]... parts) throws Exception {
    MessageDigest hash = MessageDigest.getInstance("SHA-256");
    for (byte[] part : parts) hash.update(part);
    return hex(hash.digest());
  }
  static byte[] mac(byte[] key, Object... parts) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(bytes(parts));
  }
  static void require(boolean holds, String why) {
    if (!holds) throw new IllegalArgumentException(why);
  }
  static void demand(boolean holds, String code, String name, String field, String why) {
    if (!holds)
      throw new Refused(-32602, why, new Json("error_code", code, "error_name", name, "field", "/" + field));
  }

  static Json message(String type, Json call, Json fields) {  // goes back to the conversation of its call
    Json out = new Json("protocol", "league.v2", "message_type", type, "timestamp", now());
    out.putAll(new Json("sender", "player:" + me.text("player_id")));
    for (String field : List.of("conversation_id", "round_id", "match_id"))
      if (call.containsKey(field)) out.put(field, call.get(field));
    out.putAll(me);
    out.putAll(fields);
    return out;
  }

  static void checkMessage(Json call, String required) {
    for (String field : ("protocol message_type sender timestamp conversation_id" + required).split(" "))
      demand(call.containsKey(field), "E003", "MISSING_REQUIRED_FIELD", field, field + " is missing");
    for (String field : FORMS.keySet()) {
      boolean isAllowed = call.text(field).matches(FORMS.get(field)) && call.get(field).startsWith("\"");
      demand(isAllowed || !call.containsKey(field), "E023", "INVALID_FIELD_VALUE", field, "not allowed");
    }
    boolean isPlayed = call.text("game_type").equals(game().text("game_type"));
    isPlayed |= !call.containsKey("game_type");
    demand(isPlayed, "E028", "GAME_TYPE_NOT_SUPPORTED", "game_type", "not the game of this league");
    try {
      LocalDateTime.parse(call.text("timestamp").replaceFirst("(\\.\\d{1,9})?(Z|\\+00:00)$", "UTC"), TIME);
    } catch (DateTimeException why) {
      demand(false, "E021", "INVALID_TIMESTAMP", "timestamp", "no time in UTC");
    }
  }

  /** The attempt at a match that the call's credential proves; the manager shows our token, and its calls
      have none. A referee shows what only we and the manager can compute. */
  static int checkCaller(Json call) throws Exception {
    String shown = call.text("auth_token"), match = call.text("match_id"), token = me.text("auth_token");
    int attempt = match.isEmpty() && shown.equals(token) ? 0 : -1;
    for (int n = 1; n <= 16 && !match.isEmpty() && !token.isEmpty(); n++)
      if (shown.equals(hex(mac(bytes(token), match + "#" + n)))) attempt = n;
    String announced = matches.object(match).text("credential");  // of a third party's referee
    if (announced.equals(shown.isEmpty() ? "none" : "token:" + sha(bytes(shown)))) return 1;
    boolean isRight = attempt >= 0 && !shown.isEmpty();
    demand(isRight, "E012", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is missing or wrong");
    return attempt;
  }

  // --- Playing --------------------------------------------------------------------------------------------
  static void save() throws Exception {  // before anything leaves that binds us; only we may read it
    Path file = Path.of(options.text("data")), fresh = Path.of(file + ".new");
    var owner = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    if (Files.notExists(fresh)) Files.createFile(fresh, owner);
    Files.writeString(fresh, "" + new Json("me", me, "home", home, "matches", matches));
    Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING);
  }

  static void keep(String match, Json mine) {
    matches.put(match, "" + mine);
    if (matches.size() > 20) matches.remove(matches.keySet().iterator().next());  // the oldest
  }

  static Json news() { return new Json("status", "ok", "player_id", me.text("player_id")); }

  static Json announced(Json call) {  // the manager promises the seed of each match
    for (Json match : call.objects("matches")) {
      String id = match.text("match_id"), draw = match.text("draw_commitment"), self = me.text("player_id");
      boolean isOurs = self.equals(match.text("player_A_id")) || self.equals(match.text("player_B_id"));
      Json mine = matches.object(id);
      if (!isOurs) continue;
      if (mine.text("draw").isEmpty() && !draw.isEmpty()) mine.putAll(new Json("draw", draw));
      mine.putAll(new Json("credential", match.text("referee_credential")));
      keep(id, mine);
    }
    return news();
  }

  record At(int attempt, int play) {
    public String toString() { return attempt + "|" + play; }
    boolean isBefore(At other) {
      return attempt < other.attempt || attempt == other.attempt && play < other.play;
    }
    static At read(String text) {
      String[] parts = text.split("\\|");
      return new At(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
    }
  }

  /** What goes into an answer, and what of it into its receipt. */
  record Answer(String type, Json fields, String kind, String said) {}

  static Answer join(Json call, Json mine, At at) throws Exception {
    String id = call.text("match_id"), draw = call.text("draw_commitment"), bound = "";
    // A third party's referee need not know the seed, and then nobody commits.
    boolean isForeign = !List.of("", "match").contains(mine.text("credential"));
    if (isForeign && draw.isEmpty()) mine.putAll(new Json("draw", ""));
    boolean isPromised = !mine.containsKey("draw") || mine.text("draw").equals(draw);
    demand(isPromised, "E040", "COMMITMENT_MISMATCH", "draw_commitment", "another seed was promised");
    boolean isNew = !mine.containsKey("at");
    At before = isNew ? at : At.read(mine.text("at"));
    demand(!at.isBefore(before), "E033", "STALE_ATTEMPT", "context", "a later attempt has begun");
    boolean isShownAlone = mine.containsKey("handed") && mine.text("handed").isEmpty();
    if (isNew || isShownAlone && !at.equals(before)) {  // else the same promise again
      mine.remove("handed");
      mine.putAll(new Json("draw", draw, "choice", chooseWord(call), "nonce", randomHex(),
                           "opponent", call.text("opponent_id"), "role", call.text("role_in_match")));
    }
    mine.putAll(new Json("at", "" + at));
    String choice = mine.text("choice"), nonce = mine.text("nonce");
    if (!draw.isEmpty()) bound = sha(bytes(draw, id, me.text("player_id"), choice, nonce));
    Json fields = new Json("accept", true, "choice_commitment", bound.isEmpty() ? null : bound);
    return new Answer("GAME_JOIN_ACK", fields, "JOIN", "true|" + bound);
  }

  static Answer choose(Json call, Json mine, At at) throws Exception {
    String theirs = call.object("context").text("opponent_commitment");
    boolean isInvited = mine.containsKey("at"), isOpened = isInvited && !mine.text("draw").isEmpty();
    boolean isRight = isInvited ? mine.text("at").equals("" + at) : !home.containsKey("receipt_key");
    demand(isRight, "E031", "MATCH_NOT_OPEN", "context", "I was not invited to this attempt");
    mine.putIfAbsent("choice", Json.quoted(chooseWord(call)));  // not invited: bound to nothing
    mine.putIfAbsent("handed", Json.quoted(theirs));
    if (!mine.text("handed").equals(theirs)) {
      dispute(call, "I was handed two commitments of my opponent");
      String field = "context/opponent_commitment";
      demand(false, "E040", "COMMITMENT_MISMATCH", field, "there was another one");
    }
    String choice = mine.text("choice"), nonce = isOpened ? mine.text("nonce") : "";
    Json fields = new Json("parity_choice", choice, "choice_nonce", isOpened ? nonce : null);
    return new Answer("CHOOSE_PARITY_RESPONSE", fields, "CHOICE", choice + "|" + nonce + "|" + theirs);
  }

  /** Answers a call of a match, with a receipt: only we and the manager can make one, so a referee cannot
      report what we have not said. The calls are noted for get_match_record, which the manager asks if a
      referee says that we have failed. */
  static Json play(boolean isInvitation, Json call, int attempt) throws Exception {
    long begin = System.nanoTime();
    String id = call.text("match_id"), key = home.text("receipt_key");
    Json context = call.object("context"), mine = matches.object(id);
    int play = Integer.parseInt(context.getOrDefault("play", "0"));
    Json note = new Json("message_type", call.text("message_type"), "attempt", attempt, "play", play);
    note.putAll(new Json("at", now()));
    try {
      boolean isProven = context.getOrDefault("attempt", "" + attempt).equals("" + attempt);
      demand(isProven, "E023", "INVALID_FIELD_VALUE", "context/attempt", "not what the credential proves");
      At at = new At(attempt, play);
      Answer answer = isInvitation ? join(call, mine, at) : choose(call, mine, at);
      Json fields = answer.fields();
      if (!key.isEmpty() && context.containsKey("attempt")) {
        Object[] text = {answer.kind(), home.text("league_key"), id, at, mine.text("draw"), answer.said()};
        fields.putAll(new Json("receipt", hex(mac(bytes(key), text))));
      }
      note.putAll(fields);
      String handed = mine.text("handed");
      if (!isInvitation && !handed.isEmpty()) note.putAll(new Json("opponent_commitment", handed));
      if (isInvitation) fields.putAll(new Json("arrival_timestamp", now()));
      if (!key.isEmpty()) {  // a referee never sees our token
        byte[] credential = mac(bytes(me.text("auth_token")), "answer", id + "#" + attempt);
        fields.putAll(new Json("auth_token", hex(credential)));
      }
      return message(answer.type(), call, fields);
    } catch (Refused why) {
      mine = matches.object(id);  // as before
      String code = why.error.object("data").text("error_code");
      note.putAll(new Json("refused", code, "reason", why.getMessage(), "caller_fault", true));
      throw why;
    } finally {
      note.putAll(new Json("answered_at", now(), "answer_ms", (System.nanoTime() - begin) / 1_000_000));
      List<Json> calls = mine.objects("calls");
      calls.add(note);
      mine.put("calls", "" + calls.subList(Math.max(0, calls.size() - 32), calls.size()));
      keep(id, mine);
      save();
    }
  }

  static Json matchRecord(Json call) {
    String token = me.text("auth_token"), id = call.text("match_id");
    boolean isRight = !token.isEmpty() && call.text("auth_token").equals(token);
    demand(isRight, "E012", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is not my own");
    Json record = new Json("match_id", id, "player_id", me.text("player_id"));
    record.put("calls", matches.object(id).getOrDefault("calls", "[]"));
    return record;
  }

  // --- Results --------------------------------------------------------------------------------------------
  static int drawNumber(int size, byte[] seed, Object... parts) throws Exception {
    String text = new String(bytes(parts), UTF_8);
    for (int i = 0;; i++)
      for (byte one : mac(seed, text, i))
        if ((one & 255) < 256 - 256 % size) return (one & 255) % size + 1;
  }

  static int points(String role, String own, String other, int number) {
    Json game = game(), payoffs = game.object(game.containsKey("roles") ? "roles" : "payoffs");
    if (game.containsKey("roles")) payoffs = payoffs.object(role);
    if (number > 0) payoffs = payoffs.object(game.words("drawn").get(number - 1));
    return Integer.parseInt(payoffs.object(own).get(other));
  }

  /** A result follows from the promised seed and from what both have bound themselves to. */
  static void judge(Json call, Json mine) throws Exception {
    require(mine.containsKey("at") && mine.containsKey("handed"), "I was not asked for a choice");
    Json result = call.object("game_result"), choices = result.object("choices");
    Json bound = call.object("choice_commitments"), nonces = call.object("choice_nonces");
    String self = me.text("player_id"), other = mine.text("opponent"), match = call.text("match_id");
    String draw = mine.text("draw"), winner = "", choice = mine.text("choice"), nonce = mine.text("nonce");
    byte[] seed = HexFormat.of().parseHex(call.text("draw_proof"));
    require(sha(seed, bytes(match)).equals(draw), "another seed was promised");
    require(choices.text(self).equals(choice) && nonces.text(self).equals(nonce), "I did not choose that");
    require(bound.text(other).equals(mine.text("handed")), "the opponent's commitment is another one");
    require(bound.containsKey(self), "my commitment is missing");
    for (String id : bound.keySet()) {
      String opened = sha(bytes(draw, match, id, choices.text(id), nonces.text(id)));
      require(opened.equals(bound.text(id)), "the commitment of " + id + " is not opened");
    }
    nonces.keySet().retainAll(bound.keySet());
    String a = mine.text("role").equals("PLAYER_A") ? self : other, b = a.equals(self) ? other : self;
    String ofA = choices.text(a), ofB = choices.text(b);
    int size = game().words("drawn").size();  // 0: there is no number
    int number = size == 0 ? 0 : drawNumber(size, seed, match, ofA, ofB, nonces.text(a), nonces.text(b));
    int lead = points("PLAYER_A", ofA, ofB, number) - points("PLAYER_B", ofB, ofA, number);
    if (lead != 0) winner = lead > 0 ? a : b;
    boolean isRight = (size == 0 ? "none" : "" + number).equals(result.getOrDefault("drawn_number", "none"));
    isRight &= winner.equals(result.text("winner_player_id"));
    require(isRight, "the number is " + number + ", the winner " + winner);
  }

  static void dispute(Json call, String reason) {  // goes to the manager and stays open
    Json params = new Json("match_id", call.text("match_id"), "reason", reason);
    Json fields = new Json("query_type", "DISPUTE_MATCH", "query_params", params);
    Json query = message("LEAGUE_QUERY", call, fields);
    CompletableFuture.runAsync(() -> post("league_query", query));
  }

  static Json gameOver(Json call) throws Exception {
    Json mine = matches.object(call.text("match_id")), result = call.object("game_result");
    if (!result.text("status").equals("TECHNICAL_LOSS")) {
      try {
        if (!mine.text("draw").isEmpty()) judge(call, mine);
      } catch (RuntimeException why) {
        dispute(call, why.getMessage());
        String text = "the result does not follow: " + why.getMessage();
        demand(false, "E035", "INVALID_RESULT", "game_result", text);
      }
    } else if (!mine.isEmpty() && home.containsKey("receipt_key")
               && !result.text("winner_player_id").equals(me.text("player_id"))) {
      List<Json> calls = mine.objects("calls");
      int slowest = calls.stream().mapToInt(one -> Integer.parseInt(one.get("answer_ms"))).max().orElse(0);
      String reason = "I got " + calls.size() + " calls and answered each within " + slowest + " ms";
      if (slowest < 5000) dispute(call, reason);
    }
    return news();
  }

  // --- JSON-RPC -------------------------------------------------------------------------------------------
  static synchronized Json result(String method, Json call) throws Exception {
    if (method.equals("ping")) return news();
    if (method.equals("get_match_record")) return matchRecord(call);
    int code = method.isEmpty() ? -32600 : -32601;
    if (!METHODS.containsKey(method)) throw new Refused(code, "no such method", null);
    checkMessage(call, METHODS.get(method));
    int attempt = checkCaller(call);
    return switch (method) {
      case "handle_game_invitation", "choose_parity" -> play(method.startsWith("handle"), call, attempt);
      case "notify_match_result" -> gameOver(call);
      case "notify_round" -> announced(call);
      default -> news();
    };
  }

  static Json answer(String body) {
    Json out = new Json("jsonrpc", "2.0");
    out.put("id", "null");
    try {
      Json frame = Json.read(body);
      out.put("id", frame.getOrDefault("id", "null"));
      out.put("result", "" + result(frame.text("method"), frame.object("params")));
    } catch (Refused why) {
      out.put("error", "" + why.error);
    } catch (Exception why) {
      out.put("error", "" + new Json("code", -32602, "message", "" + why));
    }
    return out;
  }

  static volatile String failure;  // of the last call

  static Json post(String method, Json params) {
    Json body = new Json("jsonrpc", "2.0", "id", 1, "method", method, "params", params);
    HttpRequest call = HttpRequest.newBuilder(URI.create(options.text("manager")))
        .header("Content-Type", "application/json").timeout(Duration.ofSeconds(10))
        .POST(HttpRequest.BodyPublishers.ofString("" + body)).build();
    try {
      HttpClient client = HttpClient.newBuilder().proxy(HttpClient.Builder.NO_PROXY).build();
      HttpResponse<String> reply = client.send(call, HttpResponse.BodyHandlers.ofString());
      failure = "HTTP " + reply.statusCode() + " without a result";
      Json result = Json.read(reply.body()).object("result");
      return result.isEmpty() ? null : result;
    } catch (java.io.IOException | InterruptedException why) {
      failure = "" + why;
    } catch (RuntimeException why) {  // no JSON
    }
    return null;
  }

  /** Shows the token and nonce of before, so that we come back as who we were, and get our receipt_key. Tries
      until the manager answers. */
  static void register(int port) throws Exception {
    home.putIfAbsent("registration_nonce", Json.quoted(randomHex()));
    Json meta = new Json("display_name", options.text("name"), "version", "1.0.0",
                         "protocol_version", "2.1.0", "receipts", true, "game_definitions", true,
                         "contact_endpoint", "http://127.0.0.1:" + port + "/mcp");
    meta.put("game_types", "[\"even_odd\"]");
    Json fields = new Json("player_meta", meta, "registration_nonce", home.text("registration_nonce"));
    Json conversation = new Json("conversation_id", "conv" + randomHex()), reply = null;
    for (int tries = 0; reply == null; ++tries) {
      if (tries > 0) Thread.sleep(2000);
      reply = post("register_player", message("LEAGUE_REGISTER_REQUEST", conversation, fields));
      if (reply == null && tries == 0)
        System.err.println(options.text("manager") + ": " + failure + "; trying again every 2 s");
    }
    String[] texts = {reply.text("status"), reply.text("player_id"), reply.text("reason"),
                      reply.text("error_description")};
    System.out.println(String.join(" ", texts).strip());
    if (!reply.text("status").equals("ACCEPTED")) System.exit(1);
    synchronized (Bot.class) {
      for (String field : List.of("player_id", "auth_token", "league_id"))
        if (reply.containsKey(field)) me.put(field, reply.get(field));
      for (String field : List.of("receipt_key", "league_key", "game"))
        if (reply.containsKey(field)) home.put(field, reply.get(field));
      save();
    }
  }

  public static void main(String[] words) throws Exception {
    System.setProperty("sun.net.httpserver.nodelay", "true");  // or each answer waits for 40 ms
    for (String news : ("get_player_state notify_round update_standings notify_round_completed "
                        + "notify_league_completed notify_league_error notify_game_error").split(" "))
      METHODS.put(news, "");
    for (int i = 0; i + 1 < words.length; i += 2)
      options.put(words[i].substring(2), Json.quoted(words[i + 1]));
    me = new Json("player_id", options.text("name").replaceAll("\\W", "_"));
    Path file = Path.of(options.text("data"));
    if (Files.exists(file)) {
      Json kept = Json.read(Files.readString(file));
      me = kept.object("me");
      home = kept.object("home");
      matches = kept.object("matches");
    }
    InetSocketAddress address = new InetSocketAddress("127.0.0.1", Integer.parseInt(options.text("port")));
    HttpServer server = HttpServer.create(address, 100);
    server.createContext("/", exchange -> {
      byte[] reply = bytes(answer(new String(exchange.getRequestBody().readNBytes(1 << 20), UTF_8)));
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, reply.length);
      exchange.getResponseBody().write(reply);
      exchange.close();
    });
    server.setExecutor(Executors.newCachedThreadPool());
    server.start();
    register(server.getAddress().getPort());
  }
}
