// The simulator against reality: a dot for each plan, simulated makespan over real one, in one square
// for each graph; what the ops took against what they were expected to take, as a table.

import {axisBottom, axisLeft} from 'd3-axis';
import {scaleLog} from 'd3-scale';
import {select} from 'd3-selection';
import {axisFormat, count, percent, time} from './format.js';
import {element, svg, table} from './dom.js';

const side = 300;
const margin = {left: 64, right: 14, top: 8, bottom: 30};

// A few of a logarithmic scale's ticks: those at 1, 2 and 5, or fewer.
function ticksOf(scale) {
  const [least, most] = scale.domain();
  const ticks = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.log10(most); ++power) {
    for (const digit of most / least > 300 ? [1] : [1, 2, 5]) {
      const tick = digit * 10 ** power;
      if (tick >= least && tick <= most) ticks.push(tick);
    }
  }
  if (ticks.length >= 2) return ticks;
  return [0, 1, 2, 3].map((i) => least * (most / least) ** (i / 3));
}

function axes(x, y) {
  const ticks = ticksOf(x);
  const words = axisFormat(ticks.length > 1 && ticks[1] / ticks[0] < 1.9 ? ticks : [0, ticks[0] / 10], x.domain()[1]);
  const below = svg('g', {transform: `translate(0,${side - margin.bottom})`});
  select(below).call(axisBottom(x).tickValues(ticks).tickFormat(words).tickSizeOuter(0));
  const left = svg('g', {transform: `translate(${margin.left},0)`});
  select(left).call(axisLeft(y).tickValues(ticks).tickFormat(words).tickSizeOuter(0));
  return [below, left];
}

// Dots on the diagonal were predicted exactly; the band is 10 % to each side.
function scatter(graph) {
  const all = graph.plans.flatMap((plan) => [plan.simulated_ns, plan.real_ns]).filter((ns) => ns > 0);
  if (all.length === 0) return element('p', {class: 'quiet'}, 'no plans');
  const least = Math.min(...all) / 1.1;
  const most = Math.max(...all) * 1.1;
  const x = scaleLog().domain([least, most]).range([margin.left, side - margin.right]);
  const y = scaleLog().domain([least, most]).range([side - margin.bottom, margin.top]);
  const line = (factor, style) => svg('path', {style, d: `M${x(least)},${y(least * factor)}L${x(most)},${y(most * factor)}`});
  const dots = graph.plans.filter((plan) => plan.simulated_ns > 0 && plan.real_ns > 0).map((plan) =>
    svg('circle', {class: 'plan', cx: x(plan.real_ns), cy: y(plan.simulated_ns), r: 3,
      style: 'fill: var(--bar-best); fill-opacity: 0.55'},
    svg('title', {}, `${plan.policy}: simulated ${time(plan.simulated_ns)}, real ${time(plan.real_ns)}`)));
  return svg('svg', {class: 'scatter', width: side, height: side, viewBox: `0 0 ${side} ${side}`, role: 'img',
    'aria-label': `simulated over real makespans of ${graph.graph}`},
  line(1, 'stroke: var(--ink); stroke-width: 1'),
  line(1.1, 'stroke: var(--ink); stroke-width: 0.7; stroke-dasharray: 3 3'),
  line(1 / 1.1, 'stroke: var(--ink); stroke-width: 0.7; stroke-dasharray: 3 3'), axes(x, y), dots);
}

function agreementRow(name, plans, row) {
  return {cells: [name, count(plans), row.rank_correlation.toFixed(3), row.rank_correlation_better_half.toFixed(3),
    percent(row.mean_error), row.bias === undefined ? '–' : percent(row.bias), percent(row.top1_regret)]};
}

function agreementTable(validation) {
  const columns = [{name: 'graph', text: true}, {name: 'plans'},
    {name: 'rank correlation', title: 'Spearman, of simulated and real makespans'},
    {name: 'better half', title: 'the same among the really better half of the plans'},
    {name: 'mean error'}, {name: 'bias', title: 'mean of simulated over real, less 1'},
    {name: 'top-1 regret', title: 'what the plan that the simulator likes best takes above the best'}];
  const rows = validation.graphs.map((graph) => agreementRow(graph.graph, graph.plans.length, graph));
  if (rows.length !== 1) rows.push({...agreementRow('mean', validation.plans, validation), best: true});
  return table(columns, rows);
}

export function residualTable(validation) {
  const columns = [{name: 'op', text: true}, {name: 'on', text: true}, {name: 'runs'}, {name: 'real / expected'},
    {name: 'median error'}, {name: 'share of time'}];
  const rows = [...validation.residuals].sort((a, b) => (a.kind === '') - (b.kind === '') || b.time_share - a.time_share)
    .map((row) => ({cells: [row.kind || 'transfer', row.where, count(row.count), row.median_ratio.toFixed(3),
      percent(row.median_error), percent(row.time_share)]}));
  return table(columns, rows, {class: 'residuals'});
}

export function validationSection(validation) {
  const charts = validation.graphs.map((graph) => element('figure', {}, scatter(graph),
    element('figcaption', {class: 'quiet'}, `${graph.graph}: simulated (up) over real (right)`)));
  const section = element('div', {class: 'validation'},
    element('h2', {}, 'Simulator and reality'),
    element('p', {class: 'quiet'}, `${count(validation.plans)} plans on ${validation.machine}, from ${validation.name}. `,
      'A dot is a plan; on the line it took as long as it was simulated to, within the dashed lines 10 % more or less.'),
    agreementTable(validation), element('div', {class: 'scatters'}, charts),
    validation.residuals.length > 0 ? [element('h3', {}, 'Ops and transfers'), residualTable(validation)] : []);
  return {section, draw: () => {}};
}
