import {lineChart} from './charts.js';
import {agentRow, h, name, numberCell, numberHeading, playerRow, rowHeading, scrolling, table} from './dom.js';
import {count, words} from './format.js';
import {FARED, fared} from './model.js';
import {explained, isTable, pointsOverRounds, ranking, ranksBefore} from './ranking.js';

const FORM = 5;
const STRONG_LINES = 6;

function movement(row, before) {
  if (!before) return h('td', {class: 'move'});
  const places = before[row.player] - row.rank;
  if (places === 0) return h('td', {class: 'move', 'aria-label': 'same place'}, '–');
  const text = places > 0 ? `▲ ${places}` : `▼ ${-places}`;
  const spoken = `${places > 0 ? 'up' : 'down'} ${count(Math.abs(places), 'place')}`;
  return h('td', {class: `move ${places > 0 ? 'up' : 'down'}`, 'aria-label': spoken}, text);
}

function form(games, player) {
  return h(
    'td',
    {class: 'form'},
    games.slice(-FORM).map((game) => {
      const result = fared(game, player);
      return h(
        'a',
        {class: `result ${result}`, href: `#match/${game.id}`, 'aria-label': `${FARED[result]} ${game.id}`},
        result,
      );
    }),
  );
}

function figureCells(league, player) {
  if (!league.figures) return null;
  const own = league.figures.rated.get(player);
  return [
    numberCell(own && [Math.round(own.rating), own.error !== null && ` ± ${Math.round(own.error)}`]),
    numberCell(own && own.first !== null && `${(100 * own.first).toFixed(own.first < 0.0995 ? 1 : 0)} %`),
  ];
}

/** What the results say beside the points; the league's own figures, as the page does not have the samples. */
function luck(league) {
  if (!league.figures?.sentence) return null;
  return h(
    'div',
    {class: 'luck'},
    h('p', {}, league.figures.sentence),
    h(
      'details',
      {},
      h('summary', {}, 'what the figures mean'),
      'Points decide the places. Rating: how strong a player is by the results of ',
      count(league.figures.matches, 'match that was played', 'matches that were played'),
      ' (1500 is the average, 400 more mean ten wins to one loss), ± one standard error. First: the probability that ',
      'no other player is stronger. The league has computed these figures; ',
      h('code', {}, 'verify_ratings.py'),
      ' in its documentation recomputes them from the results.',
    ),
  );
}

/** Explanations come from the table computed here; where that is not the manager's there are none. */
function reasons(league) {
  const rows = ranking(league.players.length, league.finished(), league.isOld());
  if (!league.isWhole() || !isTable(league.table, rows)) return () => '';
  return (place) => explained(rows, place, (player) => league.nameOf(player));
}

function standings(league) {
  const before = ranksBefore(league);
  const why = reasons(league);
  const games = league.players.map(() => []);
  for (const game of league.finished().sort((one, two) => one.round - two.round))
    game.players.forEach((player) => games[player].push(game));
  const rows = league.table.map((row, place) => {
    const player = league.players[row.player];
    const isOut = player.state === 'SUSPENDED' || player.state === 'SHUTDOWN';
    const reason = why(place);
    return h(
      'tr',
      {'data-key': player.id, class: isOut ? 'out' : null},
      numberCell(row.rank),
      movement(row, before),
      rowHeading(playerRow(player, isOut && h('span', {class: 'badge'}, words(player.state)))),
      numberCell(row.played),
      numberCell(row.wins),
      numberCell(row.draws),
      numberCell(row.losses),
      h('td', {class: 'number points'}, row.points),
      figureCells(league, row.player),
      form(games[row.player], row.player),
      h('td', {class: 'why'}, reason && row.played > 0 && h('details', {}, h('summary', {}, 'why'), reason)),
    );
  });
  return table(
    'Standings',
    [
      numberHeading('#'),
      h('th', {scope: 'col'}, h('span', {class: 'hidden'}, 'moved')),
      'Player',
      ...['Played', 'Won', 'Drawn', 'Lost', 'Points'].map(numberHeading),
      ...(league.figures ? ['Rating', 'First'] : []).map(numberHeading),
      'Latest',
      h('th', {scope: 'col'}, h('span', {class: 'hidden'}, 'why')),
    ],
    rows,
    {class: 'standings'},
  );
}

function chart(league) {
  if (league.head.round < 1 || !league.isWhole()) return null;
  const series = pointsOverRounds(league);
  const strong = new Set(league.table.slice(0, STRONG_LINES).map((row) => row.player));
  const lines = league.table
    .slice()
    .reverse()
    .map(({player}) => ({label: league.nameOf(player), values: series[player], isStrong: strong.has(player)}));
  const leaders = league.table
    .slice(0, STRONG_LINES)
    .map(({player, points}) => `${league.nameOf(player)} ${points}`)
    .join(', ');
  return h(
    'section',
    {class: 'card'},
    h('h2', {}, 'Points over rounds'),
    lineChart(`Points over rounds. Leading: ${leaders}.`, lines),
  );
}

/** Matches in play, with their players and referee. */
export function inPlay(league, most = 12) {
  const games = league.inPlay();
  return h(
    'section',
    {class: 'card'},
    h('h2', {}, 'In play', games.length > 0 && h('span', {class: 'badge'}, games.length)),
    games.length === 0 &&
      h(
        'p',
        {class: 'quiet'},
        league.head.state === 'COMPLETED' ? 'All matches are played.' : 'No match is in play at this moment.',
      ),
    h(
      'ul',
      {class: 'games'},
      games.slice(0, most).map((game) =>
        h(
          'li',
          {'data-key': game.id, class: 'pairing'},
          h('a', {href: `#match/${game.id}`}, game.id),
          game.players.map((player, side) => [side === 1 && h('span', {}, '–'), name(league.players[player].name)]),
        ),
      ),
    ),
    games.length > most && h('p', {class: 'quiet'}, `and ${games.length - most} more`),
  );
}

function registrations(league) {
  const {players_expected: players, referees_expected: referees} = league.head;
  return h(
    'section',
    {class: 'card wide'},
    h('h2', {}, 'Registered'),
    h(
      'p',
      {},
      `${league.players.length} of ${count(players, 'player')} and ${league.referees.length} of ${count(referees, 'referee')} have registered.`,
    ),
    league.isLive && h('p', {}, 'Bots register at ', h('code', {}, `${location.origin}/mcp`), '.'),
    h(
      'ul',
      {class: 'games columns'},
      [...league.players, ...league.referees].map((agent) => h('li', {'data-key': agent.id}, agentRow(agent))),
    ),
  );
}

export function standingsView(league) {
  if (league.head.state === 'REGISTERING') return [registrations(league)];
  const news = league.log.slice(-6).reverse();
  return [
    h('section', {class: 'card main'}, scrolling('Standings', standings(league)), luck(league)),
    h(
      'div',
      {class: 'column'},
      chart(league),
      inPlay(league),
      league.isLive &&
        h(
          'section',
          {class: 'card'},
          h('h2', {}, 'News'),
          h(
            'ul',
            {class: 'news'},
            news.map((line) =>
              h('li', {'data-key': line.at + line.text, class: line.warning ? 'warning' : null}, line.text),
            ),
          ),
        ),
    ),
  ];
}
