// Folds a graph until it can be drawn: a node of the picture stands for one op, or for all ops of one group, of one kind in
// a band of levels, of one device, or of a stretch of the file. Nothing here knows about pixels.

export const mostOps = 500; // more are folded
const mostEdges = 3000; // of ops drawn one by one
const mostFolded = 120; // nodes after folding
const mostFoldedEdges = 4000;

// By op: the most edges from an op without producers to it.
export function levelsOf(graph) {
  const level = new Int32Array(graph.size);
  const left = new Int32Array(graph.size);
  const ready = [];
  for (let op = 0; op < graph.size; ++op) {
    left[op] = graph.producers(op).length;
    if (left[op] === 0) ready.push(op);
  }
  for (let at = 0; at < ready.length; ++at) {
    for (const next of graph.consumers(ready[at])) {
      level[next] = Math.max(level[next], level[ready[at]] + 1);
      if (--left[next] === 0) ready.push(next);
    }
  }
  return level;
}

// Gathers ops by a key. `keyOf` gives a text, `labelOf` what the node is called.
function gather(ops, keyOf, labelOf) {
  const nodes = [];
  const byKey = new Map();
  for (const op of ops) {
    const key = keyOf(op);
    let node = byKey.get(key);
    if (!node) {
      node = {label: labelOf(op), ops: []};
      byKey.set(key, node);
      nodes.push(node);
    }
    node.ops.push(op);
  }
  return nodes;
}

// The names of groups, cut to so many parts: "layer3.attention.q" to "layer3.attention".
function shortNames(names, parts) {
  return names.map((name) => name.split(/[./:]/).slice(0, parts).join('.'));
}

function byGroup(graph, ops, most) {
  if (graph.groups.length === 0) return null;
  const nameOf = (names, op) => (graph.groupOf[op] > 0 ? names[graph.groupOf[op] - 1] : '');
  for (const parts of [Infinity, 4, 3, 2, 1]) {
    const names = shortNames(graph.groups, parts);
    const keys = new Set();
    for (const op of ops) keys.add(nameOf(names, op));
    if (keys.size <= most) return gather(ops, (op) => nameOf(names, op), (op) => nameOf(names, op) || '(no group)');
  }
  return null;
}

function byLevel(graph, ops, levels, most) {
  const kind = (op) => graph.kinds[graph.kindOf[op]] || 'op';
  let deepest = 0;
  for (const op of ops) deepest = Math.max(deepest, levels[op]);
  for (let band = 1; band <= 2 * (deepest + 1); band *= 2) {
    const keyOf = (op) => `${Math.floor(levels[op] / band)} ${graph.kindOf[op]}`;
    const keys = new Set();
    for (const op of ops) {
      keys.add(keyOf(op));
      if (keys.size > most) break;
    }
    if (keys.size <= most) return gather(ops, keyOf, kind);
  }
  return null;
}

function byKind(graph, ops, most) {
  const nodes = gather(ops, (op) => graph.kindOf[op], (op) => graph.kinds[graph.kindOf[op]] || '(no kind)');
  return nodes.length <= most ? nodes : null;
}

function byDevice(ops, deviceOf, devices, most) {
  const nodes = gather(ops, deviceOf, (op) => devices[deviceOf(op)]?.name ?? 'did not run');
  return nodes.length <= most ? nodes : null;
}

// What is left if nothing tells ops apart: stretches of equal length.
function byStretch(graph, ops, most) {
  const size = Math.ceil(ops.length / Math.min(most, 24));
  const place = new Map(Array.from(ops, (op, i) => [op, Math.floor(i / size)]));
  return gather(ops, (op) => place.get(op), (op) => `from ${graph.names[op]}`);
}

// The edges between nodes, each once, with the number of edges of ops that it stands for.
function edgesOf(graph, nodes, nodeOf) {
  const counts = new Map();
  nodes.forEach((node, to) => {
    for (const op of node.ops) {
      for (const producer of graph.producers(op)) {
        const from = nodeOf[producer];
        if (from < 0 || from === to) continue;
        const key = from * nodes.length + to;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    }
  });
  return Array.from(counts, ([key, count]) => ({from: Math.floor(key / nodes.length), to: key % nodes.length, count}));
}

function finished(graph, nodes, how) {
  const nodeOf = new Int32Array(graph.size).fill(-1);
  nodes.forEach((node, i) => {
    for (const op of node.ops) nodeOf[op] = i;
  });
  return {nodes, nodeOf, how, edges: edgesOf(graph, nodes, nodeOf)};
}

// The picture of some ops. `how`: 'auto', 'group', 'level', 'kind' or 'device'; if a way leaves too many nodes, or one,
// the next is taken. Gives {nodes: [{label, ops}], nodeOf: by op, -1 if it is not among them, edges, how it was folded}.
export function fold({graph, ops, levels, deviceOf, devices, how = 'auto'}) {
  if (ops.length <= mostOps && how === 'auto') {
    const each = finished(graph, Array.from(ops, (op) => ({label: graph.names[op], ops: [op]})), 'op');
    if (each.edges.length <= mostEdges) return each;
  }
  const ways = {
    group: (most) => byGroup(graph, ops, most),
    level: (most) => byLevel(graph, ops, levels, most),
    kind: (most) => byKind(graph, ops, most),
    device: (most) => byDevice(ops, deviceOf, devices, most),
    stretch: (most) => byStretch(graph, ops, most),
  };
  const order = ['group', 'level', 'kind', 'device', 'stretch'];
  const wanted = how === 'auto' ? order : [how, ...order.filter((one) => one !== how)];
  for (const way of wanted) {
    for (const most of [mostFolded, mostFolded / 2, mostFolded / 4]) {
      const nodes = ways[way](most);
      // A way that was asked for may make one node of all; by itself that says nothing.
      if (!nodes || (nodes.length === 1 && ops.length > 1 && way !== how && way !== 'stretch')) break;
      const picture = finished(graph, nodes, way);
      if (picture.edges.length <= mostFoldedEdges || most === mostFolded / 4) return picture;
    }
  }
  return finished(graph, [{label: 'all', ops: Array.from(ops)}], 'all');
}
