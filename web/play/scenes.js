// What the page shows at each stage.

import {h, name, scrolling} from './dom.js';
import {count} from './format.js';
import {invited, lastName, league, state} from './game.js';
import {FARED, fared, playerId} from './model.js';

const LOBBY = 24; // names that are shown of those who are in

const nameOf = (id) => name(league.players.find((one) => one.id === id)?.name ?? id);
const title = (text) => text.charAt(0).toUpperCase() + text.slice(1).replaceAll('_', ' ');
const card = (kind, ...content) => h('section', {class: `card ${kind}`, 'data-key': kind}, ...content);

export function verdict({outcome, technical, opponent}) {
  const other = league.players.find((one) => one.id === opponent)?.name ?? opponent ?? 'your opponent';
  if (outcome === 'win') return technical ? `You win: ${other} sent no valid answer.` : 'You win!';
  if (outcome === 'draw') return 'A draw.';
  return technical ? 'You lose: no valid answer arrived in time.' : 'You lose.';
}

/** The key of a choice: its first letter where no other one has it, else its number. */
export function keys(choices) {
  const letters = choices.map((one) => one.charAt(0).toUpperCase());
  const isClear = new Set(letters).size === letters.length && letters.every((one) => /[A-Z]/.test(one));
  return choices.map((one, i) => (isClear ? letters[i] : String(i + 1)));
}

function form() {
  const {head, registrations} = league;
  if (!head) return card('welcome', h('p', {class: 'quiet'}, 'Connecting …'));
  const fault = state.fault && h('p', {class: 'fault', id: 'fault', role: 'alert', tabindex: -1}, state.fault);
  if (head.state !== 'REGISTERING')
    return card(
      'welcome',
      h('h2', {}, head.state === 'RUNNING' ? 'The league is being played' : 'The league is over'),
      fault,
      h('p', {}, 'Nobody can join it any more, but you can ', h('a', {href: '/'}, 'watch'), '.'),
    );
  const needsCode = registrations.expected !== null;
  return card(
    'welcome',
    h('h2', {}, 'Take a seat'),
    h('p', {}, rules(head)),
    fault,
    h(
      'form',
      {id: 'form'},
      needsCode
        ? h(
            'label',
            {},
            'Your code',
            h('input', {
              name: 'code',
              value: invited,
              required: true,
              maxlength: 256,
              autocomplete: 'off',
              autocapitalize: 'none',
              spellcheck: 'false',
            }),
          )
        : h(
            'label',
            {},
            'Your name in the table',
            h('input', {name: 'display', value: lastName(), required: true, maxlength: 50, autocomplete: 'nickname'}),
          ),
      h('button', {type: 'submit', class: 'primary'}, 'Play'),
    ),
  );
}

function rules({game, choices, numbers}) {
  const begin = `In each match you and your opponent choose ${choices.join(' or ')}, without seeing each other’s choice.`;
  if (!numbers) return `${begin} Both choices decide the points.`;
  const draw = `${begin} Then a number from ${numbers[0]} to ${numbers[1]} is drawn.`;
  return game === 'even_odd'
    ? `${draw} If only one of you is right, that player wins 3 points; a draw gives 1 point each.`
    : `${draw} The number and both choices decide the points.`;
}

function waiting() {
  const {head, players} = league;
  if (head?.state === 'REGISTERING') {
    const missing = head.players_expected - players.length;
    return card(
      'calm',
      h('h2', {}, 'You are in'),
      h(
        'p',
        {class: 'big'},
        missing > 0 ? `Waiting for ${count(missing, 'more player')}` : 'The league is about to start',
      ),
      h('progress', {max: head.players_expected, value: players.length, 'aria-label': 'Players who are in'}),
      h(
        'ul',
        {class: 'lobby', 'aria-label': 'Who is in'},
        players
          .slice(-LOBBY)
          .map((one) => h('li', {class: one.id === state.playerId && 'own', 'data-key': one.id}, name(one.name))),
      ),
      h('p', {class: 'quiet'}, 'You can leave this page open; it calls you when it is your turn.'),
    );
  }
  return card(
    'calm',
    h('h2', {}, head?.paused ? 'The league is paused' : 'Your next match starts automatically'),
    h(
      'p',
      {class: 'quiet'},
      head?.round > 0 && `Round ${head.round} of ${head.rounds}. `,
      'Other matches may still be in play.',
    ),
  );
}

