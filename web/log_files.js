import {h} from './dom.js';
import {count} from './format.js';
import {bytesOf, readChain} from './log_chain.js';

const rows = []; // of the files that were given: {file, found}, or {file, problem}

async function read(files, redraw) {
  rows.length = 0;
  for (const file of files) {
    const row = {file: file.name};
    rows.push(row);
    redraw();
    try {
      row.found = await readChain(await bytesOf(file));
    } catch {
      row.problem = 'it cannot be read';
    }
    redraw();
  }
}

function sentence({found, problem}) {
  if (problem) return problem;
  if (!found) return 'reading …';
  if (found.fault) return `line ${found.fault.line}: ${found.fault.why}`;
  if (found.lines === 0) return 'it holds no whole line';
  const of = found.agent ? ` of ${found.agent}${found.league ? ` in ${found.league}` : ''}` : '';
  const cut = found.isCut ? ' The last line is not whole: the program was killed, or the file was cut there.' : '';
  return `${count(found.lines, 'line')}${of} in one chain: between the first and the last nothing was changed, added or taken out.${cut} ${count(found.seals, 'seal')} inside.`;
}

/** Where a reader has the chain of a log checked. */
export function logFiles(redraw) {
  const input = h('input', {type: 'file', id: 'log-files', multiple: true, accept: '.jsonl,.gz'});
  input.addEventListener('change', () => read([...input.files], redraw));
  return h(
    'section',
    {class: 'card'},
    h('h2', {}, 'A log that you were given'),
    h('p', {}, h('label', {for: 'log-files'}, 'Conversation logs (.jsonl, .jsonl.gz): '), input),
    h(
      'ul',
      {class: 'checks', 'aria-live': 'polite'},
      rows.map((row) =>
        h(
          'li',
          {
            class:
              row.found && !row.found.fault && row.found.lines > 0 ? 'good' : row.found || row.problem ? 'bad' : null,
          },
          h('strong', {}, row.file),
          ': ',
          sentence(row),
        ),
      ),
    ),
    h(
      'p',
      {class: 'quiet'},
      'The file is not uploaded. This checks the hash chain only; league audit verify also checks the signatures, which show who wrote the file and whether its end is missing.',
    ),
  );
}
