// Opens pages that `tutti report` wrote in a real browser and uses them as a person would:
//
//   node web/test/page_test.mjs PROGRAM [FOLDER FOR SCREENSHOTS]
//
// Exit code 0: all is well; 1: something is not; 77: there is no Chromium, or the program was built
// without its page, so that there is nothing to test.

import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Browser, findChromium} from './browser.mjs';
import {beliefOverTime, beliefs} from './belief_pages.mjs';
import {foldCases} from './fold_cases.mjs';
import {bestTime, graphIsDrawn, jobsAndPoints, outlier, tenThousandOps, viewsOfRuns, weightsOfAPlan} from './run_pages.mjs';

const program = resolve(process.argv[2]); // it runs in another folder
const screenshots = process.argv[3];
const folder = mkdtempSync(join(tmpdir(), 'tutti-page-'));
const machine = ['--machine', 'p100-4'];

// Generous, because tests share the machine with compilers.
const longestLoadMs = 15000;
const longestRedrawMs = 1000;

function skip(why) {
  rmSync(folder, {recursive: true, force: true});
  console.log(`skipped: ${why}`);
  process.exit(77);
}

function tutti(...words) {
  return execFileSync(program, words, {cwd: folder, encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'inherit']});
}

function write(name, text) {
  writeFileSync(join(folder, name), text);
}

async function keep(page, name, options) {
  if (!screenshots) return;
  mkdirSync(screenshots, {recursive: true});
  writeFileSync(join(screenshots, `${name}.png`), await page.screenshot(options));
}

async function open(browser, file) {
  const page = await browser.newPage();
  await page.prefer('light');
  const url = pathToFileURL(join(folder, file)).href;
  await page.open(url);
  page.url = url;
  return page;
}

// Nothing was fetched but the page itself, and nothing complained.
async function expectQuiet(page) {
  const text = await page.evaluate('document.body.innerText');
  for (const slip of ['[object', 'undefined', 'NaN', 'null']) assert.ok(!text.includes(slip), `the page says ${slip}`);
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(page.requests.filter((url) => url !== page.url && !url.startsWith('data:')), []);
}

// What a trace file holds, counted without any code of the page.
function countTrace(file) {
  const {traceEvents: events} = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const of = (kind) => events.filter((event) => event.cat === kind);
  const slots = events.filter((event) => event.name === 'thread_name').length;
  const rows = new Set([...of('transfer'), ...of('channel')].map((event) => `${event.pid} ${event.tid}`));
  return {ops: of('op').length, transfers: of('transfer').length, lanes: slots + rows.size};
}

const shown = (page) => page.evaluate('tuttiReport.view.shown()');

// The middle of an op's span, in the coordinates of the window.
const placeOf = (page, op) => page.evaluate(`(() => {
  const {timeline, run} = tuttiReport.panels[0];
  const at = timeline.canvas.getBoundingClientRect();
  const rect = timeline.rectOf(run.markOfOp[${op}], tuttiReport.view.scale());
  return {x: at.left + (rect.x0 + rect.x1) / 2, y: at.top + rect.middle};
})()`);

async function centreOfTimeline(page) {
  await page.evaluate('tuttiReport.panels[0].timeline.canvas.scrollIntoView({block: "center"})');
  await page.frame();
  return page.evaluate(`(() => {
    const {left, top, width, height} = tuttiReport.panels[0].timeline.canvas.getBoundingClientRect();
    return {x: Math.round(left + width / 2), y: Math.round(top + height / 2)};
  })()`);
}

async function checkCounts(page, trace) {
  const counts = await page.evaluate(`(() => {
    const {report, panels} = tuttiReport;
    const run = panels[0].run;
    return {lanes: run.lanes.length, ops: run.opCount, transfers: run.transferCount,
            marks: run.lanes.filter((lane) => lane.isDevice).reduce((sum, lane) => sum + lane.end - lane.begin, 0),
            rows: panels[0].timeline.tops.length, names: report.graph.names.length};
  })()`);
  assert.equal(counts.ops, trace.ops);
  assert.equal(counts.marks, trace.ops);
  assert.equal(counts.transfers, trace.transfers);
  assert.equal(counts.lanes, trace.lanes);
  assert.equal(counts.rows, trace.lanes);
  assert.equal(counts.names, trace.ops);
}

