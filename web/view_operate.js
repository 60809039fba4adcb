// What the operator can do from this page. The key stays in its field: it is sent with each act and kept nowhere.

import {h, name} from './dom.js';
import {words} from './format.js';
import {matchId} from './model.js';

const value = (id) => document.getElementById(id)?.value.trim() ?? '';
let answer = {text: '', isBad: false};
let number = 0;

const ACTS = {
  pause: () => ['operate_league', {act: 'PAUSE'}, 'The league is paused.'],
  resume: () => ['operate_league', {act: 'RESUME'}, 'The league continues.'],
  end: () => ['operate_league', {act: 'END_LEAGUE'}, 'The league ends.'],
  extend: () => [
    'operate_league',
    {act: 'EXTEND_ROUND', seconds: Number.parseInt(value('operate-seconds'), 10) || 0},
    'The round is extended.',
  ],
  announce: () => ['operate_league', {act: 'ANNOUNCE', reason: value('operate-text')}, 'Announced.'],
  void: () => [
    'operate_league',
    {act: 'VOID_MATCH', match_id: value('operate-match'), replay: document.getElementById('operate-replay').checked},
    'The match is void.',
  ],
  remove: () => ['shut_down_agent', {agent_id: value('operate-agent')}, 'The agent is removed.'],
  restore: () => ['restore_agent', {agent_id: value('operate-agent')}, 'The agent plays again.'],
  start: () => ['start_league', {}, 'The league starts.'],
};
const DANGEROUS = new Set(['end', 'void', 'remove']);
const CONFIRMED = {
  end: 'End the league now? Matches that are not finished will not be played.',
  remove: 'Remove this agent? Before the start its seat is free again; later a player loses the matches that are left.',
};

/** Carries an act out; what the manager answers is shown. */
async function carryOut(act) {
  const [method, own, done] = ACTS[act]();
  const params = {
    operator_key: value('operate-key'),
    by: value('operate-by') || 'operator',
    reason: value('operate-reason'),
    ...own,
  };
  try {
    const response = await fetch('/mcp', {
      method: 'POST',
      headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({jsonrpc: '2.0', id: ++number, method, params}),
    });
    const {result, error} = await response.json();
    const refusal = error?.message ?? result.error_description;
    answer = refusal ? {text: refusal, isBad: true} : {text: done, isBad: false};
  } catch {
    answer = {text: 'The manager does not answer, so it is unknown whether the command was executed.', isBad: true};
  }
}

/** Once for the page; `redraw` runs when an act has been answered. */
export function operateFromButtons(redraw) {
  document.addEventListener('click', async (event) => {
    const act = event.target.closest('button[data-act]')?.dataset.act;
    if (!act || (CONFIRMED[act] && !confirm(CONFIRMED[act]))) return;
    await carryOut(act);
    redraw();
  });
}

const button = (act, text) =>
  h('button', {type: 'button', 'data-act': act, class: DANGEROUS.has(act) ? 'danger' : null}, text);
const field = (id, label, attributes = {}) =>
  h('label', {}, label, ' ', h('input', {id, type: 'text', autocomplete: 'off', ...attributes}));

function disputes(league) {
  const games = league.finished().filter((game) => game.decided === 'disputed');
  if (games.length === 0) return h('p', {class: 'quiet'}, 'No match is disputed.');
  return h(
    'p',
    {},
    'Disputed: ',
    games.map((game) => [h('a', {href: `#match/${game.id}`}, game.id), ' ']),
  );
}

/** The buttons by which the operator acts, and what the manager said to the last act. */
export function operateView(league) {
  const {head} = league;
  const isOver = head.state === 'COMPLETED';
  const matches = [...league.matches.values()].filter((game) => game.status === 'COMPLETED' && game.decided !== 'void');
  return [
    h(
      'section',
      {class: 'card wide operate'},
      h('h2', {}, 'Operate'),
      h(
        'p',
        {},
        isOver
          ? 'The league is over: nothing can be changed any more.'
          : head.paused
            ? 'The league is paused.'
            : `The league is ${words(head.state)}.`,
      ),
      h('p', {class: 'quiet'}, 'Every act is recorded in the journal with your name and reason, and is public.'),
      h(
        'div',
        {class: 'fields'},
        field('operate-key', 'Operator’s key', {type: 'password'}),
        field('operate-by', 'Your name'),
        field('operate-reason', 'Reason'),
      ),
      h('p', {role: 'status', class: answer.isBad ? 'bad' : 'good'}, answer.text),
    ),
    h(
      'section',
      {class: 'card operate'},
      h('h2', {}, 'League'),
      h(
        'p',
        {},
        head.state === 'REGISTERING' && button('start', 'Start now'),
        head.paused ? button('resume', 'Resume') : button('pause', 'Pause'),
        button('end', 'End now'),
      ),
      h(
        'p',
        {},
        field('operate-seconds', 'Seconds', {inputmode: 'numeric', value: '300'}),
        button('extend', 'Extend the round'),
      ),
      h('p', {}, field('operate-text', 'Text'), button('announce', 'Announce')),
    ),
    h(
      'section',
      {class: 'card operate'},
      h('h2', {}, 'Match'),
      disputes(league),
      h(
        'p',
        {},
        field('operate-match', 'Match', {list: 'operate-matches', placeholder: matchId(1, 2)}),
        h(
          'datalist',
          {id: 'operate-matches'},
          matches.slice(-500).map((game) => h('option', {value: game.id})),
        ),
        h('label', {}, h('input', {id: 'operate-replay', type: 'checkbox'}), ' play it again'),
        button('void', 'Make it void'),
      ),
    ),
    h(
      'section',
      {class: 'card operate'},
      h('h2', {}, 'Agent'),
      h(
        'p',
        {},
        field('operate-agent', 'Agent', {list: 'operate-agents', placeholder: 'P07'}),
        h(
          'datalist',
          {id: 'operate-agents'},
          [...league.players, ...league.referees].map((agent) => h('option', {value: agent.id}, name(agent.name))),
        ),
        button('remove', 'Remove'),
        button('restore', 'Restore'),
      ),
    ),
  ];
}
