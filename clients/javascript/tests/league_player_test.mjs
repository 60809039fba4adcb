// Run with: node --test
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { webcrypto } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { LeagueError, Player } from "../league_player.js";
import { FakeManager, hmac, Lines, sha256 } from "./fake_manager.js";

const folder = mkdtempSync(join(tmpdir(), "league-player-"));
after(() => rmSync(folder, { recursive: true }));
let files = 0;

/** A bot at a manager, connected; whatever the test does, both end with it. */
async function connected(t, { choose = () => "even", manager, run = {}, data, game, about = {} } = {}) {
  manager ??= await new FakeManager().start();
  const lines = new Lines();
  const events = [];
  const bot = new Player("my-bot", { console: lines, firstPause: 1, game, ...about }).choose(choose);
  bot.onEvent((event) => events.push(event));
  const options = { data: data ?? join(folder, `bot${(files += 1)}.json`), ...run };
  const ended = bot.run(manager.url, options);
  ended.catch(() => {});
  t.after(async () => {
    bot.stop();
    if (manager.server.listening) await manager.stop();
  });
  await manager.until(() => manager.isPolled() || run.serve !== undefined);
  return { bot, manager, lines, ended, events, data: options.data };
}

const invite = (manager, match, fields) =>
  manager.call("handle_game_invitation", manager.invitation(match, fields));
const ask = (manager, match, theirs, context) =>
  manager.call("choose_parity", manager.choiceCall(match, theirs, context));

async function played(manager, match, theirs) {
  await invite(manager, match);
  const { result } = await ask(manager, match, manager.commitmentOf(match, theirs));
  return manager.gameOver(match, result, theirs);
}

// --- A match ---------------------------------------------------------------------------------------------
test("registers for calls at its seat", async (t) => {
  const { manager, bot, lines } = await connected(t, { run: { code: "alpha-7f3k" } });
  const [{ method, params }] = manager.requests;
  assert.equal(method, "register_player");
  assert.equal(params.message_type, "LEAGUE_REGISTER_REQUEST");
  assert.equal(params.sender, "player:my_bot");
  assert.match(params.registration_nonce, /^[0-9a-f]{32}$/);
  assert.equal(params.auth_token, undefined);
  assert.deepEqual(params.player_meta, { display_name: "my-bot", version: "1.0.0", game_types: ["even_odd"],
    receipts: true, protocol_version: "2.1.0", contact_endpoint: "outward",
    registration_code: "alpha-7f3k" });
  assert.equal(bot.id, "P07");
  assert.deepEqual(lines.lines, [`my-bot: registered as P07 at ${manager.url}/mcp`,
                                 "my-bot: connected; waiting for matches"]);
});

test("commits, reveals, gives receipts and never shows its token", async (t) => {
  const { manager, bot } = await connected(t, { choose: () => "odd" });
  const { result: ack } = await invite(manager, "R1M1");
  assert.equal(ack.message_type, "GAME_JOIN_ACK");
  assert.equal(ack.accept, true);
  assert.equal(ack.conversation_id, "conv1");
  assert.equal(ack.auth_token, hmac(manager.token, "answer", "R1M1#1"));
  const theirs = manager.commitmentOf("R1M1", "even");
  const { result: own } = await ask(manager, "R1M1", theirs);
  assert.equal(own.parity_choice, "odd");
  assert.match(own.choice_nonce, /^[0-9a-f]{64}$/);
  const draw = manager.draw("R1M1");
  assert.equal(ack.choice_commitment, sha256([draw, "R1M1", "P07", "odd", own.choice_nonce].join("|")));
  const about = [manager.leagueKey, "R1M1", 1, 0, draw];
  assert.equal(ack.receipt, hmac(manager.receiptKey, "JOIN", ...about, true, ack.choice_commitment));
  assert.equal(own.receipt, hmac(manager.receiptKey, "CHOICE", ...about, "odd", own.choice_nonce, theirs));
  assert.ok(!JSON.stringify([ack, own]).includes(manager.token));

  const results = [];
  bot.onResult((result) => results.push(result));
  const over = manager.gameOver("R1M1", own, "even");
  assert.deepEqual((await manager.call("notify_match_result", over)).result, { status: "ok" });
  await manager.call("notify_match_result", over);  // GAME_OVER can come twice
  const { drawn_number: number, winner_player_id: winner } = over.game_result;
  assert.deepEqual(results, [{ id: "R1M1", round: 1, opponent: "P02", choice: "odd", opponentChoice: "even",
                               number, outcome: winner === "P07" ? "win" : "loss", technical: false }]);
  assert.deepEqual(bot.history, results);
  assert.equal(manager.queries.length, 0);
});

test("a repeated invitation gets the same promise, an attempt after a lone reveal another one", async (t) => {
  const { manager } = await connected(t);
  const first = await invite(manager, "R1M1");
  assert.equal((await invite(manager, "R1M1")).result.choice_commitment, first.result.choice_commitment);
  await ask(manager, "R1M1", undefined);  // the opponent has not committed
  const later = await invite(manager, "R1M1", { context: { attempt: 2, play: 0 } });
  assert.notEqual(later.result.choice_commitment, first.result.choice_commitment);
  const stale = await invite(manager, "R1M1");
  assert.equal(stale.error.data.error_code, "E033");
});

