// Predicted against measured: what the costs say of each op where it ran, and what it took. A dot for each op on two
// logarithmic axes, a table of kinds and devices, and the ops that lost most time.

import {scaleLog} from 'd3-scale';
import * as format from './format.js';
import {element, fitCanvas, table} from './dom.js';

const size = 300;
const margin = {left: 62, bottom: 34, top: 8, right: 10};
const mostRows = 12;
const mostOps = 8;

// {op, expected, took} of all ops that ran and of which both times are above 0.
function opsOf(run) {
  const ops = [];
  run.expected.forEach((expected, op) => {
    const mark = run.markOfOp[op];
    const took = mark < 0 ? 0 : run.finish[mark] - run.start[mark];
    if (expected > 0 && took > 0) ops.push({op, expected, took, device: run.lanes[run.laneOf[mark]].device});
  });
  return ops;
}

function groupTable(ops, report) {
  const {graph, devices} = report;
  const groups = new Map();
  for (const one of ops) {
    const key = `${graph.kindOf[one.op]} ${one.device}`;
    const group = groups.get(key) ?? {kind: graph.kinds[graph.kindOf[one.op]] || '(no kind)', device: devices[one.device].name, count: 0, expected: 0, took: 0, errors: []};
    ++group.count;
    group.expected += one.expected;
    group.took += one.took;
    group.errors.push(Math.abs(one.took / one.expected - 1));
    groups.set(key, group);
  }
  const rows = [...groups.values()].sort((a, b) => Math.abs(b.took - b.expected) - Math.abs(a.took - a.expected));
  const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
  return [table([{name: 'kind', text: true}, {name: 'device', text: true}, {name: 'ops'}, {name: 'predicted'}, {name: 'took'},
    {name: 'ratio', title: 'of the sums'}, {name: 'median error', title: 'of single ops'}],
  rows.slice(0, mostRows).map((row) => ({cells: [row.kind, row.device, format.count(row.count), format.time(row.expected), format.time(row.took),
    (row.took / row.expected).toFixed(3), format.percent(median(row.errors))]}))),
  rows.length > mostRows ? element('p', {class: 'quiet'}, `and ${rows.length - mostRows} more`) : []];
}

export class Predicted {
  constructor({run, report, theme, colours, choose}) {
    Object.assign(this, {run, report, theme, colours});
    this.ops = opsOf(run);
    this.canvas = element('canvas', {role: 'img', 'aria-label': `Predicted and measured times of ${this.ops.length} ops of ${run.name}; the table has their sums`});
    const worst = [...this.ops].sort((a, b) => (b.took - b.expected) - (a.took - a.expected)).slice(0, mostOps).filter((one) => one.took > one.expected);
    const sum = (key) => this.ops.reduce((all, one) => all + one[key], 0);
    const ratio = sum('took') / (sum('expected') || 1);
    const list = worst.length === 0 ? [] : element('div', {}, element('h4', {}, 'Ops that lost most time'), element('ul', {class: 'plain'}, worst.map((one) =>
      element('li', {}, element('button', {type: 'button', onclick: () => choose(one.op)}, report.graph.names[one.op]),
        element('span', {class: 'quiet'}, ` ${format.time(one.took)} instead of ${format.time(one.expected)}`)))));
    this.details = element('details', {class: 'resource predicted'},
      element('summary', {}, 'Predicted and measured times of ops ', element('small', {class: 'quiet'}, `together ${ratio.toFixed(3)} times what the costs say`)),
      element('div', {class: 'predicted-parts'}, this.canvas, element('div', {class: 'predicted-table'}, groupTable(this.ops, report), list)));
    this.details.addEventListener('toggle', () => this.draw());
  }

  resize() {
    fitCanvas(this.canvas, size, size);
  }

  draw() {
    if (!this.details.open || this.ops.length === 0) return;
    const context = this.canvas.getContext('2d');
    const {theme} = this;
    let least = Infinity;
    let most = 0;
    for (const {expected, took} of this.ops) {
      least = Math.min(least, expected, took);
      most = Math.max(most, expected, took);
    }
    const domain = [least / 1.3, most * 1.3];
    const x = scaleLog().domain(domain).range([margin.left, size - margin.right]);
    const y = scaleLog().domain(domain).range([size - margin.bottom, margin.top]);
    context.clearRect(0, 0, size, size);
    context.font = '10px system-ui, "Liberation Sans", sans-serif';
    context.fillStyle = theme.colours.quiet;
    const powers = x.ticks().filter((tick) => Math.abs(Math.log10(tick) % 1) < 1e-9);
    const ticks = powers.length >= 2 ? powers : x.ticks(3).filter((_, i, all) => i % Math.ceil(all.length / 3) === 0);
    for (const tick of ticks) {
      context.fillStyle = theme.colours.grid;
      context.fillRect(x(tick), margin.top, 1, size - margin.top - margin.bottom);
      context.fillRect(margin.left, y(tick), size - margin.left - margin.right, 1);
      context.fillStyle = theme.colours.quiet;
      context.textAlign = 'center';
      context.fillText(format.time(tick), x(tick), size - margin.bottom + 12);
      context.textAlign = 'right';
      context.fillText(format.time(tick), margin.left - 4, y(tick) + 3);
    }
    context.textAlign = 'center';
    context.fillText('predicted', (margin.left + size) / 2, size - 6);
    context.save();
    context.translate(10, (size - margin.bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText('measured', 0, 0);
    context.restore();
    context.strokeStyle = theme.colours.quiet;
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(x(domain[0]), y(domain[0]));
    context.lineTo(x(domain[1]), y(domain[1]));
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = this.ops.length > 2000 ? 0.3 : 0.7;
    for (const {op, expected, took} of this.ops) {
      context.fillStyle = this.colours.of(op);
      context.fillRect(x(expected) - 2, y(took) - 2, 4, 4);
    }
    context.globalAlpha = 1;
  }
}
