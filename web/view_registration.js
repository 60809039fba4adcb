import {h, name, numberCell, numberHeading, playerRow, rowHeading, scrolling, table} from './dom.js';
import {clock, count} from './format.js';

const card = (label, content) => h('section', {class: 'card wide'}, scrolling(label, content));
const time = (ms) => h('time', {datetime: new Date(ms).toISOString()}, clock(ms));
const id = (agent) => h('a', {href: `#players/${agent.id}`, class: 'id'}, agent.id);
const isIn = (one) => one.player >= 0;

function state(league, one) {
  const agent = league.players[one.player];
  if (isIn(one))
    return h(
      'td',
      {},
      h('span', {class: 'good'}, 'in'),
      agent && [' as ', id(agent), agent.name !== one.name && [' ', name(agent.name)]],
    );
  return h(
    'td',
    {},
    h('span', {class: 'bad'}, one.hasCode ? 'missing' : 'missing, and has no code'),
    one.tried && h('div', {class: 'causes'}, 'refused at ', time(one.tried.last), ': ', one.tried.text),
  );
}

/** Whom the operator expects: first those who are missing, and of them those who have tried. */
function expected(league, {expected: list, refused}) {
  const rows = list.map((one, index) => ({
    ...one,
    index,
    tried: isIn(one) ? null : refused.findLast((its) => its.row === index),
  }));
  const urgency = (one) => (isIn(one) ? 2 : one.tried ? 0 : 1);
  rows.sort((one, two) => urgency(one) - urgency(two) || one.index - two.index);
  const hasTeams = list.some((one) => one.team);
  const there = list.filter(isIn).length;
  return card(
    'Who is expected',
    table(
      `${there} of ${count(list.length, 'expected player')} in, ${list.length - there} missing`,
      ['Name', ...(hasTeams ? ['Team'] : []), 'State'],
      rows.map((one) =>
        h(
          'tr',
          {'data-key': one.name},
          rowHeading(name(one.name)),
          hasTeams && h('td', {}, one.team && name(one.team)),
          state(league, one),
        ),
      ),
    ),
  );
}

/** Without a list of the operator's: who has come so far. */
function arrivals(league) {
  const {head, players} = league;
  return card(
    'Registered',
    players.length === 0
      ? h('p', {class: 'quiet'}, 'Nobody has registered yet.')
      : table(
          `${players.length} of ${count(head.players_expected, 'player')} in; anybody may register`,
          ['Player', 'State since'],
          players.map((agent) =>
            h('tr', {'data-key': agent.id}, rowHeading(playerRow(agent)), h('td', {}, time(agent.since))),
          ),
        ),
  );
}

function refusals({refused, forgotten}) {
  if (refused.length === 0)
    return h(
      'section',
      {class: 'card wide'},
      h('h2', {}, 'Refused registrations'),
      h('p', {class: 'quiet'}, 'None since the manager was started.'),
    );
  const rows = refused
    .slice()
    .reverse()
    .map((one) =>
      h(
        'tr',
        {'data-key': `${one.kind} ${one.name} ${one.code} ${one.row}`},
        h('td', {}, time(one.last)),
        h(
          'td',
          {},
          name(one.name),
          one.kind === 'referee' && h('span', {class: 'quiet'}, ' referee'),
          h('div', {class: 'causes'}, h('span', {class: 'id'}, one.code), ' ', one.text),
        ),
        numberCell(one.times),
      ),
    );
  return card('Refused registrations', [
    table(
      'Refused registrations, latest first; with the names that the bots gave themselves',
      ['Last time', 'Name and reason', numberHeading('Times')],
      rows,
    ),
    forgotten > 0 && h('p', {class: 'quiet'}, `${count(forgotten, 'earlier refusal')} not shown.`),
  ]);
}

export function registrationView(league) {
  const {registrations} = league;
  return [registrations.expected ? expected(league, registrations) : arrivals(league), refusals(registrations)];
}
