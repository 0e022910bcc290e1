// Puts the page together: answer, comparisons, validations, other results, beliefs, training, runs. All state that parts share is the View (which
// time is visible), the Selection and the Theme.

import * as format from './format.js';
import {BeliefPanel} from './belief.js';
import {Colours} from './colours.js';
import {Details} from './details.js';
import {RunPanel} from './run.js';
import {Search} from './search.js';
import {Theme} from './theme.js';
import {Training, bestGreedy} from './training.js';
import {View} from './view.js';
import {bestOf, comparisonSection} from './comparison.js';
import {element, table} from './dom.js';
import {followKeys, followPointer} from './input.js';
import {outputSection} from './output.js';
import {readReport} from './data.js';
import {validationSection} from './validation.js';

const byId = (id) => document.getElementById(id);

class Selection {
  constructor() {
    this.listeners = [];
    this.op = null; // in every run
    this.transfer = null; // of one run
    this.run = null;
  }
  set(what) {
    Object.assign(this, {op: null, transfer: null, run: null}, what);
    for (const listener of this.listeners) listener();
  }
  onChange(listener) {
    this.listeners.push(listener);
  }
}

// What may be called the answer: a run that happened, else one that is expected, else a mean.
function candidates(report) {
  const runs = (what, note) => report.runs.filter((run) => run.what === what && run.opCount > 0)
    .map((run) => ({makespan: run.makespan, by: `${run.name}${note}`, bound: report.lower_bound_ns}));
  const rows = report.comparisons.map((comparison) => [comparison, bestOf(comparison)]).filter(([, best]) => best)
    .map(([{lower_bound_ns: bound}, best]) => ({makespan: best.mean_ns, by: `${best.policy}, mean of ${best.runs}`, bound}));
  return [runs('trace', ''), rows, runs('plan', ', as planned')].find((list) => list.length > 0) ?? [];
}

function singleDevice(report) {
  if (report.single_device_ns !== null) return report.single_device_ns;
  const row = report.comparisons.flatMap((comparison) => comparison.results)
    .find((one) => one.policy === 'single_device' && one.error === undefined);
  return row ? row.mean_ns : null;
}

function showAnswer(report) {
  const best = candidates(report).reduce((least, one) => (!least || one.makespan < least.makespan ? one : least), null);
  const bound = best ? best.bound : report.lower_bound_ns;
  const single = singleDevice(report);
  const facts = [];
  if (best) facts.push(['makespan', format.time(best.makespan), best.by]);
  if (best && bound > 0) facts.push(['gap to the bound', format.gap(best.makespan, bound), 'above the lower bound']);
  if (bound > 0) facts.push(['lower bound', format.time(bound), 'no run takes less']);
  if (single !== null) {
    const times = best && best.makespan > 0 ? `${(single / best.makespan).toFixed(2)} times the makespan` : '';
    facts.push(['best single device', format.time(single), times]);
  }
  const ratio = bestGreedy(report.training);
  if (ratio !== null) facts.push(['best greedy ratio', ratio.toFixed(4), 'of the training runs; less is better']);
  for (const {mean_error: error, plans} of report.validations) {
    facts.push(['simulator’s mean error', format.percent(error), `over ${format.count(plans)} plans that were really run`]);
  }
  byId('answer').append(...facts.map(([name, value, note]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, value, element('small', {}, note)))));
}

function showTitle(report) {
  const [first] = report.comparisons;
  const graph = report.title?.graph ?? first?.graph ?? '';
  const machine = report.title?.machine ?? first?.machine ?? '';
  const [belief] = report.beliefs;
  const fact = (key) => report.outputs.flatMap((output) => output.facts).find(([name]) => name === key)?.[1];
  const other = [fact('graph'), fact('machine')].filter((word) => typeof word === 'string').join(' on ');
  const title = graph ? `${graph} on ${machine}` : belief ? belief.machine : other;
  byId('title').textContent = title || 'tutti report';
  document.title = title ? `${title} – tutti report` : 'tutti report';
  const parts = [];
  if (report.graph) parts.push(`${format.count(report.graph.size)} ops, ${format.count(report.devices.length)} devices`);
  if (report.runs.length > 0) parts.push(`${report.runs.length} ${report.runs.length === 1 ? 'run' : 'runs'}`);
  if (report.comparisons.length > 0) parts.push(`${report.comparisons.length} ${report.comparisons.length === 1 ? 'comparison' : 'comparisons'}`);
  if (report.training.length > 0) parts.push(`${report.training.length} training ${report.training.length === 1 ? 'run' : 'runs'}`);
  if (report.validations.length > 0) parts.push(`${report.validations.length} ${report.validations.length === 1 ? 'validation' : 'validations'}`);
  if (report.outputs.length > 0) parts.push(`${report.outputs.length} other ${report.outputs.length === 1 ? 'result' : 'results'}`);
  if (report.beliefs.length > 0) parts.push(`${report.beliefs.length} ${report.beliefs.length === 1 ? 'belief' : 'beliefs'}`);
  byId('subtitle').textContent = parts.join(', ');
}

