// Where the page has its data from: a manager, or the snapshot that an exported site loads before this script.

const {snapshot} = globalThis;
const REOPEN = 3000; // milliseconds, where the browser has given the stream up

/** Whether there is a manager, which tells what changes and takes commands. */
export const isLive = snapshot === undefined;

/** Passes each view of the league to `take(view, isWhole)`, and to `tell` whether the manager is there: `open`, `lost`. */
export function follow(take, tell) {
  if (!isLive) {
    tell('open');
    take(snapshot.view, true);
    return;
  }
  const stream = new EventSource('/live/events');
  const passOn =
    (isWhole) =>
    ({data}) => {
      tell('open');
      take(JSON.parse(data), isWhole);
    };
  stream.addEventListener('snapshot', passOn(true));
  stream.addEventListener('update', passOn(false));
  stream.onopen = () => tell('open');
  stream.onerror = () => {
    tell('lost');
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => follow(take, tell), REOPEN + Math.random() * REOPEN);
  };
}

const known = new Map(); // {key, content} by path
const asked = new Set();

async function ask(path, key, then) {
  const question = `${path} ${key}`;
  if (asked.has(question)) return;
  asked.add(question);
  try {
    const answer = await fetch(`/live/${path}`);
    if (!answer.ok) return;
    known.set(path, {key, content: await answer.json()});
    then();
  } catch {
    // The manager is away; the stream says so, and the next update asks again.
  } finally {
    asked.delete(question);
  }
}

/** The latest answer of the manager; it is asked again when `key` has changed. */
function details(kind, id, key, then) {
  if (!isLive) return snapshot[kind][id];
  const path = `${kind}/${id}`;
  if (known.get(path)?.key !== key) ask(path, key, then);
  return known.get(path)?.content;
}

/** What a match's row does not have; undefined until it is there, then `then` runs. */
export const matchDetails = (game, then) =>
  details('match', game.id, `${game.status} ${game.attempt} ${game.decided}`, then);
/** The same of a player. */
export const playerDetails = (agent, then) => details('player', agent.id, `${agent.state} ${agent.since}`, then);
