// SHA-256 (FIPS 180-4) and HMAC in plain JavaScript: browsers offer crypto.subtle over https and on localhost only, and
// a league is often shown over plain http. Then what a match's result has to follow from.

const primes = [];
for (let candidate = 2; primes.length < 64; ++candidate)
  if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
const fraction = (value) => Math.floor((value - Math.floor(value)) * 2 ** 32) >>> 0;
const START = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const K = primes.map((prime) => fraction(Math.cbrt(prime)));
const rotate = (word, by) => (word >>> by) | (word << (32 - by));

function compress(state, words) {
  for (let i = 16; i < 64; ++i) {
    const s0 = rotate(words[i - 15], 7) ^ rotate(words[i - 15], 18) ^ (words[i - 15] >>> 3);
    const s1 = rotate(words[i - 2], 17) ^ rotate(words[i - 2], 19) ^ (words[i - 2] >>> 10);
    words[i] = (words[i - 16] + s0 + words[i - 7] + s1) | 0;
  }
  let [a, b, c, d, e, f, g, last] = state;
  for (let i = 0; i < 64; ++i) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const one = (last + s1 + ((e & f) ^ (~e & g)) + K[i] + words[i]) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [last, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  return [a, b, c, d, e, f, g, last].map((word, i) => (word + state[i]) | 0);
}

/** The digest of `bytes` (Uint8Array) as a Uint8Array of 32. */
export function sha256(bytes) {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  let state = START;
  for (let at = 0; at < padded.length; at += 64) {
    const words = new Int32Array(64);
    for (let i = 0; i < 16; ++i) words[i] = view.getInt32(at + 4 * i);
    state = compress(state, words);
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => digest.setInt32(4 * i, word));
  return new Uint8Array(digest.buffer);
}

const joined = (one, two) => {
  const all = new Uint8Array(one.length + two.length);
  all.set(one);
  all.set(two, one.length);
  return all;
};

/** HMAC-SHA-256 with a key of at most 64 bytes. */
export function hmac(key, message) {
  const block = new Uint8Array(64);
  block.set(key);
  const inner = sha256(
    joined(
      block.map((byte) => byte ^ 0x36),
      message,
    ),
  );
  return sha256(
    joined(
      block.map((byte) => byte ^ 0x5c),
      inner,
    ),
  );
}

export const ascii = (text) => new TextEncoder().encode(text);
export const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
export const unhex = (text) => Uint8Array.from(text.match(/../g) || [], (pair) => parseInt(pair, 16));

/** The number that follows from seed, choices and nonces; docs/protocol.md has the rule. */
export function drawNumber(seed, matchId, choices, nonces, [lowest, highest]) {
  const size = highest - lowest + 1;
  const bound = 256 - (256 % size);
  const parts = nonces.some((nonce) => nonce) ? [...choices, ...nonces.map((nonce) => nonce || '')] : choices;
  for (let counter = 0; ; ++counter) {
    const digest = hmac(unhex(seed), ascii([matchId, ...parts, counter].join('|')));
    for (const byte of digest) if (byte < bound) return lowest + (byte % size);
  }
}

export const outcomeOf = ([a, b]) => (a > b ? 'A' : a < b ? 'B' : 'DRAW');

/**
 * The points of both players by the definition of the game (docs/games.md); `choices` are places in its list of words.
 * A third-party referee may have told no more than the outcome: then they are the first ones with that outcome.
 */
export function scoreOf(rules, {technical, outcome, choices, drawn}) {
  const {winner, loser, both} = rules.technical;
  if (technical) return {A: [winner, loser], B: [loser, winner]}[outcome] ?? [both, both];
  const score = (kind, a, b) =>
    ['PLAYER_A', 'PLAYER_B'].map((role, side) => {
      const payoffs = rules.roles?.[role] ?? rules.payoffs;
      return (kind ? payoffs[kind] : payoffs)[side === 0 ? a : b][side === 0 ? b : a];
    });
  const [a, b] = choices.map((choice) => rules.choices[choice]);
  const kind = rules.drawn?.[drawn - 1];
  if (a && b && Boolean(kind) === Boolean(rules.drawn)) return score(kind, a, b);
  const all = (rules.drawn ? rules.choices : [null]).flatMap((one) =>
    rules.choices.flatMap((own) => rules.choices.map((other) => score(one, own, other))),
  );
  return all.find((points) => outcomeOf(points) === outcome) ?? [both, both];
}

/**
 * What can be checked of a finished match: rows of {what, ok, why}. `proof` is the answer of /live/match/ID, `game` the
 * match in it (model.js), `head` the league's, `ids` of the players, `seenBefore` the promise that this page saw
 * before the match was finished, if it did.
 */
export function checks(proof, game, head, ids, seenBefore) {
  const rows = [];
  const add = (what, ok, why) => rows.push({what, ok, why});
  if (game.decided === 'unproven') {
    add('Seed of the draw', false, 'The referee did not reveal it; the operator accepts that.');
    return rows;
  }
  const promise = hex(sha256(joined(unhex(proof.seed), ascii(proof.match_id))));
  add(
    'Seed of the draw',
    promise === proof.draw_commitment,
    'SHA-256 of seed and match id is what was promised in the announcement.',
  );
  if (seenBefore)
    add('Promise', seenBefore === proof.draw_commitment, 'It is what this page saw before the match was finished.');
  const choices = game.choices.map((choice) => head.choices[choice]);
  const nonces = [proof.nonce_A, proof.nonce_B];
  [proof.commitment_A, proof.commitment_B].forEach((commitment, side) => {
    if (!commitment || !nonces[side] || !choices[side]) return;
    const text = [proof.draw_commitment, proof.match_id, ids[side], choices[side], nonces[side]].join('|');
    add(
      `Commitment of ${ids[side]}`,
      hex(sha256(ascii(text))) === commitment,
      'Its choice and nonce open what it had promised.',
    );
  });
  if (!game.technical && head.numbers) {
    const counted = nonces.map((nonce, side) => ([proof.commitment_A, proof.commitment_B][side] ? nonce : null));
    const number = drawNumber(proof.seed, proof.match_id, choices, counted, head.numbers);
    add('Number', number === game.drawn, `From seed, choices and nonces follows ${number}; reported is ${game.drawn}.`);
  }
  if (!game.technical) {
    const points = scoreOf(head.rules, game);
    const from = head.numbers ? 'the number and the choices' : 'the choices';
    add(
      'Winner',
      outcomeOf(points) === game.outcome,
      `By the rules of the game ${points.join('–')} points follow from ${from}.`,
    );
  }
  return rows;
}
