// A whole bot: node bot.mjs --manager URL [--port N] [--host HOST] [--name NAME] [--data FILE].
// Plays every game. Needs nothing but Node.js 18. Your strategy goes into chooseWord.
import { createHash, createHmac, randomBytes, randomInt } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";

const options = { manager: "http://localhost:8000/mcp", host: "127.0.0.1", port: "0",
                  name: "node_bot", data: "node_bot.json" };
process.argv.forEach((word, i, all) => { if (word.startsWith("--")) options[word.slice(2)] = all[i + 1]; });
const kept = existsSync(options.data) ? JSON.parse(readFileSync(options.data, "utf8")) : {};
const me = kept.me ?? { player_id: options.name.replace(/\W/g, "_") };  // what every message carries
const home = kept.home ?? {};  // what else the manager gave us, which no message carries
const matches = new Map(kept.matches ?? []);  // what we have promised and answered: the last 20

const EVEN_ODD = {
  game_type: "even_odd", choices: ["even", "odd"], drawn: Array(5).fill(["odd", "even"]).flat(),
  payoffs: { even: { even: { even: 1, odd: 3 }, odd: { even: 0, odd: 1 } },
             odd: { even: { even: 1, odd: 0 }, odd: { even: 3, odd: 1 } } } };
const game = () => home.game?.choices ? home.game : EVEN_ODD;  // as the manager defines it; docs/games.md

const chooseWord = (call) => game().choices[randomInt(game().choices.length)];  // write your own

// --- Messages --------------------------------------------------------------------------------------------
const now = () => new Date().toISOString();
const sha256 = (...all) => all.reduce((hash, one) => hash.update(one), createHash("sha256")).digest("hex");
const hmac = (key, ...parts) => createHmac("sha256", key).update(parts.join("|"));
const isText = (value) => typeof value === "string";

class Refused extends Error {  // becomes a JSON-RPC error that names the league's code and the field
  constructor(code, name, field, text) {
    super(text).data = { error_code: code, error_name: name, field: "/" + field };
  }
}

function message(type, call, fields) {  // goes back to the conversation and match of its call
  const head = { protocol: "league.v2", message_type: type, sender: "player:" + me.player_id };
  const { conversation_id, round_id, match_id } = call;  // what is undefined does not appear in JSON
  return { ...head, timestamp: now(), ...me, conversation_id, round_id, match_id, ...fields };
}

const FORMS = { protocol: /^league\.v2(\.\d+)?$/, message_type: /^\w{1,40}$/,
                conversation_id: /^[^]{1,100}$/u, role_in_match: /^PLAYER_[AB]$/ };
const TIME = /^(\d{4})(-?)(\d\d)\2(\d\d)T(\d\d)(:?)(\d\d)\6(\d\d)(\.\d{1,9})?(Z|\+00:00)$/;

function checkMessage(call, required) {
  if (typeof call !== "object" || call === null || Array.isArray(call))
    throw new Refused("E002", "MALFORMED_MESSAGE", "", "params is no object");
  for (const field of ["protocol", "message_type", "sender", "timestamp", "conversation_id", ...required]) {
    if (call[field] === undefined || call[field] === null)
      throw new Refused("E003", "MISSING_REQUIRED_FIELD", field, field + " is missing");
    const code = { protocol: "E018", game_type: "E028" }[field] ?? "E023";
    const isRight = field === "game_type" ? call[field] === game().game_type
      : isText(call[field]) && !(FORMS[field] && !FORMS[field].test(call[field]));
    if (!isRight)
      throw new Refused(code, "INVALID_FIELD_VALUE", field, field + " has no allowed value");
  }
  const form = TIME.exec(call.timestamp);
  const [year, month, day, hour, minute, second] = form ? [1, 3, 4, 5, 7, 8].map((i) => +form[i]) : [];
  const isDate = form && month <= 12 && new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
  if (!isDate || hour > 23 || minute > 59 || second > 59 || (form[2] && !form[6]))
    throw new Refused("E021", "INVALID_TIMESTAMP", "timestamp", "timestamp is no UTC time of the protocol");
}

