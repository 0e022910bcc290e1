// The graph of a report: ops, or what they were folded into, coloured by the devices of one run, with its critical path.
// A click selects an op, as in the timelines; a folded node says what is in it and can be opened.

import {select} from 'd3-selection';
import {zoom, zoomIdentity} from 'd3-zoom';
import * as format from './format.js';
import {categoryColour} from './theme.js';
import {element, svg} from './dom.js';
import {fold, levelsOf} from './fold.js';
import {layOut, nodeHeight, nodeWidth} from './dag_layout.js';

const readable = 0.3; // the scale with which a large picture begins
const mostLetters = 17;
const mostStubs = 60; // what ops of an opened node are connected with
const mostJumps = 300; // of the critical path, between nodes that no edge connects

const ways = [['auto', 'automatic'], ['group', 'group'], ['level', 'level and kind'], ['kind', 'kind'], ['device', 'device']];

const cut = (text) => (text.length > mostLetters ? `${text.slice(0, mostLetters - 1)}…` : text);

export class Dag {
  constructor({report, theme, selection, choose, tip}) {
    Object.assign(this, {report, theme, selection, choose, tip, graph: report.graph});
    const runs = report.runs.filter((run) => run.opCount > 0);
    this.run = runs.find((run) => run.what === 'trace') ?? runs[0] ?? null;
    this.how = 'auto';
    this.all = Array.from({length: this.graph.size}, (_, op) => op);
    this.opened = []; // folded nodes, each within the one before
    this.build();
  }

  build() {
    const {report} = this;
    const option = ([value, words]) => element('option', {value}, words);
    const runs = report.runs.filter((run) => run.opCount > 0);
    const runOf = element('select', {class: 'dag-run'}, runs.map((run, i) => option([i, run.name])));
    runOf.value = runs.indexOf(this.run);
    runOf.addEventListener('change', () => this.use(runs[runOf.value]));
    this.foldBy = element('select', {class: 'dag-fold'}, ways.filter(([way]) => way !== 'group' || this.graph.groups.length > 0).map(option));
    this.foldBy.addEventListener('change', () => this.foldAs(this.foldBy.value));
    const button = (words, label, act) => element('button', {type: 'button', 'aria-label': label, onclick: act}, words);
    this.crumbs = element('nav', {class: 'crumbs', 'aria-label': 'What is shown'});
    this.legend = element('div', {class: 'legend', 'aria-label': 'Devices'});
    this.frame = element('div', {class: 'dag-frame'});
    this.about = element('p', {class: 'quiet dag-about', 'aria-live': 'polite'});
    this.section = element('section', {class: 'dag', 'aria-label': 'Graph'},
      element('h3', {}, 'Graph ', this.note = element('small')),
      element('div', {class: 'bar', role: 'toolbar', 'aria-label': 'Graph'},
        runs.length > 1 ? element('label', {}, 'Devices of ', runOf) : [],
        element('label', {}, 'Fold by ', this.foldBy),
        element('span', {class: 'buttons'}, button('+', 'Zoom in on the graph', () => this.zoomBy(1.5)),
          button('\u2212', 'Zoom out of the graph', () => this.zoomBy(1 / 1.5)), button('Show all', 'Show the whole graph', () => this.fit(0)))),
      this.crumbs, this.legend, this.frame, this.about);
    this.zoom = zoom().scaleExtent([0.005, 6])
      .filter((event) => (event.type === 'wheel' ? event.ctrlKey || event.metaKey || event.altKey : !event.button && !event.ctrlKey))
      .wheelDelta((event) => -event.deltaY * (event.deltaMode === 1 ? 0.05 : event.deltaMode ? 1 : 0.004))
      .on('zoom', ({transform}) => this.moved(transform));
  }

  // Folds, lays out and draws. Takes a moment, so it is called once the rest of the page is there.
  show() {
    this.section.hidden = this.graph.size === 0;
    if (this.graph.size === 0) return;
    const begin = performance.now();
    this.levels ??= levelsOf(this.graph);
    this.shownOf = this.run;
    this.deviceOf = (op) => {
      const mark = this.run ? this.run.markOfOp[op] : -1;
      return mark < 0 ? -1 : this.run.lanes[this.run.laneOf[mark]].device;
    };
    const scope = this.opened.length > 0 ? this.opened[this.opened.length - 1].ops : this.all;
    this.picture = fold({graph: this.graph, ops: scope, levels: this.levels, deviceOf: this.deviceOf, devices: this.report.devices, how: this.how});
    this.outer ??= this.picture;
    if (this.opened.length === 0) this.outer = this.picture;
    else this.addStubs(scope);
    const room = {width: Math.max(200, this.frame.clientWidth), height: this.heightOfFrame()};
    this.layout = layOut(this.picture, this.levels, room);
    this.measure();
    this.draw();
    this.laid = (this.laid ?? 0) + 1; // times that it was drawn
    this.begin();
    this.tell();
    this.drawMs = performance.now() - begin;
  }

