// What changes of the machine would bring: a point for the makespan on each machine that was asked about, a tick for its
// lower bound, and a line for the machine as it is.

import {axisBottom} from 'd3-axis';
import {scaleLinear} from 'd3-scale';
import {select} from 'd3-selection';
import {axisFormat, percent, time} from './format.js';
import {element, svg} from './dom.js';

const rowHeight = 28;

// {machine, makespan, bound, change} of all answers, the baseline first; null if there are none.
function pointsOf(outputs) {
  const points = [];
  for (const output of outputs) {
    const one = output.title === 'What if' ? output.tables.find((table) => table.title === 'machines') : null;
    if (!one) continue;
    const column = (name) => one.columns.indexOf(name);
    const change = output.facts.find(([key]) => key === 'change')?.[1] ?? null;
    one.rows.forEach((cells, i) => {
      const point = {machine: cells[column('machine')], makespan: cells[column('makespan_ns')], bound: cells[column('lower_bound_ns')],
        change: i === 0 ? null : change, isBase: i === 0};
      if (!points.some((other) => other.machine === point.machine && other.makespan === point.makespan)) points.push(point);
    });
  }
  if (points.length === 0) return null;
  return points.sort((a, b) => b.isBase - a.isBase || a.makespan - b.makespan);
}

export function whatIfSection(outputs) {
  const points = pointsOf(outputs);
  if (!points) return null;
  const frame = element('div', {class: 'scroll'});
  const section = element('div', {class: 'what-if'}, element('h2', {}, 'What if the machine were another'),
    element('p', {class: 'quiet'}, 'Dots are makespans, ticks lower bounds, the dashed line the machine as it is. Percentages count luck of the search out.'), frame);
  let drawn = 0;
  const draw = () => {
    const width = Math.min(1000, Math.max(320, section.clientWidth - 16));
    if (width === drawn) return;
    drawn = width;
    const left = width < 560 ? 110 : 230;
    const letters = Math.floor((left - 12) / 6.4);
    const most = Math.max(...points.map((point) => point.makespan));
    const x = scaleLinear().domain([0, most * 1.02 || 1]).range([left, width - 130]);
    const height = points.length * rowHeight + 30;
    const rows = points.flatMap((point, i) => {
      const y = i * rowHeight + rowHeight / 2 + 2;
      const name = point.machine.length > letters ? `${point.machine.slice(0, letters - 1)}…` : point.machine;
      const better = point.change !== null && point.change < 0;
      const words = point.change === null ? time(point.makespan) : `${time(point.makespan)}, ${better ? '−' : '+'}${percent(Math.abs(point.change))}`;
      return [svg('text', {class: 'label', x: left - 8, y: y + 4, 'text-anchor': 'end'}, name, svg('title', {}, point.machine)),
        svg('path', {d: `M${x(point.bound)},${y}H${x(point.makespan)}`, style: 'stroke: var(--line); stroke-width: 2'}),
        svg('path', {class: 'bound', d: `M${x(point.bound)},${y - 6}v12`, style: 'stroke: var(--critical); stroke-width: 2'}),
        svg('circle', {class: 'point', cx: x(point.makespan), cy: y, r: 5.5,
          style: `fill: var(${point.isBase ? '--quiet' : better ? '--bar-best' : '--bar'})`}, svg('title', {}, words)),
        svg('text', {class: 'label', x: x(point.makespan) + 11, y: y + 4}, words)];
    });
    const base = points.find((point) => point.isBase);
    if (base) {
      rows.unshift(svg('path', {d: `M${x(base.makespan)},0V${points.length * rowHeight + 2}`,
        style: 'stroke: var(--quiet); stroke-width: 1; stroke-dasharray: 4 3'}));
    }
    const ticks = x.ticks(Math.max(2, Math.floor((width - left) / 130)));
    const axis = svg('g', {transform: `translate(0,${points.length * rowHeight + 4})`});
    select(axis).call(axisBottom(x).tickValues(ticks).tickFormat(axisFormat(ticks, x.domain()[1])).tickSizeOuter(0));
    frame.replaceChildren(svg('svg', {class: 'output-chart', width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
      'aria-label': `Makespans on ${points.length} machines`}, rows, axis));
  };
  return {section, draw};
}
