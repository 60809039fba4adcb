import {agentRow, h, numberHeading, rowHeading, scrolling, table} from './dom.js';
import {FARED, fared} from './model.js';

const MOST = {live: 120, site: 200}; // what changes is drawn again and again

/** Who fared how against whom, in the order of the table. */
export function crossView(league) {
  const order = league.table.map((row) => row.player);
  const meetings = league.head.meetings ?? 1;
  if (order.length * Math.sqrt(meetings) > (league.isLive ? MOST.live : MOST.site))
    return [
      h(
        'section',
        {class: 'card wide'},
        h('p', {}, `A cross table of ${order.length} players fits no screen; choose a player under Players.`),
      ),
    ];
  const repeated = new Set(league.acts.filter((act) => act.replay).map((act) => act.match));
  const games = new Map();
  for (const game of league.matches.values()) {
    if (repeated.has(game.id)) continue;
    const pair = [...game.players].sort().join('-');
    games.set(pair, [...(games.get(pair) ?? []), game]);
  }
  const link = (game, one, opponent) => {
    if (game.status !== 'COMPLETED')
      return h('a', {href: `#match/${game.id}`, 'aria-label': `${opponent}: in this round`}, '·');
    const result = fared(game, one);
    return h(
      'a',
      {
        class: `result ${result}`,
        href: `#match/${game.id}`,
        title: `${game.id}: ${FARED[result]} against ${opponent}`,
        'aria-label': `${FARED[result]} against ${opponent}`,
      },
      result,
    );
  };
  const cell = (one, two) => {
    const opponent = league.nameOf(two);
    if (one === two) return h('td', {class: 'self', 'aria-label': 'itself'});
    const met = games.get([one, two].sort().join('-'));
    if (!met) return h('td', {'aria-label': `${opponent}: not yet`});
    return h(
      'td',
      {},
      met.map((game) => link(game, one, opponent)),
    );
  };
  const rows = order.map((player) =>
    h(
      'tr',
      {'data-key': league.players[player].id},
      rowHeading(agentRow(league.players[player])),
      order.map((opponent) => cell(player, opponent)),
      h('td', {class: 'number points'}, league.table.find((row) => row.player === player).points),
    ),
  );
  const headings = [
    h('th', {scope: 'col'}, 'Player'),
    ...order.map((player) =>
      h('th', {scope: 'col', title: league.players[player].name}, h('span', {}, league.players[player].id)),
    ),
    numberHeading('Points'),
  ];
  const width = order.length * meetings;
  const size = width > 40 ? 'dense' : width > 24 ? 'dense roomy' : width > 12 ? 'medium' : '';
  return [
    h(
      'section',
      {class: 'card wide'},
      scrolling('Cross table', table('Cross table: row against column', headings, rows, {class: `cross ${size}`})),
      h(
        'p',
        {class: 'legend'},
        Object.entries(FARED).map(([letter, text]) => [h('span', {class: `result ${letter}`}, letter), ` ${text}  `]),
      ),
    ),
  ];
}
