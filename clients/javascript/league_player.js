// The client library of a league of bots (protocol league.v2), in one module without dependencies. It needs
// Node.js 18 or a browser. README.md shows how it is used.

const isNode = typeof process === "object" && Boolean(process.versions?.node);
const kKeptMatches = 20, kKeptResults = 500, kKeptIdentities = 5;
const kLongestPause = 10_000;  // milliseconds between two attempts to reach the managers
// Seconds that a poll waits, and milliseconds for its way: a network that is gone shows after seven seconds.
const kWait = 3, kWay = 4000;
const kLimits = { JOIN: 5000, CHOICE: 30_000 };  // milliseconds, where a call does not say
const kReserve = 2000;  // milliseconds for the way of an answer that a person has taken the whole time for

/** What ends run(). The message is for the bot's author; `code` is the league's, if there is one. */
export class LeagueError extends Error {
  constructor(text, code) {
    super(text);
    Object.assign(this, { name: "LeagueError" }, code && { code });
    this.stack = `LeagueError: ${text}`;  // it is about the network or the league, not about a line of code
  }
}

class Refused extends Error {  // becomes a JSON-RPC error that names the league's code and the field
  constructor(code, name, field, text) {
    super(text).data = { error_code: code, error_name: name, field: "/" + field };
  }
}

class Unreachable extends Error {}  // another attempt may succeed, after `waitMs` if the manager says so

// --- Cryptography ----------------------------------------------------------------------------------------
let webCrypto = globalThis.crypto;
let hashes = null;  // those of a page that is offered no crypto.subtle
const utf8 = new TextEncoder();
const hex = (bytes) => Array.from(new Uint8Array(bytes), (one) => one.toString(16).padStart(2, "0")).join("");
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const randomHex = (bytes) => hex(webCrypto.getRandomValues(new Uint8Array(bytes)));

async function openCrypto(given) {
  if (!webCrypto?.subtle && isNode) webCrypto = (await import("node:crypto")).webcrypto;  // Node.js 18
  if (!webCrypto?.subtle) hashes = given;
  if (!webCrypto?.subtle && !hashes)
    throw new LeagueError("this page has no crypto.subtle; browsers offer it to https:// and localhost only");
}

async function sha256(...parts) {
  const bytes = parts.flatMap((part) => [...(typeof part === "string" ? utf8.encode(part) : part)]);
  const text = Uint8Array.from(bytes);
  return hex(hashes ? hashes.sha256(text) : await webCrypto.subtle.digest("SHA-256", text));
}

const importKey = (raw) =>
  hashes ? raw : webCrypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
const sign = async (key, text) =>
  hashes ? hashes.hmac(key, utf8.encode(text))
         : new Uint8Array(await webCrypto.subtle.sign("HMAC", await key, utf8.encode(text)));
const imported = new Map();  // tokens and receipt keys, which are used again and again

async function hmac(key, ...parts) {
  if (imported.size > 100) imported.clear();
  if (!imported.has(key)) imported.set(key, importKey(utf8.encode(key)));
  return hex(await sign(imported.get(key), parts.join("|")));
}

function isEqual(a, b) {  // takes as long whatever the first difference is
  if (typeof a !== "string" || typeof b !== "string" || a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i += 1) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}

async function drawNumber(seed, parts, size, counter = 0) {  // all numbers are equally likely
  const bytes = await sign(importKey(unhex(seed)), [...parts, counter].join("|"));
  const byte = bytes.find((one) => one < 256 - (256 % size));
  return byte === undefined ? drawNumber(seed, parts, size, counter + 1) : (byte % size) + 1;
}

// --- The game --------------------------------------------------------------------------------------------
const kEvenOdd = {
  game_type: "even_odd", choices: ["even", "odd"], drawn: Array(5).fill(["odd", "even"]).flat(),
  payoffs: { even: { even: { even: 1, odd: 3 }, odd: { even: 0, odd: 1 } },
             odd: { even: { even: 1, odd: 0 }, odd: { even: 3, odd: 1 } } },
};

function scoreOf(game, [a, b], kind) {  // the points of players A and B; `kind` is that of the drawn number
  const [ofA, ofB] = ["PLAYER_A", "PLAYER_B"].map((role) => {
    const payoffs = game.roles ? game.roles[role] : game.payoffs;
    return game.drawn ? payoffs[kind] : payoffs;
  });
  return [ofA[a][b], ofB[b][a]];
}

function isGame(game, name) {
  try {
    const pairs = game.choices.flatMap((a) => game.choices.map((b) => [a, b])), kinds = game.drawn ?? [null];
    const isWhole = (kind) => pairs.every((pair) => scoreOf(game, pair, kind).every(Number.isInteger));
    const isDrawn = !game.drawn || (kinds.length >= 2 && kinds.length <= 100);
    return game.game_type === name && isDrawn && kinds.every(isWhole);
  } catch {
    return false;
  }
}

// --- Addresses, files, arguments -------------------------------------------------------------------------
const kLoopback = /^(localhost|127\.0\.0\.1|\[::1\])$/;
const shown = (url) => url.split("?")[0];  // the query may hold a registration code

