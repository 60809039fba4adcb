import {agentLabel, h, name, scrolling} from './dom.js';
import {answerTime, clock, exactClock, fairnessOf, words} from './format.js';
import {playerId} from './model.js';
import {matchDetails} from './source.js';
import {checks} from './verify.js';

const promised = new Map(); // draw commitments that were seen before their match was finished, by id

/** Who takes part in a match, from left to right: {role, name}. */
const lanes = (league, game) => [
  {role: 'Manager', name: ''},
  {role: 'Referee', name: game.referee >= 0 ? league.refereeName(game.referee) : ''},
  {role: 'Player A', name: league.nameOf(game.players[0])},
  {role: 'Player B', name: league.nameOf(game.players[1])},
];

/** The messages of a match in order: {from, to, text, note, isBad}; `from` and `to` are indexes of its lanes. */
function messages(league, game, proof) {
  const list = [
    {
      from: 0,
      to: 3,
      text: 'ROUND_ANNOUNCEMENT',
      note: `draw promised: ${proof.draw_commitment.slice(0, 12)}…`,
      at: proof.announced_at,
    },
  ];
  for (const [at, attempt, referee, reason] of proof.steps) {
    if (referee >= 0)
      list.push({from: 0, to: 1, text: 'assignment', note: `${league.refereeName(referee)}, attempt ${attempt}`, at});
    else list.push({from: 1, to: 0, text: 'taken back', note: words(reason), at, isBad: true});
  }
  if (game.status !== 'COMPLETED') return list;
  if (game.decided === 'manager') {
    list.push({
      from: 0,
      to: 0,
      text: 'ended by the manager',
      note: words(game.technical),
      at: game.finishedAt,
      isBad: true,
    });
    return list;
  }
  const commitments = [proof.commitment_A, proof.commitment_B];
  const stage = (question, answer, times, note) =>
    [0, 1].forEach((side) => {
      const cause = game.causes[side];
      const failed = cause && times[side] === null && cause.call === question;
      if (times[side] === null && !failed) return;
      list.push({from: 1, to: 2 + side, text: question});
      if (failed)
        list.push({from: 2 + side, to: 1, text: `no usable answer: ${cause.code}`, note: cause.fault, isBad: true});
      else
        list.push({
          from: 2 + side,
          to: 1,
          text: answer,
          note: [answerTime(times[side]), note(side)].filter(Boolean).join(', '),
        });
    });
  stage('GAME_INVITATION', 'GAME_JOIN_ACK', game.join, (side) => commitments[side] && 'with a commitment');
  stage('CHOOSE_PARITY_CALL', 'CHOOSE_PARITY_RESPONSE', game.answer, (side) => league.head.choices[game.choices[side]]);
  if (!game.technical && league.head.numbers)
    list.push({
      from: 1,
      to: 1,
      text: `draws ${game.drawn}`,
      note: league.head.kinds?.[game.drawn - league.head.numbers[0]],
    });
  list.push({
    from: 1,
    to: 0,
    text: 'MATCH_RESULT_REPORT',
    note: `points ${game.points.join('–')}`,
    at: game.finishedAt,
    isBad: Boolean(game.technical),
  });
  list.push({from: 1, to: 3, text: 'GAME_OVER'});
  return list;
}

const cut = (text, longest) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);

