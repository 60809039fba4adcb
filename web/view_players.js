import {agentLabel, agentRow, h, numberCell, numberHeading, playerRow, rowHeading, scrolling, table} from './dom.js';
import {answerTime, clock, count, percentile, words} from './format.js';
import {FARED, fared, other} from './model.js';

function answers(games, player) {
  const times = [];
  for (const game of games) {
    const side = game.players.indexOf(player);
    times.push(...[game.join[side], game.answer[side]].filter((us) => us !== null));
  }
  return times.sort((one, two) => one - two);
}

const causeOf = (game, player) => game.causes[game.players.indexOf(player)];

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
  return h('div', {}, `${games.length} × ${text} (`, games.length > 1 && 'last ', h('a', {href: `#match/${id}`}, id), ')');
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
    rowHeading(playerRow(agent)),
    state(agent),
    ...[0.5, 0.95, 1].map((part) => numberCell(answerTime(percentile(times, part)))),
    numberCell(causes.reduce((sum, one) => sum + one.games.length, 0) || ''),
    h('td', {class: 'causes'}, causes.map(loss)),
  );
}

function detail(league, player) {
  const agent = league.players[player];
  const games = league.finishedOf(player);
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
    h('h2', {}, agentLabel(agent)),
    h('p', {}, h('a', {href: '#players'}, '← all players')),
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

export function playersView(league, asked) {
  const player = asked ? league.players.findIndex((agent) => agent.id === asked) : -1;
  if (player >= 0) return [detail(league, player)];
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
