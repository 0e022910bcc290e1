// Folding and axes without a browser: whatever the graph, each op is in one node and each edge between two nodes is drawn.
// page_test.mjs calls this; `node web/test/fold_cases.mjs` runs it alone.

import assert from 'node:assert/strict';
import {fold, levelsOf, mostOps} from '../src/fold.js';
import {axisEnd} from '../src/outlier.js';

function graphOf(size, edges, {kinds = 1, groupOf = () => 0, groups = []} = {}) {
  const producers = Array.from({length: size}, () => []);
  const consumers = Array.from({length: size}, () => []);
  for (const [from, to] of edges) {
    producers[to].push(from);
    consumers[from].push(to);
  }
  return {size, names: Array.from({length: size}, (_, op) => `op${op}`), kinds: Array.from({length: kinds}, (_, i) => `kind${i}`),
    kindOf: Int32Array.from({length: size}, (_, op) => op % kinds), groups, groupOf: Int32Array.from({length: size}, (_, op) => groupOf(op)),
    producers: (op) => producers[op], consumers: (op) => consumers[op]};
}

const chain = (size) => Array.from({length: size - 1}, (_, i) => [i, i + 1]);
const star = (size) => Array.from({length: size - 1}, (_, i) => [0, i + 1]);

// Layers of `width` ops; each reads two of the layer before, and every seventh one much further back.
function layers(size, width) {
  const edges = [];
  for (let op = width; op < size; ++op) {
    const before = (Math.floor(op / width) - 1) * width;
    edges.push([before + (op % width), op], [before + ((op * 7 + 3) % width), op]);
    if (op % 7 === 0 && before > width) edges.push([op % before, op]);
  }
  return edges.filter(([a, b], i) => edges.findIndex(([c, d], j) => j > i - 3 && c === a && d === b) === i);
}

const devices = ['a', 'b', 'c'].map((name) => ({name}));
const pictureOf = (graph, how, ops = Array.from({length: graph.size}, (_, op) => op)) =>
  fold({graph, ops, levels: levelsOf(graph), deviceOf: (op) => op % 3, devices, how});

function check(name, graph, how) {
  const picture = pictureOf(graph, how);
  const seen = new Int32Array(graph.size).fill(-1);
  picture.nodes.forEach((node, i) => node.ops.forEach((op) => {
    assert.equal(seen[op], -1, `${name}, ${how}: op ${op} is in two nodes`);
    seen[op] = i;
  }));
  assert.ok(!seen.includes(-1), `${name}, ${how}: every op is in a node`);
  assert.ok(picture.nodes.length <= mostOps, `${name}, ${how}: ${picture.nodes.length} nodes`);
  const drawn = new Map(picture.edges.map(({from, to, count}) => [`${from} ${to}`, count]));
  assert.equal(drawn.size, picture.edges.length, `${name}, ${how}: no edge twice`);
  for (let op = 0; op < graph.size; ++op) {
    for (const producer of graph.producers(op)) {
      if (seen[producer] === seen[op]) continue;
      const key = `${seen[producer]} ${seen[op]}`;
      assert.ok(drawn.get(key) > 0, `${name}, ${how}: the edge from ${producer} to ${op} is drawn`);
      drawn.set(key, drawn.get(key) - 1);
    }
  }
  for (const [key, left] of drawn) assert.equal(left, 0, `${name}, ${how}: ${key} counts its edges`);
  return picture;
}

export function foldCases() {
  const blocks = Array.from({length: 40}, (_, i) => `model.layers.${i}`);
  const many = Array.from({length: 700}, (_, i) => `model.layers.${Math.floor(i / 10)}.part${i % 10}`);
  const graphs = {
    empty: graphOf(0, []), one: graphOf(1, []), small: graphOf(400, layers(400, 20), {kinds: 4}), chain: graphOf(10000, chain(10000), {kinds: 3}),
    star: graphOf(3000, star(3000)), alone: graphOf(2000, []), wide: graphOf(6000, layers(6000, 2000), {kinds: 200}),
    grouped: graphOf(4000, layers(4000, 50), {kinds: 5, groups: blocks, groupOf: (op) => 1 + Math.floor(op / 100)}),
    'many groups': graphOf(7000, layers(7000, 50), {groups: many, groupOf: (op) => 1 + Math.floor(op / 10)}),
    'one group': graphOf(3000, layers(3000, 30), {groups: ['all'], groupOf: () => 1}),
  };
  for (const [name, graph] of Object.entries(graphs)) {
    for (const how of ['auto', 'group', 'level', 'kind', 'device']) check(name, graph, how);
  }
  assert.equal(pictureOf(graphs.small, 'auto').how, 'op', 'up to 500 ops are drawn one by one');
  assert.equal(pictureOf(graphs.grouped, 'auto').nodes.length, blocks.length, 'groups go first');
  assert.equal(pictureOf(graphs['many groups'], 'auto').nodes.length, 70, 'by the beginnings of their names, if there are many');
  assert.equal(pictureOf(graphs['one group'], 'auto').how, 'level', 'a group that holds all says nothing');
  // Opening node after node comes to single ops, however large the graph.
  for (const [name, graph] of Object.entries(graphs)) {
    if (graph.size === 0) continue;
    let ops = Array.from({length: graph.size}, (_, op) => op);
    for (let depth = 0; ops.length > 1; ++depth) {
      assert.ok(depth < 8, `${name}: ${ops.length} ops are left after ${depth} openings`);
      const {nodes} = pictureOf(graph, 'auto', ops);
      const largest = nodes.reduce((best, node) => (node.ops.length > best.ops.length ? node : best));
      assert.ok(largest.ops.length < ops.length, `${name}: opening shows less than before`);
      ops = largest.ops;
    }
  }
  assert.deepEqual(axisEnd([]), {end: 1, cuts: false});
  assert.deepEqual(axisEnd([5, 1000]), {end: 1000, cuts: false}, 'of two none is the outlier');
  assert.deepEqual(axisEnd([100, 110, 250]), {end: 250, cuts: false});
  assert.deepEqual(axisEnd([100, 110, 130, 20000]), {end: 162.5, cuts: true});
  assert.deepEqual(axisEnd([0, NaN, 7]), {end: 7, cuts: false});
}

if (process.argv[1]?.endsWith('fold_cases.mjs')) foldCases();