function choosing() {
  const {match, stage} = state;
  const isOpen = stage === 'choosing';
  const marks = keys(match.choices);
  return card(
    'turn',
    h('div', {class: 'clock', 'aria-hidden': 'true'}, h('div', {id: 'bar'})),
    h('p', {id: 'left', role: 'timer', 'aria-live': 'off'}),
    h('p', {class: 'round'}, match.round !== null && `Round ${match.round}`),
    h('h2', {id: 'against'}, 'You against ', nameOf(match.opponent)),
    h(
      'div',
      {id: 'choices', role: 'group', 'aria-labelledby': 'against what', tabindex: -1},
      h('p', {id: 'what', class: 'hidden'}, `Choose ${match.choices.join(' or ')}.`),
      match.choices.map((one, i) =>
        h(
          'button',
          {
            type: 'button',
            class: `choice choice-${i % 4}`,
            'data-choice': one,
            disabled: !isOpen,
            'aria-keyshortcuts': marks[i],
          },
          title(one),
          h('kbd', {'aria-hidden': 'true'}, marks[i]),
        ),
      ),
    ),
    h('p', {class: 'quiet'}, 'Your choice is sealed before your opponent can see it.'),
  );
}

function sealed() {
  const {choice, opponent, commitment, round} = state.sealed;
  return card(
    'calm',
    h('p', {class: 'round'}, round && `Round ${round}`),
    h('h2', {}, 'You against ', nameOf(opponent)),
    h('p', {class: 'big'}, 'You chose ', h('strong', {}, choice)),
    commitment && h('p', {class: 'seal'}, 'Sealed as ', h('code', {}, commitment.slice(0, 16)), '…'),
    h('p', {class: 'quiet waits'}, 'Waiting for ', nameOf(opponent)),
  );
}

/** What the library has found before it took the result for true. */
function proofOf({seed, promise, commitments, nonces}, result) {
  const both = Object.keys(commitments).length > 1;
  const row = (text, value) =>
    h('li', {}, h('span', {class: 'good', 'aria-hidden': 'true'}, '✓ '), text, value && h('code', {}, value));
  return h(
    'details',
    {class: 'proof-own'},
    h(
      'summary',
      {},
      h('span', {class: 'good'}, '✓ Checked by this page'),
      both
        ? ': neither of you could know the other’s choice'
        : ': your choice could not be changed',
      result.number === null ? '.' : ', and nobody could choose the number.',
    ),
    h(
      'ul',
      {class: 'checks'},
      result.number !== null &&
        row('The seed of the draw is the one that was promised before you chose: ', `${seed} → ${promise}`),
      Object.entries(commitments).map(([id, its]) =>
        row(
          id === state.playerId ? 'You chose what you had sealed: ' : [nameOf(id), ' chose what it had sealed: '],
          `${nonces[id]} → ${its}`,
        ),
      ),
      row(
        result.number === null
          ? 'By the rules of the game the result follows from both choices.'
          : `The seed, choices and seals give the number ${result.number}, which gives the result.`,
      ),
    ),
  );
}

export function resultCard() {
  const {result, proof} = state;
  const kind = league.head?.kinds?.[result.number - league.head.numbers[0]];
  const side = (who, choice) =>
    h(
      'div',
      {class: choice && choice === kind ? 'side right' : 'side'},
      h('span', {class: 'quiet'}, who),
      h('strong', {}, choice ?? '–'),
    );
  return card(
    `outcome-card ${result.outcome}`,
    h('p', {class: 'round'}, result.round && `Round ${result.round}`),
    h('h2', {}, verdict(result)),
    result.number !== null &&
      h('div', {class: 'drawn'}, h('span', {class: 'ball'}, result.number), h('span', {class: 'quiet'}, kind)),
    h('div', {class: 'sides'}, side('You', result.choice), side(nameOf(result.opponent), result.opponentChoice)),
    proof
      ? proofOf(proof, result)
      : result.technical
        ? h('p', {}, h('a', {href: `/#match/${result.id}`}, `What happened in ${result.id}`))
        : h(
            'p',
            {class: 'quiet'},
            'This page was closed or offline when the match ended; ',
            h('a', {href: `/#match/${result.id}`}, `see how ${result.id} was decided`),
            '.',
          ),
    state.stage === 'result' &&
      league.head?.state === 'RUNNING' &&
      h('p', {class: 'quiet waits'}, 'Your next match starts automatically'),
  );
}