function addressesOf(manager) {
  const texts = [manager ?? ""].flat().flatMap((one) => String(one).split(",")).map((one) => one.trim());
  const all = texts.filter(Boolean).flatMap((text) => {
    let url;
    try { url = new URL(/^\w+:\/\//.test(text) ? text : "http://" + text); } catch { /* said below */ }
    if (!/^https?:$/.test(url?.protocol))
      throw new LeagueError(`"${shown(text)}" is no address of a manager; write http://HOST:PORT`);
    if (url.pathname === "/") url.pathname = "/mcp";
    // Node.js 18 tries the first address of a name only, which for localhost may be ::1.
    const isNamed = isNode && url.hostname === "localhost";
    return isNamed ? [url.href, url.href.replace("localhost", "127.0.0.1")] : [url.href];
  });
  if (!all.length) throw new LeagueError("run() needs the address of a manager: http://HOST:PORT");
  return [...new Set(all)];
}

// A token is shown only to the manager that gave it. On this machine its port may differ.
function likeness(a, b) {
  const [one, other] = [new URL(a), new URL(b)];
  if (one.origin === other.origin) return 2;
  return kLoopback.test(one.hostname) && kLoopback.test(other.hostname) ? 1 : 0;
}

async function openStore(data, name) {
  if (!isNode) {
    const place = data ?? "league-player:" + name, storage = globalThis.localStorage;  // a worker has none
    return { place, read: () => storage?.getItem(place), write: (text) => storage?.setItem(place, text) };
  }
  const { existsSync, readFileSync, renameSync, rmSync, writeFileSync } = await import("node:fs");
  const place = data ?? name.replace(/[^\p{L}\p{N}._-]/gu, "_") + ".json";
  const write = (text) => {
    rmSync(place + ".new", { force: true });  // it would keep its permissions
    writeFileSync(place + ".new", text, { mode: 0o600, flag: "wx" });
    renameSync(place + ".new", place);
  };
  return { place, read: () => (existsSync(place) ? readFileSync(place, "utf8") : ""), write };
}

function optionsOf(words, areOurs) {  // of a program; unless all are ours, unknown ones are the author's
  const options = {};
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i];
    const [, key, , text] = /^--(manager|serve|host|code|data|name)(=(.*))?$/s.exec(word) ?? [];
    if (key) options[key] = text ?? words[(i += 1)];
    if (key && options[key] === undefined) throw new LeagueError(`${word} needs a value`);
    if (!key && areOurs && word.startsWith("-"))
      throw new LeagueError(`${plain(word)} is none of --manager, --serve, --host, --code, --data, --name`);
  }
  return options;
}

// --- Messages --------------------------------------------------------------------------------------------
const now = () => new Date().toISOString();
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const plain = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ").slice(0, 500);  // one line

const kRequired = {  // methods of the protocol, and what their messages need beside the envelope
  handle_game_invitation: ["match_id", "game_type", "role_in_match", "opponent_id"],
  choose_parity: ["match_id"], notify_match_result: ["match_id", "game_result"],
  notify_game_error: ["match_id"], notify_league_error: [],
  notify_round: [], notify_round_completed: [], notify_league_completed: [],
  update_standings: [], get_player_state: [], get_match_record: null, ping: null,
};
const kTypes = {  // other names under which leagues call them
  game_invitation: "handle_game_invitation", choose_parity_call: "choose_parity",
  parity_choose: "choose_parity", notify_standings: "update_standings",
  game_over: "notify_match_result", game_error: "notify_game_error", league_error: "notify_league_error",
  round_announcement: "notify_round", round_completed: "notify_round_completed",
  league_completed: "notify_league_completed", league_standings_update: "update_standings",
};
const kForms = { protocol: /^league\.v2(\.\d+)?$/, message_type: /^\w{1,40}$/,
                 conversation_id: /^[^]{1,100}$/u, role_in_match: /^PLAYER_[AB]$/ };
const kTime = /^(\d{4})(-?)(\d\d)\2(\d\d)T(\d\d)(:?)(\d\d)\6(\d\d)(\.\d{1,9})?(Z|\+00:00)$/;

function route({ method, params }) {  // the method of the protocol and its message
  if (method === "tools/call") [method, params] = [String(params?.name), params?.arguments];
  if (Object.hasOwn(kRequired, method)) return [method, params];
  if (isObject(params?.message) && !params.message_type) params = params.message;
  if (/^(handle|mcp)_message$/.test(method)) method = String(params?.message_type);
  const name = method.toLowerCase().replace(/^receive_/, "");
  return [Object.hasOwn(kTypes, name) ? kTypes[name] : method, params];
}

function checkMessage(call, required, game) {
  if (!isObject(call)) throw new Refused("E002", "MALFORMED_MESSAGE", "", "params is no object");
  for (const field of ["protocol", "message_type", "sender", "timestamp", "conversation_id", ...required]) {
    const value = call[field] ?? undefined;
    if (value === undefined)
      throw new Refused("E003", "MISSING_REQUIRED_FIELD", field, field + " is missing");
    const isRight = field === "game_result" ? isObject(value) : typeof value === "string";
    if (!isRight || (kForms[field] && !kForms[field].test(value)) || (field === "game_type" && value !== game))
      throw new Refused(field === "protocol" ? "E018" : "E023", "INVALID_FIELD_VALUE", field,
                        field + " has no allowed value");
  }
  const form = kTime.exec(call.timestamp);
  const [year, month, day, hour, minute, second] = form ? [1, 3, 4, 5, 7, 8].map((i) => +form[i]) : [];
  const isDate = form && month <= 12 && new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
  if (!isDate || hour > 23 || minute > 59 || second > 59 || (form[2] && !form[6]))
    throw new Refused("E021", "INVALID_TIMESTAMP", "timestamp", "timestamp is no UTC time of the protocol");
}