// The manager shows our token, a referee what only we and the manager can compute.
function checkCaller(call) {
  const { match_id: match, auth_token: shown } = call, attempts = Array.from({ length: 16 }, (_, i) => i + 1);
  const attempt = !match ? (shown === me.auth_token ? 0 : undefined)
    : attempts.find((n) => hmac(me.auth_token, `${match}#${n}`).digest("hex") === shown);
  const hashed = shown ? "token:" + sha256(shown) : "none";  // of a third party's referee, as announced
  if (me.auth_token && attempt === undefined && matches.get(match)?.credential === hashed) return 1;
  if (!me.auth_token || attempt === undefined)
    throw new Refused(shown ? "E012" : "E011", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is wrong");
  return attempt;  // at the match; the manager's calls have none
}

// --- Playing ---------------------------------------------------------------------------------------------
function save() {  // before anything leaves that binds us; nobody else may read the token
  const text = JSON.stringify({ me, home, matches: [...matches] });
  writeFileSync(options.data + ".new", text, { mode: 0o600 });
  renameSync(options.data + ".new", options.data);
}

function matchOf(id) {
  if (!matches.has(id)) matches.set(id, { calls: [] });
  if (matches.size > 20) matches.delete(matches.keys().next().value);  // the oldest
  return matches.get(id);
}

function announced(call) {  // the manager promises the seed of each match
  for (const { match_id, draw_commitment: draw, ...one } of call.matches ?? []) {
    if (![one.player_A_id, one.player_B_id].includes(me.player_id)) continue;
    const mine = matchOf(match_id);
    mine.draw ??= draw;
    mine.credential = one.referee_credential;
  }
}

function join(call, mine, at) {
  const draw = call.draw_commitment ?? null;
  // A third party's referee need not know the seed, and then nobody commits.
  if (!draw && (mine.credential ?? "match") !== "match") mine.draw = null;
  if ((mine.draw ??= draw) !== draw)
    throw new Refused("E040", "COMMITMENT_MISMATCH", "draw_commitment", "another seed was promised");
  if (mine.nonce && (at[0] - mine.at[0] || at[1] - mine.at[1]) < 0)
    throw new Refused("E033", "STALE_ATTEMPT", "context", "a later attempt has begun");
  if (!mine.nonce || (mine.shownAlone && String(at) !== String(mine.at)))  // else the same promise again
    Object.assign(mine, { choice: chooseWord(call), nonce: randomBytes(32).toString("hex"), handed: undefined,
      shownAlone: false, opponent: call.opponent_id, isA: call.role_in_match === "PLAYER_A" });
  mine.at = at;
  const text = [draw, call.match_id, me.player_id, mine.choice, mine.nonce].join("|");
  const bound = draw ? { choice_commitment: sha256(text) } : {};
  return ["GAME_JOIN_ACK", { accept: true, ...bound }, ["JOIN", true, bound.choice_commitment]];
}

function choose(call, mine, at) {
  const theirs = call.context?.opponent_commitment ?? null;
  if (String(at) !== String(mine.at) && (mine.nonce || home.receipt_key))
    throw new Refused("E031", "MATCH_NOT_OPEN", "context", "I was not invited to this attempt");
  mine.choice ??= chooseWord(call);  // without an invitation we are bound to nothing
  if (mine.handed === undefined) mine.handed = theirs;
  if (mine.handed !== theirs) {
    dispute(call, "I was handed two commitments of my opponent");
    throw new Refused("E040", "COMMITMENT_MISMATCH", "context/opponent_commitment", "there was another one");
  }
  mine.shownAlone = !theirs;  // then the next attempt at this match needs a fresh choice
  const opened = mine.draw && mine.nonce ? { choice_nonce: mine.nonce } : {};
  const said = ["CHOICE", mine.choice, opened.choice_nonce, theirs];
  return ["CHOOSE_PARITY_RESPONSE", { parity_choice: mine.choice, ...opened }, said];
}

// Answers a call of a match, with a receipt: only we and the manager can make one, so a referee cannot report
// what we have not said. The calls are noted for get_match_record, which the manager asks if a referee says
// that we have failed.
function play(handler, call, attempt) {
  const { match_id: match, context } = call, mine = matchOf(match), begin = performance.now();
  const at = [attempt, context?.play ?? 0];
  const note = { message_type: call.message_type, attempt, play: at[1], at: now() };
  mine.calls = [...mine.calls.slice(-31), note];
  try {
    if ((context?.attempt ?? attempt) !== attempt)
      throw new Refused("E023", "INVALID_FIELD_VALUE", "context/attempt", "not what the credential proves");
    const [type, fields, [kind, ...said]] = handler(call, mine, at);
    const about = [home.league_key, match, ...at, mine.draw];
    if (home.receipt_key && context?.attempt)
      fields.receipt = hmac(home.receipt_key, kind, ...about, ...said).digest("hex");
    Object.assign(note, fields, kind === "CHOICE" && { opponent_commitment: mine.handed });
    if (home.receipt_key)  // a referee never sees our token
      fields.auth_token = hmac(me.auth_token, "answer", `${match}#${attempt}`).digest("hex");
    return message(type, call, { ...fields, ...(kind === "JOIN" && { arrival_timestamp: now() }) });
  } catch (why) {
    const code = why.data?.error_code;
    Object.assign(note, { refused: code ?? "E002", reason: why.message, caller_fault: Boolean(code) });
    throw why;
  } finally {
    Object.assign(note, { answered_at: now(), answer_ms: Math.round(performance.now() - begin) });
    save();
  }
}

function matchRecord({ auth_token, match_id } = {}) {
  if (!me.auth_token || auth_token !== me.auth_token)
    throw new Refused("E012", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is not my own");
  return { match_id, player_id: me.player_id, calls: matches.get(match_id)?.calls ?? [] };
}

// --- Results ---------------------------------------------------------------------------------------------
function drawNumber(seed, parts, size, counter = 0) {
  const bytes = hmac(Buffer.from(seed, "hex"), ...parts, counter).digest();
  const byte = bytes.find((one) => one < 256 - (256 % size));
  return byte === undefined ? drawNumber(seed, parts, size, counter + 1) : (byte % size) + 1;
}

function points(role, own, other, number) {
  const payoffs = game().roles?.[role] ?? game().payoffs;
  return (number ? payoffs[game().drawn[number - 1]] : payoffs)[own][other];
}

function judge(call, mine) {  // does it follow from the promised seed and from what both are bound to?
  const { choice_commitments: bound, choice_nonces: nonces, draw_proof: seed, match_id: match } = call;
  const { choices, drawn_number, winner_player_id } = call.game_result, self = me.player_id;
  const order = mine.isA ? [self, mine.opponent] : [mine.opponent, self];
  const assert = (isTrue, text) => { if (!isTrue) throw new Error(text); };
  assert(mine.nonce && mine.handed !== undefined, "I was not asked for a choice");
  assert(sha256(Buffer.from(seed, "hex"), match) === mine.draw, "another seed was promised");
  assert(choices[self] === mine.choice && nonces[self] === mine.nonce, "I did not choose that");
  assert((bound[mine.opponent] ?? null) === mine.handed, "the opponent's commitment is another one");
  for (const id of new Set([self, ...Object.keys(bound)])) {
    const opened = sha256([mine.draw, match, id, choices[id], nonces[id]].join("|"));
    assert(opened === bound[id], `the commitment of ${id} is not opened`);
  }
  const used = order.map((id) => (id in bound ? nonces[id] : ""));
  const [a, b] = order.map((id) => choices[id]), size = game().drawn?.length;
  const number = size ? drawNumber(seed, [match, a, b, ...used], size) : null;
  const lead = points("PLAYER_A", a, b, number) - points("PLAYER_B", b, a, number);
  const winner = lead ? order[lead > 0 ? 0 : 1] : null;
  assert(drawn_number === number && winner_player_id === winner, `the number is ${number}, ${winner} won`);
}

function dispute(call, reason) {  // goes to the manager and stays open
  const query = { query_type: "DISPUTE_MATCH", query_params: { match_id: call.match_id, reason } };
  post("league_query", message("LEAGUE_QUERY", call, query)).catch(() => {});
}

function gameOver(call) {
  const mine = matches.get(call.match_id);
  try {
    if (call.game_result.status !== "TECHNICAL_LOSS") {
      if (mine?.draw) judge(call, mine);
    } else if (mine && home.receipt_key && call.game_result.winner_player_id !== me.player_id) {
      const slowest = Math.max(0, ...mine.calls.map((one) => one.answer_ms));
      const reason = `I got ${mine.calls.length} calls and answered each within ${slowest} ms`;
      if (slowest < 5000) dispute(call, reason);
    }
  } catch (why) {
    dispute(call, why.message);
    throw new Refused("E035", "INVALID_RESULT", "game_result", "the result does not follow: " + why.message);
  }
}

// --- JSON-RPC --------------------------------------------------------------------------------------------
const methods = {
  handle_game_invitation: [join, ["match_id", "game_type", "role_in_match", "opponent_id"]],
  choose_parity: [choose, ["match_id"]], notify_match_result: [gameOver, ["match_id"]],
  notify_round: [announced, []], get_player_state: [() => ({ player_id: me.player_id }), []],
};
for (const news of ["notify_round_completed", "notify_league_completed", "notify_league_error",
                    "notify_game_error", "update_standings"])
  methods[news] = [() => {}, []];

function answer(body) {
  let frame = null;
  const head = () => ({ jsonrpc: "2.0", id: frame?.id ?? null });
  const error = (code, text, data) => ({ ...head(), error: { code, message: text, data } });
  try { frame = JSON.parse(body); } catch { return error(-32700, "Parse error"); }
  const { method, params } = frame ?? {};
  if (!isText(method)) return error(-32600, "Invalid Request");
  if (method === "ping") return { ...head(), result: { status: "ok" } };
  try {
    if (method === "get_match_record") return { ...head(), result: matchRecord(params ?? {}) };
    if (!Object.hasOwn(methods, method)) return error(-32601, "Method not found");
    const [handler, required] = methods[method];
    checkMessage(params, required);
    const attempt = checkCaller(params);
    const result = [join, choose].includes(handler) ? play(handler, params, attempt) : handler(params);
    return { ...head(), result: result ?? { status: "ok" } };
  } catch (why) {
    if (why instanceof Refused) return error(-32602, "Invalid params: " + why.message, why.data);
    return error(-32603, "Internal error");
  }
}

async function post(method, params) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "Content-Type": "application/json" };
  const reply = await fetch(options.manager, { method: "POST", headers, body });
  const text = await reply.text();
  const { result } = text.startsWith("{") ? JSON.parse(text) : {};
  if (!result) throw new Error(`HTTP ${reply.status} without a result`);
  return result;
}

