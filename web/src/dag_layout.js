// Where the nodes and edges of a folded graph are drawn: layers by dagre, from top to bottom or from left to right, whichever
// fits the panel better. dagre puts a helper node on each layer that an edge crosses, so edges over many layers cost the
// most; beyond a budget they are left to a curve of our own.

import {Graph, layout} from '@dagrejs/dagre';

export const nodeHeight = 34;
export const nodeWidth = 118;
const gap = {within: 14, between: 34};
const margin = 12;
const mostCrossed = 2200; // layers crossed by all edges together

// By node: the layer on which it will be, nearly.
function layersOf(picture, levels) {
  const least = picture.nodes.map((node) => node.ops.reduce((low, op) => Math.min(low, levels[op]), Infinity));
  const order = new Map([...new Set(least)].sort((a, b) => a - b).map((level, i) => [level, i]));
  return least.map((level) => order.get(level));
}

// Left to right, if that lets the picture be drawn larger.
function isSideways(layers, room) {
  const count = new Map();
  for (const layer of layers) count.set(layer, (count.get(layer) ?? 0) + 1);
  const widest = Math.max(...count.values());
  const down = {width: widest * (nodeWidth + gap.within), height: count.size * (nodeHeight + gap.between)};
  const right = {width: count.size * (nodeWidth + gap.between), height: widest * (nodeHeight + gap.within)};
  const scale = (size) => Math.min(room.width / size.width, room.height / size.height);
  return scale(right) > scale(down);
}

function curve(from, to, sideways) {
  if (!sideways && Math.abs(to.y - from.y) < nodeHeight) { // next to each other: below both
    const [y0, y1] = [from.y + nodeHeight / 2, to.y + nodeHeight / 2];
    return `M${from.x},${y0}C${from.x},${y0 + 22} ${to.x},${y1 + 22} ${to.x},${y1}`;
  }
  if (sideways && Math.abs(to.x - from.x) < nodeWidth) {
    const [x0, x1] = [from.x + nodeWidth / 2, to.x + nodeWidth / 2];
    return `M${x0},${from.y}C${x0 + 22},${from.y} ${x1 + 22},${to.y} ${x1},${to.y}`;
  }
  const [x0, y0, x1, y1] = sideways
    ? [from.x + nodeWidth / 2, from.y, to.x - nodeWidth / 2, to.y] : [from.x, from.y + nodeHeight / 2, to.x, to.y - nodeHeight / 2];
  const [bendX, bendY] = sideways ? [Math.max(20, Math.abs(x1 - x0) / 3), 0] : [0, Math.max(20, Math.abs(y1 - y0) / 3)];
  return `M${x0},${y0}C${x0 + bendX},${y0 + bendY} ${x1 - bendX},${y1 - bendY} ${x1},${y1}`;
}

// Through the points, with rounded corners.
function way(points) {
  const at = ({x, y}) => `${x.toFixed(1)},${y.toFixed(1)}`;
  let path = `M${at(points[0])}`;
  for (let i = 1; i + 1 < points.length; ++i) {
    const [one, next] = [points[i], points[i + 1]];
    const end = i + 2 < points.length ? {x: (one.x + next.x) / 2, y: (one.y + next.y) / 2} : next;
    path += `Q${at(one)} ${at(end)}`;
  }
  return points.length === 2 ? `${path}L${at(points[1])}` : path;
}

// As near as possible to where each wants to be, in this order and no closer than `pitch` (pool adjacent violators).
function spaced(wanted, pitch) {
  const pools = [];
  wanted.forEach((at, i) => {
    pools.push({sum: at - i * pitch, count: 1});
    for (let last = pools.length - 1; last > 0; --last) {
      const [one, next] = [pools[last - 1], pools[last]];
      if (one.sum / one.count <= next.sum / next.count) break;
      pools.splice(last - 1, 2, {sum: one.sum + next.sum, count: one.count + next.count});
    }
  });
  return pools.flatMap(({sum, count}) => new Array(count).fill(sum / count)).map((at, i) => at + i * pitch);
}

// Long edges push nodes far apart. Each layer keeps its order and moves together, until the picture is about as broad as its
// broadest layer; edges are then simple curves. True if anything was moved.
function compress(places, sideways) {
  const [along, across, pitch] = sideways ? ['x', 'y', nodeHeight + gap.within] : ['y', 'x', nodeWidth + gap.within];
  const layers = new Map();
  for (const place of places) {
    const layer = Math.round(place[along]);
    if (!layers.has(layer)) layers.set(layer, []);
    layers.get(layer).push(place);
  }
  const breadth = Math.max(...places.map((place) => place[across]));
  const needed = Math.max(...Array.from(layers.values(), (layer) => layer.length)) * pitch;
  if (breadth <= 1.5 * needed) return false;
  const factor = (1.1 * needed) / breadth;
  let least = Infinity;
  for (const layer of layers.values()) {
    layer.sort((a, b) => a[across] - b[across]);
    const moved = spaced(layer.map((place) => place[across] * factor), pitch);
    layer.forEach((place, i) => {
      place[across] = moved[i];
    });
    least = Math.min(least, moved[0]);
  }
  for (const place of places) place[across] += margin + (sideways ? nodeHeight : nodeWidth) / 2 - least;
  return true;
}

// Gives {places: [{x, y}] of the middles, paths: one for each edge, width, height, sideways}.
export function layOut(picture, levels, room) {
  const layers = layersOf(picture, levels);
  const sideways = isSideways(layers, room);
  const graph = new Graph();
  graph.setGraph({rankdir: sideways ? 'LR' : 'TB', nodesep: gap.within, edgesep: 3, ranksep: gap.between, marginx: margin, marginy: margin,
    ranker: 'tight-tree'});
  graph.setDefaultEdgeLabel(() => ({}));
  picture.nodes.forEach((_, i) => graph.setNode(String(i), {width: nodeWidth, height: nodeHeight}));
  // Edges within a layer, or back, exist between folded nodes alone. They must not make layers of their own.
  const crossed = ({from, to}) => layers[to] - layers[from];
  let left = mostCrossed;
  for (const edge of picture.edges.filter((one) => crossed(one) > 0).sort((a, b) => crossed(a) - crossed(b))) {
    left -= crossed(edge);
    if (left < 0) break;
    graph.setEdge(String(edge.from), String(edge.to));
  }
  layout(graph);
  const places = picture.nodes.map((_, i) => {
    const {x, y} = graph.node(String(i));
    return {x, y};
  });
  const moved = compress(places, sideways);
  const paths = picture.edges.map(({from, to}) => {
    const found = graph.edge(String(from), String(to));
    return !moved && found?.points?.length >= 2 ? way(found.points) : curve(places[from], places[to], sideways);
  });
  const {width, height} = moved ? {width: Math.max(...places.map(({x}) => x)) + nodeWidth / 2 + margin,
    height: Math.max(...places.map(({y}) => y)) + nodeHeight / 2 + margin} : graph.graph();
  return {places, paths, width, height, sideways};
}
