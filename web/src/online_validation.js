// The simulator of arriving jobs against reality: a dot for each policy, simulated over real slow-down with intervals, next to
// the order of the policies in both; the figures as a table.

import {axisBottom, axisLeft} from 'd3-axis';
import {scaleLinear} from 'd3-scale';
import {select} from 'd3-selection';
import {count, percent, time} from './format.js';
import {element, svg, table} from './dom.js';
import {residualTable} from './validation.js';

const side = 320;
const margin = {left: 46, right: 14, top: 10, bottom: 30};
const rankWidth = 360;
const rowHeight = 24;

const digits = (value) => value.toFixed(2);
const between = ({low, high}, words) => `${words(low)} to ${words(high)}`;

function axes(x, y) {
  const below = svg('g', {transform: `translate(0,${side - margin.bottom})`});
  select(below).call(axisBottom(x).ticks(5).tickSizeOuter(0));
  const left = svg('g', {transform: `translate(${margin.left},0)`});
  select(left).call(axisLeft(y).ticks(5).tickSizeOuter(0));
  return [below, left];
}

// Dots on the diagonal were predicted exactly; the dashed lines are 15 % to each side.
function scatter(validation) {
  const all = validation.policies.flatMap(({real, simulated}) => [real.low, real.high, simulated.low, simulated.high]);
  const least = Math.min(...all) * 0.95;
  const most = Math.max(...all) * 1.05;
  const x = scaleLinear().domain([least, most]).range([margin.left, side - margin.right]);
  const y = scaleLinear().domain([least, most]).range([side - margin.bottom, margin.top]);
  const line = (factor, style) => {
    const from = Math.max(least, least / factor);
    const to = Math.min(most, most / factor);
    return svg('path', {style, d: `M${x(from)},${y(from * factor)}L${x(to)},${y(to * factor)}`});
  };
  const dashed = 'stroke: var(--ink); stroke-width: 0.7; stroke-dasharray: 3 3';
  const dots = validation.policies.map(({policy, real, simulated}) => svg('g', {class: 'policy'},
    svg('path', {style: 'stroke: var(--bar-best); stroke-width: 1.2; stroke-opacity: 0.6',
      d: `M${x(real.low)},${y(simulated.value)}H${x(real.high)}M${x(real.value)},${y(simulated.low)}V${y(simulated.high)}`}),
    svg('circle', {cx: x(real.value), cy: y(simulated.value), r: 4, style: 'fill: var(--bar-best)'},
      svg('title', {}, `${policy}: simulated ${digits(simulated.value)}, real ${digits(real.value)}`))));
  return svg('svg', {class: 'scatter', width: side, height: side, viewBox: `0 0 ${side} ${side}`, role: 'img',
    'aria-label': 'simulated over real slow-downs of policies'},
  line(1, 'stroke: var(--ink); stroke-width: 1'), line(1.15, dashed), line(1 / 1.15, dashed), axes(x, y), dots);
}

// The policies by real and by simulated slow-down, the best on top; lines that cross were predicted in the wrong order.
function ranks(validation) {
  const order = (key) => [...validation.policies].sort((a, b) => a[key].value - b[key].value);
  const really = order('real');
  const inSimulation = order('simulated');
  const height = rowHeight * (really.length + 1) + 8;
  const middle = (i) => rowHeight * (i + 1) + rowHeight / 2;
  const text = (x, i, anchor, words, quiet) => svg('text', {x, y: middle(i) + 4, 'text-anchor': anchor,
    style: `font-size: 12px; fill: var(${quiet ? '--quiet' : '--ink'})`}, words);
  const lines = really.map((row, i) => {
    const other = inSimulation.indexOf(row);
    return svg('path', {class: 'rank', d: `M136,${middle(i)}L${rankWidth - 136},${middle(other)}`,
      style: `stroke: var(${other === i ? '--bar-best' : '--wait-memory'}); stroke-width: 1.6; fill: none`});
  });
  return svg('svg', {class: 'ranks', width: rankWidth, height, viewBox: `0 0 ${rankWidth} ${height}`, role: 'img',
    'aria-label': 'order of policies in reality and in simulation'},
  text(130, -1, 'end', 'real', true), text(rankWidth - 130, -1, 'start', 'simulated', true), lines,
  really.map((row, i) => text(130, i, 'end', `${row.policy} ${digits(row.real.value)}`)),
  inSimulation.map((row, i) => text(rankWidth - 130, i, 'start', `${digits(row.simulated.value)} ${row.policy}`)));
}

function policyTable(validation) {
  const columns = [{name: 'policy', text: true}, {name: 'real slow-down'}, {name: '95 %'}, {name: 'simulated'}, {name: '95 %'},
    {name: 'error', title: 'simulated over real, less 1'}, {name: '95 %'},
    {name: 'jobs in the system'}, {name: 'simulated'}, {name: 'decision', title: 'mean time of a decision in the real runs'}];
  const rows = [...validation.policies].sort((a, b) => a.real.value - b.real.value).map((row) => ({cells: [row.policy,
    digits(row.real.value), between(row.real, digits), digits(row.simulated.value), between(row.simulated, digits),
    percent(row.error.value), between(row.error, percent), digits(row.real_jobs_in_system),
    digits(row.simulated_jobs_in_system), time(row.decision_ns)]}));
  return table(columns, rows, {class: 'policies'});
}

export function onlineValidationSection(validation) {
  const {rank_correlation: rank, mean_error: error, pairs_that_differ: differ, pairs_in_same_order: same} = validation;
  const load = validation.load === null ? '' : ` at load ${validation.load}`;
  const charts = validation.policies.length === 0 ? [] : [
    element('figure', {}, scatter(validation), element('figcaption', {class: 'quiet'}, 'slow-down: simulated (up) over real (right)')),
    element('figure', {}, ranks(validation), element('figcaption', {class: 'quiet'}, 'order of policies, the best on top'))];
  const section = element('div', {class: 'validation online'},
    element('h2', {}, 'Simulator and reality: arriving jobs'),
    element('p', {class: 'quiet'}, `${count(validation.turns)} turns of ${count(validation.jobs)} jobs${load} on ${validation.machine}, from ${validation.name}. `,
      'A dot is a policy; within the dashed lines its slow-down was predicted to 15 %.'),
    element('p', {}, `Rank correlation ${digits(rank.value)} (${between(rank, digits)}), mean error ${percent(error.value)} (${between(error, percent)}). `,
      `${count(differ)} pairs of policies differ in reality; ${count(same)} of them are in the same order in simulation. `,
      `One real turn predicts the others with a rank correlation of ${digits(validation.agreement_of_turns)}.`),
    element('div', {class: 'scatters'}, charts), policyTable(validation),
    validation.residuals.length > 0 ? [element('h3', {}, 'Ops'), residualTable(validation)] : []);
  return {section, draw: () => {}};
}