function sequence(list, who, title) {
  const [width, step, top] = [760, 46, 56];
  const x = (lane) => 90 + (lane * (width - 180)) / (who.length - 1);
  const height = top + list.length * step + 10;
  const columns = who.map(({role, name}, i) => [
    h('line', {x1: x(i), x2: x(i), y1: top - 12, y2: height, class: 'lane'}),
    h('text', {x: x(i), y: 16, class: 'note', 'text-anchor': 'middle'}, role),
    h('text', {x: x(i), y: 33, class: 'lane-name', 'text-anchor': 'middle'}, h('title', {}, name), cut(name, 24)),
  ]);
  const arrows = list.map(({from, to, text, note, isBad}, i) => {
    const y = top + i * step + 22;
    const style = isBad ? 'message bad' : 'message';
    if (from === to) {
      return h(
        'g',
        {class: style},
        h('rect', {x: x(from) - 62, y: y - 15, width: 124, height: 30, rx: 6}),
        h('text', {x: x(from), y: y - 1, 'text-anchor': 'middle'}, text),
        h('text', {x: x(from), y: y + 11, 'text-anchor': 'middle', class: 'note'}, note),
      );
    }
    const tip = to > from ? -7 : 7;
    const room = 24 + 40 * (Math.abs(to - from) - 1); // characters between the two lanes
    return h(
      'g',
      {class: style},
      h('line', {x1: x(from), x2: x(to), y1: y, y2: y}),
      h('path', {d: `M${x(to)},${y} l${tip},-4 v8 z`}),
      h('text', {x: (x(from) + x(to)) / 2, y: y - 5, 'text-anchor': 'middle'}, text),
      h(
        'text',
        {x: (x(from) + x(to)) / 2, y: y + 13, 'text-anchor': 'middle', class: 'note'},
        note && cut(note, Math.max(46, room)),
      ),
    );
  });
  return h(
    'svg',
    {viewBox: `0 0 ${width} ${height}`, role: 'img', class: 'sequence', 'aria-label': title},
    h('title', {}, title),
    columns,
    arrows,
  );
}

function asText(list, who) {
  const called = (lane) => (lane < 2 ? `the ${who[lane].role.toLowerCase()}` : who[lane].name);
  return h(
    'details',
    {},
    h('summary', {}, 'The same as text'),
    h(
      'ol',
      {},
      list.map((one) =>
        h(
          'li',
          {},
          one.at && `${clock(one.at)} `,
          one.from === one.to ? `${called(one.from)}: ` : `${called(one.from)} to ${called(one.to)}: `,
          one.text,
          one.note && ` (${one.note})`,
        ),
      ),
    ),
  );
}

function verdict(league, game, proof) {
  if (game.status !== 'COMPLETED')
    return h(
      'p',
      {class: 'quiet'},
      'It can be checked when it is finished; until then its seed, choices and nonces are secret.',
    );
  if (game.decided === 'manager') return h('p', {class: 'quiet'}, 'The manager ended it: nothing was drawn.');
  const rows = checks(proof, game, league.head, game.players.map(playerId), promised.get(game.id));
  const isGood = rows.every((row) => row.ok);
  return [
    h(
      'p',
      {class: isGood ? 'verdict good' : 'verdict bad'},
      isGood
        ? 'Checked by this browser: everything follows from what was promised.'
        : 'Checked by this browser: something does not follow.',
    ),
    h(
      'ul',
      {class: 'checks'},
      rows.map((row) =>
        h('li', {class: row.ok ? 'good' : 'bad'}, h('strong', {}, `${row.ok ? '✓' : '✗'} ${row.what}: `), row.why),
      ),
    ),
  ];
}

function outcome(league, game) {
  if (game.status !== 'COMPLETED') return words(game.status);
  const winner = 'AB'.indexOf(game.outcome);
  const text =
    winner < 0 ? (game.outcome === 'DRAW' ? 'A draw' : 'Nobody wins') : `${league.nameOf(game.players[winner])} wins`;
  const [failed] = game.players.filter((_, side) => game.causes[side]);
  const blamed = game.causes[0] && game.causes[1] ? '' : `${failed === undefined ? '' : league.nameOf(failed)} `;
  const loser = game.technical ? `; ${blamed}${words(game.technical)}` : league.head.numbers ? `: drawn ${game.drawn}` : '';
  return `${text}${loser}${game.decided === 'disputed' ? ' (disputed)' : ''}${game.decided === 'unproven' ? ' (unproven)' : ''}${game.decided === 'void' ? ' (void: it counts for nobody)' : ''}`;
}

