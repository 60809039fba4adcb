import {agentLabel, agentRow, h, numberCell, numberHeading, playerRow, rowHeading, scrolling, table} from './dom.js';
import {answerTime, clock, count, moment, percentile, words} from './format.js';
import {FARED, fared, other} from './model.js';
import {matchDetails, playerDetails} from './source.js';
import {advice} from './view_match.js';

function answers(games, player) {
  const times = [];
  for (const game of games) {
    const side = game.players.indexOf(player);
    times.push(...[game.join[side], game.answer[side]].filter((us) => us !== null));
  }
  return times.sort((one, two) => one - two);
}

const causeOf = (game, player) => game.causes[game.players.indexOf(player)];

const PLAYED_BY = {person: 'a person', host: 'a chat program'};
/** Who plays, where it is no program. */
const playedBy = (agent) => PLAYED_BY[agent.playedBy] && h('span', {class: 'badge'}, PLAYED_BY[agent.playedBy]);

/** Technical losses of a player by call, code and wrong field: [{text, games}]. */
function losses(games, player) {
  const byCause = new Map();
  for (const game of games) {
    if (fared(game, player) !== 'T') continue;
    const cause = causeOf(game, player);
    const key = cause ? [cause.call, cause.code, cause.field || cause.fault].join(' ') : game.technical;
    byCause.set(key, [...(byCause.get(key) || []), game]);
  }
  return [...byCause.values()].map((its) => {
    its.sort((one, two) => one.round - two.round);
    const cause = causeOf(its.at(-1), player);
    return {text: cause ? `${cause.call} ${cause.code}: ${cause.fault}` : words(its[0].technical), games: its};
  });
}

/** A cause with the number of matches, and the latest of them. */
function loss({text, games}) {
  const {id} = games.at(-1);
  return h(
    'div',
    {},
    `${games.length} × ${text} (`,
    games.length > 1 && 'last ',
    h('a', {href: `#match/${id}`}, id),
    ')',
  );
}

function state(agent) {
  const isOut = agent.state === 'SUSPENDED' || agent.state === 'SHUTDOWN';
  return h(
    'td',
    {class: isOut ? 'bad' : null},
    words(agent.state),
    agent.reason && `: ${words(agent.reason)}`,
    agent.detail && agent.reason !== 'FAILED_MATCHES' && h('span', {class: 'quiet'}, ` ${agent.detail}`),
    isOut && h('span', {class: 'quiet'}, ` since ${clock(agent.since)}`),
  );
}

function row(league, agent, games) {
  const player = league.players.indexOf(agent);
  const times = answers(games, player);
  const causes = losses(games, player);
  return h(
    'tr',
    {'data-key': agent.id},
    rowHeading(playerRow(agent, playedBy(agent))),
    state(agent),
    ...[0.5, 0.95, 1].map((part) => numberCell(answerTime(percentile(times, part)))),
    numberCell(causes.reduce((sum, one) => sum + one.games.length, 0) || ''),
    h('td', {class: 'causes'}, causes.map(loss)),
  );
}

/** Its rank and how fast it answered, in words. */
function summary(league, player, games) {
  const row = league.table.find((one) => one.player === player);
  if (!row) return null;
  const times = answers(games, player);
  const within = (part) => answerTime(percentile(times, part));
  return h(
    'p',
    {},
    `Rank ${row.rank} of ${league.table.length} with ${count(row.points, 'point')}: ${row.played} played, ${row.wins} won, ${row.draws} drawn, ${row.losses} lost.`,
    times.length > 0 &&
      ` Half of its answers came within ${within(0.5)}, nine in ten within ${within(0.9)}, the slowest in a hundred took ${within(0.99)} or more.`,
  );
}

/** Each fault once, with its matches and what to do about it; then what was tolerated. */
function wentWrong(games, player, leniencies, redraw) {
  const lost = losses(games, player).map(({text, games: its}) => {
    const game = its.at(-1);
    const cause = causeOf(game, player);
    const remedy = cause && matchDetails(game, redraw)?.remedies[game.players.indexOf(player)];
    return h(
      'li',
      {},
      its.map((one, i) => [i > 0 && ', ', h('a', {href: `#match/${one.id}`}, one.id)]),
      `: ${cause ? `${cause.call} ${cause.code}: ${cause.text}` : text}`,
      remedy && `. ${advice(remedy)}`,
    );
  });
  const tolerated = leniencies.map(([what, times, teller]) =>
    h(
      'li',
      {},
      `Leniency, ${count(times, 'time')}${teller && ` according to ${teller}, which counts for nothing`}: ${what}`,
      !teller && '; a league in strict mode refuses it (docs/protocol.md, 9)',
    ),
  );
  return h(
    'section',
    {class: 'card wide'},
    h('h2', {}, 'What went wrong'),
    lost.length + tolerated.length === 0 ? h('p', {}, 'Nothing.') : h('ul', {class: 'causes'}, lost, tolerated),
  );
}