const wrongToken = (sent) => new Refused(...(sent
  ? ["E012", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is wrong"]
  : ["E011", "AUTH_TOKEN_MISSING", "auth_token", "auth_token is missing"]));

function timeFor(kind, call, remainingMs) {  // milliseconds
  // Both times are of the caller's clock, so the difference is right even if this machine's clock is not.
  const left = remainingMs ?? Date.parse(call.deadline) - Date.parse(call.timestamp);
  return left > 0 ? left : kLimits[kind];
}

// --- The player ------------------------------------------------------------------------------------------
export class Player {
  #name; #console; #firstPause; #atOnce; #choose; #listeners = []; #witnesses = [];
  #playedBy; #hashes;
  #store; #own = null; #candidates = []; #others = [];  // identities: the one in use, what may fit, the rest
  #rest = null;  // the part of the file that seldom changes
  #standings = []; #complaints = new Set();
  #turns = new Map();  // by match: the end of the last call in hand
  #inHand = new Map();  // by the text of a call at our seat: its answer, until that is handed in
  #managers = []; #current = 0;  // addresses, and the one in use
  #failures = 0; #isTroubled = false;  // in a row; whether that has been said and not taken back
  #requests = new Set(); #timers = new Map(); #server = null;  // timers with what they go on with
  #session = null;  // at our seat
  #game; #definition = null;  // its name, and what the manager says of it
  #meta; #registered = null; #isSeated = false; #ended = null; #isOver = false;

  constructor(name, { console = globalThis.console, firstPause = 250, atOnce = 20, game = "even_odd", playedBy,
                      hashes: given } = {}) {
    [this.#name, this.#console, this.#firstPause, this.#atOnce, this.#game] = [name, console, firstPause, atOnce, game];
    [this.#playedBy, this.#hashes] = [playedBy, given];
    if (game === "even_odd") this.#definition = kEvenOdd;
  }

  get name() { return this.#name; }
  get id() { return this.#own?.me.auth_token ? this.#own.me.player_id : null; }
  get standings() { return [...this.#standings]; }
  get history() { return [...(this.#own?.history ?? [])]; }

  choose(choose) {
    this.#choose = choose;
    return this;
  }

  onResult(listener) {
    this.#listeners.push(listener);
    return this;
  }

  onEvent(witness) {
    this.#witnesses.push(witness);
    return this;
  }

  async run(manager, options = {}) {
    const words = isNode ? process.argv.slice(2) : [];
    const isProgram = isNode && (manager === undefined || words.some((word) => /^--manager(=|$)/.test(word)));
    try {
      const told = isProgram ? optionsOf(words, manager === undefined) : {};
      await this.#play({ manager: manager ?? "http://localhost:8000", ...options, ...told });
    } catch (why) {
      if (!isProgram || !(why instanceof LeagueError)) throw why;
      this.#console.error(`${this.#name}: ${why.message}`);
      process.exitCode = 1;
    }
  }

  stop() { this.#finish(); }

  leave() {  // tells the manager, also while a page is being closed
    const session = this.#session;
    if (session && !this.#isOver) this.#request("await_calls", { session, leave: true }, { keepalive: true })
      .catch(() => {});
    this.#finish();
  }

  wake() {  // a device that has slept goes on at once, without the requests that its network has lost
    for (const request of this.#requests) request.abort();
    for (const [timer, resolve] of this.#timers) {
      clearTimeout(timer);
      resolve();
    }
    this.#timers.clear();
  }

  async #play({ manager, serve, host, code, data, name }) {
    if (this.#ended) throw new LeagueError("a Player runs once; make another one");
    if (typeof this.#choose !== "function") throw new LeagueError("call choose(FUNCTION) before run()");
    this.#name = name ?? this.#name;
    this.#managers = addressesOf(manager);
    const ended = new Promise((resolve, reject) => { this.#ended = { resolve, reject }; });
    const work = async () => {
      await openCrypto(this.#hashes);
      this.#store = await openStore(data, this.#name);
      this.#load();
      const endpoint = serve === undefined ? "outward" : await this.#listen(serve, host);
      this.#meta = { display_name: this.#name, version: "1.0.0", game_types: [this.#game], receipts: true,
                     protocol_version: "2.1.0", contact_endpoint: endpoint, played_by: this.#playedBy,
                     registration_code: code || undefined };
      await (this.#registered = this.#register());
      if (serve === undefined) await this.#sit();
    };
    work().catch((why) => this.#finish(why));
    return ended;
  }

  #finish(why) {  // what waits for a request or a pause then waits for good
    if (this.#isOver || !this.#ended) return;
    this.#isOver = true;
    for (const timer of this.#timers.keys()) clearTimeout(timer);
    for (const request of this.#requests) request.abort();
    this.#server?.close();
    this.#server?.closeAllConnections?.();
    if (why) this.#ended.reject(why);
    else this.#ended.resolve();
  }

  #pause(ms) {
    return new Promise((resolve) => {
      if (this.#isOver) return;
      const timer = setTimeout(() => { this.#timers.delete(timer); resolve(); }, ms);
      this.#timers.set(timer, resolve);
    });
  }

  #tell(type, about = {}) {
    for (const witness of this.#witnesses) {
      try {
        witness({ type, ...about });
      } catch (why) {
        this.#complain(`onEvent() failed: ${why?.stack ?? why}`);
      }
    }
  }

  #complain(text, key = text) {  // once
    if (!this.#complaints.has(key)) this.#console.error(`${this.#name}: ${text}`);
    if (this.#complaints.size < 100) this.#complaints.add(key);
  }

  // --- What is remembered --------------------------------------------------------------------------------
  get #me() { return this.#own.me; }  // what every message carries: player_id, auth_token, league_id
  get #home() { return this.#own.home; }  // what else the manager gave us, which no message carries
  get #matches() { return this.#own.matches; }  // what we have promised and answered

  #load() {
    const fit = ({ managers }) =>  // the starter bots do not store whose token it is
      (managers ? Math.max(0, ...managers.flatMap((a) => this.#managers.map((b) => likeness(a, b)))) : 1);
    try {
      const { others = [], ...kept } = JSON.parse(this.#store.read() || "{}");
      this.#others = [kept, ...others].filter((one) => one.me);
      this.#candidates = this.#others.filter(fit).sort((a, b) => fit(b) - fit(a));
    } catch (why) {
      throw new LeagueError(`${this.#store.place} cannot be read (${why.message}); ` +
                            "move it away to register as a new player");
    }
    this.#becomeNext();
  }

  #becomeNext() {  // the next identity that may be known to the manager, or a new one
    const kept = this.#candidates.shift();
    if (this.id) this.#others.unshift(this.#kept());
    this.#others = this.#others.filter((one) => one !== kept);
    const temporary = this.#name.replace(/\W/g, "_").slice(0, 64);
    const nonce = this.#own?.home.registration_nonce ?? randomHex(16);
    this.#own = { me: { player_id: temporary, ...kept?.me },
                  home: { registration_nonce: nonce, ...kept?.home },
                  matches: new Map(kept?.matches), history: kept?.history ?? [] };
    this.#rest = null;
  }

  #kept() {
    const { me, home, matches } = this.#own;
    return { managers: this.#managers.map(shown), me, home, matches: [...matches] };
  }

  #save() {  // before anything leaves that binds us; nobody else may read the token
    if (this.#isOver) return;  // another program may have taken over
    const others = this.#others.slice(0, kKeptIdentities), { history } = this.#own;
    this.#rest ??= JSON.stringify({ history, others }).slice(1);
    try {
      this.#store.write(JSON.stringify(this.#kept()).slice(0, -1) + "," + this.#rest);
    } catch (why) {  // playing on is better than losing
      this.#complain(`${this.#store.place} cannot be written (${why.message}); the bot plays on, but will ` +
                     "have forgotten what it has promised after a restart", "write");
    }
  }

  #matchOf(id) {
    if (!this.#matches.has(id)) this.#matches.set(id, { calls: [] });
    const [oldest] = this.#matches.keys();
    if (this.#matches.size > kKeptMatches) this.#matches.delete(oldest);
    return this.#matches.get(id);
  }

  // --- Talking to the manager ----------------------------------------------------------------------------
  #message(type, call, fields) {  // goes back to the conversation and match of its call
    const head = { protocol: "league.v2", message_type: type, sender: "player:" + this.#me.player_id };
    const { conversation_id, round_id, match_id } = call;  // what is undefined does not appear in JSON
    return { ...head, timestamp: now(), ...this.#me, conversation_id, round_id, match_id, ...fields };
  }

  async #post(method, params, limit, requests = this.#requests) {
    if (this.#isOver) return new Promise(() => {});
    const request = new AbortController(), timer = setTimeout(() => request.abort(), limit);
    for (const all of [this.#requests, requests]) all.add(request);
    let reply, frame;
    try {
      reply = await this.#request(method, params, { signal: request.signal });
      const text = await reply.text();
      try { frame = JSON.parse(text); } catch { /* for example a proxy's page */ }
    } catch (why) {
      if (this.#isOver) return new Promise(() => {});
      if (request.signal.aborted) throw new Unreachable(`no answer within ${limit / 1000} s`);
      const cause = why.cause?.errors?.[0] ?? why.cause ?? why;
      const hint = isNode ? "" : `; does the manager run with --allow-origin ${globalThis.location?.origin}?`;
      throw new Unreachable((cause.message || cause.code || "no connection") + hint);
    } finally {
      clearTimeout(timer);
      for (const all of [this.#requests, requests]) all.delete(request);
    }
    const result = frame?.result, isFault = result?.message_type === "LEAGUE_ERROR";
    if (isObject(result) && !isFault) return result;
    const error = isFault ? result : frame?.error;
    const about = { ...error, ...error?.context, ...error?.data };
    if (reply.status === 429 || about.error_code === "E091") {
      const waitMs = about.retry_after_ms || 1000 * reply.headers.get("retry-after") || 1000;
      throw Object.assign(new Unreachable("the manager says that this bot asks too often"), { waitMs });
    }
    if (!error || error.code === -32603)
      throw new Unreachable(error?.message ?? `HTTP ${reply.status} without an answer of a league manager`);
    const why = new LeagueError(plain(error.error_description ?? error.message), about.error_code);
    throw Object.assign(why, { rpcCode: error.code });
  }

  #request(method, params, more) {
    return fetch(this.#managers[this.#current], {
      method: "POST", headers: { "Content-Type": "application/json" }, ...more,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      redirect: "error",  // it could carry the token to another host
    });
  }

  async #failed(why) {  // the next address; after the last one a pause
    if (why.waitMs) {
      this.#complain(why.message, "wait");
      return this.#pause(why.waitMs);
    }
    if (this.#failures === 0) {
      this.#console.error(`${this.#name}: ${shown(this.#managers[this.#current])}: ${plain(why.message)}; ` +
                          "trying again until a manager answers");
      this.#isTroubled = true;
      this.#tell("offline", { reason: plain(why.message) });
    }
    this.#failures += 1;
    const rounds = this.#failures / this.#managers.length;
    this.#current = (this.#current + 1) % this.#managers.length;
    if (!Number.isInteger(rounds)) return undefined;
    const longest = Math.min(kLongestPause, this.#firstPause * 2 ** (rounds - 1));
    return this.#pause(longest * (0.5 + Math.random() / 2));  // not all bots of a league at the same moment
  }

  #succeeded(isSettled) {  // a session that opens settles nothing before its first poll
    if (this.#isTroubled) {
      this.#console.log(`${this.#name}: ${shown(this.#managers[this.#current])} answers`);
      this.#tell("online");
    }
    this.#isTroubled = false;
    if (isSettled) this.#failures = 0;
  }

  async #ask(method, paramsOf) {  // until a manager answers
    for (;;) {
      try {
        const reply = await this.#post(method, await paramsOf(), 10_000);
        this.#succeeded(method !== "open_seat");
        return reply;
      } catch (why) {
        if (!(why instanceof Unreachable)) throw why;
        await this.#failed(why);
      }
    }
  }

  // Shows the token and nonce of before, so that we come back as who we were and get our receipt_key. A
  // manager that does not know them, or answers as another league, has followed the one that gave them.
  async #register() {
    for (const refusals = []; ;) {
      const conversation = { conversation_id: "conv" + randomHex(16) };
      const fields = { player_meta: this.#meta, registration_nonce: this.#home.registration_nonce };
      const request = () => this.#message("LEAGUE_REGISTER_REQUEST", conversation, fields);
      const reply = await this.#ask("register_player", request).catch((why) => {
        if (why instanceof LeagueError) return { error_code: why.code, reason: why.message };
        throw why;
      });
      const isAccepted = ["ACCEPTED", "REGISTERED"].includes(reply.status);
      if (isAccepted && !this.#isOther(reply)) return this.#adopt(reply);
      refusals.unshift(plain([reply.error_code, reply.reason ?? reply.status].filter(Boolean).join(" ")));
      if (!isAccepted && (!this.id || !["E005", "E012"].includes(reply.error_code)))
        throw new LeagueError(`${shown(this.#managers[this.#current])} does not accept this bot: ` +
                              refusals.join("; before that: "), reply.error_code);
      this.#console.error(`${this.#name}: this league does not know ${this.id} of ${this.#store.place}`);
      this.#becomeNext();
    }
  }

  #isOther(reply) {
    const known = { ...this.#me, league_key: this.#home.league_key };
    const differs = (key) => known[key] && reply[key] && known[key] !== reply[key];
    return this.id && ["player_id", "league_id", "league_key"].some(differs);
  }

  #adopt(reply) {
    for (const key of ["player_id", "auth_token", "league_id"]) this.#me[key] = reply[key];
    for (const key of ["receipt_key", "league_key"]) if (reply[key]) this.#home[key] = reply[key];
    if (this.#game !== "even_odd" && isGame(reply.game, this.#game)) this.#definition = reply.game;
    this.#recall();
    this.#save();
    this.#tell("registered", { playerId: this.id, leagueId: reply.league_id });
    this.#console.log(`${this.#name}: registered as ${this.id} at ${shown(this.#managers[this.#current])}`);
  }

  async #query(type, params, call) {
    for (let left = 2; ; left -= 1) {
      const query = this.#message("LEAGUE_QUERY", call, { query_type: type, query_params: params });
      try {
        return await this.#post("league_query", query, 10_000);
      } catch (why) {
        if (!left || !(why instanceof Unreachable))
          return this.#complain(`${type}: ${plain(why.message)}`, type);
        await this.#pause(why.waitMs ?? 4 * this.#firstPause);
      }
    }
  }

  #dispute(call, reason) {  // goes to the manager and stays open
    this.#console.error(`${this.#name}: disputes ${plain(call.match_id)}: ${plain(reason)}`);
    this.#query("DISPUTE_MATCH", { match_id: call.match_id, reason: reason.slice(0, 500) }, call);
  }

  // --- Outward: the seat at the manager ------------------------------------------------------------------
  async #sit() {
    for (;;) {  // one session after the other
      const { session, wait_s = 25 } = await this.#openSeat();
      const seat = { session, answers: [], requests: new Set(), isOpen: true };
      this.#session = session;
      this.#recall();
      this.#catchUp();
      if (!this.#isSeated) this.#console.log(`${this.#name}: connected; waiting for matches`);
      this.#isSeated = true;
      while (seat.isOpen) {
        seat.isPolled = true;
        const calls = await this.#exchange(seat, Math.min(wait_s, kWait));
        seat.isPolled = false;
        // What is answered at once leaves with the next poll, so that a turn is one request.
        if (calls.length) await Promise.race([Promise.all(calls), this.#pause(this.#atOnce)]);
      }
    }
  }

  async #openSeat(hasRegistered = false) {
    try {
      return await this.#ask("open_seat", async () => {
        const timestamp = now(), nonce = randomHex(16);
        const proof = await hmac(this.#me.auth_token, "seat", timestamp, nonce);
        return { player_id: this.id, timestamp, nonce, proof };
      });
    } catch (why) {
      if (why.code === "E012" && !hasRegistered) {  // the manager has another league now
        await this.#register();
        return this.#openSeat(true);
      }
      if (why.rpcCode === -32601) why.message = "this manager has no seats; run with serve: PORT";
      if (why.code === "E021") why.message += "; is the clock of this machine right?";
      throw new LeagueError(`${shown(this.#managers[this.#current])}: ${why.message}`, why.code);
    }
  }

  // One await_calls. Gives a promise for each call that came, which is kept when its answer can be handed in.
  async #exchange(seat, waitS) {
    const handed = seat.answers.splice(0);
    try {
      const params = { session: seat.session, wait_s: waitS, answers: handed.map(({ frame }) => frame) };
      const reply = await this.#post("await_calls", params, 1000 * waitS + kWay, seat.requests);
      if (reply.ended === "taken_over") throw new LeagueError("", "E016");
      this.#succeeded(true);
      seat.hasWorked = true;
      for (const { key } of handed) this.#inHand.delete(key);
      return (reply.calls ?? []).map((call) => this.#take(seat, call));
    } catch (why) {
      if (!seat.isOpen) return [];  // another exchange has found out
      if (why.waitMs) {
        seat.answers.unshift(...handed);
        await this.#failed(why);
        return [];
      }
      seat.isOpen = false;
      for (const request of seat.requests) request.abort();
      if (why.code === "E016") {
        this.#finish(new LeagueError(`another program has connected as ${this.id}; this one stops`, "E016"));
        return [];
      }
      // The answer that is lost may have handed out calls, and only a new session is handed them again. After
      // a restart of the manager (E012) it is opened at once.
      if (why.code !== "E012" || !seat.hasWorked) await this.#failed(why);
      return [];
    }
  }

  // What a program of the same identity has promised until our session began, such as another tab.
  #recall() {
    try {
      const { me, home, matches = [] } = JSON.parse(this.#store.read() || "{}");
      const isOurs = me?.auth_token === this.#me.auth_token && home?.league_key === this.#home.league_key;
      for (const [id, theirs] of isOurs ? matches : [])
        if (theirs.nonce && !this.#matches.get(id)?.nonce) this.#matches.set(id, theirs);
    } catch { /* it has been read before */ }
  }

  #take(seat, { request, remaining_ms: remainingMs }) {  // the same bytes are answered once
    const key = JSON.stringify(request);
    if (!this.#inHand.has(key)) this.#inHand.set(key, this.#answer(request, remainingMs));
    if (this.#inHand.size > 100) this.#inHand.delete(this.#inHand.keys().next().value);
    return this.#inHand.get(key).then((frame) => {
      seat.answers.push({ key, frame });  // of a session that is lost: the next one is handed the call
      this.#flush(seat);
    });
  }

  async #flush(seat) {  // while a poll waits, an answer leaves at once; it makes the poll return
    if (seat.isFlushed) return;
    seat.isFlushed = true;
    while (seat.isOpen && seat.isPolled && seat.answers.length) await this.#exchange(seat, 0);
    seat.isFlushed = false;
  }

  // --- serve: the HTTP server ----------------------------------------------------------------------------
  async #listen(port, host = "127.0.0.1") {
    if (!isNode) throw new LeagueError("a page cannot be a server; leave `serve` out");
    const { createServer } = await import("node:http");
    const server = this.#server = createServer(async (request, response) => {
      const pieces = [];
      let size = 0, frame;
      try {
        for await (const piece of request) {
          if ((size += piece.length) > 4 << 20) return request.destroy();
          pieces.push(piece);
        }
        frame = JSON.parse(Buffer.concat(pieces).toString());
      } catch {
        if (request.destroyed && !request.complete) return undefined;  // the caller is gone
      }
      const body = JSON.stringify(await this.#answer(frame));
      return response.writeHead(200, { "Content-Type": "application/json" }).end(body);
    });
    server.keepAliveTimeout = 65_000;  // referees keep their connections for a minute
    await new Promise((resolve, reject) => {
      const failed = (why) => reject(new LeagueError(`cannot listen on port ${port}: ${why.message}`));
      const address = kLoopback.test(host) ? host : "0.0.0.0";
      if (!/^\d{1,5}$/.test(port) || port > 65535) failed(new Error("ports are numbers below 65536"));
      else server.once("error", failed).listen(+port, address, resolve);
    });
    return `http://${host}:${server.address().port}/mcp`;
  }

  // --- Calls ---------------------------------------------------------------------------------------------
  async #answer(frame, remainingMs) {  // to a parsed request; undefined stands for what is no JSON
    const head = { jsonrpc: "2.0", id: frame?.id ?? null };
    const error = (code, message, data) => ({ ...head, error: { code, message, data } });
    if (frame === undefined) return error(-32700, "Parse error");
    if (typeof frame?.method !== "string") return error(-32600, "Invalid Request");
    try {
      const [method, call] = route(frame);
      if (!Object.hasOwn(kRequired, method)) return error(-32601, "Method not found");
      const result = await this.#resultOf(method, call, remainingMs) ?? { status: "ok" };
      if (frame.method !== "tools/call") return { ...head, result };
      const content = [{ type: "text", text: JSON.stringify(result) }];
      return { ...head, result: { content, structuredContent: result } };
    } catch (why) {
      if (why instanceof Refused) return error(-32602, "Invalid params: " + why.message, why.data);
      return error(-32603, "Internal error");
    }
  }

  async #resultOf(method, call, remainingMs) {
    if (method === "ping") return undefined;
    await this.#registered;  // a call may overtake the answer to our registration
    if (method === "get_match_record") return this.#matchRecord(call);
    checkMessage(call, kRequired[method], this.#game);
    const isOfMatch = kRequired[method].includes("match_id");
    const attempt = isOfMatch ? await this.#attemptOf(call) : this.#checkManager(call);
    switch (method) {
      case "handle_game_invitation": return this.#playCall("JOIN", call, attempt, remainingMs);
      case "choose_parity": return this.#playCall("CHOICE", call, attempt, remainingMs);
      case "notify_match_result": return this.#gameOver(call);
      case "notify_round": return this.#announced(call);
      case "notify_round_completed": return this.#roundOver(call);
      case "notify_league_completed": return this.#leagueOver(call);
      case "update_standings": return this.#tableShown(call.standings);
      case "get_player_state": return { player_id: this.id };
      default: return this.#faultShown(call);  // notify_league_error, notify_game_error
    }
  }

  #checkManager({ auth_token: sent }) {  // it shows our own token
    if (!this.id || !isEqual(sent, this.#me.auth_token)) throw wrongToken(sent);
  }

  // A referee shows what only we and the manager can compute, which proves the attempt at the match; one of
  // another origin shows what the manager has announced.
  async #attemptOf({ match_id: id, auth_token: sent, context }) {
    const told = context?.attempt, mine = this.#matches.get(id), announced = mine?.credential ?? "match";
    const attempts = [told, ...Array.from({ length: 16 }, (_, i) => i + 1)];  // most likely what it says
    for (const attempt of this.id && sent ? attempts.filter((one) => one >= 1 && one <= 16) : [])
      if (isEqual(sent, await hmac(this.#me.auth_token, `${id}#${attempt}`))) return attempt;
    if (announced === "none" ? !sent : isEqual(announced, "token:" + await sha256(String(sent))))
      return told ?? mine.at?.[0] ?? 1;
    throw wrongToken(sent);
  }

  async #inTurn(id, work) {  // a repeated call waits for the first one, and gets the same promise
    const turn = (this.#turns.get(id) ?? Promise.resolve()).then(work);
    const end = turn.catch(() => {}).then(() => { if (this.#turns.get(id) === end) this.#turns.delete(id); });
    this.#turns.set(id, end);
    return turn;
  }

  // Answers a call of a match, with a receipt: only we and the manager can make one, so a referee cannot
  // report what we have not said. The calls are noted for get_match_record, which the manager asks if a
  // referee says that we have failed.
  async #playCall(kind, call, attempt, remainingMs) {
    const { match_id: id, context } = call, mine = this.#matchOf(id), begin = performance.now();
    const at = [attempt, context?.play ?? 0], time = timeFor(kind, call, remainingMs);
    const note = { message_type: call.message_type, attempt, play: at[1], at: now() };
    Object.assign(mine, { calls: [...mine.calls.slice(-31), note], until: Date.now() + time });
    try {
      if ((context?.attempt ?? attempt) !== attempt)
        throw new Refused("E023", "INVALID_FIELD_VALUE", "context/attempt", "not what the credential proves");
      return await this.#inTurn(id, async () => {
        const left = time - (performance.now() - begin);
        const [type, fields, said] = await (kind === "JOIN" ? this.#join(call, mine, at, left)
                                                            : this.#reveal(call, mine, at, left));
        const { receipt_key: key, league_key: league } = this.#home;
        if (key && context?.attempt)
          fields.receipt = await hmac(key, kind, league, id, ...at, mine.draw, ...said);
        const token = key && await hmac(this.#me.auth_token, "answer", `${id}#${attempt}`);
        Object.assign(note, fields, kind === "CHOICE" && { opponent_commitment: mine.handed });
        if (token) fields.auth_token = token;  // a referee never sees our own
        return this.#message(type, call, { ...fields, ...(kind === "JOIN" && { arrival_timestamp: now() }) });
      });
    } catch (why) {
      const code = why.data?.error_code;
      Object.assign(note, { refused: code ?? "E002", reason: why.message, caller_fault: Boolean(code) });
      throw why;
    } finally {
      const taken = Math.round(performance.now() - begin);
      Object.assign(note, { answered_at: now(), answer_ms: taken });
      if (taken >= (this.#playedBy ? time - kReserve : kLimits.JOIN)) mine.isSlow = true;
      this.#save();
    }
  }

  async #join(call, mine, at, left) {
    const { match_id: id, opponent_id: opponent, round_id: round, role_in_match: role } = call;
    const draw = call.draw_commitment ?? null;
    if (!draw && (mine.credential ?? "match") !== "match") mine.draw = null;  // it need not know the seed
    if ((mine.draw ??= draw) !== draw)
      throw new Refused("E040", "COMMITMENT_MISMATCH", "draw_commitment", "another seed was promised");
    if (mine.nonce && (at[0] - mine.at[0] || at[1] - mine.at[1]) < 0)
      throw new Refused("E033", "STALE_ATTEMPT", "context", "a later attempt has begun");
    if (!mine.nonce || (mine.shownAlone && String(at) !== String(mine.at))) {  // else the same promise again
      const choice = await this.#chosen(call, left);
      if (choice === null) return this.#miss(call, mine);
      Object.assign(mine, { choice, nonce: randomHex(32), handed: undefined, shownAlone: false });
    }
    Object.assign(mine, { at, opponent, round, isA: role === "PLAYER_A" });
    const text = [draw, id, this.#me.player_id, mine.choice, mine.nonce].join("|");
    const bound = draw ? { choice_commitment: await sha256(text) } : {};
    const { choice } = mine, { choice_commitment: commitment } = bound;
    this.#tell("committed", { id, opponent, round, choice, commitment });
    return ["GAME_JOIN_ACK", { accept: true, ...bound }, [true, bound.choice_commitment]];
  }

  #miss(call, mine) {  // nobody has chosen: no choice is made up, and no other match is to wait
    mine.isSlow = true;
    this.#save();
    this.#tell("missed", { id: call.match_id, opponent: call.opponent_id, round: call.round_id });
    this.leave();
    return new Promise(() => {});
  }

  async #reveal(call, mine, at, left) {
    const theirs = call.context?.opponent_commitment ?? null;
    if (String(at) !== String(mine.at) && (mine.nonce || this.#home.receipt_key))
      throw new Refused("E031", "MATCH_NOT_OPEN", "context", "I was not invited to this attempt");
    mine.choice ??= await this.#chosen(call, left);  // without an invitation we are bound to nothing
    if (mine.choice === null) throw new Refused("E031", "MATCH_NOT_OPEN", "match_id", "nobody has chosen");
    if (mine.handed === undefined) mine.handed = theirs;
    if (mine.handed !== theirs) {
      this.#dispute(call, "I was handed two commitments of my opponent");
      throw new Refused("E040", "COMMITMENT_MISMATCH", "context/opponent_commitment", "it was another one");
    }
    mine.shownAlone = !theirs;  // then the next attempt at this match needs a fresh choice
    const opened = mine.draw && mine.nonce ? { choice_nonce: mine.nonce } : {};
    const said = [mine.choice, opened.choice_nonce, theirs];
    return ["CHOOSE_PARITY_RESPONSE", { parity_choice: mine.choice, ...opened }, said];
  }

  // Asks the author's function. Whatever it does, the answer is a word of the game, and in time; of a person
  // null, if there is none.
  async #chosen(call, left) {
    const told = call.context?.game?.choices ?? this.#definition?.choices;
    const begin = performance.now(), { history } = this;
    const isUsable = Array.isArray(told) && told.length && told.every((one) => /^[^|]+$/.test(one));
    const choices = isUsable ? [...told] : [...(this.#definition?.choices ?? [])];
    const opponent = call.opponent_id ?? call.context?.opponent_id ?? null;
    const meetings = history.filter((one) => one.opponent === opponent);
    const match = { id: call.match_id, playerId: this.id, opponent, round: call.round_id ?? null, choices,
                    standings: this.standings, history, meetings, call, deadline: new Date(Date.now() + left),
                    get secondsLeft() { return Math.max(0, left - (performance.now() - begin)) / 1000; } };
    const late = {};
    let fault, timer;
    try {
      const most = this.#playedBy ? Math.max(0.8 * left, left - kReserve) : 0.8 * left;
      const end = new Promise((resolve) => { timer = setTimeout(resolve, most, late); });
      timer.unref?.();  // Node.js: it keeps no program running
      const word = await Promise.race([(async () => this.#choose(match))(), end]);
      if (choices.includes(word)) return word;
      fault = `choose() ${word === late ? "did not answer in time" : "gave " + plain(JSON.stringify(word))}`;
    } catch (why) {
      fault = `choose() failed: ${why?.stack ?? why}`;
    } finally {
      clearTimeout(timer);
    }
    if (this.#playedBy) return null;
    this.#complain(`${fault}; the bot plays "${choices[0]}", the first of ${choices.join(", ")}`);
    return choices[0];
  }

  #matchRecord(call) {
    this.#checkManager(call ?? {});
    const calls = this.#matches.get(call.match_id)?.calls ?? [];
    return { match_id: call.match_id, player_id: this.id, calls };
  }

  // --- Results -------------------------------------------------------------------------------------------
  async #judge(call, mine) {  // does it follow from the promised seed and from what both are bound to?
    const { choice_commitments: bound, choice_nonces: nonces, draw_proof: seed, match_id: id } = call;
    const { choices, drawn_number: drawn, winner_player_id: won } = call.game_result, self = this.id;
    const order = mine.isA ? [self, mine.opponent] : [mine.opponent, self];
    const assert = (isTrue, text) => { if (!isTrue) throw new Error(text); };
    assert(mine.nonce && mine.handed !== undefined, "I was not asked for a choice");
    assert(await sha256(unhex(seed), id) === mine.draw, "another seed was promised");
    assert(choices[self] === mine.choice && nonces[self] === mine.nonce, "I did not choose that");
    assert((bound[mine.opponent] ?? null) === mine.handed, "the opponent's commitment is another one");
    for (const one of new Set([self, ...Object.keys(bound)])) {
      const opened = await sha256([mine.draw, id, one, choices[one], nonces[one]].join("|"));
      assert(opened === bound[one], `the commitment of ${one} is not opened`);
    }
    const used = order.map((one) => (one in bound ? nonces[one] : ""));
    const game = this.#definition, chosen = order.map((one) => choices[one]);
    if (!game) return;  // its manager has not said what follows from the choices
    const number = game.drawn ? await drawNumber(seed, [id, ...chosen, ...used], game.drawn.length) : null;
    const [a, b] = scoreOf(game, chosen, game.drawn?.[number - 1]);
    const winner = a === b ? null : order[a > b ? 0 : 1];
    assert(drawn === number && won === winner, `the number is ${number}, ${winner} won`);
    return { seed, promise: mine.draw, number, commitments: bound, nonces };
  }

  async #gameOver(call) {
    const mine = this.#matches.get(call.match_id), { status, winner_player_id: winner } = call.game_result;
    let proof;  // of what has been found to follow
    try {
      if (status !== "TECHNICAL_LOSS") {
        if (mine?.draw) proof = await this.#judge(call, mine);
      } else if (mine && !mine.isOver && winner !== this.id) {
        this.#disputeLoss(call, mine);
      }
    } catch (why) {
      this.#dispute(call, why.message);
      throw new Refused("E035", "INVALID_RESULT", "game_result", "it does not follow: " + why.message);
    }
    if (mine && !mine.isOver) this.#remember(call, mine, proof);
  }

  #disputeLoss(call, mine) {  // if all that we were asked has been answered in time, or still can be
    const slowest = Math.max(0, ...mine.calls.map((one) => one.answer_ms ?? Infinity));
    const last = mine.calls.at(-1), left = mine.until - Date.now();
    if (!this.#home.receipt_key || mine.isSlow) return;
    if (last && last.answer_ms === undefined && left > kReserve)
      this.#dispute(call, `I still had ${left} ms to answer ${last.message_type}`);
    else if (slowest < Infinity)
      this.#dispute(call, `I got ${mine.calls.length} calls and answered each within ${slowest} ms`);
  }

  #remember(call, mine, proof) {
    const { status, winner_player_id: winner, drawn_number: number = null } = call.game_result;
    const choices = call.game_result.choices ?? {}, technical = status === "TECHNICAL_LOSS";
    const opponent = mine.opponent ?? Object.keys(choices).find((one) => one !== this.id) ?? null;
    const outcome = winner === this.id ? "win" : winner || technical ? "loss" : "draw";
    const result = { id: call.match_id, round: mine.round ?? call.round_id ?? null, opponent,
                     choice: choices[this.id] ?? null, opponentChoice: choices[opponent] ?? null, number,
                     outcome, technical };
    mine.isOver = true;  // GAME_OVER can come twice
    this.#own.history = [...this.#own.history, result].slice(-kKeptResults);
    this.#rest = null;
    this.#save();
    this.#tell("result", { result, proof });
    const failed = (why) => this.#complain(`onResult() failed: ${why?.stack ?? why}`);
    for (const listener of this.#listeners) Promise.resolve(result).then(listener).catch(failed);
  }

  #announced(call) {  // the manager promises the seed of each match, and says how its referee is known
    for (const one of Array.isArray(call.matches) ? call.matches : []) {
      if (![one?.player_A_id, one?.player_B_id].includes(this.id)) continue;
      const mine = this.#matchOf(one.match_id);
      if (one.draw_commitment) mine.draw ??= one.draw_commitment;
      Object.assign(mine, { credential: one.referee_credential, round: call.round_id });
    }
    this.#save();
    this.#tell("round", { round: call.round_id });
  }

  #roundOver(call) {
    this.#lookUp(([, mine]) => mine.round === call.round_id && !mine.isOver, call);
  }

  // After a restart of the manager, or a sleep of ours, GAME_OVER may have passed us by.
  #catchUp() {
    const call = { conversation_id: "conv" + randomHex(16) };
    this.#lookUp(([, mine]) => mine.nonce && !mine.isOver, call);
  }

  #lookUp(isMissing, call) {  // how did the matches end of which we got no GAME_OVER?
    const missing = () => [...this.#matches].filter(isMissing);
    if (!missing().length || !this.#home.receipt_key) return;
    this.#pause(4 * this.#firstPause).then(async () => {  // it may be on its way
      if (!missing().length) return;
      const { data } = await this.#query("GET_PLAYER_STATS", { player_id: this.id }, call) ?? {};
      for (const { match_id: id, result, termination } of data?.matches ?? []) {
        const mine = missing().find(([one]) => one === id)?.[1];
        if (!mine) continue;
        const isTechnical = termination !== "NORMAL";
        if (result === "LOSS" && isTechnical) this.#disputeLoss({ ...call, match_id: id }, mine);
        const winner = { WIN: this.id, LOSS: mine.opponent ?? "another" }[result] ?? null;
        const status = isTechnical ? "TECHNICAL_LOSS" : result;
        const choices = { [this.id]: mine.choice };
        const about = { match_id: id, round_id: mine.round };
        this.#remember({ ...about, game_result: { status, winner_player_id: winner, choices } }, mine);
      }
    }).catch(() => {});  // an answer of another form
  }

  #tableShown(rows) {
    if (!Array.isArray(rows)) return;
    this.#standings = rows;
    this.#tell("standings", { standings: rows });
  }

  #leagueOver(call) {
    this.#tableShown(call.final_standings);
    const { display_name: name, player_id: id } = call.champion ?? {};
    this.#tell("over", { champion: call.champion ?? null });
    this.#console.log(`${this.#name}: the league is over; the champion is ${plain(name ?? id)}`);
  }

  #faultShown({ error_code: code, error_description: text, action_required: action }) {  // each code once
    const parts = [code, text, action].filter(Boolean);
    this.#tell("told", { code, text: plain(text ?? "") });
    this.#complain("the league says: " + plain(parts.join(" ")), "says " + code);
  }
}