// Every span of the page is where the trace file has it.
async function checkTimes(page, file) {
  const {traceEvents: events} = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const spans = await page.evaluate(`(() => {
    const {report, panels: [{run}]} = tuttiReport;
    return report.graph.names.map((name, op) => {
      const mark = run.markOfOp[op];
      const lane = run.lanes[run.laneOf[mark]];
      return [name, lane.name, lane.row, run.start[mark], run.finish[mark]];
    });
  })()`);
  const inPage = new Map(spans.map(([name, ...rest]) => [name, rest]));
  for (const {cat, args} of events) {
    if (cat !== 'op') continue;
    assert.deepEqual(inPage.get(args.op), [args.device, args.slot, args.start_ns, args.finish_ns]);
  }
}

async function checkZoom(page) {
  const {x, y} = await centreOfTimeline(page);
  const [, end] = await shown(page);
  await page.wheel(x, y, 120);
  assert.deepEqual(await shown(page), [0, end], 'a wheel without Ctrl scrolls the page');
  await centreOfTimeline(page);
  await page.wheel(x, y, -500, {ctrl: true});
  const near = await shown(page);
  assert.ok(near[1] - near[0] < end / 2, `zoomed in to ${near}`);
  await page.drag(x, x - 200, y);
  const later = await shown(page);
  assert.ok(later[0] > near[0], 'dragging to the left shows what comes later');
  assert.ok(Math.abs(later[1] - later[0] - (near[1] - near[0])) < end * 1e-6, 'dragging does not zoom');
  await page.evaluate('document.getElementById("zoom-all").click()');
  await page.frame();
  const [from, to] = await shown(page);
  assert.ok(Math.abs(from) < 1e-6 * end && Math.abs(to - end) < 1e-6 * end, 'all is shown again');
}

async function checkSelection(page) {
  // The op with the most neighbours that has both producers and consumers.
  const chosen = await page.evaluate(`(() => {
    const {graph} = tuttiReport.report;
    let best = {op: -1, count: -1};
    for (let op = 0; op < graph.size; ++op) {
      const [before, after] = [graph.producers(op).length, graph.consumers(op).length];
      if (before > 0 && after > 0 && before + after > best.count) best = {op, count: before + after, before, after};
    }
    return {...best, name: graph.names[best.op]};
  })()`);
  await page.evaluate(`tuttiReport.choose(${chosen.op})`);
  await page.evaluate('tuttiReport.selection.set({})');
  await centreOfTimeline(page);
  const {x, y} = await placeOf(page, chosen.op);
  await page.mouse('mouseMoved', x, y);
  await page.frame();
  const tip = await page.evaluate('(({hidden, textContent}) => ({hidden, textContent}))(document.getElementById("tip"))');
  assert.equal(tip.hidden, false);
  assert.ok(tip.textContent.startsWith(chosen.name), tip.textContent);
  await page.click(x, y);
  assert.equal(await page.evaluate('tuttiReport.selection.op'), chosen.op);
  const details = await page.evaluate('document.getElementById("details").innerText');
  assert.ok(details.includes(chosen.name) && details.includes(`Producers (${chosen.before})`) &&
    details.includes(`Consumers (${chosen.after})`) && details.includes('gpu') && details.includes('finish'), details);
  // With the keyboard: the neighbour on the lane, then away from it.
  await page.key('ArrowRight', {shift: true});
  assert.notEqual(await page.evaluate('tuttiReport.selection.op'), chosen.op);
  await page.key('Escape');
  assert.equal(await page.evaluate('tuttiReport.selection.op'), null);
  await page.key('0');
  const [, end] = await shown(page);
  await page.key('+');
  const [from, to] = await shown(page);
  assert.ok(to - from < end, 'the + key zooms in');
  await page.key('0');
  return chosen;
}

async function checkSearch(page, name) {
  await page.key('/');
  assert.equal(await page.evaluate('document.activeElement.id'), 'search');
  await page.type(name);
  assert.ok(await page.evaluate('document.querySelectorAll("#found li").length') >= 1);
  await page.key('Enter');
  assert.equal(await page.evaluate('tuttiReport.report.graph.names[tuttiReport.selection.op]'), name);
}

async function checkCriticalPath(page) {
  const path = await page.evaluate(`(() => {
    const {run} = tuttiReport.panels[0];
    const last = run.critical[run.critical.length - 1];
    const {ops, transfers, waits} = run.criticalTime;
    return {steps: run.critical.length, end: run.finish[last.mark], makespan: run.makespan, sum: ops + transfers + waits};
  })()`);
  assert.ok(path.steps > 1);
  assert.equal(path.end, path.makespan);
  assert.equal(path.sum, path.makespan);
  const count = `(() => {
    const {timeline, run} = tuttiReport.panels[0];
    const canvas = timeline.canvas;
    const probe = document.createElement('i');
    document.body.append(probe);
    probe.style.color = 'var(--critical)';
    const [r, g, b] = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
    probe.remove();
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let i = 0; i < data.length; i += 4) found += data[i] === r && data[i + 1] === g && data[i + 2] === b;
    return found;
  })()`;
  assert.ok(await page.evaluate(count) > 50, 'the critical path is drawn');
  await page.evaluate('document.getElementById("critical").click()');
  await page.frame();
  assert.equal(await page.evaluate(count), 0, 'and can be switched off');
  await page.evaluate('document.getElementById("critical").click()');
  await page.frame();
}

