// The page: follows what is told of the league and shows one view, which the address says (#standings, #match/R1M1, ...).

import {h, name, patch} from './dom.js';
import {count, duration, moment, words} from './format.js';
import {League} from './model.js';
import {follow, isLive} from './source.js';
import {followTheme} from './theme.js';
import {crossView} from './view_cross.js';
import {fairnessView} from './view_fairness.js';
import {logView} from './view_log.js';
import {matchView} from './view_match.js';
import {operateFromButtons, operateView} from './view_operate.js';
import {playersView} from './view_players.js';
import {registrationView} from './view_registration.js';
import {roundsView} from './view_rounds.js';
import {standingsView} from './view_standings.js';

const VIEWS = {
  standings: ['Standings', standingsView],
  cross: ['Cross table', crossView],
  rounds: ['Rounds', roundsView],
  match: ['Match', matchView],
  registration: ['Registration', registrationView],
  players: ['Players', playersView],
  fairness: ['Fairness', fairnessView],
  log: ['Log', logView],
  operate: ['Operate', operateView],
};
if (!isLive) for (const view of ['registration', 'log', 'operate']) delete VIEWS[view];

const league = new League(isLive);
const element = (id) => document.getElementById(id);
let connection = 'connecting';
let isDrawing = false;
let told = '';

function place() {
  const [view, ...rest] = decodeURIComponent(location.hash.slice(1)).split('/');
  return {view: Object.hasOwn(VIEWS, view) ? view : 'standings', asked: rest.join('/')};
}

function headline() {
  const {head} = league;
  if (head.state === 'REGISTERING')
    return `${league.players.length} of ${count(head.players_expected, 'player')} are in`;
  const parts = [
    `Round ${head.round} of ${head.rounds}`,
    `${head.finished} of ${count(head.matches, 'match', 'matches')}`,
  ];
  if (head.paused) parts.unshift('Paused');
  if (head.ended_early) parts.unshift('Ended by the operator');
  const left = league.timeLeft();
  if (left !== null) parts.push(`about ${duration(left)} left`);
  if (head.state === 'COMPLETED')
    parts.push(`took ${duration(Date.parse(head.completed_at) - Date.parse(head.started_at))}`);
  if (head.technical_losses > 0) parts.push(count(head.technical_losses, 'technical loss', 'technical losses'));
  if (!isLive) parts.push(`as of ${moment(league.at)}`);
  return parts.join(' · ');
}

function drawHeader() {
  const {head} = league;
  element('league').textContent = head.id;
  element('state').textContent = head.paused ? 'paused' : words(head.state);
  element('state').className = `pill ${head.paused ? 'registering' : head.state.toLowerCase()}`;
  element('headline').textContent = headline();
  const admitsPeople = isLive && head.state === 'REGISTERING' && head.admits_people;
  element('play').hidden = !admitsPeople;
  if (admitsPeople) element('play').href = '/play'; // a site on a disk has no such page
  element('progress').max = head.matches || head.players_expected;
  element('progress').value = head.matches ? head.finished : league.players.length;
  const first =
    head.state === 'COMPLETED'
      ? league.table.filter((row) => row.rank === 1).map((row) => league.players[row.player])
      : [];
  patch(
    element('champion'),
    h(
      'div',
      {},
      first.length > 0 && [
        h('span', {'aria-hidden': 'true'}, '★ '),
        first.length > 1
          ? 'First place shared: '
          : league.isUndecided(league.table[0].player)
            ? 'First, not decided: '
            : 'Champion: ',
        first.map((player, i) => [i > 0 && ', ', name(player.name), ` (${player.id})`]),
      ],
    ),
  );
}

function drawConnection() {
  const text = {
    open: '',
    connecting: 'Connecting …',
    lost:
      league.head?.state === 'COMPLETED'
        ? 'The manager has been stopped. This is how the league ended.'
        : 'The manager does not answer; this page may be out of date. Retrying …',
  }[connection];
  if (element('connection').textContent !== text) element('connection').textContent = text;
}

/** What the page is about, for its title: of a match and of a player the names. */
function subject(view, asked) {
  const game = view === 'match' && league.matches.get(asked);
  if (game) return `${game.id}: ${game.players.map((player) => league.nameOf(player)).join(' – ')}`;
  const player = view === 'players' && league.players.find((one) => one.id === asked);
  return player ? player.name : VIEWS[view][0];
}

function draw() {
  isDrawing = false;
  drawConnection();
  const {view, asked} = place();
  for (const link of document.querySelectorAll('#views a')) {
    const isHere = link.hash === `#${view}`;
    if (isHere) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const {head} = league;
  if (!head) return;
  drawHeader();
  document.title = [subject(view, asked), head.id, words(head.state)].filter(Boolean).join(' – ');
  const content = h('main', {}, VIEWS[view][1](league, asked, redraw));
  const main = element('main');
  if (main.dataset.view !== view) main.replaceChildren();
  main.dataset.view = view;
  patch(main, content);
}

/** Soon, and once for all that changes until then. */
function redraw() {
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(draw);
}

/** For screen readers: the course of the league, not each match. */
function announce() {
  const {head} = league;
  const news =
    head.state === 'RUNNING' ? `Round ${head.round} of ${head.rounds}` : `The league is ${words(head.state)}`;
  if (news !== told) element('announcements').textContent = told = news;
}

followTheme(element('theme'), element('dark'));
patch(
  element('views'),
  h(
    'nav',
    {},
    Object.entries(VIEWS).map(([view, [title]]) => h('a', {href: `#${view}`}, title)),
  ),
);
addEventListener('hashchange', () => {
  redraw();
  scrollTo(0, 0);
});
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  element('main').focus();
});
operateFromButtons(redraw);
setInterval(() => {
  if (isLive && league.head?.state === 'RUNNING') redraw();
}, 1000);
follow(
  (view, isWhole) => {
    league.merge(view, isWhole);
    announce();
    redraw();
  },
  (state) => {
    connection = state;
    redraw();
  },
);
draw();
