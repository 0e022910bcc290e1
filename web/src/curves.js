// A chart of curves over one axis: lines with gaps where there is no figure, points, stage starts,
// and what stands under the pointer. It knows nothing of what the curves mean.

import {axisBottom, axisLeft} from 'd3-axis';
import {scaleLinear} from 'd3-scale';
import {select} from 'd3-selection';
import {compact} from './format.js';
import {element, svg} from './dom.js';

const margin = {left: 56, right: 24, top: 18, bottom: 26};
const mostDots = 300; // more would be a band
let clips = 0;

// The mean of each value and its neighbours on both sides, so that a trend is seen through noise; of fewer towards the
// ends of the parts, which begin at the given places, or a steep start would not be seen. Few values are left as they are.
export function smoothed(values, parts = []) {
  const reach = Math.floor(values.length / 100);
  if (reach === 0) return values;
  const sums = new Float64Array(values.length + 1);
  const counts = new Int32Array(values.length + 1);
  values.forEach((value, i) => {
    sums[i + 1] = sums[i] + (value ?? 0);
    counts[i + 1] = counts[i] + (value === null ? 0 : 1);
  });
  const ends = [...parts, values.length];
  let begin = 0;
  return values.map((value, i) => {
    while (i >= ends[0]) begin = ends.shift();
    const near = Math.min(reach, Math.max(reach >> 2, Math.min(i - begin, ends[0] - 1 - i)));
    const from = Math.max(begin, i - near);
    const to = Math.min(ends[0], i + near + 1);
    return value === null ? null : (sums[to] - sums[from]) / (counts[to] - counts[from]);
  });
}

function pathOf(xs, ys, x, y) {
  let path = '';
  let down = false;
  for (let i = 0; i < xs.length; ++i) {
    if (ys[i] === null) {
      down = false;
      continue;
    }
    path += `${down ? 'L' : 'M'}${x(xs[i]).toFixed(1)},${y(ys[i]).toFixed(1)}`;
    down = true;
  }
  return path;
}

function extentOf(lists) {
  let [least, most] = [Infinity, -Infinity];
  for (const list of lists) {
    for (const value of list) {
      if (value === null) continue;
      if (value < least) least = value;
      if (value > most) most = value;
    }
  }
  return least <= most ? [least, most] : [0, 1];
}

// The place in a rising list whose value is nearest.
function nearest(list, value) {
  let [low, high] = [0, list.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (list[middle] < value) low = middle;
    else high = middle;
  }
  return Math.abs(list[high] - value) < Math.abs(list[low] - value) ? high : low;
}

export class Chart {
  // curves: {key, label, times: rising lists by the axis' key, values, smooth, dots: true for points that count one
  // by one, dash, colour(isDark), hidden()}; stages: {name, time, colour(isDark)}; rule: where a line is drawn across, if visible.
  constructor({title, note, series, curves, stages, height, rule = null, theme, tip}) {
    Object.assign(this, {title, series, curves, stages, height, rule, theme, tip});
    this.clip = `clip${++clips}`;
    this.holder = element('div', {class: 'chart'});
    this.legend = element('small', {class: 'series'});
    this.figure = element('figure', {class: 'curves'},
      element('figcaption', {}, title, ' ', element('small', {class: 'quiet'}, note), this.legend), this.holder);
    this.holder.addEventListener('pointermove', (event) => this.point(event));
    this.holder.addEventListener('pointerleave', () => this.leave());
  }

  shown() {
    return this.curves.filter((curve) => !curve.hidden());
  }

