import {barChart} from './charts.js';
import {agentRow, h, numberCell, numberHeading, rowHeading, scrolling, table} from './dom.js';
import {count, fairnessOf} from './format.js';
import {logFiles} from './log_files.js';
import {isTable, ranking} from './ranking.js';
import {scoreOf} from './verify.js';

/** The chance of a chi-square statistic at least this large, by the Wilson–Hilferty approximation. */
function chiSquareChance(statistic, degrees) {
  const spread = 2 / (9 * degrees);
  const z = (Math.cbrt(statistic / degrees) - (1 - spread)) / Math.sqrt(spread);
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const tail =
    (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z >= 0 ? tail : 1 - tail;
}

function draws(league, games) {
  const [lowest, highest] = league.head.numbers;
  const counts = Array.from({length: highest - lowest + 1}, () => 0);
  for (const game of games) ++counts[game.drawn - lowest];
  const expected = games.length / counts.length;
  const statistic = expected > 0 ? counts.reduce((sum, one) => sum + (one - expected) ** 2 / expected, 0) : 0;
  const chance = chiSquareChance(statistic, counts.length - 1);
  const enough = expected >= 5;
  const sentence = enough
    ? `A fair draw is at least as uneven as this in ${Math.round(chance * 100)} of 100 leagues${chance < 0.01 ? ': look closer' : ''}.`
    : `Too few draws to say anything: ${count(games.length, 'draw')}.`;
  return h(
    'section',
    {class: 'card'},
    h('h2', {}, 'Numbers drawn'),
    barChart(
      `How often each number was drawn: ${counts.map((one, i) => `${i + lowest}: ${one}`).join(', ')}`,
      counts.map((value, i) => ({label: i + lowest, value})),
      expected,
    ),
    h('p', {}, sentence, h('span', {class: 'quiet'}, ` Dashed: ${expected.toFixed(1)}, what is expected of each.`)),
  );
}

/** The points of both for each pair of choices, in a game that draws no number. */
function payoffs(rules) {
  const rows = rules.choices.map((a, i) =>
    h(
      'tr',
      {},
      rowHeading(a),
      rules.choices.map((_, j) => numberCell(scoreOf(rules, {choices: [i, j]}).join('–'))),
    ),
  );
  return h(
    'section',
    {class: 'card'},
    h('h2', {}, 'The game'),
    scrolling('Payoffs', table('Points by the choices of players A and B', ['A, B', ...rules.choices.map(numberHeading)], rows)),
  );
}

function bound(league, games) {
  return h(
    'section',
    {class: 'card'},
    h('h2', {}, league.head.numbers ? 'Who could have steered a draw' : 'Who was bound before the other chose'),
    table(
      'Matches by commitments',
      ['Commitments', numberHeading('Matches')],
      Object.entries(fairnessOf(league.head)).map(([key, text]) => [
        text,
        numberCell(games.filter((game) => game.fairness === key).length),
      ]),
    ),
  );
}

function choices(league, games) {
  const rows = league.players.map((player, index) => {
    const chosen = games
      .filter((game) => game.players.includes(index))
      .map((game) => game.choices[game.players.indexOf(index)]);
    return h(
      'tr',
      {'data-key': player.id},
      rowHeading(agentRow(player)),
      league.head.choices.map((_, choice) => numberCell(chosen.filter((one) => one === choice).length)),
    );
  });
  return h(
    'section',
    {class: 'card'},
    h('h2', {}, 'Choices'),
    scrolling(
      'Choices',
      table('How often each player chose what', ['Player', ...league.head.choices.map(numberHeading)], rows),
    ),
  );
}

function recomputed(league) {
  if (!league.isWhole()) return null;
  const isSame = isTable(league.table, ranking(league.players.length, league.finished(), league.isOld()));
  return h(
    'section',
    {class: 'card'},
    h('h2', {}, 'The table'),
    h(
      'p',
      {class: isSame ? 'verdict good' : 'verdict bad'},
      isSame
        ? 'Recomputed by this browser from all results: it equals the manager’s table.'
        : 'Recomputed by this browser from all results: it differs from the manager’s table.',
    ),
  );
}

export function fairnessView(league, asked, redraw) {
  const games = league.finished().filter((game) => !game.technical);
  const drawn = league.head.numbers
    ? draws(league, games)
    : payoffs(league.head.rules);
  return [
    h('div', {class: 'column'}, drawn, choices(league, games)),
    h('div', {class: 'column'}, recomputed(league), bound(league, games), logFiles(redraw)),
  ];
}
