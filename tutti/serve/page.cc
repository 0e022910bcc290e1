#include "tutti/serve/page.h"

namespace tutti {
namespace {

// Texts of jobs and graphs are a client's: the script puts them in place as text, never as HTML.
constexpr std::string_view kPage = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>tutti serve</title>
<style>
:root {
  color-scheme: light dark;
  --page: light-dark(#fbfbfa, #14171b); --panel: light-dark(#ffffff, #1b1f24);
  --ink: light-dark(#1d2127, #e7eaee); --quiet: light-dark(#5b6470, #a3adb9);
  --line: light-dark(#d9dce1, #363d46); --grid: light-dark(#e9ebee, #262b32);
  --accent: light-dark(#0b62c4, #6cb0ff); --bar: light-dark(#5b8fd0, #4d7fbd);
  --doubt: light-dark(#c4d8f0, #2b4463); --bad: light-dark(#d01f3c, #ff6b81);
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1400px; padding: 0 24px 48px; background: var(--page); color: var(--ink);
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; }
h1 { font-size: 20px; margin: 20px 0 0; }
h2 { font-size: 16px; margin: 28px 0 8px; }
h2 small { font-weight: 400; color: var(--quiet); font-size: 12px; margin-left: 8px; }
.quiet { color: var(--quiet); margin: 2px 0 12px; }
.message { padding: 12px; border: 1px solid var(--bad); border-radius: 6px; background: var(--panel); }
.answer { display: flex; flex-wrap: wrap; gap: 12px; margin: 0; }
.answer div { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 10px 16px; min-width: 120px; }
.answer dt { color: var(--quiet); font-size: 12px; }
.answer dd { margin: 0; font-size: 22px; font-weight: 600; font-variant-numeric: tabular-nums; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(520px, 100%), 1fr)); gap: 0 32px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 12px 3px 0; text-align: left; border-bottom: 1px solid var(--grid); vertical-align: top; }
th { font-weight: 500; color: var(--quiet); font-size: 12px; white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.wide { overflow-wrap: anywhere; }
td.state-failed, .bad { color: var(--bad); }
td.none { color: var(--quiet); }
.share { display: block; width: 220px; height: 14px; }
svg.share rect.track { fill: var(--grid); }
svg.share rect.doubt { fill: var(--doubt); }
svg.share rect.mean { fill: var(--accent); }
form { margin: 12px 0; }
input, button { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 5px; padding: 4px 10px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
</style>
</head>
<body>
<h1>tutti serve</h1>
<p id="subtitle" class="quiet">asking the server…</p>
<noscript><p class="message">This page draws itself with JavaScript, which is switched off.</p></noscript>
<p id="trouble" class="message" role="alert" hidden></p>
<form id="ask" hidden>
  <label>Token <input id="token" type="password" autocomplete="off" size="40"></label>
  <button>Use it</button>
</form>
<main id="main" hidden>
  <dl id="answer" class="answer"></dl>
  <h2>Utilisation <small id="what"></small></h2>
  <div class="scroll"><table id="utilisation" aria-label="Utilisation"></table></div>
  <div class="two">
    <section><h2>Running</h2><div class="scroll"><table id="running" aria-label="Running jobs"></table></div>
      <h2>Queue <small>in the order in which jobs will start</small></h2>
      <div class="scroll"><table id="queue" aria-label="Queued jobs"></table></div></section>
    <section><h2>Over</h2><div class="scroll"><table id="over" aria-label="Jobs that are over"></table></div></section>
  </div>
  <h2>Decisions <small>the latest first; where ops come fast, not all are noted</small></h2>
  <div class="scroll"><table id="decisions" aria-label="Decisions"></table></div>
</main>
<script type="module">
const at = (id) => document.getElementById(id);

function element(name, attributes, ...children) {
  const svg = name === 'svg' || name === 'rect' || name === 'title';
  const made = svg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function table(id, heads, rows) {
  const head = element('tr', {}, ...heads.map(([text, style]) => element('th', {scope: 'col', class: style ?? ''}, text)));
  const body = rows.map((cells) => element('tr', {}, ...cells.map((cell, i) =>
    element('td', {class: cell?.style ?? heads[i][1] ?? ''}, cell?.content ?? cell ?? ''))));
  if (rows.length === 0) body.push(element('tr', {}, element('td', {class: 'none', colspan: heads.length}, 'none')));
  at(id).replaceChildren(element('thead', {}, head), element('tbody', {}, ...body));
}

function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3600000) return `${(ms / 60000).toFixed(1)} min`;
  return `${(ms / 3600000).toFixed(1)} h`;
}

function makespan(ns) {
  const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']];
  for (const [size, unit] of units) if (ns >= size) return `${(ns / size).toPrecision(4)} ${unit}`;
  return `${ns} ns`;
}

const percent = (share) => `${(100 * share).toFixed(0)} %`;

// The mean as a mark upon the range in which 95 of 100 lie.
function share(one) {
  const words = `${percent(one.mean)}, 95 of 100 between ${percent(one.low)} and ${percent(one.high)}`;
  return element('svg', {class: 'share', viewBox: '0 0 220 14', role: 'img', 'aria-label': words},
    element('title', {}, words),
    element('rect', {class: 'track', x: 0, y: 4, width: 220, height: 6}),
    element('rect', {class: 'doubt', x: 220 * one.low, y: 2, width: Math.max(1, 220 * (one.high - one.low)), height: 10}),
    element('rect', {class: 'mean', x: Math.min(217, 220 * one.mean), y: 0, width: 3, height: 14}));
}

function show(data) {
  const jobs = data.jobs;
  at('subtitle').textContent = `${data.runtime === 'local' ? 'real' : 'simulated'} runs on ${data.machine}, decided by ${data.policy}; ` +
    `up for ${duration(data.now_unix_ms - data.started_unix_ms)}; version ${data.version}`;
  const trouble = data.broken ? `The journal cannot be written, so no jobs are taken: ${data.broken}`
    : data.stopping ? 'The server is being stopped.' : data.draining ? 'The server is draining: it takes no new jobs.' : '';
  at('trouble').textContent = trouble;
  at('trouble').hidden = trouble === '';
  const figures = [['queued', jobs.queued + jobs.accepting], ['running', jobs.running], ['done', jobs.done_total],
    ['failed', jobs.failed_total], ['cancelled', jobs.cancelled_total], ['turned away', jobs.refused_total]];
  at('answer').replaceChildren(...figures.map(([name, value]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, value.toLocaleString('en')))));
  at('what').textContent = data.utilisation_what;
  table('utilisation', [['resource'], ['busy'], ['mean', 'number'], ['95 of 100', 'number'], ['']],
    data.utilisation.map((one) => [one.resource, {content: share(one)}, percent(one.mean),
      `${percent(one.low)} to ${percent(one.high)}`, one.measured ? '' : 'inferred']));
  const open = [['id', 'wide'], ['graph', 'wide'], ['ops', 'number'], ['priority', 'number'], ['waiting', 'number']];
  table('queue', open, data.queue.map((job) => [job.id, job.graph, job.ops, job.priority, duration(data.now_unix_ms - job.accepted_unix_ms)]));
  table('running', [...open.slice(0, 4), ['attempt', 'number'], ['running', 'number']], data.running.map((job) =>
    [job.id, job.graph, job.ops, job.priority, job.attempts, duration(data.now_unix_ms - job.started_unix_ms)]));
  table('over', [['id', 'wide'], ['graph', 'wide'], ['ops', 'number'], ['state'], ['makespan', 'number'], ['message', 'wide']],
    data.over.map((job) => [job.id, job.graph, job.ops, {content: job.state, style: `state-${job.state}`},
      job.makespan_ns === undefined ? '' : makespan(job.makespan_ns), job.message ?? '']));
  table('decisions', [['ago', 'number'], ['job', 'wide'], ['op', 'wide'], ['device'], ['because', 'wide']],
    data.decisions.map((one) => [duration(data.now_unix_ms - one.unix_ms), one.job, one.op || 'starts', one.device, one.reason]));
  at('main').hidden = false;
}

let token = sessionStorage.getItem('token') ?? '';

async function ask() {
  const headers = token ? {Authorization: `Bearer ${token}`} : {};
  try {
    const reply = await fetch('v1/overview', {headers});
    at('ask').hidden = reply.status !== 401;
    if (reply.ok) {
      show(await reply.json());
    } else {
      at('subtitle').textContent = (await reply.json()).error;
      at('main').hidden = true;
    }
  } catch {
    at('subtitle').textContent = 'the server does not answer; asking again';
  }
}

at('ask').addEventListener('submit', (event) => {
  event.preventDefault();
  token = at('token').value.trim();
  sessionStorage.setItem('token', token);
  ask();
});

await ask();
setInterval(() => { if (!document.hidden) ask(); }, 2000);
</script>
</body>
</html>
)html";

}  // namespace

std::string_view serve_page() {
  return kPage;
}

}  // namespace tutti
