// What any command printed as JSON: single figures, tables, and a chart of the one figure by which
// rows are compared. Units are told by the names of keys.

import {axisBottom} from 'd3-axis';
import {scaleLinear} from 'd3-scale';
import {select} from 'd3-selection';
import {axisFormat, bytes, clock, compact, count, percent, time} from './format.js';
import {axisEnd, breakPath} from './outlier.js';
import {element, svg, table} from './dom.js';
import {ganttOf} from './gantt.js';

const rowHeight = 24;
const margin = {left: 170, right: 150, top: 4, bottom: 24};
const narrow = 560; // then labels get less room
const mostDrawn = 60;

const isShare = (key) => /(^|\.)(busy|gap|finished|change|price_of_work_conservation|time_share)$|waiting_for/.test(key);
const isTime = (key) => /_ns(\.|$)|_ns_/.test(key) && !/^unix_ns$/.test(key);

function words(key) {
  return key.replace(/_ns(?=\.|$)/, '').replace(/_?unix(_ms)?$/, ' at').replace(/[_.]/g, ' ').replace(/  +/g, ' ');
}

function shown(key, value) {
  if (value === null) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (/^unix_ns$/.test(key)) return new Date(value / 1e6).toISOString();
  if (/unix_ms$/.test(key)) return value > 0 ? new Date(value).toISOString() : '–';
  if (isTime(key)) return time(value);
  if (/seconds$/.test(key)) return clock(value);
  if (/bytes(_moved)?$/.test(key)) return bytes(value);
  if (isShare(key)) return percent(value);
  return Number.isInteger(value) ? count(value) : compact(value);
}

function factList(output) {
  return element('dl', {class: 'facts'}, output.facts.map(([key, value]) =>
    element('div', {}, element('dt', {}, words(key)), element('dd', {}, shown(key, value)))));
}

function bestRow(chart, rows) {
  if (!chart || chart.kind !== 'bars' || !chart.least) return null;
  const values = rows.map((row) => row[chart.value]).filter((value) => typeof value === 'number');
  return values.length > 0 ? Math.min(...values) : null;
}

function tableOf(one, chart) {
  const isText = (column) => one.rows.some((row) => typeof row[column] === 'string');
  const columns = one.columns.map((name, i) => ({name: words(name), text: isText(i)}));
  const best = bestRow(chart, one.rows);
  const rows = one.rows.map((row) => ({best: best !== null && row[chart.value] === best,
    cells: row.map((cell, i) => shown(one.columns[i], cell))}));
  const note = one.left_out > 0 ? element('p', {class: 'quiet'}, `${count(one.left_out)} more rows are not shown.`) : [];
  return [table(columns, rows), note];
}

function axisOf(x, height, key) {
  const ticks = x.ticks(Math.max(2, Math.floor((x.range()[1] - x.range()[0]) / 100)));
  const axis = svg('g', {transform: `translate(0,${height - margin.bottom})`});
  const text = isTime(key) ? axisFormat(ticks, x.domain()[1]) : (value) => shown(key, value);
  select(axis).call(axisBottom(x).tickValues(ticks).tickFormat(text).tickSizeOuter(0));
  return axis;
}

function label(text, y, left) {
  const most = Math.floor((left - 8) / 6.6);
  const short = text.length > most ? `${text.slice(0, most - 1)}…` : text;
  return svg('text', {x: left - 8, y: y + rowHeight / 2 + 4, 'text-anchor': 'end', class: 'label'}, short,
    svg('title', {}, text));
}

function bar(row, y, x, chart, key, best) {
  const value = row[chart.value];
  const half = chart.more >= 0 && typeof row[chart.more] === 'number' ? row[chart.more] : 0;
  const middle = y + rowHeight / 2;
  const style = `fill: var(${value === best ? '--bar-best' : '--bar'})`;
  const parts = [svg('rect', {class: 'mean', x: x(0), y: middle - 7, width: Math.max(0, x(value) - x(0)), height: 14, style, rx: 2})];
  if (value > x.domain()[1]) {
    parts.push(svg('path', {class: 'cut', d: breakPath(x(value), middle - 7, 14), style: 'stroke: var(--page); stroke-width: 3; fill: none'}));
  } else if (half > 0) {
    const low = x(Math.max(0, value - half));
    const high = x(value + half);
    parts.push(svg('path', {class: 'spread', style: 'stroke: var(--ink); stroke-width: 1.5; fill: none',
      d: `M${low},${middle}H${high}M${low},${middle - 4}v8M${high},${middle - 4}v8`}));
  }
  parts.push(svg('text', {x: x(value + half) + 6, y: middle + 4, class: 'label'}, shown(key, value)));
  return parts;
}

function chartOf(output, width) {
  const {chart} = output;
  const one = output.tables[chart.table];
  const rows = one.rows.filter((row) => typeof row[chart.value] === 'number').slice(0, mostDrawn);
  if (rows.length === 0) return [];
  const key = one.columns[chart.value];
  const half = (row) => (chart.more >= 0 && typeof row[chart.more] === 'number' ? row[chart.more] : 0);
  const {end, cuts} = axisEnd(rows.map((row) => row[chart.value]));
  const most = Math.max(end, ...rows.filter((row) => row[chart.value] <= end).map((row) => row[chart.value] + half(row)));
  const [left, right] = width < narrow ? [104, 84] : [margin.left, margin.right];
  const x = scaleLinear().domain([0, most || 1]).range([left, width - right]).clamp(true);
  const height = margin.top + rows.length * rowHeight + margin.bottom;
  const best = bestRow(chart, rows);
  const parts = rows.flatMap((row, i) => {
    const y = margin.top + i * rowHeight;
    return [label(String(row[chart.label]), y, left), ...bar(row, y, x, chart, key, best)];
  });
  const about = `${words(key)}${chart.least ? '; less is better' : ''}${cuts ? '; bars that are broken off go beyond the axis' : ''}`;
  return [element('p', {class: 'quiet'}, about, rows.length < one.rows.length ? ` (the first ${rows.length})` : ''),
    svg('svg', {class: 'output-chart', width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': about},
      parts, axisOf(x, height, key))];
}

export function outputSection(output) {
  const drawing = element('div', {class: 'scroll'});
  const tables = output.tables.map((one, i) => {
    const chart = output.chart && output.chart.table === i ? output.chart : null;
    return element('details', {open: i < 2 && one.rows.length <= 100 ? '' : undefined},
      element('summary', {}, `${words(one.title)} (${count(one.rows.length + one.left_out)})`), tableOf(one, chart));
  });
  const section = element('div', {class: 'output'}, element('h2', {}, output.title),
    element('p', {class: 'quiet'}, `From ${output.name}.`), factList(output), drawing, tables);
  let drawn = 0;
  const draw = () => {
    const width = Math.min(1100, Math.max(320, section.clientWidth - 32));
    if (width === drawn) return;
    drawn = width;
    const gantt = ganttOf(output, width);
    if (gantt) drawing.replaceChildren(...gantt);
    else if (output.chart?.kind === 'bars') drawing.replaceChildren(...chartOf(output, width));
  };
  return {section, draw};
}