// Contrast as WCAG 2 defines it.
function contrast(a, b) {
  const light = (text) => {
    const [r, g, bl] = text.match(/[\d.]+/g).slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * bl;
  };
  const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

async function checkThemes(page) {
  const colours = () => page.evaluate('({...tuttiReport.theme.colours, back: getComputedStyle(document.body).backgroundColor})');
  const readable = (set) => {
    for (const name of ['ink', 'quiet', 'accent', 'critical', 'producer', 'consumer']) {
      assert.ok(contrast(set[name], set.panel) >= 4.5, `${name} on panel: ${contrast(set[name], set.panel)}`);
    }
  };
  const light = await colours();
  readable(light);
  await page.prefer('dark');
  const dark = await colours();
  readable(dark);
  assert.notEqual(light.back, dark.back);
  const press = async () => {
    await page.evaluate('document.getElementById("theme").click()');
    await page.frame();
    return (await colours()).back;
  };
  assert.equal(await press(), light.back, 'the switch wins over the system');
  assert.equal(await press(), dark.back);
  await press();
  await page.prefer('light');
  assert.equal((await colours()).back, light.back);
}

async function comparisonAndTrace(browser) {
  tutti('graph', 'make', 'llama-layer', '-o', 'graph.json');
  write('compare.json', tutti('compare', 'graph.json', ...machine, '--seeds', '5', '--noise', '0.1', '--json'));
  tutti('plan', 'graph.json', ...machine, '--policy', 'heft', '-o', 'plan.json');
  tutti('simulate', 'graph.json', ...machine, '--plan', 'plan.json', '--trace', 'trace.json');
  tutti('report', 'compare.json', 'trace.json', 'graph.json', 'plan.json', ...machine, '-o', 'report.html');
  const page = await open(browser, 'report.html');
  const {results} = JSON.parse(readFileSync(join(folder, 'compare.json'), 'utf8'));
  assert.equal(await page.evaluate('document.querySelectorAll("table.bars tbody tr").length'), results.length + 1);
  assert.equal(await page.evaluate('document.querySelectorAll("svg rect.mean").length'), results.filter((row) => !row.error).length);
  assert.ok(await page.evaluate('document.querySelectorAll("svg path.spread").length') > 0);
  assert.equal(await page.evaluate('document.querySelectorAll("svg path.bound").length'), results.length);
  assert.equal(await page.evaluate('tuttiReport.panels.length'), 2, 'the trace and the plan, one above the other');
  assert.ok((await page.evaluate('document.getElementById("answer").innerText')).includes('best single device'));
  for (const width of [1400, 1100, 1400]) {
    await page.resize(width);
    assert.ok(await page.evaluate(`[...document.querySelectorAll('.comparison .scroll')]
      .every((part) => part.scrollWidth <= part.clientWidth)`), `no column is cut off at ${width} px`);
  }
  await keep(page, 'comparison-light');
  await checkCounts(page, countTrace('trace.json'));
  await checkTimes(page, 'trace.json');
  await checkZoom(page);
  await checkCriticalPath(page);
  const {name} = await checkSelection(page);
  await checkSearch(page, name);
  await keep(page, 'selected-light');
  await checkThemes(page);
  await page.prefer('dark');
  await keep(page, 'selected-dark');
  await page.evaluate('tuttiReport.selection.set({})');
  await page.evaluate('tuttiReport.view.showAll()');
  await page.frame();
  await keep(page, 'comparison-dark');
  await expectQuiet(page);
  console.log(`comparison, trace and plan: ${Math.round(statSync(join(folder, 'report.html')).size / 1024)} KiB`);
}

async function hundredThousandSpans(browser) {
  tutti('graph', 'make', 'layered', '--ops', '60000', '-o', 'large.json');
  tutti('simulate', 'large.json', ...machine, '--policy', 'heft', '--trace', 'large-trace.json');
  const wrote = Date.now();
  tutti('report', 'large.json', 'large-trace.json', ...machine, '-o', 'large.html');
  const writeMs = Date.now() - wrote;
  const trace = countTrace('large-trace.json');
  assert.ok(trace.ops + trace.transfers >= 100000, `${trace.ops + trace.transfers} spans`);
  const loadMs = await bestTime(browser, open, 'large.html');
  const page = await open(browser, 'large.html');
  await graphIsDrawn(page);
  await checkCounts(page, trace);
  const redraws = [];
  const {x, y} = await centreOfTimeline(page);
  for (let i = 0; i < 6; ++i) {
    await page.wheel(x, y, -100, {ctrl: true});
    redraws.push(await page.evaluate('tuttiReport.lastDrawMs'));
  }
  const worst = Math.max(...redraws);
  assert.ok(worst < longestRedrawMs, `a redraw took ${worst} ms`);
  await keep(page, 'large-zoomed', {full: false});
  await page.evaluate('tuttiReport.view.showAll()');
  await page.frame();
  await page.evaluate('scrollTo(0, 0)');
  await keep(page, 'large-light');
  await checkSearch(page, await page.evaluate('tuttiReport.report.graph.names[31415]'));
  await keep(page, 'large-selected');
  await expectQuiet(page);
  const inPage = await page.evaluate('[tuttiReport.loadMs, tuttiReport.decodedMs]');
  console.log(`${trace.ops} ops and ${trace.transfers} transfers: page of ` +
    `${(statSync(join(folder, 'large.html')).size / 1e6).toFixed(1)} MB written in ${writeMs} ms, open after ${loadMs} ms ` +
    `(script ${Math.round(inPage[0])} ms, of which decoding ${Math.round(inPage[1])} ms), worst redraw ${Math.round(worst)} ms`);
}

async function hostileNames(browser) {
  const names = ['</script><script>window.hacked=1</script>', '"quoted\' & <b>bold</b>', 'naïve 漢字 😀', '<!--', 'x'.repeat(3000)];
  const ops = names.map((name, i) => ({name, kind: `<img src=x onerror=hacked=1> ${i}`, operands: i > 0 ? [names[i - 1]] : [],
    outputs: [{bytes: 1e6}], run_time_ns: 1e6, attributes: {group: `</style>${i}`}}));
  write('hostile.json', JSON.stringify({format: 'tutti-graph', schema_version: 1, name: '</title><script>hacked=1</script>', ops}));
  tutti('simulate', 'hostile.json', ...machine, '--policy', 'random', '--trace', 'hostile-trace.json');
  tutti('report', 'hostile.json', 'hostile-trace.json', ...machine, '-o', 'hostile.html');
  const page = await open(browser, 'hostile.html');
  assert.equal(await page.evaluate('typeof window.hacked'), 'undefined');
  assert.deepEqual(await page.evaluate('tuttiReport.report.graph.names'), names);
  await page.evaluate('document.getElementById("colour").value = "group"');
  await page.evaluate('document.getElementById("colour").dispatchEvent(new Event("change"))');
  for (let op = 0; op < names.length; ++op) await page.evaluate(`tuttiReport.choose(${op})`);
  await page.frame();
  assert.equal(await page.evaluate('document.querySelectorAll("#details script, #details img, #details b").length'), 0);
  await keep(page, 'hostile');
  await expectQuiet(page);
}

async function comparisonAlone(browser) {
  write('alone.json', tutti('compare', 'graph.json', ...machine, '--json'));
  const made = spawnSync(program, ['report', 'alone.json', '-o', '-'], {cwd: folder, encoding: 'utf8', maxBuffer: 1 << 30});
  assert.equal(made.status, 0, made.stderr);
  write('alone.html', made.stdout);
  const page = await open(browser, 'alone.html');
  assert.equal(await page.evaluate('document.getElementById("runs").hidden'), true);
  assert.ok((await page.evaluate('document.getElementById("answer").innerText')).includes('best single device'));
  await keep(page, 'alone');
  await expectQuiet(page);
}

// What tutti validate writes, of two graphs: the second's name is hostile, one makespan is 0.
async function validationAlone(browser) {
  const agreement = {rank_correlation: 0.97, rank_correlation_better_half: 0.8, mean_error: 0.04, top1_regret: 0.01};
  const plans = (size) => Array.from({length: 40}, (_, i) => ({policy: `p${i}`, simulated_ns: size * (1 + i / 9), real_ns: size * (1 + i / 9) * (1 + 0.1 * Math.sin(i))}));
  write('validation.json', JSON.stringify({format: 'tutti-validation', schema_version: 1, machine: 'm',
    summary: {graphs: 2, plans: 81, ...agreement},
    graphs: [{graph: 'g', ...agreement, bias: -0.02, plans: plans(1e6)},
      {graph: '<b>h</b>', ...agreement, bias: 0.1, plans: [...plans(3e3), {policy: 'zero', simulated_ns: 0, real_ns: 5}]}],
    residuals: [{kind: 'matmul', where: 'gpu', count: 70, median_ratio: 1.03, median_error: 0.05, time_share: 0.9},
      {kind: '', where: 'pcie>', count: 7, median_ratio: 0.9, median_error: 0.1, time_share: 1}]}));
  const made = spawnSync(program, ['report', 'validation.json', '-o', 'validation.html'], {cwd: folder, encoding: 'utf8'});
  assert.equal(made.status, 0, made.stderr);
  const page = await open(browser, 'validation.html');
  assert.equal(await page.evaluate('document.querySelectorAll(".scatter").length'), 2);
  assert.equal(await page.evaluate('document.querySelectorAll(".scatter circle").length'), 80);
  assert.equal(await page.evaluate('document.querySelectorAll(".residuals tbody tr").length'), 2);
  assert.equal(await page.evaluate('document.querySelectorAll(".validation b").length'), 0);
  assert.ok((await page.evaluate('document.getElementById("answer").innerText')).includes('4.0 %'));
  await keep(page, 'validation');
  await expectQuiet(page);
}

// What tutti validate --online writes: three policies, two of which the simulator puts in the wrong order.
async function onlineValidationAlone(browser) {
  const figure = (name, value, spread) => ({[name]: value, [`${name}_interval`]: [value - spread, value + spread]});
  const policy = (name, real, simulated) => ({policy: name, ...figure('real_slowdown', real, 0.1), ...figure('simulated_slowdown', simulated, 0.05),
    ...figure('error', simulated / real - 1, 0.01), real_jobs_in_system: 2, simulated_jobs_in_system: 1.9, decision_ns: 1200,
    real_slowdowns: [real], simulated_slowdowns: [simulated]});
  write('online.json', JSON.stringify({format: 'tutti-online-validation', schema_version: 1, machine: 'm', seed: '1', jobs: 40, turns: 6,
    load: 0.7, summary: {...figure('rank_correlation', 0.5, 0.25), ...figure('mean_error', 0.08, 0.02), agreement_of_turns: 0.9,
      pairs_that_differ: 3, pairs_in_same_order: 2},
    policies: [policy('fifo', 2.5, 2.4), policy('<b>heft</b>', 2.1, 2.2), policy('random', 2.0, 2.3)],
    residuals: [{kind: 'matmul', where: 'cpu', count: 70, median_ratio: 1.03, median_error: 0.05, time_share: 0.9}]}));
  const made = spawnSync(program, ['report', 'online.json', '-o', 'online.html'], {cwd: folder, encoding: 'utf8'});
  assert.equal(made.status, 0, made.stderr);
  const page = await open(browser, 'online.html');
  assert.equal(await page.evaluate('document.querySelectorAll(".online .scatter circle").length'), 3);
  assert.equal(await page.evaluate('document.querySelectorAll(".online .ranks .rank").length'), 3);
  assert.equal(await page.evaluate('document.querySelectorAll(".online b").length'), 0);
  // The best in reality is first.
  assert.deepEqual(await page.evaluate('[...document.querySelectorAll(".policies tbody tr")].map((row) => row.cells[0].innerText)'),
    ['random', '<b>heft</b>', 'fifo']);
  const text = await page.evaluate('document.querySelector(".online").innerText');
  assert.ok(text.includes('Rank correlation 0.50 (0.25 to 0.75)'), text);
  assert.ok((await page.evaluate('document.getElementById("answer").innerText')).includes('8.0 %'));
  await keep(page, 'online-validation');
  await page.prefer('dark');
  await keep(page, 'online-validation-dark');
  await expectQuiet(page);
}

// A line of a training log, as tutti train writes it.
function logLine(update, episodes, stage, seconds, more = {}) {
  const down = Math.exp(-update / 400);
  const shake = 0.03 * Math.sin(update * 12.9898) * Math.cos(update * 4.1414);
  return JSON.stringify({update, episodes, stage, seconds, mean_ratio: 0.93 + 0.4 * down + shake, best_ratio: 0.87 + 0.2 * down + shake / 2,
    label_ratio: 0.86 + 0.1 * down, match: stage === 0 ? 0.9 - 0.6 * down : 0, loss: update % 50 === 7 ? null : 2 * down - 0.03,
    select_entropy: 0.4 + down, place_entropy: 0.1 + 0.5 * down, gradient_norm: 0.05 + 0.1 * down + Math.abs(shake), ...more});
}

function writeLog(name, updates, {stages = 2, every = 50, taken = updates + 1, offset = 0} = {}) {
  const lines = [];
  for (let i = 1; i <= updates; ++i) {
    const judged = i % every === 0 ? {greedy_ratio: 0.89 + offset + 0.35 * Math.exp(-i / 300)} : {};
    lines.push(logLine(i, 64 * i, Math.floor((stages * (i - 1)) / updates), 0.25 * (i >= taken ? i - taken + 1 : i), judged));
  }
  write(name, `${lines.join('\n')}\n`);
  return {updates, greedy: Math.floor(updates / every), stages};
}

const curves = (page) => page.evaluate(`Object.fromEntries([...document.querySelectorAll('#training .line')]
  .map((line) => [line.classList[1], Number(line.dataset.points)]))`);
const countOf = (page, what) => page.evaluate(`document.querySelectorAll('#training ${what}').length`);

async function trainingRun(browser) {
  mkdirSync(join(folder, 'run'));
  const log = writeLog('run/log.jsonl', 1200, {taken: 801});
  tutti('report', 'run', '-o', 'training.html');
  const page = await open(browser, 'training.html');
  await page.resize(1400);
  assert.equal(await page.evaluate('document.getElementById("training").hidden'), false);
  assert.equal(await page.evaluate('document.getElementById("runs").hidden'), true);
  const {updates: points, greedy} = log;
  assert.deepEqual(await curves(page), {greedy_ratio: greedy, mean_ratio: points, best_ratio: points, label_ratio: points, match: points,
    select_entropy: points, place_entropy: points, loss: points, gradient_norm: points});
  assert.equal(await countOf(page, 'figure'), 5);
  assert.equal(await countOf(page, 'circle.dot'), greedy);
  assert.equal(await countOf(page, 'path.begin'), 5 * (log.stages - 1), 'each chart marks where the second stage begins');
  assert.ok((await page.evaluate('document.getElementById("training-table").innerText')).includes('1,200'));
  await keep(page, 'training-light');
  // The end of the last line is that of the axis, whichever it is.
  const labels = () => page.evaluate('[...document.querySelectorAll("#training figure:first-child g:not(.up) > .tick text")].map((one) => one.textContent)');
  const overEpisodes = await labels();
  const path = () => page.evaluate('document.querySelector("#training .line.mean_ratio").getAttribute("d")');
  const before = await path();
  await page.evaluate('(() => { const axis = document.getElementById("training-axis"); axis.value = "seconds"; axis.dispatchEvent(new Event("change")); })()');
  await page.frame();
  const overTime = await labels();
  assert.ok(overTime.every((text) => / (s|min|h)\b/.test(text)), overTime.join());
  assert.ok(overEpisodes.every((text) => !/ (s|min|h)\b/.test(text)), overEpisodes.join());
  assert.ok(overTime[overTime.length - 1] === '5 min', 'the time before a run was taken up again counts');
  // Both rise evenly, so that only the labels change; but the resumed run must not have gone back.
  const ends = [before, await path()].map((d) => d.match(/[\d.]+,/g).map(parseFloat));
  for (const xs of ends) assert.ok(xs.every((x, i) => i === 0 || x >= xs[i - 1]), 'a line never goes back');
  assert.equal(Math.max(...ends[0]), Math.max(...ends[1]));
  // A series can be switched off and on.
  await page.evaluate('document.querySelector("#training-series input[value=mean_ratio]").click()');
  await page.frame();
  assert.equal(await countOf(page, '.line.mean_ratio'), 0);
  await page.evaluate('document.querySelector("#training-series input[value=mean_ratio]").click()');
  await page.frame();
  assert.equal(await countOf(page, '.line.mean_ratio'), 1);
  // What stands under the pointer.
  const middle = await page.evaluate(`(() => {
    const {left, top, width, height} = document.querySelector('#training figure:first-child svg').getBoundingClientRect();
    return {x: left + width / 2, y: top + height / 2};
  })()`);
  await page.mouse('mouseMoved', middle.x, middle.y);
  await page.frame();
  const tip = await page.evaluate('(({hidden, textContent}) => ({hidden, textContent}))(document.getElementById("tip"))');
  assert.equal(tip.hidden, false);
  assert.ok(/greedy plan: 0\.\d+ \(.*update \d+\)/.test(tip.textContent) && tip.textContent.split('\n').length === 4, tip.textContent);
  await keep(page, 'training-time');
  await page.mouse('mouseMoved', 2, 2);
  await page.prefer('dark');
  await keep(page, 'training-dark');
  await expectQuiet(page);
}

async function trainingRuns(browser) {
  write('one.jsonl', `${logLine(1, 64, 0, 0.5)}\n`);
  writeLog('first.jsonl', 900, {stages: 3});
  writeLog('second.jsonl', 1500, {offset: 0.02});
  write('third.jsonl', readFileSync(join(folder, 'second.jsonl'), 'utf8').slice(0, -40)); // killed while it wrote
  tutti('report', 'first.jsonl', 'second.jsonl', 'third.jsonl', 'one.jsonl', 'compare.json', '-o', 'several.html');
  const page = await open(browser, 'several.html');
  await page.resize(1400);
  assert.equal(await countOf(page, '.line.mean_ratio'), 4);
  assert.equal(await countOf(page, '.line.greedy_ratio'), 3, 'one was never judged');
  assert.equal(await countOf(page, '.line.label_ratio'), 0, 'of several runs only the chief curves are drawn at first');
  assert.equal(await countOf(page, '#training-table tbody tr'), 4);
  assert.ok((await page.evaluate('document.getElementById("training-table").innerText')).includes('third.jsonl (its last line was cut)'));
  await page.evaluate('document.querySelector("#training-series input[value=label_ratio]").click()');
  await page.frame();
  assert.equal(await countOf(page, '.line.label_ratio'), 4);
  await keep(page, 'trainings-light');
  await page.prefer('dark');
  await keep(page, 'trainings-dark');
  await expectQuiet(page);
}

async function hundredThousandUpdates(browser) {
  const log = writeLog('long.jsonl', 100000, {every: 7});
  const wrote = Date.now();
  tutti('report', 'long.jsonl', '-o', 'long.html');
  const writeMs = Date.now() - wrote;
  const begin = Date.now();
  const page = await open(browser, 'long.html');
  const loadMs = Date.now() - begin;
  assert.ok(loadMs < longestLoadMs, `loading took ${loadMs} ms`);
  const points = await curves(page);
  assert.equal(points.greedy_ratio, log.greedy, 'every greedy plan is there');
  assert.ok(points.mean_ratio >= 1000 && points.mean_ratio <= 2001, `${points.mean_ratio} points`);
  assert.deepEqual(await page.evaluate('(({update}) => [update[0], update[update.length - 1]])(tuttiReport.report.training[0].updates)'), [1, 100000]);
  const drawMs = await page.evaluate('tuttiReport.training.lastDrawMs');
  assert.ok(drawMs < longestRedrawMs, `a redraw took ${drawMs} ms`);
  await keep(page, 'training-long');
  await expectQuiet(page);
  console.log(`100000 updates: page of ${Math.round(statSync(join(folder, 'long.html')).size / 1024)} KiB written in ${writeMs} ms, ` +
    `open after ${loadMs} ms, drawn in ${Math.round(drawMs)} ms`);
}

const howMany = (page, what) => page.evaluate(`document.querySelectorAll('${what}').length`);

// Everything else that commands print as JSON, and a log of a server: a section each, with tables and
// charts, and no error.
async function everyOutput(browser) {
  tutti('graph', 'make', 'chainmm', '--size', '64', '--split', '2,2,2', '--devices', '2', '-o', 'small.json');
  const save = (name, ...words) => write(name, tutti(...words));
  save('real.json', 'compare', 'small.json', '--machine', 'this-host:1x1', '--runtime', 'local', '--policies', 'heft,auto',
    '--repeats', '3', '--json');
  save('jobs.json', 'cluster', '--saturation', '185.7', '--jobs', '8', '--policy', 'fifo,graphene,heft', '--json');
  save('jobs_real.json', 'cluster', 'small.json', '--saturation', '185.7', '--machine', 'this-host:1x1', '--runtime', 'local', '--jobs', '3',
    '--repeats', '2', '--policy', 'fifo,heft', '--json');
  save('what_if.json', 'what-if', 'small.json', ...machine, '--add', 'gpu', '--evaluations', '50', '--json');
  save('info.json', 'graph', 'info', 'small.json', '--json');
  save('planned.json', 'plan', 'small.json', ...machine, '--policy', 'heft', '-o', 'small_plan.json', '--json');
  save('judged.json', 'check', 'small.json', ...machine, '--plan', 'small_plan.json', '--json');
  save('simulated.json', 'simulate', 'small.json', ...machine, '--policy', 'heft', '--json');
  save('policies.json', 'policies', '--json');
  save('machine.json', 'machine', 'show', 'p100-4', '--json');
  write('tiny.json', `{"format": "tutti-graph", "schema_version": 1, "name": "tiny", "ops": [
    {"name": "a", "run_time_ns": 100}, {"name": "b", "run_time_ns": 200}]}`);
  save('exact.json', 'exact', 'tiny.json', '--machine', 'uniform-2', '--json');
  write('served.log', [{job: 'one', attempt: 1, event: 'start', unix_ns: 1.7e18},
    {job: 'two', attempt: 1, event: 'start', unix_ns: 1.7e18 + 5e8},
    {job: 'one', attempt: 1, event: 'end', unix_ns: 1.7e18 + 1e9, state: 'done', makespan_ns: 9e8},
    {job: 'two', attempt: 1, event: 'end', unix_ns: 1.7e18 + 3e9, state: 'failed', makespan_ns: 0, message: 'a <b> broke'}]
    .map((line) => JSON.stringify(line)).join('\n') + '\n');
  const others = ['jobs.json', 'jobs_real.json', 'served.log', 'what_if.json', 'exact.json', 'info.json', 'planned.json',
    'judged.json', 'simulated.json', 'policies.json', 'machine.json'];
  tutti('report', 'real.json', ...others, '-o', 'outputs.html');
  const page = await open(browser, 'outputs.html');
  await page.resize(1300);
  assert.equal(await howMany(page, '#comparisons .comparison'), 1);
  assert.equal(await howMany(page, '#outputs .output'), others.length);
  const text = await page.evaluate('document.body.innerText');
  for (const words of ['run for real (local)', 'Jobs that arrive', 'What if', 'Exact schedules', 'Runs of a server', 'a <b> broke',
    'graphene', 'mean slowdown']) {
    assert.ok(text.includes(words), `${words} is not on the page`);
  }
  const bars = 'Array.from(document.querySelectorAll("#outputs .output")).map((one) => one.querySelectorAll(".output-chart rect").length)';
  const drawn = await page.evaluate(bars);
  assert.deepEqual(drawn.slice(0, 4), [3, 2, 2, 2], 'bars of deciders, spans of jobs, machines');
  await keep(page, 'outputs-light');
  await page.prefer('dark');
  await keep(page, 'outputs-dark');
  await expectQuiet(page);
}

// auto takes the plan of another policy if nothing is better: then both are the best, and auto is
// the answer.
async function autoIsNotBeaten(browser) {
  const row = (policy, mean) => ({policy, makespan_ns: {mean, min: mean, stddev: 0, runs: 1}, planned_makespan_ns: null, plan_seconds: 0});
  write('tie.json', JSON.stringify({schema_version: 1, graph: 'g', machine: 'm', model: 'physical', lower_bound_ns: 90,
    bounds_ns: {load: 90}, results: [row('cpop', 100), row('auto', 100), row('heft', 120)]}));
  tutti('report', 'tie.json', '-o', 'tie.html');
  const page = await open(browser, 'tie.html');
  assert.equal(await howMany(page, '.comparison tr.best'), 2);
  assert.ok((await page.evaluate('document.getElementById("answer").innerText')).includes('auto, mean of 1'));
  await expectQuiet(page);
}

async function planWithoutTimeline(browser) {
  tutti('plan', 'graph.json', ...machine, '--policy', 'heft', '-o', 'timed.json');
  const plan = JSON.parse(readFileSync(join(folder, 'timed.json'), 'utf8'));
  for (const op of plan.ops) {
    delete op.start_ns;
    delete op.finish_ns;
  }
  write('untimed.json', JSON.stringify({...plan, planned_makespan_ns: 0}));
  tutti('report', 'graph.json', 'untimed.json', ...machine, '-o', 'untimed.html');
  const page = await open(browser, 'untimed.html');
  assert.ok((await page.evaluate('document.body.innerText')).includes('no timeline of its own'));
  await expectQuiet(page);
}

const chromium = findChromium();
if (!chromium) skip('no Chromium was found; scripts/setup installs chromium-headless-shell');
write('empty.json', '{"schema_version": 1, "lower_bound_ns": 0, "bounds_ns": {}, "results": []}');
const probe = spawnSync(program, ['report', 'empty.json', '-o', 'empty.html'], {cwd: folder, encoding: 'utf8'});
if (probe.status === 1) skip(probe.stderr.trim());
foldCases();
const browser = new Browser(chromium);
const tools = {tutti, write, read: (name) => readFileSync(join(folder, name), 'utf8'), open, keep, expectQuiet};
try {
  await comparisonAndTrace(browser);
  await viewsOfRuns(browser, tools);
  await tenThousandOps(browser, tools);
  await outlier(browser, tools);
  await jobsAndPoints(browser, tools);
  await weightsOfAPlan(browser, tools);
  await hundredThousandSpans(browser);
  await hostileNames(browser);
  await comparisonAlone(browser);
  await validationAlone(browser);
  await onlineValidationAlone(browser);
  await beliefs(browser, tools);
  await beliefOverTime(browser, tools);
  await planWithoutTimeline(browser);
  await everyOutput(browser);
  await autoIsNotBeaten(browser);
  await trainingRun(browser);
  await trainingRuns(browser);
  await hundredThousandUpdates(browser);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await browser.close();
  rmSync(folder, {recursive: true, force: true});
}