// Shows the token and nonce of before, so that we come back as who we were, and get our receipt_key. Tries
// until the manager answers.
async function register(isFirst = true) {
  home.registration_nonce ??= randomBytes(16).toString("hex");
  const meta = { display_name: options.name, version: "1.0.0", game_types: ["even_odd"], receipts: true,
                 protocol_version: "2.1.0", game_definitions: true,
                 contact_endpoint: `http://${options.host}:${server.address().port}/mcp` };
  const conversation = { conversation_id: "conv" + randomBytes(16).toString("hex") };
  const fields = { player_meta: meta, registration_nonce: home.registration_nonce };
  const call = message("LEAGUE_REGISTER_REQUEST", conversation, fields);
  const failed = (why) => {
    if (!isFirst) return;
    console.error(`${options.manager}: ${why.cause?.message || why.message}; trying again every 2 s`);
  };
  const reply = await post("register_player", call).catch(failed);
  if (!reply) return setTimeout(register, 2000, false);
  const { status, player_id, reason, error_description } = reply;
  console.log([status, player_id, reason, error_description].filter(Boolean).join(" "));
  if (status !== "ACCEPTED") process.exit(1);
  for (const key of ["player_id", "auth_token", "league_id"]) me[key] = reply[key];
  for (const key of ["receipt_key", "league_key", "game"]) if (reply[key]) home[key] = reply[key];
  save();
}

const server = createServer((request, response) => {
  const pieces = [];
  request.on("data", (piece) => { if (pieces.push(piece) > 64) request.destroy(); });  // at most 4 MiB
  const reply = () => JSON.stringify(answer(Buffer.concat(pieces).toString()));
  request.on("end", () => response.writeHead(200, { "Content-Type": "application/json" }).end(reply()));
}).listen(+options.port, options.host === "127.0.0.1" ? options.host : "0.0.0.0", () => register());