test("another game is judged by the definition that comes with the registration", async (t) => {
  const fake = await new FakeManager().start();
  fake.game = JSON.parse(readFileSync(new URL("../../../games/rock_paper_scissors.json", import.meta.url)));
  const choose = ({ choices }) => choices[1];
  const { manager } = await connected(t, { choose, manager: fake, game: "rock_paper_scissors" });
  const undrawn = { drawn_number: null, number_parity: null };
  for (const [match, fields, isTrue] of [["R1M1", { status: "DRAW", winner_player_id: null }, false],
    ["R2M1", { status: "WIN", winner_player_id: "P02" }, false], ["R3M1", { status: "WIN", winner_player_id: "P07" }, true]]) {
    const over = await played(manager, match, "rock");
    Object.assign(over.game_result, undrawn, fields);
    assert.equal(over.game_result.choices.P07, "paper");
    const answer = await manager.call("notify_match_result", over);
    assert.equal("result" in answer, isTrue, "paper beats rock");
  }
});

test("Even/Odd is what it was, whatever the manager says", async (t) => {
  const fake = await new FakeManager().start();
  const evenOdd = JSON.parse(readFileSync(new URL("../../../games/even_odd.json", import.meta.url)));
  fake.game = { ...evenOdd, drawn: ["odd", "odd"] };
  const { manager } = await connected(t, { manager: fake });
  assert.ok("result" in await manager.call("notify_match_result", await played(manager, "R1M1", "odd")));
});

for (const size of [0, 1, 101])
  test(`a game that draws one of ${size} numbers is none`, async (t) => {
    const fake = await new FakeManager().start();
    const evenOdd = JSON.parse(readFileSync(new URL("../../../games/even_odd.json", import.meta.url)));
    fake.game = { ...evenOdd, game_type: "coins", drawn: Array(size).fill("odd") };
    const { manager } = await connected(t, { manager: fake, game: "coins", choose: () => "odd" });
    const over = await played(manager, "R1M1", "odd");
    assert.ok("result" in await manager.call("notify_match_result", over), "it cannot be judged");
  });

test("choose is told about the match", async (t) => {
  let told;
  const { manager } = await connected(t, { choose: (match) => { told = match; return "scissors"; } });
  const rows = [{ rank: 1, player_id: "P07", points: 3 }];
  await manager.call("update_standings", manager.message("LEAGUE_STANDINGS_UPDATE", { standings: rows }));
  const game = { choices: ["rock", "paper", "scissors"] };
  const begin = Date.now();
  const request = manager.invitation("R1M1", { context: { attempt: 1, game } });
  await manager.call("handle_game_invitation", request, { remainingMs: 4000 });
  assert.equal((await ask(manager, "R1M1", undefined)).result.parity_choice, "scissors");
  const { id, playerId, opponent, round, choices, standings, history, meetings, call } = told;
  assert.deepEqual({ id, playerId, opponent, round, choices, standings, history, meetings },
    { id: "R1M1", playerId: "P07", opponent: "P02", round: 1, choices: game.choices, standings: rows,
      history: [], meetings: [] });
  assert.deepEqual(call, request);
  assert.ok(told.deadline instanceof Date && Math.abs(told.deadline - begin - 4000) < 1000);
  assert.ok(told.secondsLeft > 2 && told.secondsLeft <= 4);
});

test("a choose that fails is said once, and the first choice is played", async (t) => {
  const { manager, lines } = await connected(t, { choose: () => { throw new Error("no idea"); } });
  for (const match of ["R1M1", "R2M1"]) {
    await invite(manager, match);
    assert.equal((await ask(manager, match, undefined)).result.parity_choice, "even");
  }
  assert.equal(lines.errors.length, 1);
  assert.match(lines.errors[0], /^my-bot: choose\(\) failed: Error: no idea\n[^]*_test[^]*plays "even"/);
});

for (const [what, word] of [["another word", "Even"], ["nothing", undefined], ["a number", 7]])
  test(`a choose that gives ${what} plays the first choice`, async (t) => {
    const { manager, lines } = await connected(t, { choose: async () => word });
    await invite(manager, "R1M1");
    assert.equal((await ask(manager, "R1M1", undefined)).result.parity_choice, "even");
    assert.deepEqual(lines.errors, [`my-bot: choose() gave ${JSON.stringify(word)}; ` +
                                    'the bot plays "even", the first of even, odd']);
  });

test("a choose that does not answer is not waited for", async (t) => {
  const { manager, lines } = await connected(t, { choose: () => new Promise(() => {}) });
  const request = manager.invitation("R1M1");
  const { result } = await manager.call("handle_game_invitation", request, { remainingMs: 20 });
  assert.equal(result.accept, true);
  assert.match(lines.errors[0], /did not answer in time; the bot plays "even"/);
});

