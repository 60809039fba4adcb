/** A finished match of this bot. */
export interface Result {
  /** Such as "R2M1". */
  readonly id: string;
  readonly round: number | null;
  /** An id, such as "P03". */
  readonly opponent: string | null;
  /** null: it was not made. */
  readonly choice: string | null;
  readonly opponentChoice: string | null;
  /** null: none was drawn, or this bot was not there at the end. */
  readonly number: number | null;
  readonly outcome: "win" | "draw" | "loss";
  /** Decided because a player failed. */
  readonly technical: boolean;
}

/** A row of the league's table. A league may send more fields. */
export interface Row {
  readonly rank: number;
  readonly player_id: string;
  readonly display_name: string;
  readonly played: number;
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
  readonly points: number;
  readonly [field: string]: unknown;
}

/** What is known about the match for which the bot chooses. */
export interface Match {
  /** Such as "R2M1". */
  readonly id: string;
  /** The id of this bot. */
  readonly playerId: string;
  /** An id, such as "P03". */
  readonly opponent: string | null;
  readonly round: number | null;
  /** The words that may be chosen, ["even", "odd"] in Even/Odd. */
  readonly choices: string[];
  /** The last table. */
  readonly standings: Row[];
  /** The last 500 finished matches of this bot, the oldest first. */
  readonly history: Result[];
  /** Those of `history` against this opponent. */
  readonly meetings: Result[];
  /** A later choice does not count. */
  readonly deadline: Date;
  /** Until the deadline; 0 when it has passed. */
  readonly secondsLeft: number;
  /** The message that asks, with all its fields. */
  readonly call: { readonly [field: string]: unknown };
}

export interface RunOptions {
  /** Node.js: listen on this port (0: any free one) and let the league call, instead of connecting to it. */
  serve?: number | string;
  /** With `serve`: the name or address by which the league reaches this machine (127.0.0.1). */
  host?: string;
  /** The registration code, if the league asks for one. */
  code?: string;
  /** The file, or in a browser the key in localStorage, that stores who the bot is (NAME.json). */
  data?: string;
  /** The name in the league's table, in place of the constructor's. */
  name?: string;
}

export interface PlayerOptions {
  /** The game that the bot plays, if it is not "even_odd". */
  game?: string;
  /** Gets what the bot has to say, line by line: news with `log`, faults with `error`. */
  console?: { log(text: string): void; error(text: string): void };
  /** Milliseconds until a manager that did not answer is asked again; doubled up to 10 s (250). */
  firstPause?: number;
  /** Milliseconds (20): what is answered within them leaves with the next poll; later answers leave by themselves. */
  atOnce?: number;
  /**
   * Who plays, if it is no program. Then choose() has the time for people, and where it gives no choice, the
   * match is lost and run() ends.
   */
  playedBy?: "person" | "host";
  /** SHA-256, and HMAC-SHA-256 with a key of at most 64 bytes, for pages that are offered no crypto.subtle. */
  hashes?: { sha256(bytes: Uint8Array): Uint8Array; hmac(key: Uint8Array, bytes: Uint8Array): Uint8Array };
}

/** What the bot has found true before it took a result: all values in hexadecimal. */
export interface Proof {
  readonly seed: string;
  /** SHA-256 of the seed and the match, known before anybody chose. */
  readonly promise: string;
  /** What follows from the seed, the choices and the nonces. */
  readonly number: number;
  /** Of the players that were bound, by id. */
  readonly commitments: Readonly<Record<string, string>>;
  readonly nonces: Readonly<Record<string, string>>;
}

/** What has happened, for those who show it. */
export type PlayerEvent =
  | { readonly type: "registered"; readonly playerId: string; readonly leagueId: string }
  | { readonly type: "round"; readonly round: number }
  | { readonly type: "committed"; readonly id: string; readonly opponent: string; readonly round: number | null;
      readonly choice: string; readonly commitment?: string }
  /** Nobody has chosen in time: the seat is left, and run() ends, so that no other match waits. */
  | { readonly type: "missed"; readonly id: string; readonly opponent: string; readonly round: number | null }
  /** Without proof: the result was technical, or came while the bot was away. */
  | { readonly type: "result"; readonly result: Result; readonly proof?: Proof }
  | { readonly type: "standings"; readonly standings: Row[] }
  | { readonly type: "over"; readonly champion: { readonly [field: string]: unknown } | null }
  /** An error that the league reports. */
  | { readonly type: "told"; readonly code: string; readonly text: string }
  | { readonly type: "offline"; readonly reason: string }
  | { readonly type: "online" };

/** Why `run` ended. The message can be shown as it is. */
export class LeagueError extends Error {
  /** The league's error code, such as "E019", if there is one. */
  readonly code?: string;
}

/** A bot. It runs once. */
export class Player {
  /** The league's table shows `name`: 1 to 50 characters. */
  constructor(name: string, options?: PlayerOptions);
  readonly name: string;
  /** null before the registration. */
  readonly id: string | null;
  readonly standings: Row[];
  readonly history: Result[];
  /** The function that chooses. It may be asked for several matches at a time. */
  choose(choose: (match: Match) => string | Promise<string>): this;
  /** A function that gets the result of each match; there can be several. */
  onResult(listener: (result: Result) => unknown): this;
  /**
   * Plays until `stop` (resolves), or until the league does not admit the bot or another program takes over
   * its seat (rejects with a LeagueError). `manager`: an address, or several of one league, in an array or
   * separated by commas. A program without `manager`, or with --manager on its command line, takes --manager,
   * --serve, --host, --code, --data and --name from there. After a LeagueError it then prints one line, sets
   * the exit code and resolves.
   */
  run(manager?: string | string[], options?: RunOptions): Promise<void>;
  /** A function that gets what happens, at once; there can be several. */
  onEvent(witness: (event: PlayerEvent) => unknown): this;
  /** Ends `run`. */
  stop(): void;
  /** The same, and tells the manager that nobody sits at the seat any more, also while a page is closed. */
  leave(): void;
  /** A device has slept: goes on at once, without the connections that its network has lost. */
  wake(): void;
}
