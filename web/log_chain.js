// Whether the lines of a conversation log follow each other; docs/audit.md has the rule. The file stays in this browser.

import {ascii, hex, sha256} from './verify.js';

const HASH_SIZE = 76; // of `","hash":"…"}`, which ends every line and is not covered by the hash
const LINE_FEED = 10;
const SLICE = 1 << 20; // bytes between two looks at the clock and at whoever clicks

/** What is wrong with a line; an empty text if nothing is. `before` is what the lines before it lead to. */
function faultOf(line, message, before) {
  const covered = line.subarray(0, line.length - HASH_SIZE);
  const digest = hex(sha256(covered));
  if (hex(ascii(`","hash":"${digest}"}`)) !== hex(line.subarray(covered.length)))
    return 'its hash does not fit: it was changed';
  if (before.hash !== null && message.prev !== before.hash)
    return 'it does not follow the line before: lines were removed, added or reordered';
  if (message.seq !== undefined && before.next !== null && message.seq !== before.next)
    return `it is record ${message.seq}, and ${before.next} is due`;
  return '';
}

/**
 * Reads the lines of a log (Uint8Array): {agent, league, lines, records, seals, isCut, fault}. `fault` is {line, why} of
 * the first line that does not fit, or null; `isCut` says that the last line is not whole, as a kill leaves it.
 */
export async function readChain(bytes) {
  const found = {agent: '', league: '', lines: 0, records: 0, seals: 0, isCut: false, fault: null};
  const before = {hash: null, next: null};
  let rest = SLICE;
  for (let start = 0, end; start < bytes.length && !found.fault; start = end + 1) {
    end = bytes.indexOf(LINE_FEED, start);
    if (end < 0) {
      found.isCut = true;
      break;
    }
    const line = bytes.subarray(start, end);
    ++found.lines;
    let message = null;
    try {
      message = JSON.parse(new TextDecoder().decode(line));
    } catch {
      /* said below */
    }
    const why =
      message === null || typeof message !== 'object' ? 'it is not a JSON object' : faultOf(line, message, before);
    if (why) {
      found.fault = {line: found.lines, why};
      break;
    }
    before.hash = message.hash;
    if (message.format !== undefined)
      [found.agent, found.league, before.next] = [message.agent, message.league_id || found.league, message.first_seq];
    else if (message.seal !== undefined) ++found.seals;
    else if (message.note === undefined) {
      ++found.records;
      before.next = message.seq + 1;
    }
    rest -= line.length;
    if (rest < 0) {
      rest = SLICE;
      await new Promise((resume) => setTimeout(resume));
    }
  }
  return found;
}

/** The bytes of a file, unpacked where it is compressed. */
export async function bytesOf(file) {
  const stream = file.name.endsWith('.gz') ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream();
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
