// A complete bot for every game on a message bus: npm install, then node player.mjs [NAME [STATE_FILE]].
// See README.md.
import { createHash, createHmac, randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, headers } from "nats";

const { NATS_URL = "nats://127.0.0.1:4222", NATS_USER, NATS_PASSWORD, NATS_SESSION, NATS_CA } = process.env;
const [name = "nats_bot", file = `${name}.state.json`] = process.argv.slice(2);

// What must outlive this process: the session, who we are in the league, and what we have chosen.
const random = () => randomBytes(16).toString("hex");
const fresh = { session: random(), registration_nonce: random(), promises: {} };
const me = existsSync(file) ? JSON.parse(readFileSync(file)) : fresh;
me.promises ??= {};
if (NATS_SESSION) me.session = NATS_SESSION; // credentials are for one session
function save() {
  writeFileSync(`${file}.new`, JSON.stringify(me), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
save();
const [sessionIn, sessionOut] = ["in", "out"].map((side) => `mcp.session.${me.session}.${side}`);
const bus = await connect({
  servers: NATS_URL.split(","), user: NATS_USER, pass: NATS_PASSWORD, name,
  tls: NATS_CA ? { caFile: NATS_CA } : undefined,
  inboxPrefix: `_INBOX.${me.session}`, // the only one at which our user may listen
  maxReconnectAttempts: -1, waitOnFirstConnect: true,
});

// What we ask the manager.
let keepAlive = 0; // milliseconds, as the manager says; 0: it sends no signs of life
let [heard, requests] = [Date.now(), 0];

function about(more) {
  const all = headers();
  all.set("Mcp-Session-Id", me.session);
  for (const [field, value] of Object.entries(more)) if (value) all.set(field, value);
  return { headers: all };
}

async function ask(subject, method, params) {
  const frame = JSON.stringify({ jsonrpc: "2.0", id: ++requests, method, params });
  const options = { timeout: 5000, ...about({ "League-Id": me.league_id ?? process.env.LEAGUE_ID }) };
  const answer = await bus.request(subject, frame, options);
  heard = Date.now();
  return answer.json();
}

let attaching; // harmless at any time, so whoever is in doubt does it; once at a time is enough
const attach = () => attaching ??= attachNow().finally(() => { attaching = undefined; });
async function attachNow() {
  for (;;) {
    try {
      const { result } = await ask(`mcp.discovery.${me.session}`, "session/attach");
      keepAlive = result.keep_alive_ms;
      return result;
    } catch (error) { // no manager of this league is here yet
      if (bus.isClosed()) throw error;
      await sleep(1000);
    }
  }
}

async function call(method, params) {
  for (;; await attach()) { // again when nobody listens or no answer comes: a new manager must learn of us
    try {
      return await ask(sessionIn, method, params);
    } catch (error) {
      if (bus.isClosed()) throw error;
    }
  }
}

// What we are asked.
const now = () => new Date().toISOString();
const message = (messageType, { conversation_id, round_id, match_id }, fields) => ({
  protocol: "league.v2", message_type: messageType, sender: `player:${me.player_id ?? name}`,
  timestamp: now(), player_id: me.player_id, auth_token: me.auth_token, league_id: me.league_id,
  conversation_id, round_id, match_id, ...fields,
});

class Refused extends Error { // becomes a JSON-RPC error that names the league's code
  constructor(code, text) { super(text).data = { error_code: code }; }
}

const hmac = (key, ...parts) => createHmac("sha256", key).update(parts.join("|")).digest("hex");

// Who calls? The manager shows our token; a referee what only we and the manager can compute from it, for one
// attempt at one match. Elsewhere, at a manager that gave us no league_key, nobody shows anything.
function attemptOf({ match_id, auth_token, context }) {
  if (!me.league_key) return 1;
  let attempt = 1;
  while (attempt <= 16 && hmac(me.auth_token, `${match_id}#${attempt}`) !== auth_token) ++attempt;
  if (attempt > 16) throw new Refused("E012", "auth_token is missing or wrong");
  if ((context?.attempt ?? attempt) !== attempt) throw new Refused("E023", "context.attempt is another one");
  return attempt;
}

// What we have promised and answered in a match; the last 100 matches are kept.
function matchOf(id) {
  const ids = Object.keys(me.promises);
  if (!me.promises[id] && ids.length >= 100) delete me.promises[ids[0]];
  return me.promises[id] ??= { calls: [] };
}

function announced({ auth_token, matches = [] }) { // the manager promises the seed of each match
  if (auth_token !== me.auth_token) return;
  for (const { match_id, draw_commitment, player_A_id, player_B_id } of matches)
    if (draw_commitment && [player_A_id, player_B_id].includes(me.player_id))
      matchOf(match_id).draw_commitment ??= draw_commitment;
}

// The whole strategy: one of the game's words. The choice is made with the invitation and saved before anyone
// hears of it. Who asks again hears the same, unless we have shown it to an opponent who is not bound.
function choose(context) {
  const words = context?.game?.choices ?? ["even", "odd"];
  return words[Math.floor(Math.random() * words.length)];
}

// Binds us to a choice without showing it.
function promise({ match_id, draw_commitment, context }, mine, at) {
  if ((mine.draw_commitment ??= draw_commitment) !== draw_commitment)
    throw new Refused("E040", "another seed was promised");
  if (mine.nonce && (at[0] - mine.at[0] || at[1] - mine.at[1]) < 0)
    throw new Refused("E033", "a later attempt has begun");
  if (!mine.nonce || (mine.shown_alone && String(at) !== String(mine.at))) {
    const nonce = randomBytes(32).toString("hex");
    Object.assign(mine, { choice: choose(context), nonce, handed: undefined, shown_alone: false });
  }
  mine.at = at;
  const text = [draw_commitment, match_id, me.player_id, mine.choice, mine.nonce].join("|");
  const bound = draw_commitment && createHash("sha256").update(text).digest("hex");
  return ["GAME_JOIN_ACK", { accept: true, choice_commitment: bound }, ["JOIN", true, bound]];
}

function reveal({ context }, mine, at) {
  const theirs = context?.opponent_commitment ?? null;
  if (String(at) !== String(mine.at) && (mine.nonce || me.receipt_key))
    throw new Refused("E031", "not invited to this attempt");
  mine.choice ??= choose(context); // without an invitation we are bound to nothing
  if (mine.handed === undefined) mine.handed = theirs;
  if (mine.handed !== theirs) throw new Refused("E040", "another opponent_commitment");
  mine.shown_alone = !theirs;
  const nonce = mine.draw_commitment && mine.nonce;
  const fields = { parity_choice: mine.choice, choice_nonce: nonce };
  return ["CHOOSE_PARITY_RESPONSE", fields, ["CHOICE", mine.choice, nonce, theirs]];
}

// Answers a call of a match, with a receipt: only we and the manager can make one, so a referee cannot report
// what we have not said. The calls are noted for get_match_record, which the manager asks if a referee says
// that we have failed.
function play(handler, params) {
  const { match_id, message_type, context } = params, begin = performance.now(), attempt = attemptOf(params);
  const mine = matchOf(match_id), at = [attempt, context?.play ?? 0];
  const note = { message_type, attempt, play: at[1], at: now() };
  mine.calls = [...(mine.calls ?? []).slice(-31), note];
  try {
    const [type, fields, [kind, ...said]] = handler(params, mine, at);
    const about = [me.league_key, match_id, ...at, mine.draw_commitment];
    if (me.receipt_key && context?.attempt) fields.receipt = hmac(me.receipt_key, kind, ...about, ...said);
    Object.assign(note, fields, kind === "CHOICE" && { opponent_commitment: mine.handed });
    if (me.receipt_key) fields.auth_token = hmac(me.auth_token, "answer", `${match_id}#${attempt}`);
    if (kind === "JOIN") fields.arrival_timestamp = now();
    return message(type, params, fields);
  } catch (why) {
    const code = why.data?.error_code;
    Object.assign(note, { refused: code ?? "E002", reason: why.message, caller_fault: Boolean(code) });
    throw why;
  } finally {
    Object.assign(note, { answered_at: now(), answer_ms: Math.round(performance.now() - begin) });
    save();
  }
}

function matchRecord({ auth_token, match_id }) {
  if (!me.auth_token || auth_token !== me.auth_token) throw new Refused("E012", "auth_token is not my own");
  return { match_id, player_id: me.player_id, calls: me.promises[match_id]?.calls ?? [] };
}

let [champion, pulse] = [];
const replies = {
  handle_game_invitation: (params) => play(promise, params),
  choose_parity: (params) => play(reveal, params),
  get_match_record: matchRecord,
  notify_round: announced,
  notify_game_error: (params) => console.error("game error:", JSON.stringify(params)),
  notify_league_completed: (params) => { champion = params.champion; },
};

// A message is one JSON text, or text of server-sent events with one in the `data` of each event.
function texts(received) {
  if (received.headers?.get("Content-Type") !== "text/event-stream") return [received.string()];
  const data = (line) => line.startsWith("data:") ? [line.slice(5)] : [];
  const events = received.string().split(/\r?\n\r?\n/);
  return events.map((event) => event.split(/\r?\n/).flatMap(data).join("\n")).filter(Boolean);
}

function answer(received) {
  heard = Date.now();
  for (const text of texts(received)) {
    const { id, method, params } = JSON.parse(text);
    if (method === undefined || id === undefined) continue; // no request
    // Only at an inbox: at other subjects we could be made to say what we do not mean.
    const respond = (content) => received.reply?.startsWith("_INBOX.") &&
      received.respond(JSON.stringify({ jsonrpc: "2.0", id, ...content }));
    try {
      respond({ result: replies[method]?.(params) ?? { status: "ok" } }); // everything else is news
    } catch (why) {
      if (!(why instanceof Refused)) throw why;
      respond({ error: { code: -32602, message: why.message, data: why.data } });
    }
  }
}

bus.subscribe(sessionOut, { callback: (refusal, received) => {
  try {
    if (refusal) throw refusal;
    answer(received);
  } catch (error) {
    console.error("at", sessionOut, error.message); // one bad message is no reason to stop
  }
  if (!champion) return;
  console.log("the champion is", champion.display_name);
  clearTimeout(pulse);
  bus.drain(); // sends what waits, then lets the process end
} });

function beat() {
  pulse = setTimeout(beat, keepAlive || 1000);
  if (keepAlive === 0) return;
  bus.publish(sessionIn, ": keepalive\n\n", about({ "Content-Type": "text/event-stream" }));
  if (Date.now() - heard > 2 * keepAlive) attach().catch(() => {}); // silence: perhaps a new manager
}

// receipt_key and league_key come from managers that check receipts, and stay here.
const IDENTITY = ["player_id", "auth_token", "league_id", "receipt_key", "league_key"];

async function register() {
  for (const field of IDENTITY) me[field] = undefined;
  me.promises = {};
  const player_meta = { display_name: name, version: "1.0.0", game_types: ["even_odd"],
                        receipts: true, game_definitions: true, contact_endpoint: `nats:${me.session}` };
  const { registration_nonce } = me; // the same one again gives the same identity
  const { result, error } = await call("register_player", message(
    "LEAGUE_REGISTER_REQUEST", { conversation_id: `conv${random()}` }, { registration_nonce, player_meta }));
  if (result?.status !== "ACCEPTED") {
    console.error("not accepted:", JSON.stringify(result ?? error));
    process.exit(1);
  }
  for (const field of IDENTITY) me[field] = result[field];
  save();
}

const { league_id } = await attach();
if (me.league_id !== league_id) await register(); // who comes back is known
console.log("registered as", me.player_id);
beat();