// --- What is refused -------------------------------------------------------------------------------------
const refused = {
  "another seed than the announced one": ["E040", async (manager) => {
    const matches = [{ match_id: "R1M1", player_A_id: "P07", player_B_id: "P02",
                       draw_commitment: "1".repeat(64) }];
    await manager.call("notify_round", manager.message("ROUND_ANNOUNCEMENT", { matches }));
    return invite(manager, "R1M1");
  }],
  "a second commitment of the opponent": ["E040", async (manager) => {
    await invite(manager, "R1M1");
    await ask(manager, "R1M1", "a".repeat(64));
    return ask(manager, "R1M1", "b".repeat(64));
  }],
  "a call without invitation": ["E031", (manager) => ask(manager, "R1M1", undefined)],
  "another attempt than the credential's": ["E023", (manager) =>
    invite(manager, "R1M1", { auth_token: hmac(manager.token, "R1M1#2") })],
  "a stranger": ["E012", (manager) => invite(manager, "R1M1", { auth_token: "tok_other" })],
  "our own token from a referee": ["E012", (manager) =>
    invite(manager, "R1M1", { auth_token: manager.token })],
  "nobody's call": ["E011", (manager) => invite(manager, "R1M1", { auth_token: undefined })],
  "local time": ["E021", (manager) => invite(manager, "R1M1", { timestamp: "2026-01-15T10:30:00+02:00" })],
  "30 February": ["E021", (manager) => invite(manager, "R1M1", { timestamp: "2026-02-30T10:30:00Z" })],
  "another protocol": ["E018", (manager) => invite(manager, "R1M1", { protocol: "league.v3" })],
  "a missing field": ["E003", (manager) => invite(manager, "R1M1", { opponent_id: null })],
  "the record without our token": ["E012", (manager) =>
    manager.call("get_match_record", { match_id: "R1M1", auth_token: "tok_other" })],
};
for (const [what, [code, attempt]] of Object.entries(refused))
  test("refuses " + what, async (t) => {
    const { manager } = await connected(t);
    const { error } = await attempt(manager);
    assert.equal(error.code, -32602);
    assert.equal(error.data.error_code, code);
  });

test("lists its calls, and no choice that is not revealed", async (t) => {
  const { manager } = await connected(t, { choose: () => "odd" });
  await invite(manager, "R1M1");
  const record = async () =>
    (await manager.call("get_match_record", { match_id: "R1M1", auth_token: manager.token })).result;
  assert.ok(!JSON.stringify(await record()).includes("odd"));
  const { result: own } = await ask(manager, "R1M1", undefined);
  const { calls, player_id: id } = await record();
  assert.equal(id, "P07");
  assert.deepEqual(calls.map((one) => one.message_type), ["GAME_INVITATION", "CHOOSE_PARITY_CALL"]);
  assert.equal(calls[1].receipt, own.receipt);
  assert.ok(Date.parse(calls[1].answered_at) >= Date.parse(calls[0].at));
});

test("a referee of another origin is known by what the manager announced", async (t) => {
  const { manager } = await connected(t);
  const matches = [{ match_id: "R1M1", player_A_id: "P07", player_B_id: "P02",
                     draw_commitment: manager.draw("R1M1"),
                     referee_credential: "token:" + sha256("tok_ref09") }];
  await manager.call("notify_round", manager.message("ROUND_ANNOUNCEMENT", { matches }));
  const shown = { auth_token: "tok_ref09", draw_commitment: undefined, context: undefined };
  const { result } = await invite(manager, "R1M1", shown);
  assert.equal(result.accept, true);
  assert.equal(result.choice_commitment, undefined);  // nothing was promised to commit to
  assert.equal((await invite(manager, "R2M1", shown)).error.data.error_code, "E012");
});

test("understands other names of its methods", async (t) => {
  const { manager } = await connected(t);
  const plain = await manager.call("GAME_INVITATION", manager.invitation("R1M1"));
  assert.equal(plain.result.accept, true);
  const wrapped = await manager.call("handle_message", { message: manager.invitation("R1M1") });
  assert.equal(wrapped.result.accept, true);
  const named = { name: "handle_game_invitation", arguments: manager.invitation("R1M1") };
  const { result } = await manager.call("tools/call", named);
  assert.equal(JSON.parse(result.content[0].text).accept, true);
  assert.equal((await manager.call("toString", {})).error.code, -32601);
});

// --- Results ---------------------------------------------------------------------------------------------
const own = (over) =>
  ({ parity_choice: over.game_result.choices.P07, choice_nonce: over.choice_nonces.P07 });
const falsified = {
  "another number": (over) => { over.game_result.drawn_number = (over.game_result.drawn_number % 10) + 1; },
  "another winner": (over) => { over.game_result.winner_player_id = "P09"; },
  "another seed": (over) => { over.draw_proof = "6e".repeat(32); },
  "another choice of mine": (over) => { over.game_result.choices.P07 = "odd"; },
  "another commitment of the opponent": (over) => { over.choice_commitments.P02 = "0".repeat(64); },
  "a seed that was not promised": (over, manager) =>
    Object.assign(over, manager.gameOver("R1M1", own(over), "odd", {}, "6e".repeat(32))),
  "a choice that the opponent was not bound to": (over, manager) =>
    Object.assign(over, manager.gameOver("R1M1", own(over), "even")),
  "no choices": (over) => { delete over.game_result.choices; },
};
for (const [what, change] of Object.entries(falsified))
  test(`disputes a result with ${what}`, async (t) => {
    const { manager, bot } = await connected(t);
    const over = await played(manager, "R1M1", "odd");
    change(over, manager);
    const { error } = await manager.call("notify_match_result", over);
    assert.equal(error.data.error_code, "E035");
    await manager.until(() => manager.queries.length);
    const [{ query_type: type, query_params: params, auth_token: token }] = manager.queries;
    assert.deepEqual([type, params.match_id, token], ["DISPUTE_MATCH", "R1M1", manager.token]);
    assert.deepEqual(bot.history, []);
  });

const lost = { status: "TECHNICAL_LOSS", winner_player_id: "P02", drawn_number: null, choices: null };

test("disputes a technical loss after it has answered in time", async (t) => {
  const { manager, bot } = await connected(t);
  const over = await played(manager, "R1M1", "odd");
  await manager.call("notify_match_result", { ...over, game_result: lost });
  await manager.until(() => manager.queries.length);
  assert.match(manager.queries[0].query_params.reason, /^I got 2 calls and answered each within \d+ ms$/);
  assert.equal(bot.history[0].outcome, "loss");
  assert.equal(bot.history[0].technical, true);
});

