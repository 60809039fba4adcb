import {agentRow, h, numberCell, numberHeading, rowHeading, scrolling, table} from './dom.js';
import {answerTime, count, duration, words} from './format.js';

function result(league, game) {
  if (game.status !== 'COMPLETED') return h('span', {class: 'quiet'}, words(game.status));
  if (game.decided === 'void') return h('span', {class: 'technical'}, 'void');
  if (game.technical) return h('span', {class: 'technical'}, words(game.technical));
  return `${league.head.choices[game.choices[0]] ?? '–'} – ${league.head.choices[game.choices[1]] ?? '–'}, drawn ${game.drawn}`;
}

function side(league, game, which) {
  const player = league.players[game.players[which]];
  const hasWon = game.points && game.points[which] === 3;
  return h('td', {class: hasWon ? 'winner' : null}, agentRow(player));
}

function matches(league, round) {
  const games = league.ofRound(round);
  const slowest = (game) => Math.max(...game.answer.map((us) => us ?? 0), ...game.join.map((us) => us ?? 0)) || null;
  const rows = games.map((game) =>
    h(
      'tr',
      {'data-key': game.id},
      rowHeading(h('a', {href: `#match/${game.id}`}, game.id)),
      side(league, game, 0),
      side(league, game, 1),
      numberCell(game.points ? game.points.join('–') : ''),
      h('td', {class: 'how'}, result(league, game)),
      h(
        'td',
        {},
        game.referee >= 0 ? agentRow(league.referees[game.referee]) : '–',
        game.attempt > 1 && `attempt ${game.attempt}`,
      ),
      numberCell(game.points ? answerTime(slowest(game)) : ''),
    ),
  );
  return table(
    `Matches of round ${round}`,
    ['Match', 'Player A', 'Player B', 'Points', 'How', 'Referee', 'Slowest answer'],
    rows,
  );
}

function figures(league, {round, startedAt, completedAt}) {
  const games = league.ofRound(round).filter((game) => game.status === 'COMPLETED' && game.decided !== 'void');
  const technical = games.filter((game) => game.technical).length;
  const draws = games.filter((game) => game.outcome === 'DRAW').length;
  return [
    rowHeading(h('a', {href: `#rounds/${round}`}, `Round ${round}`)),
    completedAt ? duration(completedAt - startedAt) : `${games.length} of ${league.ofRound(round).length} played`,
    numberCell(games.length - draws - technical),
    numberCell(draws),
    numberCell(technical),
  ];
}

/** All rounds, and the matches of one: the one that is asked for, or the latest. */
export function roundsView(league, asked) {
  const latest = league.head.round;
  if (latest < 1) return [h('section', {class: 'card wide'}, h('p', {}, 'No round has started.'))];
  const round = Math.min(Math.max(Number.parseInt(asked, 10) || latest, 1), latest);
  const left = league.timeLeft();
  return [
    h(
      'section',
      {class: 'card wide'},
      h('h2', {}, `Round ${round} of ${league.head.rounds}`),
      h(
        'nav',
        {class: 'pager', 'aria-label': 'Rounds'},
        round > 1 && h('a', {href: `#rounds/${round - 1}`}, '← earlier'),
        ' ',
        round < latest && h('a', {href: `#rounds/${round + 1}`}, 'later →'),
      ),
      scrolling('Matches', matches(league, round)),
    ),
    h(
      'section',
      {class: 'card wide'},
      h('h2', {}, 'All rounds'),
      h(
        'p',
        {class: 'quiet'},
        `${league.head.finished} of ${count(league.head.matches, 'match', 'matches')} played`,
        left !== null && `; about ${duration(left)} left`,
      ),
      scrolling(
        'Rounds',
        table(
          'Rounds',
          ['Round', 'Took', ...['Won', 'Drawn', 'Technical'].map(numberHeading)],
          league.rounds
            .filter(Boolean)
            .map((one) =>
              h(
                'tr',
                {'data-key': one.round},
                figures(league, one).map((cell) => (cell instanceof Element ? cell : h('td', {}, cell))),
              ),
            )
            .reverse(),
        ),
      ),
    ),
  ];
}
