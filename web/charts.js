// Plots as inline SVG. Every one has a title for screen readers; the same figures stand in a table beside it.

import {h, name} from './dom.js';

const LINE_CLASSES = 8;

/** Steps of 1, 2 or 5 times a power of ten, about `wanted` of them up to `most`. */
function ticks(most, wanted) {
  const rough = Math.max(1, most / wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
  const all = [];
  for (let value = 0; value <= most; value += step) all.push(value);
  return all;
}

/**
 * Lines over rounds: `series` of {label, values, isStrong}, the last one on top. Strong ones have a colour and a number,
 * which the list below explains.
 */
export function lineChart(title, series, {width = 360, height = 230} = {}) {
  const [left, right, top, bottom] = [30, 24, 12, 26];
  const points = Math.max(...series.map((one) => one.values.length), 2);
  const most = Math.max(1, ...series.flatMap((one) => one.values));
  const x = (i) => left + (i / (points - 1)) * (width - left - right);
  const y = (value) => height - bottom - (value / most) * (height - top - bottom);
  const grid = ticks(most, 5).map((value) => [
    h('line', {x1: left, x2: width - right, y1: y(value), y2: y(value), class: 'grid'}),
    h('text', {x: left - 6, y: y(value) + 4, class: 'tick', 'text-anchor': 'end'}, value),
  ]);
  const below = ticks(points - 1, 8).map((round) =>
    h('text', {x: x(round), y: height - 8, class: 'tick', 'text-anchor': 'middle'}, round),
  );
  const strong = series.filter((one) => one.isStrong).reverse();
  const colour = (one) => `series-${strong.indexOf(one) % LINE_CLASSES}`;
  const lines = series.map((one) =>
    h('polyline', {
      class: one.isStrong ? `series ${colour(one)}` : 'series faint',
      points: one.values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(' '),
    }),
  );
  const labels = strong.map((one, i) => {
    const last = one.values.length - 1;
    return {y: y(one.values[last]), x: x(last) + 6, text: i + 1, style: colour(one)};
  });
  const picture = h(
    'svg',
    {viewBox: `0 0 ${width} ${height}`, role: 'img', class: 'chart', 'aria-label': title},
    h('title', {}, title),
    grid,
    below,
    lines,
    spread(labels, top, height - bottom).map((label) =>
      h('text', {x: label.x, y: label.y + 4, class: `label ${label.style}`}, label.text),
    ),
  );
  const list = strong.map((one) => h('li', {class: colour(one)}, name(one.label)));
  return [picture, h('ol', {class: 'series-names'}, list)];
}

/** Moves labels apart that would lie on each other. */
function spread(labels, top, bottom) {
  const gap = 15;
  labels.sort((one, two) => one.y - two.y);
  labels.forEach((label, i) => {
    label.y = Math.max(label.y, i ? labels[i - 1].y + gap : top);
  });
  for (let i = labels.length - 1, limit = bottom; i >= 0; --i, limit -= gap) labels[i].y = Math.min(labels[i].y, limit);
  return labels;
}

/** Bars with a dashed line at what is expected; `bars` of {label, value}. */
export function barChart(title, bars, expected, {width = 520, height = 220} = {}) {
  const [left, top, bottom] = [34, 20, 26];
  const most = Math.max(1, expected * 1.15, ...bars.map((bar) => bar.value));
  const step = (width - left) / bars.length;
  const y = (value) => height - bottom - (value / most) * (height - top - bottom);
  return h(
    'svg',
    {viewBox: `0 0 ${width} ${height}`, role: 'img', class: 'chart', 'aria-label': title},
    h('title', {}, title),
    bars.map((bar, i) =>
      h('rect', {
        x: left + i * step + step * 0.15,
        width: step * 0.7,
        y: y(bar.value),
        height: height - bottom - y(bar.value),
        rx: 3,
        class: 'bar',
      }),
    ),
    h('line', {x1: left, x2: width, y1: y(expected), y2: y(expected), class: 'expected'}),
    bars.map((bar, i) => [
      h('text', {x: left + (i + 0.5) * step, y: y(bar.value) - 6, class: 'tick', 'text-anchor': 'middle'}, bar.value),
      h('text', {x: left + (i + 0.5) * step, y: height - 8, class: 'tick', 'text-anchor': 'middle'}, bar.label),
    ]),
  );
}
