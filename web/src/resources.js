// What a run takes of memories and channels over the time shown, with their limits, on the time axis of the timeline: a row
// for each. Only what was used is drawn, and of many channels the busiest.

import * as format from './format.js';
import {element, fitCanvas, table} from './dom.js';
import {firstAfter} from './lanes.js';
import {gutter} from './view.js';

const rowHeight = 34;
const binWidth = 2; // pixels
const mostRows = 24;
const far = 5; // times what is used

// Rows of areas on a canvas. A row: {name, limit or null, hard: it cannot be exceeded, most, fill(from, to, bins): adds the value of each bin, text: of a value}.
class Areas {
  constructor({rows, label, view, theme}) {
    Object.assign(this, {rows, view, theme});
    this.canvas = document.createElement('canvas');
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', label);
    this.context = this.canvas.getContext('2d');
    view.attach(this.canvas);
  }

  resize(width) {
    this.width = width;
    this.height = this.rows.length * rowHeight + 8;
    fitCanvas(this.canvas, this.width, this.height);
  }

  draw() {
    if (this.canvas.closest('details')?.open === false) return;
    const {context} = this;
    const [from, to] = this.view.shown();
    const bins = Math.max(1, Math.floor(this.view.plotWidth() / binWidth));
    context.clearRect(0, 0, this.width, this.height);
    context.textBaseline = 'middle';
    this.rows.forEach((row, i) => this.drawRow(row, 4 + i * rowHeight, from, to, bins));
  }

  drawRow(row, top, from, to, bins) {
    const {context, theme} = this;
    const full = rowHeight - 6;
    const values = new Float64Array(bins);
    row.fill(from, to, values);
    // A limit that is far away is in the label alone, or nothing else could be seen.
    const limit = row.limit !== null && row.limit <= far * row.most ? row.limit : null;
    const scale = Math.max(limit ?? 0, row.most) * 1.08 || 1;
    context.fillStyle = theme.colours.lane;
    context.fillRect(gutter, top, bins * binWidth, full);
    context.globalAlpha = 0.75;
    for (let bin = 0; bin < bins; ++bin) {
      const isOver = row.hard && row.limit !== null && values[bin] > row.limit;
      context.fillStyle = isOver ? theme.colours.critical : theme.colours.accent;
      const height = full * Math.min(1, values[bin] / scale);
      if (values[bin] > 0) context.fillRect(gutter + bin * binWidth, top + full - Math.max(1, height), binWidth, Math.max(1, height));
    }
    context.globalAlpha = 1;
    if (limit !== null) {
      const y = Math.round(top + full * (1 - limit / scale)) + 0.5;
      context.strokeStyle = theme.colours.critical;
      context.setLineDash([4, 3]);
      context.beginPath();
      context.moveTo(gutter, y);
      context.lineTo(gutter + bins * binWidth, y);
      context.stroke();
      context.setLineDash([]);
    }
    context.font = '12px system-ui, "Liberation Sans", sans-serif';
    context.fillStyle = theme.colours.ink;
    context.fillText(this.cut(row.name, gutter - 12), 8, top + 8);
    context.fillStyle = theme.colours.quiet;
    context.font = '10px system-ui, "Liberation Sans", sans-serif';
    const share = row.limit ? `, ${format.percent(row.most / row.limit)}` : '';
    context.fillText(this.cut(`${row.text(row.most)}${gutter > 100 ? share : ''}`, gutter - 12), 8, top + 22);
  }

  cut(text, room) {
    const {context} = this;
    let short = text;
    while (short.length > 2 && context.measureText(short).width > room) short = `${short.slice(0, -2)}…`;
    return short;
  }
}

// The most in use within each bin: what holds where it begins, and all that comes in it.
function fillMemory(use, from, to, values) {
  const perNs = values.length / (to - from);
  for (let i = 0; i < use.count; ++i) {
    const end = i + 1 < use.count ? use.time[i + 1] : Infinity;
    if (end <= from || use.time[i] >= to || use.bytes[i] <= 0) continue;
    const first = Math.max(0, Math.floor((use.time[i] - from) * perNs));
    const last = Math.min(values.length - 1, Math.ceil((end - from) * perNs) - 1);
    for (let bin = first; bin <= last; ++bin) values[bin] = Math.max(values[bin], use.bytes[i]);
  }
}

