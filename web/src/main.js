// Puts the page together: answer, comparisons, validations, other results, beliefs, training, runs. All state that parts share is the
// Theme; runs share more (runs.js).

import * as format from './format.js';
import {BeliefPanel} from './belief.js';
import {Theme} from './theme.js';
import {Training, bestGreedy} from './training.js';
import {bestOf, comparisonSection} from './comparison.js';
import {element} from './dom.js';
import {onlineValidationSection} from './online_validation.js';
import {outputSection} from './output.js';
import {readReport} from './data.js';
import {showRuns} from './runs.js';
import {validationSection} from './validation.js';
import {whatIfSection} from './what_if.js';

const byId = (id) => document.getElementById(id);

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
  for (const {mean_error: error, rank_correlation: rank, policies} of report.online_validations) {
    facts.push(['simulator’s error of slow-downs', format.percent(error.value), `over ${format.count(policies.length)} policies that were really run`]);
    facts.push(['rank correlation of policies', rank.value.toFixed(2), `${rank.low.toFixed(2)} to ${rank.high.toFixed(2)}`]);
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
  const validated = report.validations.length + report.online_validations.length;
  if (validated > 0) parts.push(`${validated} ${validated === 1 ? 'validation' : 'validations'}`);
  if (report.outputs.length > 0) parts.push(`${report.outputs.length} other ${report.outputs.length === 1 ? 'result' : 'results'}`);
  if (report.beliefs.length > 0) parts.push(`${report.beliefs.length} ${report.beliefs.length === 1 ? 'belief' : 'beliefs'}`);
  byId('subtitle').textContent = parts.join(', ');
}

function showTraining(report, theme) {
  byId('training').hidden = false;
  const training = new Training({logs: report.training, theme, tip: byId('tip'), parts: {table: byId('training-table'),
    axis: byId('training-axis'), series: byId('training-series'), charts: byId('training-charts')}});
  theme.onChange(() => training.paint());
  window.addEventListener('resize', () => training.draw());
  window.tuttiReport.training = training;
}

function main() {
  const begin = performance.now();
  const report = readReport(JSON.parse(byId('tutti-data').textContent));
  const theme = new Theme(byId('theme'));
  // For tests, and for the curious at the console.
  window.tuttiReport = {report, theme, draws: 0, decodedMs: performance.now() - begin};
  showTitle(report);
  showAnswer(report);
  const sections = report.comparisons.map(comparisonSection);
  byId('comparisons').append(...sections.map(({section}) => section));
  const validations = [...report.validations.map(validationSection), ...report.online_validations.map(onlineValidationSection)];
  byId('validations').append(...validations.map(({section}) => section));
  sections.push(...validations);
  const outputs = [whatIfSection(report.outputs), ...report.outputs.map(outputSection)].filter(Boolean);
  byId('outputs').append(...outputs.map(({section}) => section));
  sections.push(...outputs);
  const drawCharts = () => sections.forEach(({draw}) => draw());
  drawCharts();
  window.addEventListener('resize', drawCharts);
  const beliefs = report.beliefs.map((belief) => new BeliefPanel(belief));
  byId('beliefs').append(...beliefs.map(({section}) => section));
  window.tuttiReport.beliefs = beliefs;
  if (report.training.length > 0) showTraining(report, theme);
  if (report.runs.length > 0) {
    const shown = showRuns({section: byId('runs'), tip: byId('tip'), report, theme, onDraw: (ms) => {
      window.tuttiReport.lastDrawMs = ms;
      ++window.tuttiReport.draws;
    }});
    Object.assign(window.tuttiReport, shown);
  }
  window.tuttiReport.loadMs = performance.now() - begin;
  window.tuttiReport.ready = true;
}

main();