test("disputes a technical loss that is told before its time is over", async (t) => {
  const { manager } = await connected(t, { choose: () => new Promise(() => {}), about: { playedBy: "person" } });
  manager.call("handle_game_invitation", manager.invitation("R1M1"), { remainingMs: 20_000 });
  const record = { match_id: "R1M1", auth_token: manager.token };
  const noted = async () => (await manager.call("get_match_record", record)).result;
  while (!(await noted()).calls.length);
  await manager.call("notify_match_result", { ...manager.message("GAME_OVER", { match_id: "R1M1" }), game_result: lost });
  await manager.until(() => manager.queries.length);
  assert.match(manager.queries[0].query_params.reason, /^I still had 19\d\d\d ms to answer GAME_INVITATION$/);
});

test("asks how a match ended of which it got no result, and disputes", async (t) => {
  const { manager } = await connected(t);
  await played(manager, "R1M1", "odd");
  manager.played = [{ match_id: "R1M1", result: "LOSS", termination: "TIMEOUT" }];
  await manager.call("notify_round_completed", manager.message("ROUND_COMPLETED", {}));
  await manager.until(() => manager.queries.length === 2);
  assert.deepEqual(manager.queries.map((one) => one.query_type), ["GET_PLAYER_STATS", "DISPUTE_MATCH"]);
});

test("an onResult that fails is said", async (t) => {
  const { manager, bot, lines } = await connected(t);
  bot.onResult(async () => { throw new Error("no paper"); });
  await manager.call("notify_match_result", await played(manager, "R1M1", "odd"));
  assert.match(lines.errors[0], /onResult\(\) failed: Error: no paper/);
});

test("says what the league says, each fault once", async (t) => {
  const { manager, lines } = await connected(t);
  const text = { error_code: "E094", error_description: "SUSPENDED\u001b[2J" };
  const fault = manager.message("LEAGUE_ERROR", text);
  for (let i = 0; i < 2; i += 1) await manager.call("notify_league_error", fault);
  const champion = { player_id: "P02", display_name: "clever" };
  await manager.call("notify_league_completed", manager.message("LEAGUE_COMPLETED", { champion }));
  assert.deepEqual(lines.errors, ["my-bot: the league says: E094 SUSPENDED [2J"]);
  assert.equal(lines.lines.at(-1), "my-bot: the league is over; the champion is clever");
});

// --- The seat --------------------------------------------------------------------------------------------
test("an answer that is ready while a poll waits leaves at once", async (t) => {
  let decide;
  const { manager } = await connected(t, { choose: () => new Promise((resolve) => { decide = resolve; }) });
  const answer = invite(manager, "R1M1");
  await manager.until(() => manager.counted("await_calls") === 2 && manager.isPolled());
  decide("odd");
  assert.equal((await answer).result.accept, true);
  await manager.until(() => manager.counted("await_calls") === 4);
  const polls = manager.requests.filter((one) => one.method === "await_calls").map((one) => one.params);
  assert.deepEqual(polls.map((one) => [one.wait_s, one.answers.length]), [[3, 0], [3, 0], [0, 1], [3, 0]]);
});

test("what is answered at once leaves with the next poll", async (t) => {
  const { manager } = await connected(t, { about: { atOnce: 60_000 } });
  await invite(manager, "R1M1");
  await manager.until(() => manager.isPolled());
  const polls = manager.requests.filter((one) => one.method === "await_calls").map((one) => one.params);
  assert.deepEqual(polls.map((one) => [one.wait_s, one.answers.length]), [[3, 0], [3, 1]]);
});

test("a slow choice delays no other match", async (t) => {
  const choose = ({ id }) => (id === "R1M1" ? new Promise(() => {}) : "odd");
  const { manager } = await connected(t, { choose });
  const slow = invite(manager, "R1M1");
  assert.equal((await invite(manager, "R2M1")).result.accept, true);
  assert.equal(await Promise.race([slow, "waiting"]), "waiting");
});

test("stops when another program connects as the same player", async (t) => {
  const { manager, ended, lines } = await connected(t);
  manager.takeOver();
  await assert.rejects(ended, (why) => why instanceof LeagueError && why.code === "E016" &&
    why.message === "another program has connected as P07; this one stops");
  assert.deepEqual(lines.errors, []);
});

test("stops when its session was taken over between two polls", async (t) => {
  let decide;
  const choose = () => new Promise((resolve) => { decide = resolve; });
  const { manager, ended } = await connected(t, { choose });
  void invite(manager, "R1M1");
  await manager.until(() => manager.counted("await_calls") === 2);
  [manager.taken, manager.session] = [manager.session, null];
  decide("odd");
  await assert.rejects(ended, { code: "E016" });
});

test("opens a new session when its own is not known, without a word", async (t) => {
  const { manager, lines } = await connected(t);
  manager.session = null;
  const answer = invite(manager, "R1M1");  // the poll that waits returns; the next one gets E012
  await manager.until(() => manager.sessions === 2);
  assert.equal((await answer).result.accept, true);
  assert.deepEqual(lines.errors, []);
});

