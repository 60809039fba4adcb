import {h} from './dom.js';
import {clock, words} from './format.js';

/** The operator's log, the newest line first. */
export function logView(league, asked) {
  const isRefusals = asked === 'refusals';
  const lines = league.log
    .filter((line) => !isRefusals || line.event.includes('REFUSED'))
    .slice()
    .reverse();
  return [
    h(
      'section',
      {class: 'card wide'},
      h('h2', {}, 'Messages for the operator'),
      h(
        'nav',
        {class: 'pager', 'aria-label': 'Filter'},
        h('a', {href: '#log', 'aria-current': isRefusals ? null : 'true'}, 'everything'),
        ' ',
        h('a', {href: '#log/refusals', 'aria-current': isRefusals ? 'true' : null}, 'refusals'),
      ),
      lines.length === 0 && h('p', {class: 'quiet'}, 'Nothing yet.'),
      h(
        'ol',
        {class: 'log', reversed: true},
        lines.map((line) =>
          h(
            'li',
            {'data-key': line.at + line.text, class: line.warning ? 'warning' : null},
            h('time', {datetime: line.at}, clock(Date.parse(line.at))),
            ' ',
            h('span', {class: 'event'}, words(line.event)),
            ' ',
            h('span', {class: 'text'}, line.text),
          ),
        ),
      ),
    ),
  ];
}
