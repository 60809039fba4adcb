// Figures and words for people.

export function duration(ms) {
  if (ms === null || !Number.isFinite(ms)) return '';
  const seconds = Math.max(0, ms / 1000);
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

export function clock(time) {
  return new Date(time).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
}

/** A time of day to the millisecond. */
export const exactClock = (time) => `${clock(time)}.${String(new Date(time).getMilliseconds()).padStart(3, '0')}`;

/** Date and time. */
export const moment = (time) =>
  new Date(time).toLocaleString([], {dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23'});

/** An answer time: `0.42 ms`, `12 ms`, `1.3 s`. */
export function answerTime(us) {
  if (us === null || us === undefined) return '–';
  const ms = us / 1000;
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${ms.toFixed(ms >= 1 ? 1 : 2)} ms`;
}

export function percentile(sorted, part) {
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] : null;
}

const WORDS = {
  REGISTERING: 'waiting for players',
  RUNNING: 'running',
  COMPLETED: 'finished',
  PENDING: 'waits',
  IN_PROGRESS: 'in play',
  INIT: 'new',
  REGISTERED: 'registered',
  ACTIVE: 'active',
  SUSPENDED: 'suspended',
  SHUTDOWN: 'shut down',
  FAILED_MATCHES: 'lost several matches in a row by its own failure',
  SILENT: 'is silent',
  REFEREE_LOST: 'does not answer',
  DRAINING: 'is about to end',
  PLAYED: 'played again',
  HEARD_AGAIN: 'was heard again',
  PING_ANSWERED: 'answered a ping',
  RESTORED_BY_OPERATOR: 'restored by the operator',
  SHUT_DOWN_BY_OPERATOR: 'shut down by the operator',
  WITHDRAWN: 'withdrew',
  TIMEOUT_JOIN: 'did not accept the invitation in time',
  TIMEOUT_CHOICE: 'did not choose in time',
  CONNECTION_JOIN: 'could not be reached for the invitation',
  CONNECTION_CHOICE: 'could not be reached for its choice',
  INVALID_REPLY: 'answered with something that is no answer',
  INVALID_CHOICE: 'chose something that is no choice',
  WRONG_MATCH: 'answered for another match',
  DECLINED: 'declined the invitation',
  AUTH_FAILED: 'showed a wrong token',
  PLAYER_UNAVAILABLE: 'was not there',
  COMMITMENT_MISMATCH: 'did not keep to its commitment',
  BOTH_FAILED: 'both failed',
  PLAYER_SHUT_DOWN: 'one of its players is shut down',
  NO_REFEREE: 'no referee could finish it',
  ROUND_TIME_LIMIT: 'its round took too long',
  MANAGER_RESTARTED: 'the manager was restarted',
  REFEREE_RESTARTED: 'the referee was restarted',
  REFEREE_REFUSED: 'the referee refused it',
  MATCH_REFUSED: 'the referee may not call one of its players',
  MATCH_TIME_LIMIT: 'it took too long',
};

/** What a machine's word means; one that is not known stands as it is. */
export const words = (word) => WORDS[word] || word.toLowerCase().replaceAll('_', ' ');

/** What the fairness of a match means where a number is drawn … */
const STEERED = {
  both: 'Both players committed, and nobody disputes it: no side alone could steer the number.',
  one: 'One player committed: a referee that colludes with the other player could steer the number.',
  hosted: 'Players committed, but this league ran one of them for a chat program, and knew its choice beforehand.',
  claimed: 'Disputed, or a player’s receipts are missing or false: only the referee’s word for the commitments.',
  none: 'Nobody committed: manager and referee could know the number beforehand.',
};

/** … and where it is not. */
const BOUND = {
  both: 'Both players committed, and nobody disputes it: each was bound before the other’s choice could be known.',
  one: 'One player committed: its referee could have shown that player’s choice to the other one before it chose.',
  claimed: STEERED.claimed,
  none: 'Nobody committed: the referee could have shown one choice to the other player.',
};
export const fairnessOf = (head) => (head.numbers ? STEERED : BOUND);

export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;
