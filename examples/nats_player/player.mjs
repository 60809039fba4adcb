// A complete Even/Odd bot on a message bus: npm install, then node player.mjs [NAME [STATE_FILE]]. See README.md.
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, headers } from "nats";

const { NATS_URL = "nats://127.0.0.1:4222", NATS_USER, NATS_PASSWORD, NATS_SESSION, NATS_CA, LEAGUE_ID } = process.env;
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
  const options = { timeout: 5000, ...about({ "League-Id": me.league_id ?? LEAGUE_ID }) };
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
const message = (messageType, { conversation_id, round_id, match_id }, fields) => ({
  protocol: "league.v2", message_type: messageType, sender: `player:${me.player_id ?? name}`,
  timestamp: new Date().toISOString(), player_id: me.player_id, auth_token: me.auth_token, league_id: me.league_id,
  conversation_id, round_id, match_id, ...fields,
});

// The whole game: say "even" or "odd". The choice is made with the invitation and saved before anybody hears of it. Who
// asks again hears the same, unless we have shown our choice to an opponent who is not bound.
const choose = () => Math.random() < 0.5 ? "even" : "odd";

function promise({ match_id, draw_commitment }) { // binds us to a choice without showing it
  const known = me.promises[match_id];
  const isSame = known && known.draw_commitment === draw_commitment && !known.shown_alone;
  const mine = isSame ? known : { draw_commitment, choice: choose(), nonce: randomBytes(32).toString("hex") };
  me.promises[match_id] = mine;
  save();
  if (!draw_commitment) return {};
  const text = [draw_commitment, match_id, me.player_id, mine.choice, mine.nonce].join("|");
  return { choice_commitment: createHash("sha256").update(text).digest("hex") };
}

function reveal({ match_id, context }) {
  const mine = me.promises[match_id] ??= { choice: choose() };
  mine.shown_alone = !context?.opponent_commitment;
  save();
  return { parity_choice: mine.choice, choice_nonce: mine.draw_commitment ? mine.nonce : undefined };
}

let [champion, pulse] = [];
const replies = {
  handle_game_invitation: (params) =>
    message("GAME_JOIN_ACK", params, { arrival_timestamp: new Date().toISOString(), accept: true, ...promise(params) }),
  choose_parity: (params) => message("CHOOSE_PARITY_RESPONSE", params, reveal(params)),
  notify_match_result: ({ match_id }) => { delete me.promises[match_id]; save(); },
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
    const result = replies[method]?.(params) ?? { status: "ok" }; // everything else is news
    // Only at an inbox: at other subjects we could be made to say what we do not mean.
    if (received.reply?.startsWith("_INBOX.")) received.respond(JSON.stringify({ jsonrpc: "2.0", id, result }));
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

async function register() {
  Object.assign(me, { player_id: undefined, auth_token: undefined, league_id: undefined, promises: {} });
  const player_meta = { display_name: name, version: "1.0.0", game_types: ["even_odd"],
                        contact_endpoint: `nats:${me.session}` };
  const { registration_nonce } = me; // the same one again gives the same identity
  const { result, error } = await call("register_player", message(
    "LEAGUE_REGISTER_REQUEST", { conversation_id: "convregister" }, { registration_nonce, player_meta }));
  if (result?.status !== "ACCEPTED") {
    console.error("not accepted:", JSON.stringify(result ?? error));
    process.exit(1);
  }
  for (const field of ["player_id", "auth_token", "league_id"]) me[field] = result[field];
  save();
}

const { league_id } = await attach();
if (me.league_id !== league_id) await register(); // who comes back is known
console.log("registered as", me.player_id);
beat();