test("a call whose delivery was lost is handed out again, and chosen once", async (t) => {
  let choices = 0;
  const { manager, lines } = await connected(t, { choose: () => { choices += 1; return "odd"; } });
  manager.refusals = [(method, params, response) => {  // the answer of the player is lost on its way
    response.destroy();
    return "done";
  }];
  assert.equal((await invite(manager, "R1M1")).result.accept, true);
  assert.equal(choices, 1);
  assert.equal(manager.sessions, 2);
  assert.equal(lines.errors.length, 1);
  const asked = { match_id: "R1M1", auth_token: manager.token };
  assert.equal((await manager.call("get_match_record", asked)).result.calls.length, 1);
});

test("an answer whose way is broken while a poll waits goes another way", async (t) => {
  let decide;
  const { manager } = await connected(t, { choose: () => new Promise((resolve) => { decide = resolve; }) });
  const answer = invite(manager, "R1M1");
  await manager.until(() => manager.counted("await_calls") === 2 && manager.isPolled());
  manager.refusals = [(method, params, response) => {
    assert.equal(params.wait_s, 0);
    response.destroy();
    return "done";
  }];
  decide("odd");
  assert.equal((await answer).result.accept, true);
  assert.equal(manager.sessions, 2);
});

test("a network that is gone shows after seven seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { manager, lines } = await connected(t);
  t.mock.timers.tick(6_999);
  await new Promise(setImmediate);
  assert.deepEqual(lines.errors, []);
  t.mock.timers.tick(1);
  while (!lines.errors.length) await new Promise(setImmediate);
  assert.match(lines.errors[0], /: no answer within 7 s; trying again/);
  t.mock.timers.tick(1);  // the first pause
  await manager.until(() => manager.sessions === 2 && manager.isPolled());
});

test("outlives a restart of the manager", async (t) => {
  const { manager, lines } = await connected(t);
  const port = manager.port;
  await manager.stop();
  while (!lines.errors.length) await new Promise(setImmediate);
  await manager.start(port);
  await manager.until(() => manager.isPolled());
  assert.equal(lines.lines.at(-1), `my-bot: ${manager.url}/mcp answers`);
  assert.equal((await invite(manager, "R1M1")).result.accept, true);
  assert.equal(manager.counted("register_player"), 1);
  assert.equal(lines.errors.length, 1);
  assert.ok(lines.errors[0].startsWith(`my-bot: ${manager.url}/mcp: `));
  assert.ok(lines.errors[0].endsWith("; trying again until a manager answers"));
});

test("waits for a manager that does not run yet, and says so once, without a stack", async (t) => {
  const probe = await new FakeManager().start();
  await probe.stop();
  const lines = new Lines();
  const bot = new Player("my-bot", { console: lines, firstPause: 1 }).choose(() => "even");
  t.after(() => bot.stop());
  void bot.run(probe.url, { data: join(folder, "late.json") });
  while (!lines.errors.length) await new Promise(setImmediate);
  await probe.start(probe.port);
  t.after(() => probe.stop());
  await probe.until(() => probe.isPolled());
  assert.equal(lines.errors.length, 1);
  assert.match(lines.errors[0], /ECONNREFUSED/);
  assert.ok(!lines.errors[0].includes("\n"));
});

test("takes the next address when one cannot be reached", async (t) => {
  const [one, other] = [await new FakeManager().start(), await new FakeManager().start()];
  other.token = one.token;  // the stand-in of the first
  one.url = `${one.url}, ${other.url}/mcp`;
  const { manager } = await connected(t, { manager: one });
  t.after(() => other.stop());
  await manager.stop();
  await other.until(() => other.isPolled());
  assert.equal((await invite(other, "R1M1")).result.accept, true);
});

test("waits as long as a manager says, and loses no answer", async (t) => {
  const { manager, lines } = await connected(t);
  manager.refusals = [(method, params, response) => {
    response.writeHead(429, { "Retry-After": "7" }).end(JSON.stringify({ jsonrpc: "2.0", id: 1,
      error: { code: -32603, message: "too often", data: { error_code: "E091", retry_after_ms: 5 } } }));
    return "done";
  }];
  assert.equal((await invite(manager, "R1M1")).result.accept, true);
  assert.equal(manager.sessions, 1);
  assert.deepEqual(lines.errors, ["my-bot: the manager says that this bot asks too often"]);
});

test("a proxy's page is no answer", async (t) => {
  const { manager, lines } = await connected(t);
  manager.refusals = [(method, params, response) => {
    response.writeHead(502, { "Content-Type": "text/html" }).end("<h1>Bad gateway</h1>");
    return "done";
  }];
  assert.equal((await invite(manager, "R1M1")).result.accept, true);
  assert.match(lines.errors[0], /HTTP 502 without an answer of a league manager/);
});

test("stop() ends run()", async (t) => {
  const { bot, ended } = await connected(t);
  bot.stop();
  await ended;
});

// --- Identity --------------------------------------------------------------------------------------------
test("comes back as who it was, with what it has promised", async (t) => {
  const first = await connected(t, { choose: () => "odd" });
  const { manager, data } = first;
  assert.equal(statSync(data).mode & 0o777, 0o600);
  const { result: ack } = await invite(manager, "R1M1");
  first.bot.stop();
  await first.ended;
  const second = await connected(t, { manager, data });  // would choose "even"
  await manager.until(() => manager.sessions === 2 && manager.isPolled());
  const [one, other] = manager.requests.filter((each) => each.method === "register_player");
  assert.equal(other.params.auth_token, manager.token);
  assert.equal(other.params.registration_nonce, one.params.registration_nonce);
  assert.equal((await invite(manager, "R1M1")).result.choice_commitment, ack.choice_commitment);
  const { result: own } = await ask(manager, "R1M1", undefined);
  assert.equal(own.parity_choice, "odd");
  await manager.call("notify_match_result", manager.gameOver("R1M1", own, "even"));
  assert.equal(second.bot.history.length, 0);  // the opponent had not committed when it was asked
});

