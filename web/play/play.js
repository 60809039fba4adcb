// The page on which a person plays. The protocol is in the client library, league_player.js; this file asks the person
// and tells the rest of the page what happens.

import {h, name, patch} from './dom.js';
import {words} from './format.js';
import {hasSeat, IDENTITY, invited, lastName, league, rememberName, state} from './game.js';
import {Player} from './league_player.js';
import {keys, lastCard, over, placing, SCENES, verdict} from './scenes.js';
import {follow} from './source.js';
import {followTheme} from './theme.js';
import {hmac, sha256} from './verify.js';

const LAST_SECONDS = 10;
const SLEEP = 5000; // milliseconds: who was away for longer may have lost its network

const element = (id) => document.getElementById(id);
let bot = null;
let settle = null; // takes the choice for which the library waits
let isDrawing = false;
let warned = false;

const REFUSALS = {
  E016: 'This code is not one of this league. Check it with the person who gave it to you.',
  E017: 'All seats are taken.',
  E019: 'The league has started without you.',
  E020: 'This name or code is already in use.',
};

function go(stage, change = {}) {
  Object.assign(state, {stage, ...change});
  redraw();
}

function say(text) {
  element('spoken').textContent = text;
}

/** Asks the person: called by the library with the invitation. Only the first answer counts. */
function ask(match) {
  return new Promise((resolve) => {
    settle = (choice) => {
      settle = null;
      resolve(choice);
    };
    warned = false;
    go('choosing', {match, mark: null});
    draw();
    element('choices')?.focus();
    if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(150);
  });
}

function choose(choice) {
  if (state.stage !== 'choosing' || !settle) return;
  state.mark = choice;
  settle(choice);
  go('sealing');
}

const EVENTS = {
  registered: ({playerId: id}) => {
    if (state.stage === 'entering') say(`You are in as ${id}.`);
    go(state.stage === 'entering' ? 'waiting' : state.stage, {playerId: id, isOnline: true});
    keepAwake();
  },
  committed: (sealed) => go('sealed', {sealed}),
  missed: ({id}) => {
    go('missed', {missed: id});
    say('You have missed this match.');
  },
  result: ({result, proof}) => {
    if (['missed', 'elsewhere'].includes(state.stage)) return;
    settle = null;
    go('result', {result, proof});
    say(verdict(result));
  },
  online: () => go(state.stage, {isOnline: true}),
  offline: () => go(state.stage, {isOnline: false}),
  over: () => go(state.stage === 'result' ? 'result' : 'over'),
};

/** Plays until the seat is lost; a page that is loaded again goes on with what is remembered. */
async function play({display, code}) {
  go('entering', {fault: ''});
  const quiet = {log() {}, error() {}}; // the page says what there is to say
  const {game} = league.head ?? {};
  bot = new Player(display || 'player', {game, playedBy: 'person', hashes: {sha256, hmac}, console: quiet});
  bot.choose(ask).onEvent((event) => EVENTS[event.type]?.(event));
  const mine = bot;
  try {
    await bot.run(location.origin, {data: IDENTITY, code});
  } catch (why) {
    if (mine !== bot) return;
    settle = null;
    if (why.code === 'E016' && state.playerId) return go('elsewhere');
    go('form', {fault: REFUSALS[why.code] ?? why.message});
    element('fault')?.focus();
  }
}

/** Back at the seat, after a missed match or from another tab. */
function comeBack() {
  bot.stop();
  play({display: lastName()});
  element('main').focus();
}

function submit(event) {
  event.preventDefault();
  const {display, code} = Object.fromEntries(new FormData(event.target));
  if (!rememberName(display ?? ''))
    return go('form', {
      fault: 'Your browser does not let this page store data, so you would lose your seat. Allow storage, then try again.',
    });
  play({display, code: code?.trim()});
  element('main').focus();
}

function drawClock() {
  const {match, stage} = state;
  if (stage !== 'choosing' && stage !== 'sealing') return;
  const left = Math.max(0, match.secondsLeft);
  state.whole = Math.max(state.whole ?? 0, left);
  element('left').textContent = stage === 'choosing' ? `${Math.ceil(left)} s` : '';
  element('bar').style.width = `${(100 * left) / state.whole}%`;
  element('bar').className = left <= LAST_SECONDS ? 'late' : '';
  if (stage === 'choosing' && left <= LAST_SECONDS && !warned) {
    warned = true;
    say(`${LAST_SECONDS} seconds left.`);
  }
}

