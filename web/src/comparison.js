// Policies next to each other: a bar for the mean, a whisker of one standard deviation each way, a
// mark for the best run, and a line for the lower bound that runs through all rows.

import {axisBottom} from 'd3-axis';
import {scaleLinear} from 'd3-scale';
import {select} from 'd3-selection';
import {axisFormat, gap, time} from './format.js';
import {axisEnd, breakPath} from './outlier.js';
import {element, svg} from './dom.js';

const rowHeight = 26;

// The result with the least mean, or null. Of several that are equal it is auto, which takes the plan
// of another policy if none is better, else the first.
export function bestOf(comparison) {
  const good = comparison.results.filter((row) => row.error === undefined);
  const better = (row, least) => row.mean_ns < least.mean_ns || (row.mean_ns === least.mean_ns && row.policy === 'auto');
  return good.reduce((least, row) => (least === null || better(row, least) ? row : least), null);
}

// Room for half a label at each end of the axis.
const margin = 22;

// The bound is always on it, and so are most policies.
function scaleOf(comparison, rows, width) {
  const good = rows.filter((row) => row.error === undefined);
  const {end, cuts} = axisEnd(good.map((row) => row.mean_ns));
  const spreads = good.filter((row) => row.mean_ns <= end).map((row) => row.mean_ns + row.stddev_ns);
  const most = Math.max(comparison.lower_bound_ns ?? 0, end, ...spreads);
  const x = scaleLinear().domain([0, most || 1]).range([margin, width - margin]).clamp(true);
  return Object.assign(x, {cuts: cuts && good.some((row) => row.mean_ns > most)});
}

function drawing(width, height, ...parts) {
  return svg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true'}, parts);
}

// The drawing of one row; the lines of neighbouring rows meet.
function rowChart(comparison, row, isBest, x, width) {
  const middle = rowHeight / 2;
  const parts = [];
  if (row.error === undefined) {
    const style = `fill: var(${isBest ? '--bar-best' : '--bar'})`;
    parts.push(svg('rect', {class: 'mean', x: x(0), y: middle - 7, width: x(row.mean_ns) - x(0), height: 14, style, rx: 2}));
    const isCut = row.mean_ns > x.domain()[1];
    if (isCut) {
      parts.push(svg('path', {class: 'cut', d: breakPath(x(row.mean_ns), middle - 7, 14), style: 'stroke: var(--page); stroke-width: 3; fill: none'}));
    }
    if (row.stddev_ns > 0 && !isCut) {
      const low = x(Math.max(0, row.mean_ns - row.stddev_ns));
      const high = x(row.mean_ns + row.stddev_ns);
      parts.push(svg('path', {class: 'spread', style: 'stroke: var(--ink); stroke-width: 1.5; fill: none',
        d: `M${low},${middle}H${high}M${low},${middle - 4}v8M${high},${middle - 4}v8`}));
    }
    if (row.min_ns < row.mean_ns && row.min_ns <= x.domain()[1]) {
      parts.push(svg('path', {class: 'min', style: 'fill: var(--panel); stroke: var(--ink)',
        d: `M${x(row.min_ns)},${middle - 4}l4,4l-4,4l-4,-4z`}));
    }
  }
  if (comparison.lower_bound_ns > 0) {
    parts.push(svg('path', {class: 'bound', d: `M${x(comparison.lower_bound_ns)},0V${rowHeight}`,
      style: 'stroke: var(--critical); stroke-width: 1.5; stroke-dasharray: 4 2.5'}));
  }
  return drawing(width, rowHeight, parts);
}

function axisChart(x, width) {
  const ticks = x.ticks(Math.max(2, Math.floor(width / 100)));
  const axis = svg('g', {transform: 'translate(0,1)'});
  select(axis).call(axisBottom(x).tickValues(ticks).tickFormat(axisFormat(ticks, x.domain()[1])).tickSizeOuter(0));
  return drawing(width, 24, axis);
}

function rowsOf(comparison) {
  return [...comparison.results].sort((a, b) =>
    (a.error !== undefined) - (b.error !== undefined) || a.mean_ns - b.mean_ns);
}

const columns = [
  ['policy', ''],
  ['', ''],
  ['mean', 'mean makespan'],
  ['best', 'the shortest run'],
  ['stddev', 'standard deviation of the runs'],
  ['gap', 'of the mean, to the lower bound'],
  ['planned', 'what the policy itself expected; of real runs: what the simulator predicted'],
  ['runs', ''],
  ['plan time', 'mean wall clock to make one plan'],
];

function bodyRow(comparison, row, chartCell, isBest) {
  const cells = [element('td', {class: 'text wide'}, row.policy), chartCell];
  if (row.error !== undefined) {
    cells.push(element('td', {class: 'refused', colspan: columns.length - 2}, `refused: ${row.error}`));
  } else {
    const figures = [time(row.mean_ns), time(row.min_ns), time(row.stddev_ns), gap(row.mean_ns, comparison.lower_bound_ns),
      time(row.planned_ns), String(row.runs), time(row.plan_seconds * 1e9)];
    cells.push(...figures.map((text) => element('td', {}, text)));
  }
  return element('tr', {class: isBest ? 'best' : undefined}, cells);
}

export function comparisonSection(comparison) {
  const rows = rowsOf(comparison);
  const winner = bestOf(comparison);
  const isBest = (row) => winner !== null && row.error === undefined && row.mean_ns === winner.mean_ns;
  const cells = rows.map(() => element('td', {class: 'chart'}));
  const axisCell = element('td', {class: 'chart'});
  const head = element('tr', {}, columns.map(([name, title], i) =>
    element('th', {scope: 'col', class: i === 1 ? 'chart' : undefined, title: title || undefined}, name)));
  const bounded = comparison.lower_bound_ns > 0;
  const foot = element('tr', {}, element('td', {class: 'text'}, bounded ? 'lower bound' : ''), axisCell,
    element('td', {}, bounded ? time(comparison.lower_bound_ns) : ''), element('td', {colspan: columns.length - 3}));
  const how = comparison.runtime ? `run for real (${comparison.runtime})` : `${comparison.model} model`;
  const note = element('span', {class: 'cut-note'});
  const section = element('div', {class: 'comparison'},
    element('h2', {}, 'Comparison'),
    element('p', {class: 'quiet'}, `${comparison.graph} on ${comparison.machine}, ${how}, from ${comparison.name}. `,
      `Bars are means, whiskers one standard deviation, diamonds the best run${bounded ? ', the dashed line the lower bound' : ''}.`, note),
    element('div', {class: 'scroll'}, element('table', {class: 'bars'}, element('thead', {}, head),
      element('tbody', {}, rows.map((row, i) => bodyRow(comparison, row, cells[i], isBest(row))), foot))));
  let drawn = 0;
  const draw = () => {
    const width = Math.max(140, axisCell.clientWidth - 16);
    if (width === drawn) return;
    drawn = width;
    const x = scaleOf(comparison, rows, width);
    rows.forEach((row, i) => cells[i].replaceChildren(rowChart(comparison, row, isBest(row), x, width)));
    axisCell.replaceChildren(axisChart(x, width));
    note.textContent = x.cuts ? ' Bars that are broken off go beyond the axis; the table has their figures.' : '';
  };
  return {section, draw};
}
