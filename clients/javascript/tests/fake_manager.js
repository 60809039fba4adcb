// A league manager with seats, as small as the tests need it: it admits one player and hands out the calls
// that a test makes. Its cryptography is not that of the library.
import { createHash, createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";

const kRejected = { status: "REJECTED", player_id: null };
export const kSeed = "5e".repeat(32);
export const sha256 = (...parts) =>
  parts.reduce((hash, one) => hash.update(one), createHash("sha256")).digest("hex");
export const hmac = (key, ...parts) => createHmac("sha256", key).update(parts.join("|")).digest("hex");

export function numberOf(seed, parts) {  // draw version 2
  const bytes = createHmac("sha256", Buffer.from(seed, "hex")).update([...parts, 0].join("|")).digest();
  return (bytes.find((one) => one < 250) % 10) + 1;
}

class Fault extends Error {
  constructor(code, text, { rpc = -32602, status = 200, ...data } = {}) {
    super(text);
    Object.assign(this, { rpc, status, data: { error_code: code, ...data } });
  }
}

export class FakeManager {
  id = "P07";
  token = "tok_p07_" + randomBytes(8).toString("hex");
  receiptKey = "ab".repeat(32);
  leagueKey = "cd".repeat(32);
  requests = [];  // { method, params } of all that came
  queries = [];
  hasSeats = true;
  sessions = 0;
  session = null;
  #open = new Map();  // by frame id: { request, resolve, session }
  #poll = null;
  #waiting = [];
  #nextId = 1;
  refusals = [];  // what the next requests get instead of an answer: functions (method, params, response)

  async start(port = 0) {
    this.server = createServer((request, response) => {
      const pieces = [];
      request.on("data", (piece) => pieces.push(piece));
      request.on("end", () => this.#reply(JSON.parse(Buffer.concat(pieces)), response));
    });
    await new Promise((resolve) => this.server.listen(port, "127.0.0.1", resolve));
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}`;
    return this;
  }

  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    this.session = null;
    this.#poll = null;
  }

  async #reply({ id, method, params }, response) {
    this.requests.push({ method, params });
    this.#wake();
    let body, status = 200, headers = { "Content-Type": "application/json" };
    try {
      const refusal = this.refusals.shift();
      if (refusal && refusal(method, params, response) === "done") return;
      const handler = { register_player: "register", open_seat: "openSeat", await_calls: "awaitCalls",
                        league_query: "query" }[method];
      if (!handler || (!this.hasSeats && method === "open_seat"))
        throw new Fault(undefined, "Method not found", { rpc: -32601 });
      body = { jsonrpc: "2.0", id, result: await this[handler](params, response) };
    } catch (why) {
      if (!(why instanceof Fault)) throw why;
      status = why.status;
      body = { jsonrpc: "2.0", id, error: { code: why.rpc, message: why.message, data: why.data } };
    }
    if (!response.destroyed) response.writeHead(status, headers).end(JSON.stringify(body));
  }

  register(params) {
    const { auth_token: token, registration_nonce: nonce } = params;
    if (token && token !== this.token)
      return { ...kRejected, reason: "auth_token is of another league", error_code: "E012" };
    if (this.rejects) return { ...kRejected, ...this.rejects };
    this.nonce ??= nonce;
    const receiptKey = this.nonce === nonce ? this.receiptKey : undefined;
    return { status: "ACCEPTED", player_id: this.id, auth_token: this.token, league_id: "league_of_tests",
             league_key: this.leagueKey, receipt_key: receiptKey, reason: null, game: this.game };
  }

  openSeat({ player_id: id, timestamp, nonce, proof }) {
    if (!/^[\w-]{16,64}$/.test(nonce)) throw new Fault("E023", "nonce has another form");
    if (Math.abs(Date.parse(timestamp) - Date.now()) > 300_000) throw new Fault("E021", "it is too old");
    if (id !== this.id || proof !== hmac(this.token, "seat", timestamp, nonce))
      throw new Fault("E012", "no seat for this");
    this.takeOver();
    this.session = "session" + (this.sessions += 1);
    return { session: this.session, player_id: id, wait_s: 25, connection: "poll" };
  }

  /** Another program opens a session. */
  takeOver() {
    this.#poll?.({ calls: [], ended: "taken_over" });
    this.#poll = null;
    this.taken = this.session;
    this.session = null;
  }

  async awaitCalls({ session, wait_s: waitS, answers = [], leave = false }) {
    if (session === this.taken) throw new Fault("E016", "a newer session took over");
    if (!session || session !== this.session) throw new Fault("E012", "unknown session");
    for (const answer of answers) {
      this.#open.get(answer.id)?.resolve(answer);
      this.#open.delete(answer.id);
    }
    this.#poll?.({ calls: [] });
    this.#poll = null;
    if (leave) {
      this.session = null;
      return { calls: [], ended: "left" };
    }
    const calls = this.#handOut(session);
    if (calls.length || waitS === 0) return { calls };
    return new Promise((resolve) => {
      this.#poll = resolve;
      this.#wake();
    });
  }

  #handOut(session) {
    const due = [...this.#open.values()].filter((one) => one.session !== session);
    return due.map((one) => {
      one.session = session;
      return { request: one.request, remaining_ms: one.remainingMs };
    });
  }

  query(params) {
    this.queries.push(params);
    const data = this.played ? { matches: this.played } : { disputed: true };
    return { message_type: "LEAGUE_QUERY_RESPONSE", query_type: params.query_type, success: true, data };
  }

  /** Calls the player at its seat; gives its JSON-RPC answer. */
  call(method, params, { remainingMs = 5000 } = {}) {
    const request = { jsonrpc: "2.0", id: this.#nextId, method, params };
    this.#nextId += 1;
    return new Promise((resolve) => {
      this.#open.set(request.id, { request, resolve, remainingMs });
      if (!this.#poll) return;
      this.#poll({ calls: this.#handOut(this.session) });
      this.#poll = null;
    });
  }

  /** Waits until `isTrue` holds after a request; asks again whenever something has come. */
  async until(isTrue) {
    while (!isTrue()) await new Promise((resolve) => this.#waiting.push(resolve));
  }

  isPolled() { return this.#poll !== null; }
  counted(method) { return this.requests.filter((one) => one.method === method).length; }

  #wake() {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  // --- Messages ------------------------------------------------------------------------------------------
  message(type, fields) {
    const { match_id: match } = fields, attempt = fields.context?.attempt ?? 1;
    return { protocol: "league.v2", message_type: type, sender: match ? "referee:REF01" : "league_manager",
             timestamp: "2026-01-15T10:30:00Z", conversation_id: "conv1", league_id: "league_of_tests",
             auth_token: match ? hmac(this.token, `${match}#${attempt}`) : this.token, round_id: 1,
             ...fields };
  }

  draw(match) { return sha256(Buffer.from(kSeed, "hex"), match); }

  invitation(match, fields = {}) {
    return this.message("GAME_INVITATION", { match_id: match, game_type: this.game?.game_type ?? "even_odd", opponent_id: "P02",
      role_in_match: "PLAYER_A", draw_commitment: this.draw(match), context: { attempt: 1, play: 0 },
      ...fields });
  }

  choiceCall(match, theirs, context = {}) {
    return this.message("CHOOSE_PARITY_CALL", { match_id: match, player_id: this.id, game_type: this.game?.game_type ?? "even_odd",
      deadline: "2026-01-15T10:30:30Z",
      context: { opponent_id: "P02", attempt: 1, play: 0, opponent_commitment: theirs, ...context } });
  }

  /** GAME_OVER of a match in which the opponent, P02, chose `theirs` with the nonce 0000…. */
  gameOver(match, own, theirs, fields = {}, seed = kSeed) {
    const nonces = { [this.id]: own.choice_nonce, P02: "0".repeat(64) };
    const choices = { [this.id]: own.parity_choice, P02: theirs };
    const bound = {};
    for (const id of [this.id, "P02"])
      bound[id] = sha256([this.draw(match), match, id, choices[id], nonces[id]].join("|"));
    const number = numberOf(seed, [match, choices[this.id], theirs, nonces[this.id], nonces.P02]);
    const parity = number % 2 ? "odd" : "even";
    const [winner, ...others] = Object.keys(choices).filter((id) => choices[id] === parity);
    const isWon = winner && !others.length;
    const result = { status: isWon ? "WIN" : "DRAW", winner_player_id: isWon ? winner : null,
                     drawn_number: number, number_parity: parity, choices, reason: "", ...fields };
    return this.message("GAME_OVER", { match_id: match, game_type: this.game?.game_type ?? "even_odd", game_result: result,
                                       draw_proof: seed, draw_version: 2, choice_commitments: bound,
                                       choice_nonces: nonces });
  }

  commitmentOf(match, choice) {
    return sha256([this.draw(match), match, "P02", choice, "0".repeat(64)].join("|"));
  }
}

/** What a player says, in place of a console. */
export class Lines {
  lines = [];
  errors = [];
  log(text) { this.lines.push(text); }
  error(text) { this.errors.push(text); }
}