  draw(axis) {
    this.axis = axis;
    const width = Math.max(240, this.holder.clientWidth);
    const {height} = this;
    const curves = this.shown();
    const [, end] = extentOf(this.curves.map((curve) => curve.times[axis.key]));
    const extent = extentOf(curves.map((curve) => curve.smooth));
    const room = (extent[1] - extent[0]) * 0.06 || Math.abs(extent[0]) * 0.1 || 1;
    this.x = scaleLinear().domain([0, end || 1]).range([margin.left, width - margin.right]);
    this.y = scaleLinear().domain([extent[0] - room, extent[1] + room]).range([height - margin.bottom, margin.top]);
    const inside = svg('g', {'clip-path': `url(#${this.clip})`}, this.lines(curves));
    this.cursor = svg('path', {class: 'cursor', d: ''});
    this.holder.replaceChildren(svg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
      'aria-label': `${this.title} over ${axis.name}; the table above has the figures`},
    svg('clipPath', {id: this.clip}, svg('rect', {x: margin.left, y: margin.top,
      width: width - margin.left - margin.right, height: height - margin.top - margin.bottom})),
    this.axes(width), this.stageMarks(axis), inside, this.cursor));
  }

  axes(width) {
    const {x, y, height} = this;
    const across = svg('g', {transform: `translate(0,${height - margin.bottom})`});
    select(across).call(axisBottom(x).tickValues(this.axis.ticks(x, Math.max(2, Math.floor(width / 110)))).tickFormat(this.axis.text).tickSizeOuter(0));
    const up = svg('g', {class: 'up', transform: `translate(${margin.left},0)`});
    select(up).call(axisLeft(y).ticks(Math.floor(height / 45)).tickFormat(compact).tickSizeInner(-(width - margin.left - margin.right))
      .tickSizeOuter(0).tickPadding(8));
    return [up, across];
  }

  // A line where a stage began, but for the first; the label only where it does not run into another.
  stageMarks(axis) {
    const parts = [];
    let free = -Infinity;
    for (const {name, time, colour} of this.stages) {
      const at = this.x(time[axis.key]);
      parts.push(svg('path', {class: 'begin', style: `stroke: ${colour(this.theme.isDark)}`, d: `M${at},${margin.top - 4}V${this.height - margin.bottom}`}));
      if (at < free || at > this.x.range()[1] - 40) continue;
      parts.push(svg('text', {x: at + 4, y: margin.top - 6}, name));
      free = at + 8 * name.length;
    }
    return parts;
  }

  lines(curves) {
    const {x, y} = this;
    const parts = [];
    if (this.rule !== null) parts.push(svg('path', {class: 'rule', d: `M${x.range()[0]},${y(this.rule)}H${x.range()[1]}`}));
    const stroke = (curve) => `stroke: ${curve.colour(this.theme.isDark)};`;
    for (const curve of curves.filter((one) => one.smooth !== one.values)) {
      parts.push(svg('path', {class: 'noise', style: stroke(curve), d: pathOf(curve.times[this.axis.key], curve.values, x, y)}));
    }
    for (const curve of curves) {
      const xs = curve.times[this.axis.key];
      const dash = curve.dash ? ` stroke-dasharray: ${curve.dash};` : '';
      parts.push(svg('path', {class: `line ${curve.key}`, style: `${stroke(curve)} stroke-width: ${curve.dots ? 2.4 : 1.6};${dash}`,
        'data-points': xs.length, d: pathOf(xs, curve.smooth, x, y)}));
      if (xs.length > (curve.dots ? mostDots : 1)) continue;
      parts.push(xs.map((at, i) => (curve.values[i] === null ? [] : svg('circle', {class: `dot ${curve.key}`,
        cx: x(at).toFixed(1), cy: y(curve.values[i]).toFixed(1), r: 3, style: `fill: ${curve.colour(this.theme.isDark)}`}))));
    }
    return parts;
  }

  point(event) {
    const box = this.holder.getBoundingClientRect();
    const at = this.x.invert(event.clientX - box.left);
    const lines = [];
    for (const curve of this.shown()) {
      const xs = curve.times[this.axis.key];
      if (xs.length === 0) continue;
      const i = nearest(xs, at);
      if (curve.values[i] === null) continue;
      lines.push(`${curve.label}: ${compact(curve.values[i])} (${this.axis.exact(xs[i])}, update ${curve.times.update[i]})`);
    }
    if (lines.length === 0) return this.leave();
    const [from, to] = this.x.range();
    const place = Math.min(to, Math.max(from, event.clientX - box.left));
    this.cursor.setAttribute('d', `M${place},${margin.top}V${this.height - margin.bottom}`);
    this.tip.textContent = lines.join('\n');
    this.tip.hidden = false;
    this.tip.style.left = `${Math.max(8, Math.min(event.clientX + 14, innerWidth - this.tip.offsetWidth - 8))}px`;
    this.tip.style.top = `${Math.max(8, Math.min(event.clientY + 14, innerHeight - this.tip.offsetHeight - 8))}px`;
  }

  leave() {
    this.tip.hidden = true;
    this.cursor?.setAttribute('d', '');
  }
}
