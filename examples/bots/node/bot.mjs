// A whole Even/Odd bot: node bot.mjs --manager URL [--port N] [--host HOST] [--name NAME] [--data FILE]. Needs nothing but Node.js 18.
import { createHash, createHmac, randomBytes, randomInt } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
const options = { manager: "http://localhost:8000/mcp", host: "127.0.0.1", port: "0", name: "node_bot", data: "node_bot.json" };
process.argv.slice(2).forEach((word, i, all) => { if (word.startsWith("--")) options[word.slice(2)] = all[i + 1]; });
const kept = existsSync(options.data) ? JSON.parse(readFileSync(options.data, "utf8")) : {};
const me = kept.me ?? { player_id: options.name.replace(/\W/g, "_") };  // who the manager says we are
const matches = new Map(kept.matches ?? []);  // what we have promised in each open match
const chooseWord = (call) => ["even", "odd"][randomInt(2)];  // the game: write your own
const now = () => new Date().toISOString().slice(0, 19) + "Z";
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");
const hmac = (key, text) => createHmac("sha256", key).update(text).digest();
const isText = (value) => typeof value === "string";
class Refused extends Error {  // becomes a JSON-RPC error that names the league's code and the field
  constructor(code, name, field, text) { super(text).data = { error_code: code, error_name: name, field: "/" + field }; }
}
function message(type, call, fields) {  // goes back to the conversation and match of its call
  const same = Object.fromEntries(["conversation_id", "round_id", "match_id"].filter((key) => key in call).map((key) => [key, call[key]]));
  return { protocol: "league.v2", message_type: type, sender: "player:" + me.player_id, timestamp: now(), ...me, ...same, ...fields };
}
function checkMessage(call, required) {
  if (typeof call !== "object" || call === null || Array.isArray(call)) throw new Refused("E002", "MALFORMED_MESSAGE", "", "params is no object");
  const forms = { protocol: /^league\.v2(\.\d+)?$/, conversation_id: /^[^]{1,100}$/u, game_type: /^even_odd$/, role_in_match: /^PLAYER_[AB]$/ };
  for (const field of ["protocol", "message_type", "sender", "timestamp", "conversation_id", ...required]) {
    if (call[field] === undefined || call[field] === null) throw new Refused("E003", "MISSING_REQUIRED_FIELD", field, field + " is missing");
    if (!isText(call[field]) || (forms[field] && !forms[field].test(call[field])))
      throw new Refused(field === "protocol" ? "E018" : "E023", "INVALID_FIELD_VALUE", field, field + " has no allowed value");
  }
  const form = /^(\d{4})(-?)(\d\d)\2(\d\d)T(\d\d)(:?)(\d\d)\6(\d\d)(\.\d{1,9})?(Z|\+00:00)$/.exec(call.timestamp);
  const [year, month, day, hour, minute, second] = form ? [1, 3, 4, 5, 7, 8].map((i) => +form[i]) : [];
  const isDate = form && new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day && month <= 12 && hour < 24 && minute < 60 && second < 60;
  if (!isDate || (form[2] && !form[6])) throw new Refused("E021", "INVALID_TIMESTAMP", "timestamp", "timestamp is not UTC in a form of the protocol");
}
function checkCaller(call) {  // the manager shows our own token, a referee what only we and the manager can compute from it
  const attempts = Array.from({ length: 16 }, (_, i) => hmac(me.auth_token, `${call.match_id}#${i + 1}`).toString("hex"));
  if (!(call.match_id ? attempts : [me.auth_token]).includes(call.auth_token))
    throw new Refused(call.auth_token ? "E012" : "E011", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is missing or wrong");
}
const write = (file, value) => writeFileSync(file, JSON.stringify(value), { mode: 0o600 }) ?? file;
const save = () => renameSync(write(options.data + ".new", { me, matches: [...matches] }), options.data);  // before anything leaves that binds us
function join(call) {
  let draw = call.draw_commitment ?? null, mine = matches.get(call.match_id);
  if (!mine || mine.draw !== draw || mine.shownAlone)  // else it is a repetition and gets the same promise
    matches.set(call.match_id, mine = { draw, choice: chooseWord(call), nonce: randomBytes(32).toString("hex"), opponent: call.opponent_id, isA: call.role_in_match === "PLAYER_A" });
  save();
  const bound = draw ? { choice_commitment: sha256([draw, call.match_id, me.player_id, mine.choice, mine.nonce].join("|")) } : {};
  return message("GAME_JOIN_ACK", call, { arrival_timestamp: now(), accept: true, ...bound });
}
function choose(call) {
  if (!matches.has(call.match_id)) matches.set(call.match_id, { draw: null, choice: chooseWord(call) });
  const mine = matches.get(call.match_id);
  mine.handed ??= call.context?.opponent_commitment ?? null;
  save(mine.shownAlone = !mine.handed);  // shown alone, the next attempt at this match needs a fresh choice
  return message("CHOOSE_PARITY_RESPONSE", call, { parity_choice: mine.choice, ...(mine.draw && { choice_nonce: mine.nonce }) });
}
function drawNumber(seed, parts, counter = 0) {
  const byte = hmac(Buffer.from(seed, "hex"), [...parts, counter].join("|")).find((one) => one < 250);
  return byte === undefined ? drawNumber(seed, parts, counter + 1) : (byte % 10) + 1;
}
function judge(call, mine) {  // the result has to follow from the promised seed and from what both have bound themselves to
  const { game_result: { choices, drawn_number, winner_player_id }, choice_commitments: bound, choice_nonces: nonces, draw_proof: seed, match_id: match } = call;
  const order = mine.isA ? [me.player_id, mine.opponent] : [mine.opponent, me.player_id];
  const assert = (isTrue, text) => { if (!isTrue) throw new Refused("E035", "INVALID_RESULT", "game_result", text); };
  assert(sha256(Buffer.from(seed, "hex"), match) === mine.draw, "another seed was promised");
  assert(choices[me.player_id] === mine.choice && nonces[me.player_id] === mine.nonce, "I did not choose that");
  assert((bound[mine.opponent] ?? null) === mine.handed, "the opponent's commitment is another one");
  for (const id in bound) assert(sha256([mine.draw, match, id, choices[id], nonces[id]].join("|")) === bound[id], "a commitment is not opened");
  const number = drawNumber(seed, [match, ...order.map((id) => choices[id]), ...order.map((id) => (id in bound ? nonces[id] : ""))]);
  const right = order.filter((id) => choices[id] === (number % 2 ? "odd" : "even"));
  assert(drawn_number === number && winner_player_id === (right.length === 1 ? right[0] : null), `the number is ${number}`);
}
function gameOver(call) {
  try {
    if (matches.get(call.match_id)?.draw && call.game_result.status !== "TECHNICAL_LOSS") judge(call, matches.get(call.match_id));
  } catch (why) {  // the dispute goes to the manager and stays open
    const query = { query_type: "DISPUTE_MATCH", query_params: { match_id: call.match_id, reason: why.message } };
    post("league_query", message("LEAGUE_QUERY", call, query)).catch(() => {});
    throw why instanceof Refused ? why : new Refused("E035", "INVALID_RESULT", "game_result", why.message);
  }
  matches.delete(call.match_id);
}
const methods = { handle_game_invitation: [join, ["match_id", "game_type", "role_in_match", "opponent_id"]], choose_parity: [choose, ["match_id"]],
  notify_match_result: [gameOver, ["match_id"]], get_player_state: [() => ({ player_id: me.player_id }), []] };
for (const news of ["notify_round", "notify_round_completed", "notify_league_completed", "notify_league_error", "notify_game_error", "update_standings"])
  methods[news] = [() => {}, []];
function answer(body) {
  let frame = null;
  const error = (code, text, data) => ({ jsonrpc: "2.0", id: frame?.id ?? null, error: { code, message: text, data } });
  try { frame = JSON.parse(body); } catch { return error(-32700, "Parse error"); }
  if (!isText(frame?.method)) return error(-32600, "Invalid Request");
  if (frame.method === "ping") return { jsonrpc: "2.0", id: frame.id, result: { status: "ok" } };
  if (!Object.hasOwn(methods, frame.method)) return error(-32601, "Method not found");
  try {
    const [handler, required] = methods[frame.method];
    checkMessage(frame.params, required);
    checkCaller(frame.params);
    return { jsonrpc: "2.0", id: frame.id ?? null, result: handler(frame.params) ?? { status: "ok" } };
  } catch (why) { return why instanceof Refused ? error(-32602, "Invalid params: " + why.message, why.data) : error(-32603, "Internal error"); }
}
async function post(method, params) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return (await (await fetch(options.manager, { method: "POST", headers: { "Content-Type": "application/json" }, body })).json()).result;
}
async function register() {  // shows the token of before, so that we come back as who we were; tries until the manager answers
  const contact_endpoint = `http://${options.host}:${server.address().port}/mcp`, nonce = randomBytes(16).toString("hex");
  const meta = { display_name: options.name, version: "1.0.0", game_types: ["even_odd"], protocol_version: "2.1.0", contact_endpoint };
  const call = message("LEAGUE_REGISTER_REQUEST", { conversation_id: "conv" + nonce }, { player_meta: meta, registration_nonce: nonce });
  const reply = await post("register_player", call).catch(() => null);
  if (!reply) return setTimeout(register, 2000);
  console.log([reply.status, reply.player_id, reply.reason, reply.error_description].filter(Boolean).join(" "));
  if (reply.status !== "ACCEPTED") process.exit(1);
  save(["player_id", "auth_token", "league_id"].forEach((key) => { me[key] = reply[key]; }));
}
const server = createServer((request, response) => {
  const pieces = [];
  request.on("data", (piece) => { if (pieces.push(piece) > 64) request.destroy(); });  // at most 4 MiB
  const reply = () => JSON.stringify(answer(Buffer.concat(pieces).toString()));
  request.on("end", () => response.writeHead(200, { "Content-Type": "application/json" }).end(reply()));
}).listen(+options.port, options.host === "127.0.0.1" ? options.host : "0.0.0.0", register);
