// The rule of the table, computed here once more: points, then points in the matches among all who are tied (if each two
// of them have met equally often), then wins, then fewer draws, then the order of registration.

function tally(players, games) {
  const rows = Array.from({length: players}, (_, player) => ({
    player,
    played: 0,
    wins: 0,
    draws: 0,
    losses: 0,
    points: 0,
    direct: 0,
  }));
  for (const game of games) {
    game.players.forEach((player, side) => {
      const row = rows[player];
      ++row.played;
      row.points += game.points[side];
      ++row[game.outcome === 'AB'[side] ? 'wins' : game.outcome === 'DRAW' ? 'draws' : 'losses'];
    });
  }
  return rows;
}

/** The games among players with the same points that decide between them: where all of these have met equally often. */
function direct(rows, games, isOld) {
  const groups = new Map(); // by points: how many players, and how often each two of them have met
  for (const {points} of rows) groups.set(points, {size: (groups.get(points)?.size ?? 0) + 1, met: new Map()});
  const tied = games.filter(({players: [a, b]}) => rows[a].points === rows[b].points);
  for (const {players} of tied) {
    const {met} = groups.get(rows[players[0]].points);
    const pair = [...players].sort().join('-');
    met.set(pair, (met.get(pair) ?? 0) + 1);
  }
  const isEqual = ({size, met}) => met.size === (size * (size - 1)) / 2 && new Set(met.values()).size === 1;
  return tied.filter(({players}) => isOld || isEqual(groups.get(rows[players[0]].points)));
}

/**
 * The rows by rank; `direct` is what decided between players with the same points. `isOld`: a league of an older
 * manager, in which matches among players with the same points always count.
 */
export function ranking(players, games, isOld) {
  const rows = tally(players, games);
  for (const {players: [a, b], points} of direct(rows, games, isOld)) {
    rows[a].direct += points[0];
    rows[b].direct += points[1];
  }
  const order = (one, two) =>
    two.points - one.points || two.direct - one.direct || two.wins - one.wins || one.draws - two.draws;
  rows.sort((one, two) => order(one, two) || one.player - two.player);
  rows.forEach((row, place) => {
    const above = rows[place - 1];
    row.rank = above && order(above, row) === 0 ? above.rank : place + 1;
  });
  return rows;
}

/** Whether the manager's table is the one that follows from the matches, whose rows by rank are `rows`. */
export function isTable(table, rows) {
  const isSame = (row, i) =>
    row.player === rows[i].player && row.rank === rows[i].rank && row.points === rows[i].points;
  return table.length === rows.length && table.every(isSame);
}

/** Why the row at `place` stands below the one above it, in a sentence. */
export function explained(rows, place, nameOf) {
  const row = rows[place];
  const above = rows[place - 1];
  if (!above) return 'First: nobody has more points.';
  const who = nameOf(above.player);
  if (row.points < above.points) return `${above.points - row.points} points behind ${who}.`;
  if (row.direct < above.direct)
    return `As many points as ${who}, but ${row.direct} against ${above.direct} in the matches among those who are tied.`;
  if (row.wins < above.wins) return `Level with ${who} in points and among the tied, but fewer wins.`;
  if (row.draws > above.draws) return `Level with ${who} in points and wins, but more draws.`;
  return `Shares the place with ${who}: nothing in the rules parts them but the order of registration.`;
}

/** Ranks by player before the latest round, to tell who moved in it; null where nobody can say. */
export function ranksBefore(league) {
  const {round} = league.head;
  if (round < 2 || !league.isWhole()) return null;
  const ranks = [];
  const games = league.finished().filter((game) => game.round < round);
  for (const row of ranking(league.players.length, games, league.isOld())) ranks[row.player] = row.rank;
  return ranks;
}

/** Points of each player after each round: series[player][round]. */
export function pointsOverRounds(league) {
  const rounds = league.head.round;
  const series = league.players.map(() => new Array(rounds + 1).fill(0));
  for (const game of league.finished())
    game.players.forEach((player, side) => {
      series[player][game.round] += game.points[side];
    });
  for (const points of series) for (let round = 1; round <= rounds; ++round) points[round] += points[round - 1];
  return series;
}
