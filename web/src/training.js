// Training runs: what episodes and greedy plans came to, how often the teacher was matched, how sure
// the networks are. One run has a colour for each curve; of several each has its own, and curves
// differ by their dashes alone.

import * as format from './format.js';
import {Chart, smoothed} from './curves.js';
import {categoryColour} from './theme.js';
import {element, table} from './dom.js';

const ratios = [
  {key: 'greedy_ratio', name: 'greedy plan', greedy: true},
  {key: 'mean_ratio', name: 'mean episode'},
  {key: 'best_ratio', name: 'best episode', dash: '7 3', more: true},
  {key: 'label_ratio', name: 'label', dash: '2 3', more: true},
];
const charts = [
  {title: 'Ratio', note: 'of makespans to contention-aware earliest finish, or of slow-downs to the rule of Symphony; less is better', height: 340, rule: 1, series: ratios},
  {title: 'Teacher match', note: 'share of decisions', height: 200,
    series: [{key: 'match', name: 'match'}]},
  {title: 'Entropy', note: 'of a decision', height: 200,
    series: [{key: 'select_entropy', name: 'SELECT'}, {key: 'place_entropy', name: 'PLACE', dash: '7 3'}]},
  {title: 'Loss', note: '', height: 200, series: [{key: 'loss', name: 'loss'}]},
  {title: 'Gradient norm', note: '', height: 200, series: [{key: 'gradient_norm', name: 'gradient norm'}]},
];

// Steps of time that people count in; beyond them days.
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200];

function timeTicks(x, count) {
  const [, end] = x.domain();
  if (end < count) return x.ticks(count);
  const step = steps.find((one) => end / one <= count) ?? 86400 * Math.ceil(end / 86400 / count);
  return Array.from({length: Math.floor(end / step) + 1}, (_, i) => i * step);
}

const axes = {
  episodes: {key: 'episodes', name: 'episodes', ticks: (x, count) => x.ticks(count).filter(Number.isInteger), text: format.compact,
    exact: (value) => `${format.count(value)} episodes`},
  seconds: {key: 'seconds', name: 'time', ticks: timeTicks, text: format.clock, exact: format.clock},
};