/** The result of before, while there is something newer. */
export function lastCard() {
  const {result, proof} = state;
  return h(
    'section',
    {class: `card last ${result.outcome}`, 'data-key': 'last'},
    result.number !== null && h('span', {class: 'ball'}, result.number),
    h(
      'div',
      {},
      h('strong', {}, result.round && `Round ${result.round}: `, verdict(result)),
      result.choice &&
        h(
          'div',
          {class: 'quiet'},
          `You ${result.choice}, `,
          nameOf(result.opponent),
          ` ${result.opponentChoice ?? '–'}`,
        ),
      proof && h('div', {class: 'good'}, '✓ checked'),
    ),
  );
}

function stopped(heading, text, label) {
  return card(
    'calm',
    h('h2', {}, heading),
    h('p', {}, text),
    h('button', {type: 'button', class: 'primary', id: 'back'}, label),
  );
}

export function over() {
  const own = league.table.find((row) => playerId(row.player) === state.playerId);
  const first = league.table.filter((row) => row.rank === 1).map((row) => name(league.nameOf(row.player)));
  return card(
    'calm',
    h('h2', {}, 'The league is over'),
    own &&
      h(
        'p',
        {class: 'big'},
        own.rank === 1 ? 'You are first!' : `You are number ${own.rank} of ${league.table.length}`,
      ),
    (own?.rank !== 1 || first.length > 1) &&
      h(
        'p',
        {},
        h('span', {'aria-hidden': 'true'}, '★ '),
        'First: ',
        first.map((one, i) => [i > 0 && ', ', one]),
      ),
    h('p', {}, h('a', {href: '/'}, 'All results, and how to check them')),
  );
}

export const SCENES = {
  form,
  entering: () => card('calm', h('h2', {}, 'Taking your seat …')),
  waiting,
  choosing,
  sealing: choosing,
  sealed,
  result: resultCard,
  missed: () =>
    stopped(
      'Are you still there?',
      'You did not choose in time, so you have lost this match. The league will not wait for you until you return.',
      'I am here',
    ),
  elsewhere: () =>
    stopped('You are playing in another tab', 'This tab has stopped, so that each choice is made only once.', 'Play here'),
  over,
};

/** The person's place, with the best and its neighbours. */
export function placing() {
  const own = league.table.findIndex((row) => playerId(row.player) === state.playerId);
  if (own < 0 || league.head?.state === 'REGISTERING') return null;
  const rows = league.table.filter((_, i) => i < 3 || Math.abs(i - own) <= 1);
  const form = league.finishedOf(league.table[own].player).slice(-8);
  const outcome = (game) => fared(game, league.table[own].player);
  return h(
    'section',
    {class: 'card place', 'data-key': 'place'},
    scrolling(
      'Table',
      h(
        'table',
        {},
        h('caption', {}, `Your place: ${league.table[own].rank} of ${league.table.length}`),
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            ['', 'Player', 'Played', 'Points'].map((text, i) =>
              h('th', {scope: 'col', class: i > 1 && 'number'}, text || h('span', {class: 'hidden'}, 'Rank')),
            ),
          ),
        ),
        h(
          'tbody',
          {},
          rows.map((row) =>
            h(
              'tr',
              {class: row === league.table[own] && 'own', 'data-key': row.player},
              h('td', {}, row.rank),
              h('th', {scope: 'row'}, row === league.table[own] ? 'You' : name(league.nameOf(row.player))),
              h('td', {class: 'number'}, row.played),
              h('td', {class: 'number points'}, row.points),
            ),
          ),
        ),
      ),
    ),
    form.length > 0 &&
      h(
        'p',
        {class: 'form'},
        h('span', {class: 'hidden'}, 'Your last matches: '),
        form.map((game) =>
          h(
            'a',
            {
              href: `/#match/${game.id}`,
              class: `result ${outcome(game)}`,
              title: game.id,
              'aria-label': `${game.id}: ${FARED[outcome(game)]}`,
            },
            outcome(game),
          ),
        ),
      ),
  );
}
