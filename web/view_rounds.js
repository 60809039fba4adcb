import {agentRow, h, numberCell, numberHeading, rowHeading, scrolling, table} from './dom.js';
import {answerTime, count, duration, moment, words} from './format.js';

const link = (id) => h('a', {href: `#match/${id}`}, id);

function result(league, game) {
  if (game.status !== 'COMPLETED') return h('span', {class: 'quiet'}, words(game.status));
  if (game.decided === 'void') {
    const {replay} = league.acts.find((act) => act.match === game.id) ?? {};
    return h('span', {class: 'technical'}, 'void', replay && [', played again as ', link(replay)]);
  }
  const doubt = ['disputed', 'unproven'].includes(game.decided) && h('span', {class: 'technical'}, `, ${game.decided}`);
  if (game.technical) return [h('span', {class: 'technical'}, words(game.technical)), doubt];
  const chosen = game.choices.map((choice) => league.head.choices[choice] ?? '–').join(' – ');
  return [league.head.numbers ? `${chosen}, drawn ${game.drawn}` : chosen, doubt];
}

function side(league, game, which) {
  const player = league.players[game.players[which]];
  const hasWon = game.outcome === 'AB'[which];
  return h('td', {class: hasWon ? 'winner' : null}, agentRow(player));
}

function matches(league, round) {
  const games = league.ofRound(round);
  const slowest = (game) => Math.max(...game.answer.map((us) => us ?? 0), ...game.join.map((us) => us ?? 0)) || null;
  const rows = games.map((game) =>
    h(
      'tr',
      {'data-key': game.id},
      rowHeading(link(game.id)),
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

function acts(league) {
  return h(
    'section',
    {class: 'card wide'},
    h('h2', {}, 'What the operator did'),
    h(
      'ol',
      {class: 'log'},
      league.acts.map(({at, act, match: of, replay, seconds, reason, by}) =>
        h(
          'li',
          {},
          h('time', {datetime: new Date(at).toISOString()}, moment(at)),
          ` ${words(act)} `,
          of && link(of),
          replay && [', played again as ', link(replay)],
          seconds !== null && ` by ${seconds} s`,
          reason && `: ${reason}`,
          ` (by ${by})`,
        ),
      ),
    ),
  );
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
    league.acts.length > 0 && acts(league),
  ];
}