test("keeps its history", async (t) => {
  const { manager, data, bot, ended } = await connected(t);
  await manager.call("notify_match_result", await played(manager, "R1M1", "odd"));
  bot.stop();
  await ended;
  let told;
  const second = await connected(t, { manager, data, choose: (match) => { told = match; return "odd"; } });
  await manager.until(() => manager.sessions === 2 && manager.isPolled());
  await invite(manager, "R2M1");
  assert.deepEqual(told.meetings, second.bot.history);
  assert.equal(told.meetings[0].opponentChoice, "odd");
});

test("shows its token to no other manager", async (t) => {
  const data = join(folder, "elsewhere.json");
  const me = { player_id: "P01", auth_token: "tok_p01_secret" };
  const kept = { managers: ["http://league.example.org/mcp"], me, home: {}, matches: [], history: [] };
  writeFileSync(data, JSON.stringify(kept));
  const { manager } = await connected(t, { data });
  assert.ok(!JSON.stringify(manager.requests).includes("tok_p01_secret"));
  const { me: now, others } = JSON.parse(readFileSync(data, "utf8"));
  assert.equal(now.player_id, "P07");
  assert.equal(others[0].me.auth_token, "tok_p01_secret");  // it is not lost
});

test("registers anew where an earlier league had the same address", async (t) => {
  const { manager, data, bot, ended } = await connected(t);
  const old = manager.token;
  bot.stop();
  await ended;
  Object.assign(manager, { token: "tok_p07_new", receiptKey: "ef".repeat(32), leagueKey: "12".repeat(32) });
  const { lines } = await connected(t, { manager, data });
  await manager.until(() => manager.sessions === 2);
  assert.deepEqual(lines.errors, [`my-bot: this league does not know P07 of ${data}`]);
  const kept = JSON.parse(readFileSync(data, "utf8"));
  assert.deepEqual([kept.me.auth_token, kept.others[0].me.auth_token], ["tok_p07_new", old]);
});

test("a manager that takes its token for one of another league gets no promise of before", async (t) => {
  const { manager, data, bot, ended } = await connected(t);
  const { result: first } = await invite(manager, "R1M1");
  bot.stop();
  await ended;
  manager.leagueKey = "12".repeat(32);
  await connected(t, { manager, data });
  await manager.until(() => manager.sessions === 2 && manager.isPolled());
  const registrations = manager.requests.filter((one) => one.method === "register_player");
  assert.equal(registrations.at(-1).params.auth_token, undefined);
  assert.notEqual((await invite(manager, "R1M1")).result.choice_commitment, first.choice_commitment);
});

test("follows no redirection", async (t) => {
  const { manager, data, bot, ended } = await connected(t);
  bot.stop();
  await ended;
  const other = await new FakeManager().start();
  t.after(() => other.stop());
  manager.refusals = [(method, params, response) => {
    response.writeHead(307, { Location: other.url + "/mcp" }).end();
    return "done";
  }];
  const { lines } = await connected(t, { manager, data });
  await manager.until(() => manager.sessions === 2);
  assert.equal(other.requests.length, 0);
  assert.equal(lines.errors.length, 1);
});

test("registers again when the manager has another league after a restart", async (t) => {
  const { manager } = await connected(t);
  const answer = invite(manager, "R1M1");
  manager.token = "tok_p07_new";
  manager.session = null;
  await manager.until(() => manager.sessions === 2);
  void answer;
  assert.equal((await invite(manager, "R2M1")).result.accept, true);
});

test("a file that is not its own ends it with a clear error", async (t) => {
  const data = join(folder, "broken.json");
  writeFileSync(data, "{");
  const bot = new Player("my-bot").choose(() => "even");
  await assert.rejects(bot.run("localhost:1", { data }), (why) => why instanceof LeagueError &&
    why.message.startsWith(data + " cannot be read") && why.message.endsWith("to register as a new player"));
  assert.equal(readFileSync(data, "utf8"), "{");
});

test("a file that cannot be written does not stop it", async (t) => {
  const { manager, lines } = await connected(t, { run: { data: join(folder, "no", "such", "folder.json") } });
  assert.equal((await invite(manager, "R1M1")).result.accept, true);
  assert.equal(lines.errors.length, 1);
  assert.match(lines.errors[0], /folder\.json cannot be written/);
});

// --- What ends run() -------------------------------------------------------------------------------------
async function runOf(manager, run = {}) {
  const bot = new Player("my-bot", { console: new Lines(), firstPause: 1 }).choose(() => "even");
  return bot.run(manager.url, { data: join(folder, `bot${(files += 1)}.json`), ...run });
}

test("a league that does not want it", async (t) => {
  const manager = await new FakeManager().start();
  t.after(() => manager.stop());
  manager.rejects = { reason: "the league has begun", error_code: "E019" };
  await assert.rejects(runOf(manager), { name: "LeagueError", code: "E019",
    message: `${manager.url}/mcp does not accept this bot: E019 the league has begun` });
});

test("a manager without seats", async (t) => {
  const manager = await new FakeManager().start();
  t.after(() => manager.stop());
  manager.hasSeats = false;
  await assert.rejects(runOf(manager), /has no seats; run with serve: PORT/);
});