const last = (list) => list[list.length - 1];
const least = (list) => list.reduce((low, value) => (value !== null && (low === null || value < low) ? value : low), null);
function lastMean(list) {
  const values = list.slice(-Math.ceil(list.length / 50)).filter((value) => value !== null);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

const figure = (value) => (value === null || value === undefined ? '–' : value.toFixed(4));

// The least ratio that a greedy plan came to, or null.
export function bestGreedy(logs) {
  return least(logs.map((log) => least(log.greedy.greedy_ratio)));
}

function logTable(logs, swatches) {
  const columns = [{name: 'training run', text: true}, {name: 'updates'}, {name: 'episodes'}, {name: 'time', title: 'in training'}, {name: 'stages'},
    {name: 'greedy, last'}, {name: 'greedy, best'}, {name: 'mean, last', title: 'over the last fiftieth of the updates'}, {name: 'label, last', title: 'likewise'}];
  const best = bestGreedy(logs);
  const rows = logs.map((log, i) => {
    const {updates, greedy} = log;
    const cut = log.cut ? ' (its last line was cut)' : '';
    return {best: logs.length > 1 && best !== null && least(greedy.greedy_ratio) === best,
      cells: [element('span', {}, swatches[i], `${log.name}${cut}`), format.count(log.update_count), format.count(last(updates.episodes)),
        format.clock(last(updates.seconds)), format.count(log.stages.stage.length), figure(last(greedy.greedy_ratio)),
        figure(least(greedy.greedy_ratio)), figure(lastMean(updates.mean_ratio)), figure(lastMean(updates.label_ratio))]};
  });
  return table(columns, rows);
}

function stagesOf(logs) {
  return logs.flatMap(({stages}, index) => stages.stage.slice(1).map((stage, i) => ({
    name: `stage ${stage}`,
    time: {episodes: stages.episodes[i + 1], seconds: stages.seconds[i + 1]},
    colour: (isDark) => (logs.length > 1 ? categoryColour(index, isDark) : 'var(--critical)'),
  })));
}

// The place of the first kept update of each stage but the first; a stage may have none.
function stagePlaces({updates, stages}) {
  return stages.update.slice(1).map((before) => {
    const place = updates.update.findIndex((update) => update > before);
    return place < 0 ? updates.update.length : place;
  });
}

// A curve of nothing, or of nothing but zeros, is left out.
function curvesOf(logs, {series}, isHidden) {
  const curves = [];
  logs.forEach((log, index) => series.forEach((one, place) => {
    const times = one.greedy ? log.greedy : log.updates;
    const values = times[one.key];
    if (!values.some((value) => value !== null && value !== 0)) return;
    const hue = logs.length > 1 ? index : place;
    curves.push({key: one.key, times, values, smooth: one.greedy ? values : smoothed(values, stagePlaces(log)), dots: one.greedy,
      dash: one.dash, label: logs.length > 1 ? `${log.name}: ${one.name}` : one.name,
      colour: (isDark) => categoryColour(hue, isDark), hidden: () => isHidden(one)});
  }));
  return curves;
}

// A piece of the line itself.
function sample(dash, colour, width) {
  const made = element('i', {class: 'sample'});
  made.style.borderTop = `${width}px ${dash === '2 3' ? 'dotted' : dash ? 'dashed' : 'solid'} ${colour}`;
  return made;
}

export class Training {
  constructor({logs, theme, tip, parts}) {
    Object.assign(this, {logs, theme, parts});
    this.hidden = new Set(logs.length > 1 ? ratios.filter((one) => one.more).map((one) => one.key) : []);
    this.axis = axes.episodes;
    const stages = stagesOf(logs);
    this.charts = charts.map((chart) => ({chart, curves: curvesOf(logs, chart, (one) => this.hidden.has(one.key))}))
      .filter(({curves}) => curves.length > 0)
      .map(({chart, curves}) => new Chart({...chart, curves, stages, theme, tip}));
    parts.charts.append(...this.charts.map((chart) => chart.figure));
    parts.axis.addEventListener('change', () => this.use(parts.axis.value));
    this.paint();
  }

  use(name) {
    this.axis = axes[name];
    this.draw();
  }

  // All that has a colour.
  paint() {
    const {logs, theme, parts} = this;
    const several = logs.length > 1;
    const ofLog = (i) => categoryColour(i, theme.isDark);
    parts.table.replaceChildren(logTable(logs, logs.map((_, i) => {
      const swatch = element('i', {class: 'swatch'});
      swatch.style.background = ofLog(i);
      return several ? swatch : '';
    })));
    const sampleOf = (one, place) => sample(one.dash, several ? 'var(--ink)' : categoryColour(place, theme.isDark), one.greedy ? 3 : 2);
    const there = ratios.filter((one) => this.charts.some(({curves}) => curves.some((curve) => curve.key === one.key)));
    parts.series.replaceChildren(...there.map((one) => {
      const box = element('input', {type: 'checkbox', value: one.key, onchange: () => {
        this.hidden[box.checked ? 'delete' : 'add'](one.key);
        this.draw();
      }});
      box.checked = !this.hidden.has(one.key);
      return element('label', {}, box, ' ', sampleOf(one, ratios.indexOf(one)), one.name);
    }));
    for (const {legend, series} of this.charts) {
      if (series === ratios || series.length === 1) continue; // those have boxes, and this its title
      legend.replaceChildren(...series.map((one, place) => element('span', {}, sampleOf(one, place), one.name)));
    }
    this.draw();
  }

  draw() {
    const begin = performance.now();
    for (const chart of this.charts) chart.draw(this.axis);
    this.lastDrawMs = performance.now() - begin;
  }
}