function memoryRows(run, report) {
  const end = run.makespan;
  return run.memory.map((use, i) => ({name: report.memories[i], limit: report.memory_limits[i], most: use.bytes.reduce((a, b) => Math.max(a, b), 0),
    hard: true, text: format.bytes, fill: (from, to, values) => fillMemory(use, from, Math.min(to, Math.max(from + 1, end)), values)}))
    .filter((row) => row.most > 0).slice(0, mostRows);
}

// Bytes per second of each bin. A hop is taken to move its bytes evenly.
function fillChannel(run, lanes, from, to, values) {
  const perNs = values.length / (to - from);
  for (const lane of lanes) {
    for (let i = firstAfter(run, lane, from); i < lane.end && run.start[i] < to; ++i) {
      const length = run.finish[i] - run.start[i];
      if (length <= 0) continue;
      const rate = (run.valueBytes[run.value[run.subject[i]]] * 1e9) / length;
      const begin = Math.max(0, (run.start[i] - from) * perNs);
      const end = Math.min(values.length, (run.finish[i] - from) * perNs);
      for (let bin = Math.floor(begin); bin < end; ++bin) values[bin] += rate * (Math.min(end, bin + 1) - Math.max(begin, bin));
    }
  }
}

function channelRows(run, report) {
  const byName = new Map();
  for (const lane of run.lanes) {
    if (lane.isDevice) continue;
    if (!byName.has(lane.name)) byName.set(lane.name, []);
    byName.get(lane.name).push(lane);
  }
  const limits = new Map(report.channels.map((channel) => [channel.name, channel.bytes_per_s]));
  const rows = Array.from(byName, ([name, lanes]) => {
    const whole = new Float64Array(400);
    fillChannel(run, lanes, 0, Math.max(1, run.makespan), whole);
    return {name, limit: limits.get(name) ?? null, most: Math.max(...whole), sum: whole.reduce((a, b) => a + b, 0),
      text: (value) => `${format.bytes(Math.round(value))}/s`, fill: (from, to, values) => fillChannel(run, lanes, from, to, values)};
  });
  return rows.sort((a, b) => b.sum - a.sum).slice(0, mostRows);
}

// The drawings of a run, each with the element that holds it.
export function resourceParts({run, report, view, theme}) {
  const parts = [];
  const add = (rows, title, note, isOpen) => {
    if (rows.length === 0) return;
    const drawing = new Areas({rows, label: `${title} of ${run.name}`, view, theme});
    const details = element('details', {class: 'resource', open: isOpen ? '' : undefined},
      element('summary', {}, title, ' ', element('small', {class: 'quiet'}, note)), drawing.canvas);
    details.addEventListener('toggle', () => drawing.draw());
    parts.push({drawing, details});
  };
  const memories = memoryRows(run, report);
  add(memories, 'Memory in use', memories.some((row) => row.limit !== null) ? 'at most, with its share of the limit; dashed: the limit, if it is near' : 'none has a limit', true);
  const channels = channelRows(run, report);
  add(channels, 'Bandwidth', `of the ${channels.length === 1 ? 'channel' : `${channels.length} channels`} used most; dashed: what a channel can carry`, false);
  return parts;
}

// Which weights each memory keeps and which are streamed to it; null if the plan says nothing of that.
export function weightTable(run, report) {
  if (!run.weights) return null;
  const columns = [{name: 'memory', text: true}, {name: 'kept', title: 'for the whole run'}, {name: ''}, {name: 'streamed', title: 'brought before each op that reads them'},
    {name: ''}, {name: 'read at home'}, {name: ''}, {name: 'stream buffer'}, {name: 'streams'}, {name: 'moved by them'}];
  const rows = run.weights.map((use, i) => ({use, i})).filter(({use}) => use.kept + use.streamed + use.in_place > 0).map(({use, i}) => ({cells: [
    report.memories[i], format.count(use.kept), format.bytes(use.kept_bytes), format.count(use.streamed), format.bytes(use.streamed_bytes),
    format.count(use.in_place), format.bytes(use.in_place_bytes), format.bytes(use.buffer_bytes),
    run.what === 'plan' ? '–' : format.count(use.streams), run.what === 'plan' ? '–' : format.bytes(use.moved_bytes)]}));
  if (rows.length === 0) return null;
  return element('div', {class: 'weights'}, element('h4', {}, 'Weights kept and streamed'), table(columns, rows));
}