test("wrong usage", async () => {
  const bot = () => new Player("my-bot").choose(() => "even");
  await assert.rejects(new Player("my-bot").run("http://localhost:1"), /call choose\(FUNCTION\) before run/);
  await assert.rejects(bot().run(""), /needs the address of a manager/);
  await assert.rejects(bot().run("ftp://localhost"), /"ftp:\/\/localhost" is no address of a manager/);
  await assert.rejects(bot().run(["http://a b"]), /no address of a manager/);
  await assert.rejects(bot().run("localhost:1", { serve: "x" }), /ports are numbers below 65536/);
});

const example = new URL("../example.mjs", import.meta.url).pathname;
const started = (...words) => new Promise((resolve) => {
  const child = execFile(process.execPath, [example, ...words], { cwd: folder }, (why, stdout, stderr) =>
    resolve({ code: child.exitCode, stdout, stderr }));
});

test("a program ends with one line and an exit code", async (t) => {
  const manager = await new FakeManager().start();
  t.after(() => manager.stop());
  manager.rejects = { reason: "the league has begun", error_code: "E019" };
  const { code, stderr } = await started("--manager", manager.url, "--name=another_bot", "--code", "c0de");
  assert.equal(code, 1);
  assert.equal(stderr, `another_bot: ${manager.url}/mcp does not accept this bot: ` +
                       "E019 the league has begun\n");
  assert.equal(manager.requests[0].params.player_meta.registration_code, "c0de");
});

test("a program refuses an option that it does not know", async () => {
  const { code, stderr } = await started("--manger", "http://localhost:1");
  assert.equal(code, 1);
  assert.equal(stderr, "my-bot: --manger is none of --manager, --serve, --host, --code, --data, --name\n");
});

test("a command line with --manager overrules the program", async (t) => {
  const manager = await new FakeManager().start();
  t.after(() => manager.stop());
  manager.rejects = { reason: "no", error_code: "E019" };
  const bot = new Player("my-bot", { console: new Lines() }).choose(() => "even");
  const { argv, exitCode } = process;
  process.argv = ["node", "bot.mjs", "--manager=" + manager.url, "--name", "other"];
  t.after(() => Object.assign(process, { argv, exitCode }));
  await bot.run("http://localhost:1", { data: join(folder, "overruled.json") });
  assert.equal(manager.requests[0].params.player_meta.display_name, "other");
  assert.equal(process.exitCode, 1);
});

test("its page shows the example", () => {
  const read = (file) => readFileSync(new URL("../" + file, import.meta.url), "utf8");
  const code = (text) => text.replace(/ *\/\/.*/g, "").replace(/\n\n+/g, "\n").trim();
  assert.ok(code(read("README.md")).includes(code(read("example.mjs"))));
});

