// Uses the page of a real `tutti serve` in a real browser, with a thousand jobs:
//
//   node web/test/serve_page_test.mjs PROGRAM [FOLDER FOR SCREENSHOTS]
//
// Exit code 0: all is well; 1: something is not; 77: there is no Chromium, so that there is nothing to test.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {Browser, findChromium} from './browser.mjs';

const program = resolve(process.argv[2]);
const screenshots = process.argv[3];
const folder = mkdtempSync(join(tmpdir(), 'tutti-serve-page-'));
const jobs = 1000;

const chromium = findChromium();
if (!chromium) {
  rmSync(folder, {recursive: true, force: true});
  console.log('skipped: there is no Chromium');
  process.exit(77);
}

async function keep(page, name, options) {
  if (!screenshots) return;
  mkdirSync(screenshots, {recursive: true});
  writeFileSync(join(screenshots, `${name}.png`), await page.screenshot(options));
}

// Until the expression is true in the page.
async function until(page, expression, seconds = 60) {
  const end = Date.now() + 1000 * seconds;
  while (!await page.evaluate(expression)) {
    if (Date.now() > end) throw new Error(`${expression} was not true after ${seconds} s: ${page.complaints.join('; ')}`);
    await new Promise((done) => setTimeout(done, 50));
  }
  await page.frame();
}

const serving = spawn(program, ['serve', '--listen', '127.0.0.1:0', '--state', join(folder, 'state'), '--machine', 'this-host:2x1',
  '--policy', 'graphene'], {stdio: ['ignore', 'pipe', 'inherit'], env: {...process.env, TUTTI_TOKEN: ''}});
const address = await new Promise((done, fail) => {
  let text = '';
  serving.stdout.on('data', (part) => {
    text += part;
    const found = text.match(/http:\/\/\S+/);
    if (found) done(found[0]);
  });
  serving.once('exit', () => fail(new Error(`the server ended: ${text}`)));
});

async function submit(id, make) {
  const reply = await fetch(`${address}/v1/jobs?id=${id}`, {method: 'POST', body: JSON.stringify({make})});
  assert.equal(reply.status, 201, await reply.text());
}

async function waitFor(id) {
  for (;;) {
    const job = await (await fetch(`${address}/v1/jobs/${id}?wait=30`)).json();
    if (['done', 'failed', 'cancelled'].includes(job.state)) return job;
  }
}

// The histories are written by a thread of their own.
async function waitForHistory(id) {
  const end = Date.now() + 30000;
  while ((await fetch(`${address}/v1/jobs/${id}/history`)).status !== 200) assert.ok(Date.now() < end, 'no history');
}

async function overview(page) {
  await page.send('Page.navigate', {url: `${address}/`});
  await until(page, 'document.querySelectorAll("#over tbody tr").length >= 20');
  assert.equal(await page.evaluate('document.getElementById("main").hidden'), false);
  assert.equal(await page.evaluate('document.getElementById("job").hidden'), true);
  await keep(page, 'serve-overview');
}

// Events come by a stream, charts grow with them, and without it the page asks.
async function live(page) {
  await until(page, 'document.getElementById("live").textContent === "live"');
  const samples = () => page.evaluate('Math.max(...[...document.querySelectorAll("#charts figure:first-child path.line")].map((one) => one.getAttribute("d").split("L").length))');
  const before = await samples();
  await until(page, `Math.max(...[...document.querySelectorAll("#charts figure:first-child path.line")].map((one) => one.getAttribute("d").split("L").length)) > ${before}`);
  const words = await page.evaluate('[...document.querySelectorAll("#charts figcaption")].map((one) => one.firstChild.data)');
  assert.deepEqual(words.slice(0, 3), ['Jobs', 'Throughput', 'Latency']);
  assert.ok(words.length > 3, 'a chart for each resource');
  assert.equal(await page.evaluate('document.querySelectorAll("#charts path.band").length'), words.length - 3, 'with the interval of the belief');
  for (const [name, width] of [['serve-light', 1400], ['serve-390', 390]]) {
    await page.resize(width, 844);
    await page.evaluate('window.dispatchEvent(new Event("resize"))');
    await page.frame();
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'), `nothing is cut off at ${width} px`);
    await keep(page, name);
  }
  await page.resize(1400);
  await page.prefer('dark');
  await keep(page, 'serve-dark');
  await page.prefer('light');
}