/** How a player that comes to the manager is connected. */
function connection(line, since) {
  const how = {
    away: 'It comes to the league by itself, and is away',
    poll: 'It comes to the league by itself, and asks for its calls',
    websocket: 'It comes to the league by itself, over a WebSocket',
    host: 'A chat program makes its choices, and this league plays for it',
  };
  return `${how[line]}, since ${moment(since)}.`;
}

function states(rows) {
  return h(
    'section',
    {class: 'card wide'},
    h('h2', {}, 'States'),
    rows.length === 0 && h('p', {}, 'Active all the time.'),
    h(
      'ol',
      {class: 'log'},
      rows.map(([at, state, reason, detail, by]) =>
        h(
          'li',
          {},
          h('time', {datetime: new Date(at).toISOString()}, moment(at)),
          ` ${words(state)}${reason && `: ${words(reason)}`}${detail && `: ${detail}`}${by && ` (by ${by})`}`,
        ),
      ),
    ),
  );
}

function matches(league, player, games) {
  const rows = games.map((game) => {
    const side = game.players.indexOf(player);
    const result = fared(game, player);
    const opponent = league.players[game.players[other(side)]];
    return h(
      'tr',
      {'data-key': game.id},
      h('th', {scope: 'row'}, h('a', {href: `#match/${game.id}`}, game.id)),
      h('td', {}, h('span', {class: `result ${result}`}, result), ` ${FARED[result]}`),
      h('td', {}, agentRow(opponent)),
      h('td', {}, league.head.choices[game.choices[side]] ?? '–'),
      numberCell(game.drawn || '–'),
      numberCell(answerTime(game.join[side])),
      numberCell(answerTime(game.answer[side])),
      h('td', {}, result === 'T' && game.causes[side] ? `${game.causes[side].code} ${game.causes[side].fault}` : ''),
    );
  });
  return h(
    'section',
    {class: 'card wide'},
    scrolling(
      'Matches of the player',
      table(
        count(games.length, 'finished match', 'finished matches'),
        [
          'Match',
          'Result',
          'Opponent',
          'Choice',
          numberHeading('Drawn'),
          numberHeading('Joined after'),
          numberHeading('Chose after'),
          'Fault',
        ],
        rows,
      ),
    ),
  );
}

function detail(league, player, redraw) {
  const agent = league.players[player];
  const games = league.finishedOf(player);
  const more = playerDetails(agent, redraw);
  return [
    h(
      'section',
      {class: 'card wide'},
      h('h2', {}, agentLabel(agent), ' ', playedBy(agent)),
      h('p', {}, h('a', {href: '#players'}, '← all players')),
      summary(league, player, games),
      more?.line && h('p', {}, connection(...more.line)),
    ),
    wentWrong(games, player, more?.leniencies ?? [], redraw),
    matches(league, player, games),
    more && states(more.states),
  ];
}

export function playersView(league, asked, redraw) {
  const player = asked ? league.players.findIndex((agent) => agent.id === asked) : -1;
  if (player >= 0) return detail(league, player, redraw);
  const games = league.players.map(() => []);
  for (const game of league.finished()) for (const one of game.players) games[one].push(game);
  const lost = (index) => games[index].filter((game) => fared(game, index) === 'T').length;
  const order = league.players.map((_, index) => index).sort((one, two) => lost(two) - lost(one) || one - two);
  const players = order.map((index) => row(league, league.players[index], games[index]));
  const load = league.referees.map(() => 0);
  for (const game of league.inPlay()) if (game.referee >= 0) ++load[game.referee];
  const referees = league.referees.map((agent, index) =>
    h(
      'tr',
      {'data-key': agent.id},
      rowHeading(agentRow(agent)),
      state(agent),
      numberCell(load[index]),
      numberCell(agent.failed || ''),
    ),
  );
  return [
    h(
      'section',
      {class: 'card wide'},
      scrolling(
        'Players',
        table(
          'Players: answer times and technical losses',
          [
            'Player',
            'State',
            numberHeading('Median'),
            numberHeading('95 %'),
            numberHeading('Slowest'),
            numberHeading('Technical losses'),
            'Causes',
          ],
          players,
        ),
      ),
    ),
    h(
      'section',
      {class: 'card wide'},
      scrolling(
        'Referees',
        table('Referees', ['Referee', 'State', numberHeading('In play'), numberHeading('Failed matches')], referees),
      ),
    ),
  ];
}