function runTable(report) {
  const bound = report.lower_bound_ns;
  const traces = report.runs.filter((run) => run.what === 'trace');
  const least = Math.min(...traces.map((run) => run.makespan));
  const columns = [{name: 'run', text: true}, {name: 'what', text: true}, {name: 'by', text: true}, {name: 'makespan'},
    {name: 'gap'}, {name: 'mean busy'}, {name: 'ops'}, {name: 'transfers'}, {name: 'moved'},
    {name: 'critical path: in ops'}, {name: 'in transfers'}, {name: 'waiting'}];
  const rows = report.runs.map((run) => {
    const devices = run.stats.devices;
    const busy = devices.reduce((sum, device) => sum + device.busy, 0) / Math.max(1, devices.length);
    const {ops, transfers, waits} = run.criticalTime;
    return {
      best: traces.length > 1 && run.what === 'trace' && run.makespan === least,
      cells: [run.name, run.what, run.by || '–', format.time(run.makespan), format.gap(run.makespan, bound),
        format.percent(busy), format.count(run.opCount), run.what === 'plan' ? '–' : format.count(run.stats.transfers),
        run.what === 'plan' ? '–' : format.bytes(run.stats.bytes_moved), format.time(ops), format.time(transfers),
        format.time(waits)],
    };
  });
  return table(columns, rows);
}

function showTraining(report, theme) {
  byId('training').hidden = false;
  const training = new Training({logs: report.training, theme, tip: byId('tip'), parts: {table: byId('training-table'),
    axis: byId('training-axis'), series: byId('training-series'), charts: byId('training-charts')}});
  theme.onChange(() => training.paint());
  window.addEventListener('resize', () => training.draw());
  window.tuttiReport.training = training;
}

function showRuns(report, theme) {
  const view = new View(Math.max(...report.runs.map((run) => run.makespan)));
  const selection = new Selection();
  const colours = new Colours(report.graph, theme);
  const options = {critical: true};
  byId('runs').hidden = false;
  byId('run-table').replaceChildren(runTable(report));
  const panels = report.runs.map((run) =>
    new RunPanel({run, report, graph: report.graph, view, theme, selection, colours, options}));
  byId('timelines').append(...panels.map((panel) => panel.section));

  let waiting = false;
  const draw = () => {
    const begin = performance.now();
    for (const panel of panels) panel.draw();
    const [from, to] = view.shown();
    byId('window').textContent = `${format.time(to - from)} shown, from ${format.time(Math.max(0, from))}`;
    window.tuttiReport.lastDrawMs = performance.now() - begin;
    ++window.tuttiReport.draws;
  };
  const redraw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
  const choose = (op) => {
    byId('tip').hidden = true;
    selection.set({op});
    for (const {run, timeline} of panels) {
      const mark = timeline ? run.markOfOp[op] : -1;
      if (mark < 0) continue;
      view.reveal(run.start[mark], run.finish[mark]);
      timeline.scrollToLane(run.laneOf[mark]);
      break;
    }
  };
  const resize = () => {
    for (const panel of panels) view.resize(panel.resize());
    draw();
  };

  const hasGroups = report.graph.groups.length > 0;
  byId('colour').disabled = !hasGroups;
  byId('colour').addEventListener('change', (event) => {
    colours.use(event.target.value);
    byId('legend').replaceChildren(...colours.legend());
    redraw();
  });
  byId('critical').addEventListener('change', (event) => {
    options.critical = event.target.checked;
    redraw();
  });
  byId('zoom-in').addEventListener('click', () => view.zoomBy(2));
  byId('zoom-out').addEventListener('click', () => view.zoomBy(0.5));
  byId('zoom-all').addEventListener('click', () => view.showAll());
  byId('legend').replaceChildren(...colours.legend());
  const search = new Search({input: byId('search'), list: byId('found'), names: report.graph.names, choose});
  new Details({panel: byId('details'), report, selection, choose});
  for (const {timeline} of panels) {
    if (!timeline) continue;
    followPointer({timeline, report, selection, tip: byId('tip')});
    followKeys({timeline, view, selection, choose, tip: byId('tip')});
  }
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || /^(input|select|textarea)$/i.test(event.target.tagName)) return;
    event.preventDefault();
    search.input.focus();
  });
  view.onChange(redraw);
  selection.onChange(redraw);
  theme.onChange(() => {
    colours.refresh();
    byId('legend').replaceChildren(...colours.legend());
    redraw();
  });
  window.addEventListener('resize', resize);
  resize();
  Object.assign(window.tuttiReport, {view, selection, panels, choose});
}

function main() {
  const begin = performance.now();
  const report = readReport();
  const theme = new Theme(byId('theme'));
  // For tests, and for the curious at the console.
  window.tuttiReport = {report, theme, draws: 0, decodedMs: performance.now() - begin};
  showTitle(report);
  showAnswer(report);
  const sections = report.comparisons.map(comparisonSection);
  byId('comparisons').append(...sections.map(({section}) => section));
  const validations = report.validations.map(validationSection);
  byId('validations').append(...validations.map(({section}) => section));
  sections.push(...validations);
  const outputs = report.outputs.map(outputSection);
  byId('outputs').append(...outputs.map(({section}) => section));
  sections.push(...outputs);
  const drawCharts = () => sections.forEach(({draw}) => draw());
  drawCharts();
  window.addEventListener('resize', drawCharts);
  const beliefs = report.beliefs.map((belief) => new BeliefPanel(belief));
  byId('beliefs').append(...beliefs.map(({section}) => section));
  window.tuttiReport.beliefs = beliefs;
  if (report.training.length > 0) showTraining(report, theme);
  if (report.runs.length > 0) showRuns(report, theme);
  window.tuttiReport.loadMs = performance.now() - begin;
  window.tuttiReport.ready = true;
}

main();