/** Who made it void and why, and what is played in place of what. */
function replacement(league, {id}) {
  const link = (other) => h('a', {href: `#match/${other}`}, other);
  const act = league.acts.find((one) => one.match === id);
  const original = league.acts.find((one) => one.replay === id)?.match;
  return [
    act &&
      h(
        'p',
        {},
        `Made void by ${act.by}: ${act.reason}.`,
        act.replay && [' It is played again as ', link(act.replay), '.'],
      ),
    original && h('p', {}, 'It replaces ', link(original), ', which is void.'),
  ];
}

/** What a player did wrong and what its author has to do about it. */
export const advice = ([clause, text]) => `What to do: ${text} (docs/protocol.md, ${clause})`;
function faults(league, game, {remedies}) {
  if (!game.technical) return null;
  return game.causes.map(
    (cause, side) =>
      cause &&
      h(
        'p',
        {class: 'causes'},
        name(league.nameOf(game.players[side])),
        `: ${cause.call} ${cause.code}: ${cause.text}. ${advice(remedies[side])}`,
      ),
  );
}

/** Of an exported site: the messages with their times. */
function transcript(league, {transcript: lines}) {
  if (!lines) return null;
  return h(
    'details',
    {},
    h('summary', {}, 'What its referee’s log says'),
    h(
      'ol',
      {class: 'log'},
      lines.map(([at, from, to, text, code, error]) =>
        h(
          'li',
          {class: code ? 'warning' : null},
          h('time', {datetime: new Date(at).toISOString()}, exactClock(at)),
          ` ${league.nameOfAgent(from)} → ${league.nameOfAgent(to)}: ${text}`,
          code && `; ${code} ${error}`,
        ),
      ),
    ),
  );
}

/** One match; `redraw` runs when more of it is known. */
export function matchView(league, asked, redraw) {
  const latest =
    league.finished().reduce((one, two) => (!one || two.finishedAt > one.finishedAt ? two : one), null) ||
    league.inPlay()[0];
  const game = asked ? league.matches.get(asked) : latest;
  if (!game)
    return [
      h('section', {class: 'card wide'}, h('p', {}, asked ? `There is no match ${asked} yet.` : 'No match has begun.')),
    ];
  const proof = matchDetails(game, redraw);
  const isFinished = Boolean(proof?.seed);
  if (proof && !isFinished) promised.set(game.id, proof.draw_commitment);
  const [a, b] = game.players.map((player) => league.players[player]);
  const heading = h('h2', {}, `${game.id}: `, agentLabel(a), ' – ', agentLabel(b));
  if (!proof || (game.status === 'COMPLETED' && !isFinished))
    return [h('section', {class: 'card wide'}, heading, h('p', {}, outcome(league, game)))];
  const who = lanes(league, game);
  const list = messages(league, game, proof);
  return [
    h(
      'section',
      {class: 'card main'},
      heading,
      h('p', {class: 'outcome'}, outcome(league, game)),
      replacement(league, game),
      faults(league, game, proof),
      scrolling(
        'Sequence diagram',
        sequence(list, who, `Messages of match ${game.id}: ${list.map((one) => one.text).join(', ')}`),
      ),
      asText(list, who),
      transcript(league, proof),
    ),
    h(
      'section',
      {class: 'card side'},
      h('h2', {}, 'Verification'),
      verdict(league, game, proof),
      !game.technical && game.fairness && h('p', {class: 'quiet'}, fairnessOf(league.head)[game.fairness]),
      h(
        'details',
        {},
        h('summary', {}, 'Seed, commitments, nonces'),
        h(
          'dl',
          {class: 'proof'},
          ['draw_commitment', 'seed', 'commitment_A', 'nonce_A', 'commitment_B', 'nonce_B']
            .filter((key) => proof[key])
            .map((key) => [h('dt', {}, key), h('dd', {}, proof[key])]),
        ),
      ),
    ),
  ];
}
