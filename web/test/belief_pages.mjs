// Pages with a belief, used as a person would: part of page_test.mjs, whose helpers are passed in.

import assert from 'node:assert/strict';
import {node} from '../src/belief_layout.js';

// Sixteen cores, two GPUs behind a switch, an FPGA at the root complex.
function sixteenCores(cores = 16) {
  const devices = [{name: 'cpu', kind: 'cpu', uses_host_memory: true, slots: cores, units: cores, bytes_per_s: 1e11}];
  const links = [{name: 'host-pcs', between: ['host', 'pcs'], sharing: 'unlimited'}];
  for (const name of ['gpu0', 'gpu1', 'fpga']) {
    devices.push({name, kind: name === 'fpga' ? 'fpga' : 'gpu', memory_bytes: 16e9, bytes_per_s: 7e11});
    links.push({name: `${name}-pcie`, between: [name === 'fpga' ? 'host' : 'pcs', name], bandwidth_bytes_per_s: 12e9});
  }
  return JSON.stringify({schema_version: 1, name: 'sixteen', host: [{name: 'host', memory_bytes: 64e9}], device: devices,
    switch: [{name: 'pcs', bandwidth_bytes_per_s: 24e9}], link: links});
}

// No two nodes lie on each other, none is outside of the picture, and all edges between different columns lead to the right.
async function checkDrawing(page) {
  const drawn = await page.evaluate(`(() => {
    const [panel] = tuttiReport.beliefs;
    const {places, width, height} = panel.layout;
    return {places: [...places].map((place) => place ?? null), width, height, edges: panel.edges.map(({from, to}) => [from, to]),
      nodes: document.querySelectorAll('.network .variable').length, counted: document.querySelectorAll('.network .measured, .network .observed').length,
      hidden: document.querySelectorAll('.network .hidden').length};
  })()`);
  const places = drawn.places.filter(Boolean);
  assert.equal(drawn.nodes, places.length);
  places.forEach((a, i) => {
    assert.ok(a.x >= 0 && a.y >= 0 && a.x + node.width <= drawn.width && a.y + node.height <= drawn.height);
    for (const b of places.slice(0, i)) assert.ok(Math.abs(a.x - b.x) >= node.width || Math.abs(a.y - b.y) >= node.height, 'two lie on each other');
  });
  for (const [from, to] of drawn.edges) {
    const [a, b] = [drawn.places[from], drawn.places[to]];
    assert.ok(b.x > a.x || (b.x === a.x && b.y > a.y), 'an edge leads back');
  }
  return drawn;
}

export async function beliefs(browser, {tutti, write, open, keep, expectQuiet}) {
  write('sixteen.json', sixteenCores());
  tutti('report', '--belief', 'prior', '--machine', 'sixteen.json', '-o', 'prior.html');
  const page = await open(browser, 'prior.html');
  const raw = await page.evaluate('tuttiReport.report.beliefs[0]');
  const drawn = await checkDrawing(page);
  assert.equal(drawn.nodes, raw.variables.length);
  assert.equal(drawn.edges.length, raw.variables.reduce((sum, variable) => sum + variable.parents.length, 0));
  assert.equal(drawn.counted, raw.variables.filter((variable) => variable.counter !== '').length);
  assert.equal(raw.variables.filter((variable) => variable.name.startsWith('core[')).length, 16);
  await keep(page, 'belief-sixteen-light');
  await page.evaluate('document.querySelector(".belief details").open = true');
  await page.frame();
  assert.equal(await page.evaluate('document.querySelectorAll("table.variables tbody tr").length'), raw.variables.length);
  await expectQuiet(page);
  write('many.json', sixteenCores(96));
  tutti('report', '--belief', 'prior', '--machine', 'many.json', '-o', 'many.html');
  const many = await open(browser, 'many.html');
  const folded = await checkDrawing(many);
  assert.ok(folded.nodes < 100, `${folded.nodes} nodes`);
  await keep(many, 'belief-many-light');
  await many.evaluate('document.querySelector(".belief .bar input[type=checkbox]").click()');
  await many.frame();
  assert.ok((await checkDrawing(many)).nodes > 3 * 96, 'all are drawn if asked for');
  await expectQuiet(many);
}

export async function beliefOverTime(browser, {tutti, open, keep, expectQuiet}) {
  tutti('report', '--belief', 'sim', '-o', 'jobs.html');
  const page = await open(browser, 'jobs.html');
  await page.resize(1600);
  await checkDrawing(page);
  const {moments, variables} = await page.evaluate('tuttiReport.report.beliefs[0]');
  assert.ok(moments.length > 20 && moments.length <= 60, `${moments.length} moments`);
  const memory = variables.findIndex((variable) => variable.name.startsWith('memory['));
  const value = () => page.evaluate(`tuttiReport.beliefs[0].nodes.get(${memory}).value.textContent`);
  assert.equal(await value(), moments[moments.length - 1].mean[memory].toFixed(2));
  const {x, y} = await page.evaluate(`(() => {
    const {left, top, width, height} = tuttiReport.beliefs[0].nodes.get(${memory}).made.getBoundingClientRect();
    return {x: left + width / 2, y: top + height / 2};
  })()`);
  await page.click(x, y);
  const details = await page.evaluate('document.querySelector(".belief .panel").innerText');
  assert.ok(details.includes(variables[memory].name) && details.includes(`Parents (${variables[memory].parents.length})`) &&
    details.includes('truth') && details.includes(variables[memory].law) && details.includes('noise.memory'), details);
  assert.equal(await page.evaluate('document.querySelectorAll(".edges .producer").length'), variables[memory].parents.length);
  await page.evaluate(`(() => {
    const slider = document.querySelector('.belief input[type=range]');
    slider.value = 10;
    slider.dispatchEvent(new Event('input'));
  })()`);
  assert.equal(await value(), moments[10].mean[memory].toFixed(2));
  await keep(page, 'belief-jobs-light');
  await page.key('ArrowLeft');
  assert.equal(await page.evaluate('tuttiReport.beliefs[0].chosen'), variables[memory].parents[0]);
  await page.key('Escape');
  assert.equal(await page.evaluate('tuttiReport.beliefs[0].chosen'), null);
  await page.prefer('dark');
  await keep(page, 'belief-jobs-dark');
  await expectQuiet(page);
}