const TITLES = {choosing: '● Your turn', missed: 'Are you still there?', elsewhere: 'Stopped'};

function draw() {
  isDrawing = false;
  const {head} = league;
  if (head) {
    element('league').textContent = head.id;
    element('state').textContent = head.paused ? 'paused' : words(head.state);
    element('state').className = `pill ${head.paused ? 'registering' : head.state.toLowerCase()}`;
  }
  const me = league.players.find((one) => one.id === state.playerId);
  patch(element('headline'), h('p', {}, me ? ['You are ', h('strong', {}, name(me.name)), ` (${me.id})`] : ''));
  const lost = state.isOnline ? '' : 'No connection to the league; trying again …';
  if (element('connection').textContent !== lost) element('connection').textContent = lost;
  document.title = [TITLES[state.stage] ?? 'Play', head?.id].filter(Boolean).join(' – ');
  if (state.stage !== 'choosing' && state.stage !== 'sealing') state.whole = 0;
  const main = element('main');
  if (main.dataset.stage !== state.stage && !(main.dataset.stage === 'choosing' && state.stage === 'sealing'))
    main.replaceChildren();
  main.dataset.stage = state.stage;
  const isOver = state.stage === 'result' && head?.state === 'COMPLETED';
  const hasLast = state.result && ['waiting', 'choosing', 'sealing', 'sealed'].includes(state.stage);
  patch(
    main,
    h('main', {}, isOver && over(), SCENES[state.stage](), hasLast && lastCard(), state.playerId && placing()),
  );
  for (const button of main.querySelectorAll('.choice'))
    button.classList.toggle('chosen', state.stage === 'sealing' && button.dataset.choice === state.mark);
  drawClock();
}

/** Soon, and once for all that changes until then. */
function redraw() {
  if (isDrawing) return;
  isDrawing = true;
  if (document.hidden)
    draw(); // a hidden page has no frames, but a title
  else requestAnimationFrame(draw);
}

// --- What the person and the device do ------------------------------------------------------------------------------

element('main').addEventListener('submit', submit);
element('main').addEventListener('click', ({target}) => {
  const button = target.closest('button');
  if (button?.dataset.choice) choose(button.dataset.choice);
  else if (button?.id === 'back') comeBack();
});
// Only where the choices have the focus, as they have at first: else a word that somebody dictates could choose.
element('main').addEventListener('keydown', (event) => {
  const isOfChoices = state.stage === 'choosing' && event.target.closest('#choices');
  if (!isOfChoices || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const {choices} = state.match;
  const pressed = event.key.toUpperCase();
  const at = keys(choices).findIndex((key, i) => key === pressed || String(i + 1) === pressed);
  if (at >= 0) choose(choices[at]);
});

let hiddenAt = 0;
document.addEventListener('visibilitychange', () => {
  if (document.hidden) hiddenAt = Date.now();
  else if (Date.now() - hiddenAt > SLEEP) bot?.wake();
  keepAwake();
});
addEventListener('online', () => bot?.wake());
addEventListener('pagehide', () => bot?.leave()); // else the league would wait for who has closed the page
addEventListener('pageshow', ({persisted}) => persisted && location.reload());

/** A telephone on the table stays on while its person plays; browsers offer that to https and localhost. */
async function keepAwake() {
  if (document.hidden || !state.playerId || state.stage === 'over') return;
  await navigator.wakeLock?.request('screen').catch(() => {});
}

followTheme(element('theme'), element('dark'));
setInterval(drawClock, 250);
let isFirst = true;
function begin() {
  if (!isFirst) return;
  isFirst = false;
  if (hasSeat()) play({display: lastName()});
  else if (invited && league.head?.state === 'REGISTERING') element('form')?.querySelector('button').focus();
}
follow(
  (view, isWhole) => {
    league.merge(view, isWhole);
    if (isFirst) draw();
    else redraw();
    begin();
    if (league.head.state === 'COMPLETED' && state.stage === 'waiting') go('over');
  },
  (told) => {
    if (told === 'lost' && hasSeat()) begin(); // too many may watch, but who has a seat plays
    if (!bot) go(state.stage, {isOnline: told !== 'lost'});
  },
);
draw();