  heightOfFrame() {
    return Math.max(260, Math.min(560, Math.floor(window.innerHeight * 0.6)));
  }

  // The nodes outside of an opened one that its ops read from, or that read them.
  addStubs(scope) {
    const {graph, picture, outer} = this;
    const inside = new Set(scope);
    const stubs = new Map();
    const counts = new Map();
    const connect = (op, other, isBefore) => {
      if (inside.has(other)) return;
      const node = outer.nodeOf[other];
      if (!stubs.has(`${node} ${isBefore}`)) {
        if (stubs.size >= mostStubs) return;
        stubs.set(`${node} ${isBefore}`, picture.nodes.length);
        picture.nodes.push({label: outer.nodes[node].label, ops: outer.nodes[node].ops, stub: isBefore ? 'before' : 'after'});
      }
      const stub = stubs.get(`${node} ${isBefore}`);
      const key = isBefore ? `${stub} ${picture.nodeOf[op]}` : `${picture.nodeOf[op]} ${stub}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    };
    for (const op of scope) {
      for (const producer of graph.producers(op)) connect(op, producer, true);
      for (const consumer of graph.consumers(op)) connect(op, consumer, false);
    }
    for (const [key, count] of counts) {
      const [from, to] = key.split(' ').map(Number);
      picture.edges.push({from, to, count});
    }
  }

  // What each node shows: the time of its ops on each device, and whether the critical path goes through it.
  measure() {
    const {run, picture, report} = this;
    const critical = new Set(run ? run.critical.filter((step) => step.isOp).map((step) => step.index) : []);
    for (const node of picture.nodes) {
      node.time = new Float64Array(report.devices.length);
      node.count = new Int32Array(report.devices.length);
      node.critical = 0;
      for (const op of node.ops) {
        if (critical.has(op)) ++node.critical;
        const device = this.deviceOf(op);
        if (device < 0) continue;
        const mark = run.markOfOp[op];
        ++node.count[device];
        node.time[device] += run.finish[mark] - run.start[mark];
      }
      if (node.stub) node.critical = 0;
    }
    // The path from node to node: along edges, or where an op waited for a slot, across.
    this.criticalEdges = new Set();
    this.jumps = [];
    const along = new Set(picture.edges.map(({from, to}) => from * picture.nodes.length + to));
    let last = -1;
    for (const step of run ? run.critical : []) {
      if (!step.isOp) continue;
      const node = picture.nodeOf[step.index];
      if (last >= 0 && node >= 0 && node !== last) {
        const key = last * picture.nodes.length + node;
        if (along.has(key)) this.criticalEdges.add(key);
        else if (this.jumps.length < mostJumps) this.jumps.push([last, node]);
      }
      last = node;
    }
  }

  colour(device) {
    return categoryColour(device, this.theme.isDark);
  }

  draw() {
    const {picture, layout, report} = this;
    const count = picture.nodes.length;
    const edges = picture.edges.map(({from, to}, i) => svg('path', {d: layout.paths[i],
      class: this.criticalEdges.has(from * count + to) ? 'edge critical' : 'edge'}));
    edges.sort((a, b) => a.classList.length - b.classList.length); // the critical ones on top
    const jumps = this.jumps.map(([from, to]) => svg('path', {class: 'jump', d: `M${layout.places[from].x},${layout.places[from].y}` +
      `L${layout.places[to].x},${layout.places[to].y}`}));
    this.nodes = picture.nodes.map((node, i) => this.drawNode(node, i));
    this.scene = svg('g', {}, svg('g', {class: 'edges'}, edges), jumps, this.nodes);
    this.canvas = svg('svg', {class: 'dag-picture', width: '100%', height: this.heightOfFrame(), role: 'group',
      'aria-label': `Graph: ${count} nodes, ${picture.edges.length} edges`}, this.scene);
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.canvas.addEventListener('click', (event) => {
      if (event.target === this.canvas) this.selection.set({});
    });
    this.frame.replaceChildren(this.canvas);
    select(this.canvas).call(this.zoom).on('dblclick.zoom', null);
    if (this.nodes.length > 0) this.nodes[0].setAttribute('tabindex', '0');
    const used = report.devices.map((device, i) => ({device, i})).filter(({i}) => picture.nodes.some((node) => node.count[i] > 0));
    this.legend.replaceChildren(...used.slice(0, 24).map(({device, i}) => {
      const swatch = element('i');
      swatch.style.background = this.colour(i);
      return element('span', {}, swatch, device.name);
    }), ...(used.length > 24 ? [element('span', {}, `and ${used.length - 24} more`)] : []));
  }

  drawNode(node, i) {
    const {x, y} = this.layout.places[i];
    const isOp = node.ops.length === 1 && !node.stub;
    const parts = [svg('rect', {class: 'shape', width: nodeWidth, height: nodeHeight, rx: 5})];
    const busy = node.count.some((one) => one > 0);
    if (isOp && busy) parts[0].style.fill = this.colour(this.deviceOf(node.ops[0]));
    const label = node.ops.length > 1 && !node.stub ? `${cut(node.label).slice(0, 11)} ×${format.count(node.ops.length)}` : cut(node.label);
    parts.push(svg('text', {class: 'name', x: nodeWidth / 2, y: isOp || node.stub ? 21 : 17, 'text-anchor': 'middle'}, label));
    if (!isOp && !node.stub && busy) parts.push(this.deviceBar(node));
    const made = svg('g', {class: ['node', isOp ? 'op' : 'folded', node.stub ? 'stub' : '', node.critical > 0 ? 'critical' : ''].join(' ').trim(),
      transform: `translate(${(x - nodeWidth / 2).toFixed(1)},${(y - nodeHeight / 2).toFixed(1)})`, tabindex: '-1', role: 'button',
      'aria-label': this.describe(node)}, parts);
    made.addEventListener('click', () => this.take(i));
    made.addEventListener('dblclick', () => this.open(i));
    made.addEventListener('mousemove', (event) => this.point(event, node));
    made.addEventListener('mouseleave', () => {
      this.tip.hidden = true;
    });
    return made;
  }

  deviceBar(node) {
    const sum = node.time.reduce((a, b) => a + b, 0);
    const weights = sum > 0 ? node.time : node.count;
    const whole = weights.reduce((a, b) => a + b, 0) || 1;
    let at = 8;
    const parts = [];
    weights.forEach((weight, device) => {
      const width = ((nodeWidth - 16) * weight) / whole;
      if (width <= 0) return;
      const part = svg('rect', {x: at, y: nodeHeight - 11, width, height: 6});
      part.style.fill = this.colour(device);
      parts.push(part);
      at += width;
    });
    return parts;
  }

  describe(node) {
    const {devices} = this.report;
    const sum = node.time.reduce((a, b) => a + b, 0);
    const shares = Array.from(node.count, (ops, device) => ({ops, device})).filter(({ops}) => ops > 0)
      .sort((a, b) => node.time[b.device] - node.time[a.device]).slice(0, 6)
      .map(({ops, device}) => `${devices[device].name}: ${ops === 1 ? '1 op' : `${format.count(ops)} ops`}, ${format.time(node.time[device])}`);
    const head = node.ops.length === 1 ? this.graph.names[node.ops[0]] : `${node.label}: ${format.count(node.ops.length)} ops` +
      (sum > 0 ? `, ${format.time(sum)} together` : '');
    const path = node.critical > 0 ? [node.ops.length === 1 ? 'on the critical path' : `${format.count(node.critical)} on the critical path`] : [];
    const outside = node.stub ? [`outside of what is shown, ${node.stub} it`] : [];
    return [head, ...shares, ...path, ...outside].join('\n');
  }

  point(event, node) {
    const {tip} = this;
    tip.textContent = this.describe(node);
    tip.hidden = false;
    const {width, height} = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - width - 8))}px`;
    tip.style.top = `${event.clientY + 18 + height > window.innerHeight ? event.clientY - height - 10 : event.clientY + 18}px`;
  }

  // A click or Enter on a node.
  take(i) {
    const node = this.picture.nodes[i];
    this.focusOn(i);
    if (node.ops.length === 1) {
      this.choose(node.ops[0]);
      return;
    }
    this.selection.set({});
    this.mark(i);
    const open = node.stub ? [] : [element('button', {type: 'button', class: 'dag-open', onclick: () => this.open(i)}, 'Open it')];
    this.about.replaceChildren(this.describe(node).replaceAll('\n', '; '), ' ', ...open);
  }

  open(i) {
    const node = this.picture.nodes[i];
    if (node.ops.length === 1 || node.stub) return;
    this.tip.hidden = true;
    this.opened.push({label: node.label, ops: node.ops, how: this.how});
    this.setWay('auto');
    this.show();
  }

  // Back to the first `depth` of the opened nodes.
  close(depth) {
    this.setWay(this.opened[depth].how);
    this.opened.length = depth;
    this.show();
  }

  setWay(how) {
    this.how = how;
    this.foldBy.value = how;
  }

  foldAs(how) {
    this.setWay(how);
    this.opened.length = 0;
    this.show();
  }

  use(run) {
    this.run = run;
    this.opened.length = 0; // what was folded by device may be other ops now
    this.show();
  }

  tell() {
    const {picture, opened} = this;
    const shown = picture.nodes.filter((node) => !node.stub);
    const ops = shown.reduce((sum, node) => sum + node.ops.length, 0);
    const words = {group: 'groups', level: 'bands of levels and kinds', kind: 'kinds', device: 'devices', stretch: 'stretches', all: 'one node'};
    this.note.textContent = picture.how === 'op' ? `${format.count(ops)} ops, ${format.count(picture.edges.length)} edges`
      : `${format.count(ops)} ops, folded by ${words[picture.how]} into ${format.count(shown.length)} nodes; double click opens one`;
    this.about.replaceChildren();
    this.crumbs.hidden = opened.length === 0;
    this.crumbs.replaceChildren(...[{label: 'Whole graph'}, ...opened].flatMap(({label}, depth) => [depth > 0 ? ' › ' : '',
      depth < opened.length ? element('button', {type: 'button', onclick: () => this.close(depth)}, label) : element('strong', {}, label)]));
  }

  // ---- What is visible

  fit(least) {
    const {width, height} = this.layout;
    this.fittedTo = this.frame.clientWidth;
    const room = {width: this.frame.clientWidth, height: this.heightOfFrame()};
    const whole = Math.min(room.width / width, room.height / height, 1);
    const scale = Math.max(whole, least);
    // What does not fit begins where the graph does.
    const x = width * scale <= room.width || !this.layout.sideways ? (room.width - width * scale) / 2 : 0;
    const y = height * scale <= room.height || this.layout.sideways ? (room.height - height * scale) / 2 : 0;
    select(this.canvas).call(this.zoom.transform, zoomIdentity.translate(x, y).scale(scale));
  }

  begin() {
    this.fit(readable);
    this.follow();
  }

  zoomBy(factor) {
    select(this.canvas).call(this.zoom.scaleBy, factor);
  }

  moved(transform) {
    this.transform = transform;
    this.scene.setAttribute('transform', transform.toString());
    this.canvas.classList.toggle('far', transform.k < 0.42);
  }

  reveal(i) {
    const {x, y} = this.layout.places[i];
    const {k, x: dx, y: dy} = this.transform;
    const [px, py] = [x * k + dx, y * k + dy];
    const room = {width: this.frame.clientWidth, height: this.heightOfFrame()};
    if (px > 40 && py > 20 && px < room.width - 40 && py < room.height - 20) return;
    select(this.canvas).call(this.zoom.translateTo, x, y);
  }

  mark(i) {
    for (const one of this.canvas.querySelectorAll('.chosen')) one.classList.remove('chosen');
    if (i >= 0) this.nodes[i].classList.add('chosen');
  }

  // The selection of the page: its node is marked and shown.
  follow() {
    if (!this.laid) return;
    const {op} = this.selection;
    const i = op === null ? -1 : this.picture.nodeOf[op];
    this.mark(i);
    if (op !== null) this.about.replaceChildren();
    if (i >= 0) this.reveal(i);
  }

  recolour() {
    if (!this.laid) return;
    const {transform} = this;
    this.draw();
    select(this.canvas).call(this.zoom.transform, transform);
    this.follow();
  }

  resize() {
    if (!this.laid) return;
    this.canvas.setAttribute('height', this.heightOfFrame());
    if (this.frame.clientWidth === this.fittedTo) return;
    this.fit(readable);
    this.follow();
  }

  // ---- The keyboard

  focusOn(i) {
    for (const node of this.nodes) node.setAttribute('tabindex', '-1');
    this.nodes[i].setAttribute('tabindex', '0');
    this.nodes[i].focus({preventScroll: true});
    this.reveal(i);
  }

  // The nearest node in a direction.
  towards(i, dx, dy) {
    const own = this.layout.places[i];
    let best = i;
    let least = Infinity;
    this.layout.places.forEach((place, other) => {
      const ahead = (place.x - own.x) * dx + (place.y - own.y) * dy;
      const aside = Math.abs((place.x - own.x) * dy) + Math.abs((place.y - own.y) * dx);
      if (ahead < 1 || aside > 3 * ahead + nodeWidth || ahead + 2 * aside >= least) return;
      best = other;
      least = ahead + 2 * aside;
    });
    return best;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const i = this.nodes.findIndex((node) => node === event.target);
    const arrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    if (event.key in arrows && i >= 0) this.focusOn(this.towards(i, ...arrows[event.key]));
    else if (event.key === 'Enter' && i >= 0) this.picture.nodes[i].ops.length > 1 ? this.open(i) : this.take(i);
    else if (event.key === ' ' && i >= 0) this.take(i);
    else if (event.key === 'Escape') this.selection.set({});
    else if (event.key === '+' || event.key === '=') this.zoomBy(1.5);
    else if (event.key === '-') this.zoomBy(1 / 1.5);
    else if (event.key === '0') this.fit(0);
    else return;
    event.preventDefault();
  }
}