// The first press asks, the second cancels.
async function cancel(page) {
  for (const id of ['slow', 'next']) await submit(id, 'cholesky --tiles 36 --tile-size 512');
  await page.evaluate('location.hash = ""');
  const button = (id) => `document.querySelector('#main button[aria-label="Cancel ${id}"]')`;
  await until(page, `${button('slow')} !== null && ${button('next')} !== null`);
  for (const id of ['next', 'slow']) {
    await page.evaluate(`${button(id)}.click()`);
    assert.equal(await page.evaluate(`${button(id)}.textContent`), 'Really cancel?');
    assert.ok(!['cancelled', 'done'].includes((await (await fetch(`${address}/v1/jobs/${id}`)).json()).state), 'one press does nothing');
    await page.evaluate(`${button(id)}.click()`);
    assert.equal((await waitFor(id)).state, 'cancelled');
  }
  await until(page, 'document.getElementById("over").innerText.includes("slow")');
}

async function list(page) {
  await page.evaluate('location.hash = "#jobs"');
  await until(page, `document.querySelectorAll("#jobs tbody tr").length === ${jobs}`);
  assert.ok(await page.evaluate('document.getElementById("listed").innerText.startsWith("1,000 of 1,000")'));
  assert.equal(await page.evaluate('document.getElementById("more").disabled'), false);
  await keep(page, 'serve-jobs', {full: false});
  await page.evaluate('document.getElementById("part").value = "small-77"; document.getElementById("part").dispatchEvent(new Event("input"))');
  // 77, 770 to 779.
  assert.equal(await page.evaluate('document.querySelectorAll("#jobs tbody tr").length'), 11);
  await page.evaluate('document.getElementById("part").value = ""; document.getElementById("more").click()');
  await until(page, `document.querySelectorAll("#jobs tbody tr").length === ${jobs + 1}`);
  await page.evaluate('document.getElementById("state").value = "failed"; document.getElementById("state").dispatchEvent(new Event("change"))');
  await until(page, 'document.querySelector("#jobs td.none") !== null');
  await page.evaluate('document.getElementById("state").value = ""');
}

async function job(page) {
  await page.evaluate('location.hash = "#job/large"');
  await until(page, 'window.tuttiJob?.id === "large" && window.tuttiJob.timeline?.shown?.panels.length === 1 && window.tuttiJob.timeline.shown.dag.laid > 0');
  const words = await page.evaluate('document.getElementById("job").innerText');
  for (const part of ['queued for', 'slow-down', 'critical path', 'waiting for a device', 'accepted']) assert.ok(words.includes(part), part);
  const ops = await page.evaluate('window.tuttiJob.job.ops');
  assert.equal(await page.evaluate('window.tuttiJob.timeline.shown.panels[0].run.opCount'), ops);
  // Something is drawn: the canvas has more than one colour.
  const colours = await page.evaluate(`(() => {
    const {canvas} = window.tuttiJob.timeline.shown.panels[0].timeline;
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(Array.from({length: data.length / 4}, (_, i) => data[4 * i] * 65536 + data[4 * i + 1] * 256 + data[4 * i + 2])).size;
  })()`);
  assert.ok(colours > 5, `${colours} colours`);
  await keep(page, 'serve-job');
  await page.prefer('dark');
  await page.frame();
  await keep(page, 'serve-job-dark');
  await page.prefer('light');
  await page.resize(390, 844);
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'), 'nothing is cut off at 390 px');
  await keep(page, 'serve-job-390');
  await page.resize(1400);
  // Back, and another job on the same page.
  await page.evaluate('location.hash = "#job/small-5"');
  await until(page, 'window.tuttiJob?.id === "small-5"');
  assert.equal(await page.evaluate('window.tuttiJob.timeline.shown.panels[0].run.opCount'), 4);
  await page.evaluate('location.hash = "#job/absent"');
  await until(page, 'document.getElementById("job-trouble").innerText.includes("no job of that id")');
  await page.evaluate('location.hash = ""');
  assert.equal(await page.evaluate('document.getElementById("main").hidden'), false);
}

let browser = null;
try {
  await submit('large', 'cholesky --tiles 8 --tile-size 96');
  for (let i = 0; i < jobs; ++i) await submit(`small-${i}`, 'cholesky --tiles 2 --tile-size 16');
  assert.equal((await waitFor('large')).state, 'done');
  assert.equal((await waitFor(`small-${jobs - 1}`)).state, 'done');
  await waitForHistory('large');
  await waitForHistory('small-5');
  browser = new Browser(chromium);
  const page = await browser.newPage({width: 1400, height: 1000});
  await page.prefer('light');
  await overview(page);
  await list(page);
  await job(page);
  await live(page);
  await cancel(page);
  const unexpected = page.complaints.filter((text) => !text.includes('404'));
  assert.deepEqual(unexpected, []);
  console.log('the page of tutti serve: all is well');
} finally {
  await browser?.close();
  serving.kill('SIGTERM');
  await new Promise((done) => serving.once('exit', done));
  rmSync(folder, {recursive: true, force: true});
}
