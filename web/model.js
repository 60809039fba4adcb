// The league as this page knows it. The manager sends rows without names to keep updates small; here they get them.

import {words} from './format.js';
import {scoreOf} from './verify.js';

const pad = (index) => String(index + 1).padStart(2, '0');
export const playerId = (index) => `P${pad(index)}`;
export const refereeId = (index) => `REF${pad(index)}`;
export const matchId = (round, number) => `R${round}M${number}`;
export const other = (side) => 1 - side;

const DECIDED = 0.95; // of the probability that the first is the strongest

function agent([name, state, reason, detail, since, failed, playedBy], id) {
  return {id, name, state, reason, detail, since, failed, playedBy};
}

/** Why a match was lost technically; `fault` is the text without the player's answer. */
function cause(row) {
  if (!row) return null;
  const [call, code, attempts, text, field] = row;
  return {call, code, attempts, text, field, fault: text.split('; received: ')[0]};
}

/** Whom the operator expects and who was refused; the order of the columns is that of registration_board.cpp. */
function registrations({expected, refused, forgotten}) {
  return {
    expected:
      expected && expected.map(([name, team, player, hasCode]) => ({name, team, player, hasCode: hasCode === 1})),
    refused: refused.map(([kind, name, row, code, text, times, last]) => ({kind, name, row, code, text, times, last})),
    forgotten,
  };
}

/** A match from its row; the order of the columns is that of append_match in spectator_view.cpp. */
export function match(row, rules) {
  const [
    round,
    number,
    a,
    b,
    status,
    referee,
    attempt,
    outcome,
    drawn,
    choiceA,
    choiceB,
    technical,
    fairness,
    finishedAt,
    decided,
    times,
    causeA,
    causeB,
  ] = row;
  const own = {id: matchId(round, number), round, number, players: [a, b], status, referee, attempt};
  if (status !== 'COMPLETED') return own;
  const [joinA, answerA, joinB, answerB] = times;
  const played = {outcome, drawn, choices: [choiceA, choiceB], technical};
  return Object.assign(own, played, {
    fairness,
    finishedAt,
    decided,
    points: scoreOf(rules, played),
    join: [joinA ?? null, joinB ?? null],
    answer: [answerA ?? null, answerB ?? null],
    causes: [cause(causeA), cause(causeB)],
  });
}

/** What the letters of `fared` mean. */
export const FARED = {W: 'won', D: 'drew', L: 'lost', T: 'lost technically', V: 'played a void match'};

/** `W`, `D`, `L`, `T` for a technical loss, or `V` for void: how `player` fared in a finished match. */
export function fared(game, player) {
  if (game.decided === 'void') return 'V';
  if (game.outcome === 'AB'[game.players.indexOf(player)]) return 'W';
  if (game.outcome === 'DRAW') return 'D';
  return game.technical ? 'T' : 'L';
}

export class League {
  /** `isLive` says that a manager tells what changes. */
  constructor(isLive) {
    this.isLive = isLive;
    this.clear();
    this.log = [];
    this.skew = 0; // the manager's clock minus ours, in milliseconds
  }

  clear() {
    this.head = null;
    this.players = [];
    this.referees = [];
    this.registrations = {expected: null, refused: [], forgotten: 0};
    this.acts = [];
    this.table = [];
    this.figures = null; // beside the points: ratings and luck
    this.rounds = [];
    this.matches = new Map();
    this.version = 0;
  }

  /** Takes a snapshot or an update in; applying one twice does no harm. */
  merge(view, isSnapshot) {
    if (isSnapshot) this.clear();
    this.at = view.now;
    this.skew = view.now - Date.now();
    this.head = view.league;
    if (view.players) this.players = view.players.map((row, index) => agent(row, playerId(index)));
    if (view.referees) this.referees = view.referees.map((row, index) => agent(row, refereeId(index)));
    if (view.registrations) this.registrations = registrations(view.registrations);
    if (view.acts)
      this.acts = view.acts.map(([at, act, match, replay, seconds, reason, by]) => ({
        at,
        act,
        match,
        replay,
        seconds,
        reason,
        by,
      }));
    this.table = view.table.map(([rank, player, played, wins, draws, losses, points]) => ({
      rank,
      player,
      played,
      wins,
      draws,
      losses,
      points,
    }));
    if (view.figures) {
      const {matches, luck, sentence, players} = view.figures;
      const rated = new Map(players.map(([player, rating, error, first]) => [player, {rating, error, first}]));
      this.figures = players.length > 0 ? {matches, luck, sentence, rated} : null;
    }
    for (const [round, startedAt, completedAt] of view.rounds) this.rounds[round - 1] = {round, startedAt, completedAt};
    for (const row of view.matches) {
      const game = match(row, this.head.rules);
      this.matches.set(game.id, game);
    }
    this.takeLines(view.log);
    ++this.version;
  }

  /** After a restart of the manager its lines begin anew; those that are known already are not shown twice. */
  takeLines(lines) {
    const known = new Set(this.log.map((line) => line.at + line.text));
    this.log.push(...lines.filter((line) => !known.has(line.at + line.text)));
    this.log = this.log.slice(-500);
  }

  nameOf(player) {
    return this.players[player]?.name ?? playerId(player);
  }

  /** Of an id as logs have it; the manager has no name. */
  nameOfAgent(id) {
    return [...this.players, ...this.referees].find((agent) => agent.id === id)?.name ?? words(id);
  }

  /** Whether the results leave it open that another player is stronger than this one, who is first. */
  isUndecided(player) {
    if (!this.figures) return false;
    const own = this.figures.rated.get(player);
    return !own || (own.first !== null && own.first < DECIDED);
  }

  refereeName(referee) {
    return this.referees[referee]?.name ?? refereeId(referee);
  }

  now() {
    return Date.now() + this.skew;
  }

  ofRound(round) {
    const games = [];
    for (let number = 1; this.matches.has(matchId(round, number)); ++number)
      games.push(this.matches.get(matchId(round, number)));
    return games;
  }

  /** The matches that count. */
  finished() {
    return [...this.matches.values()].filter((game) => game.status === 'COMPLETED' && game.decided !== 'void');
  }

  finishedOf(player) {
    return this.finished()
      .filter((game) => game.players.includes(player))
      .sort((one, two) => one.round - two.round);
  }

  inPlay() {
    return this.head ? this.ofRound(this.head.round).filter((game) => game.status === 'IN_PROGRESS') : [];
  }

  /** Whether it was begun by a manager that does not say how often each pair meets, which is once. */
  isOld() {
    return this.head.meetings === undefined;
  }

  /** Whether every finished match is here: of a league of thousands the manager sends the last rounds only. */
  isWhole() {
    return this.head !== null && this.finished().length === this.head.finished;
  }

  /** Milliseconds until the end if it goes on like this; null where nobody can say. */
  timeLeft() {
    const {started_at: start, finished, matches, state, paused} = this.head;
    if (!this.isLive || state !== 'RUNNING' || paused || finished === 0 || finished === matches) return null;
    const gone = this.now() - Date.parse(start);
    return gone > 0 ? (gone / finished) * (matches - finished) : null;
  }
}
