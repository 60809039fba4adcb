// Elements without markup: what strangers call themselves is always text, never markup.

const SVG = 'http://www.w3.org/2000/svg';
const SVG_TAGS = new Set(['svg', 'g', 'line', 'path', 'polyline', 'rect', 'text', 'title']);

/** An element: `h('td', {class: 'points'}, 12, ' points')`. Attributes that are null or false are left out. */
export function h(tag, attributes, ...children) {
  const element = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** A name that somebody chose: isolated, so that right-to-left text turns nothing around it. */
export function name(text) {
  return h('bdi', {class: 'name', title: text}, text);
}

/** A table with a caption, headings and rows of cells; a cell is text, an element, or a ready `td` or `th`. */
export function table(caption, headings, rows, attributes = {}) {
  const cell = (content, tag) => {
    const isCell = content instanceof Element && (content.tagName === 'TD' || content.tagName === 'TH');
    return isCell ? content : h(tag, tag === 'th' ? {scope: 'col'} : {}, content);
  };
  return h(
    'table',
    attributes,
    h('caption', {}, caption),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        headings.map((heading) => cell(heading, 'th')),
      ),
    ),
    h(
      'tbody',
      {},
      rows.map((row) =>
        row instanceof Element
          ? row
          : h(
              'tr',
              {},
              row.map((one) => cell(one, 'td')),
            ),
      ),
    ),
  );
}

export const numberCell = (value) => h('td', {class: 'number'}, value);
export const numberHeading = (text) => h('th', {scope: 'col', class: 'number'}, text);
export const rowHeading = (...content) => h('th', {scope: 'row'}, ...content);

/** What may be wider than the screen and then scrolls by itself, also with the keyboard. */
export function scrolling(label, ...content) {
  return h('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label}, ...content);
}

/** Id and name of a player or referee. */
export const agentLabel = (agent) => [h('span', {class: 'id'}, agent.id), ' ', name(agent.name)];
/** The same for a row of a table, which cuts the name only where there is no room for it; `more` follows. */
export const agentRow = (agent, ...more) => h('div', {class: 'agent'}, agentLabel(agent), ...more);
/** The same, where the id leads to the player's matches. */
export const playerRow = (player, ...more) =>
  h(
    'div',
    {class: 'agent'},
    h('a', {href: `#players/${player.id}`, class: 'id'}, player.id),
    name(player.name),
    ...more,
  );

// What the reader has opened, typed or chosen stays as it is.
const OWN_STATE = {DETAILS: ['open']};

function sameKind(old, fresh) {
  return (
    old.nodeType === fresh.nodeType &&
    old.nodeName === fresh.nodeName &&
    (old.nodeType !== Node.ELEMENT_NODE || old.getAttribute('data-key') === fresh.getAttribute('data-key'))
  );
}

function patchAttributes(old, fresh) {
  const own = OWN_STATE[old.tagName] || [];
  for (const {name: attribute} of [...old.attributes])
    if (!fresh.hasAttribute(attribute) && !own.includes(attribute)) old.removeAttribute(attribute);
  for (const {name: attribute, value} of fresh.attributes)
    if (old.getAttribute(attribute) !== value) old.setAttribute(attribute, value);
}

/** Makes the children of `old` those of `fresh` and changes only what differs: focus, scrolling and selection stay. */
export function patch(old, fresh) {
  const wanted = [...fresh.childNodes];
  wanted.forEach((child, index) => {
    const present = old.childNodes[index];
    if (!present) {
      old.append(child);
    } else if (!sameKind(present, child)) {
      present.replaceWith(child);
    } else if (child.nodeType === Node.TEXT_NODE) {
      if (present.data !== child.data) present.data = child.data;
    } else {
      patchAttributes(present, child);
      patch(present, child);
    }
  });
  while (old.childNodes.length > wanted.length) old.lastChild.remove();
}