// --- serve -----------------------------------------------------------------------------------------------
test("is a server with serve", async (t) => {
  const { manager, bot, ended } = await connected(t, { run: { serve: 0 } });
  await manager.until(() => manager.counted("register_player"));
  const { contact_endpoint: endpoint } = manager.requests[0].params.player_meta;
  assert.match(endpoint, /^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  const post = async (body) => (await fetch(endpoint, { method: "POST", body })).json();
  const call = (method, params) => post(JSON.stringify({ jsonrpc: "2.0", id: 4, method, params }));
  assert.deepEqual(await call("ping"), { jsonrpc: "2.0", id: 4, result: { status: "ok" } });
  assert.equal((await call("handle_game_invitation", manager.invitation("R1M1"))).result.accept, true);
  assert.equal((await post("{")).error.code, -32700);
  assert.equal((await post("[]")).error.code, -32600);
  assert.equal(manager.counted("open_seat"), 0);
  const port = new URL(endpoint).port;
  await assert.rejects(runOf(manager, { serve: port }), /cannot listen on port \d+: .*EADDRINUSE/);
  bot.stop();
  await ended;
  await assert.rejects(fetch(endpoint));
});

test("a call that overtakes the answer to its registration is answered", async (t) => {
  const manager = await new FakeManager().start();
  let early;
  manager.refusals = [(method, params, response) => {
    const request = { jsonrpc: "2.0", id: 1, method: "get_player_state", params: manager.message("ANY", {}) };
    early = fetch(params.player_meta.contact_endpoint, { method: "POST", body: JSON.stringify(request) });
    const reply = { jsonrpc: "2.0", id: 1, result: manager.register(params) };
    setTimeout(() => response.end(JSON.stringify(reply)), 50);
    return "done";
  }];
  await connected(t, { manager, run: { serve: 0 } });
  await manager.until(() => early);
  assert.deepEqual((await (await early).json()).result, { player_id: "P07" });
});

// --- People ----------------------------------------------------------------------------------------------
const person = { playedBy: "person" };

test("a person says so, hears what happens, and gets the proof of each number", async (t) => {
  const { manager, bot, events } = await connected(t, { choose: () => "odd", about: person });
  assert.equal(manager.requests[0].params.player_meta.played_by, "person");
  await manager.call("notify_round", manager.message("ROUND_ANNOUNCEMENT", { matches: [] }));
  const { result: ack } = await invite(manager, "R1M1", { deadline: "2026-01-15T10:31:00Z" });
  const { result: own } = await ask(manager, "R1M1", manager.commitmentOf("R1M1", "even"));
  const over = manager.gameOver("R1M1", own, "even");
  await manager.call("notify_match_result", over);
  const champion = { player_id: "P07", display_name: "my-bot" };
  await manager.call("notify_league_completed", manager.message("LEAGUE_COMPLETED", { champion }));
  assert.deepEqual(events.map(({ type }) => type),
                   ["registered", "round", "committed", "result", "over"]);
  const [registered, , committed, { result, proof }] = events;
  assert.deepEqual(registered, { type: "registered", playerId: "P07", leagueId: "league_of_tests" });
  assert.deepEqual(committed, { type: "committed", id: "R1M1", opponent: "P02", round: 1, choice: "odd",
                                commitment: ack.choice_commitment });
  assert.deepEqual(result, bot.history[0]);
  assert.deepEqual(proof, { seed: over.draw_proof, promise: manager.draw("R1M1"), number: result.number,
                            commitments: over.choice_commitments, nonces: over.choice_nonces });
});

test("a person that does not choose leaves; nothing is made up, and the loss is not disputed", async (t) => {
  const { manager, events, ended, data } = await connected(t, { choose: () => new Promise(() => {}), about: person });
  const request = manager.invitation("R1M1");
  const answer = manager.call("handle_game_invitation", request, { remainingMs: 50 });
  await ended;
  await manager.until(() => manager.requests.at(-1).params.leave);
  assert.deepEqual(events.map(({ type }) => type), ["registered", "missed"]);
  assert.equal(await Promise.race([answer, "nothing"]), "nothing");

  const back = await connected(t, { manager, data, about: person });
  manager.played = [{ match_id: "R1M1", result: "LOSS", termination: "TIMEOUT_JOIN" }];
  await manager.call("notify_round_completed", manager.message("ROUND_COMPLETED", {}));
  while (!back.events.some(({ type }) => type === "result")) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(manager.queries.map(({ query_type: type }) => type), ["GET_PLAYER_STATS"]);
});

test("leaves its seat", async (t) => {
  const { bot, manager, ended } = await connected(t, { about: person });
  const { session } = manager;
  bot.leave();
  await ended;
  await manager.until(() => manager.requests.some(({ params }) => params.leave === true));
  assert.deepEqual(manager.requests.at(-1).params, { session, leave: true });
});

test("goes on at once when its device wakes up", async (t) => {
  const { bot, manager, events } = await connected(t, { about: { ...person, firstPause: 60_000 } });
  while (manager.sessions < 2) {  // the pause begins a moment after the request has ended
    bot.wake();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.ok(events.some(({ type }) => type === "offline"));
  assert.equal((await invite(manager, "R1M1")).result.accept, true);
});

test("a program of the same identity goes on with what the other one has promised", async (t) => {
  const first = await connected(t, { choose: () => "odd", about: person });
  const second = new Player("my-bot", { console: new Lines(), firstPause: 1, ...person }).choose(() => "even");
  t.after(() => second.stop());
  // The second one reads what is remembered before the first one chooses.
  first.manager.refusals = [(method, params, response) => {
    first.invited = invite(first.manager, "R1M1").then(({ result }) => {
      const reply = { jsonrpc: "2.0", id: 1, result: first.manager.register(params) };
      response.end(JSON.stringify(reply));
      return result;
    });
    return "done";
  }];
  second.run(first.manager.url, { data: first.data }).catch(() => {});
  await assert.rejects(first.ended, { code: "E016" });
  const promised = JSON.parse(readFileSync(first.data, "utf8")).matches[0][1];
  assert.equal(promised.choice, "odd");
  assert.equal((await first.invited).accept, true);
  const { result } = await ask(first.manager, "R1M1", undefined);
  assert.deepEqual([result.parity_choice, result.choice_nonce], ["odd", promised.nonce]);
});

test("hears of a match that ended while it was away", async (t) => {
  const { manager, events } = await connected(t, { about: person });
  await invite(manager, "R1M1");
  manager.played = [{ match_id: "R1M1", result: "WIN", termination: "NORMAL" }];
  manager.session = null;  // the manager was restarted
  await manager.call("get_player_state", manager.message("ANY", {}));
  await manager.until(() => manager.queries.length === 1);
  while (!events.some(({ type }) => type === "result")) await new Promise((resolve) => setTimeout(resolve, 5));
  const { result, proof } = events.at(-1);
  assert.deepEqual([result.outcome, result.choice, result.number, proof], ["win", "even", null, undefined]);
});

// --- Browsers --------------------------------------------------------------------------------------------
test("plays in a page, where localStorage keeps its identity", async (t) => {
  const kept = new Map();
  const { process } = globalThis;
  const storage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) };
  Object.defineProperty(globalThis, "localStorage", { value: storage, configurable: true });
  globalThis.crypto ??= webcrypto;  // browsers have it, Node.js 18 does not
  globalThis.process = undefined;
  const page = await import("../league_player.js?page").finally(() => { globalThis.process = process; });
  const manager = await new FakeManager().start();
  const bot = new page.Player("my-bot", { console: new Lines() }).choose(() => "odd");
  t.after(async () => {
    bot.stop();
    delete globalThis.localStorage;
    await manager.stop();
  });
  const ended = bot.run(manager.url);
  await manager.until(() => manager.isPolled());
  assert.equal((await invite(manager, "R1M1")).result.accept, true);
  assert.equal(JSON.parse(kept.get("league-player:my-bot")).me.auth_token, manager.token);
  bot.stop();
  await ended;
  const server = new page.Player("my-bot").choose(() => "odd");
  await assert.rejects(server.run(manager.url, { serve: 8101 }), /a page cannot be a server/);
});
