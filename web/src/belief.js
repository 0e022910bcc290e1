// A belief about a machine: its Bayesian network, drawn in plates of hardware, with what is believed of each variable.
// What is counted is shaded, as is the custom; a bar is a mean and a whisker one standard deviation each way. A variable that
// is pointed at or chosen shows what it hangs on.

import {element, svg, table} from './dom.js';
import {layOut, mostBeside, node, shortName} from './belief_layout.js';
import {compact, count, time} from './format.js';

const roles = {measured: 'counted', launched: 'known: asked for by what was just launched', observed: 'counted, as evidence',
  hidden: 'hidden'};
const kindOf = (variable) => (variable.role === 'measured' && variable.counter === '' ? 'uncounted' : variable.role);

const share = (number) => (Math.abs(number) < 0.005 ? 0 : number).toFixed(2);

export class BeliefPanel {
  constructor(belief) {
    this.belief = belief;
    this.moment = belief.moments.length - 1;
    this.chosen = null;
    this.fold = true;
    this.children = belief.variables.map(() => []);
    belief.variables.forEach((variable, i) => variable.parents.forEach((parent) => this.children[parent].push(i)));
    this.frame = element('div', {class: 'network'});
    this.details = element('aside', {class: 'panel', 'aria-live': 'polite', 'aria-label': 'Chosen variable'});
    this.list = element('details', {}, element('summary', {class: 'quiet'}, 'All variables as a table'));
    this.list.addEventListener('toggle', () => this.fillTable());
    this.section = element('div', {class: 'belief'}, element('h2', {}, `Belief about ${belief.machine}`),
      element('p', {class: 'quiet'}, this.summary()), this.toolbar(), this.legend(),
      this.frame, this.details, this.list);
    this.draw();
  }

  summary() {
    const {variables, told, model, constants} = this.belief;
    const counted = variables.filter((variable) => variable.counter !== '').length;
    const edges = variables.reduce((sum, variable) => sum + variable.parents.length, 0);
    const from = model ? `learnt, from ${model}` : 'as learning starts';
    const [first] = this.belief.moments;
    const samples = first ? ` Means and spreads are from ${count(first.samples)} samples.` : '';
    return `${count(variables.length)} variables, ${count(counted)} of them counted; ${count(edges)} edges; ` +
      `${count(constants.length)} constants, ${from}. It was told ${told}.${samples}`;
  }

  toolbar() {
    const parts = [];
    if (this.belief.moments.length > 1) {
      this.clock = element('output', {class: 'quiet'});
      this.slider = element('input', {type: 'range', min: 0, max: this.belief.moments.length - 1, value: this.moment,
        'aria-label': 'Moment', oninput: (event) => this.goTo(Number(event.target.value))});
      parts.push(element('label', {class: 'moment'}, 'Moment ', this.slider), this.clock);
    }
    if (layOut(this.belief, true).folds) {
      parts.push(element('label', {}, element('input', {type: 'checkbox', onchange: (event) => {
        this.fold = !event.target.checked;
        this.draw();
      }}), ' Every part of long plates'));
    }
    return parts.length > 0 ? element('div', {class: 'bar', role: 'toolbar', 'aria-label': 'Belief'}, parts) : [];
  }

  legend() {
    const entry = (kind, text) => element('span', {}, svg('svg', {width: 26, height: 13, 'aria-hidden': 'true'},
      svg('g', {class: `variable ${kind}`}, svg('rect', {class: 'shape', x: 1, y: 1, width: 24, height: 11, rx: kind === 'hidden' ? 6 : 2}))), text);
    const kinds = new Set(this.belief.variables.map(kindOf));
    const words = {measured: 'counted', uncounted: 'not counted here', launched: 'just launched',
      observed: 'counted, as evidence', hidden: 'hidden; bar: mean, whisker: spread'};
    const entries = Object.entries(words).filter(([kind]) => kinds.has(kind)).map(([kind, text]) => entry(kind, text));
    if (this.knowsTruth()) {
      entries.push(element('span', {}, svg('svg', {width: 14, height: 13, 'aria-hidden': 'true'},
        svg('path', {class: 'truth', d: 'M7,1V12'})), 'the truth'));
    }
    return element('div', {class: 'legend', 'aria-label': 'Signs'}, entries);
  }

  knowsTruth() {
    return this.belief.moments.some((moment) => moment.truth.some((truth) => truth !== null));
  }

  now() {
    return this.belief.moments[this.moment];
  }

  goTo(moment) {
    this.moment = moment;
    for (const i of this.nodes.keys()) this.paintValue(i);
    this.showMoment();
    this.showDetails();
    this.fillTable();
  }

  showMoment() {
    if (!this.clock) return;
    const text = `${this.moment + 1} of ${this.belief.moments.length}, ${time(this.now().time_ns)} after the first job; samples that count: ${compact(Math.round(this.now().effective))}`;
    this.clock.textContent = text;
    this.slider.value = this.moment;
    this.slider.setAttribute('aria-valuetext', text);
  }

  draw() {
    this.layout = layOut(this.belief, this.fold);
    const {plates, places, width, height} = this.layout;
    this.edges = [];
    this.nodes = new Map();
    const edges = svg('g', {class: 'edges'});
    this.belief.variables.forEach((variable, to) => variable.parents.forEach((from) => {
      if (!places[from] || !places[to]) return;
      const path = svg('path', {d: this.wayOf(places[from], places[to])});
      this.edges.push({from, to, path});
      edges.append(path);
    }));
    const variables = svg('g', {class: 'variables'});
    this.belief.variables.forEach((_, i) => {
      if (places[i]) variables.append(this.drawVariable(i));
    });
    // Shrinks with the page, as far as it stays readable.
    const picture = svg('svg', {style: `width: 100%; max-width: ${width}px; min-width: ${0.7 * width}px`, viewBox: `0 0 ${width} ${height}`, role: 'group',
      'aria-label': `Bayesian network of ${this.belief.machine}: the table below says the same`,
      onkeydown: (event) => this.followKey(event)}, plates.map((plate) => this.drawPlate(plate)), edges, variables);
    this.frame.replaceChildren(picture);
    this.setStop();
    this.emphasise(this.chosen);
    this.showMoment();
    this.showDetails();
  }

  drawPlate(plate) {
    const {x, y, width, height, title, boxes, more} = plate;
    const heading = boxes.length > 1 ? `${title} (${boxes.length})` : title;
    return svg('g', {class: 'plate'}, svg('rect', {x, y, width, height, rx: 6}),
      svg('text', {class: 'heading', x: x + 10, y: y + 15}, heading),
      plate.shown.map((box) => [svg('rect', {class: 'box', x: box.x, y: box.y, width: box.width, height: box.height, rx: 4}),
        plate.side > 0 ? svg('text', {x: box.x + 6, y: box.y + box.height / 2 + 4}, cut(box.label, mostBeside), svg('title', {}, box.name))
          : svg('text', {x: box.x + 6, y: box.y + 11}, cut(box.name, Math.floor(box.width / 6.2)), svg('title', {}, box.name))]),
      more > 0 ? svg('text', {x: x + 10, y: y + height - 8}, `and ${count(more)} more alike`) : []);
  }

  // What is observed stands below its parent; all else to the right of it, or the line goes round.
  wayOf(from, to) {
    const middle = node.height / 2;
    if (to.x === from.x) {
      return `M${from.x + node.width / 2},${from.y + node.height}L${to.x + node.width / 2},${to.y}`;
    }
    const [x0, y0, x1, y1] = [from.x + node.width, from.y + middle, to.x, to.y + middle];
    const bend = Math.max(8, Math.min(60, Math.abs(x1 - x0) / 2));
    return `M${x0},${y0}C${x0 + bend},${y0} ${x1 - bend},${y1} ${x1},${y1}`;
  }

  drawVariable(i) {
    const variable = this.belief.variables[i];
    const {x, y} = this.layout.places[i];
    const kind = kindOf(variable);
    const radius = kind === 'hidden' ? node.height / 2 : 3;
    const bar = svg('rect', {class: 'mean', x: 2, y: node.height - 5, width: 0, height: 3});
    const whisker = svg('path', {class: 'whisker'});
    const truth = svg('path', {class: 'truth'});
    const value = svg('text', {class: 'value', x: node.width - 7, y: 13.5, 'text-anchor': 'end'});
    const made = svg('g', {class: `variable ${kind}${variable.believed ? ' believed' : ''}`, transform: `translate(${x},${y})`,
      role: 'button', tabindex: -1, onclick: () => this.choose(i), onfocus: () => this.choose(i),
      onpointerenter: () => this.emphasise(i), onpointerleave: () => this.emphasise(this.chosen)},
    svg('rect', {class: 'shape', width: node.width, height: node.height, rx: radius}), bar, whisker, truth,
    svg('text', {class: 'name', x: 7, y: 13.5}, cut(shortName(variable.name), 8)), value);
    this.nodes.set(i, {made, bar, whisker, truth, value});
    this.paintValue(i);
    return made;
  }

  paintValue(i) {
    const {made, bar, whisker, truth, value} = this.nodes.get(i);
    const variable = this.belief.variables[i];
    made.setAttribute('aria-label', `${variable.name}, ${roles[variable.role]}${this.valueWords(i)}`);
    const now = this.now();
    if (!now || now.mean[i] === null) return;
    const inner = node.width - 16;
    const at = (number) => 8 + inner * Math.min(1, Math.max(0, number));
    const [low, high] = [at(now.mean[i] - now.spread[i]), at(now.mean[i] + now.spread[i])];
    bar.setAttribute('x', 8);
    bar.setAttribute('width', at(now.mean[i]) - 8);
    whisker.setAttribute('d', `M${low},${node.height - 3.5}H${high}M${low},${node.height - 5.5}v4M${high},${node.height - 5.5}v4`);
    const known = now.truth[i] ?? null;
    truth.setAttribute('d', known === null ? '' : `M${at(known)},${node.height - 8}v7`);
    value.textContent = share(now.mean[i]);
  }

  valueWords(i) {
    const now = this.now();
    if (!now || now.mean[i] === null) return '';
    const known = now.truth[i] ?? null;
    return `, ${share(now.mean[i])} ± ${share(now.spread[i])}${known === null ? '' : `, truly ${share(known)}`}`;
  }

  // One variable is in the order of tabs; arrows go from there.
  setStop() {
    for (const [i, {made}] of this.nodes) made.setAttribute('tabindex', i === (this.chosen ?? this.nodes.keys().next().value) ? 0 : -1);
  }

  choose(i) {
    if (this.chosen === i) return;
    this.chosen = i;
    this.setStop();
    this.emphasise(i);
    this.showDetails();
  }

  goToVariable(i) {
    this.choose(i);
    this.nodes.get(i)?.made.focus({preventScroll: false});
  }

  followKey(event) {
    if (event.key === 'Escape') {
      this.choose(null);
      return;
    }
    if (this.chosen === null) return;
    const drawn = (list) => list.find((i) => this.nodes.has(i));
    const order = [...this.nodes.keys()].sort((a, b) => {
      const [p, q] = [this.layout.places[a], this.layout.places[b]];
      return p.x - q.x || p.y - q.y;
    });
    const place = order.indexOf(this.chosen);
    const next = {ArrowLeft: drawn(this.belief.variables[this.chosen].parents), ArrowRight: drawn(this.children[this.chosen]),
      ArrowUp: order[place - 1], ArrowDown: order[place + 1]}[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.goToVariable(next);
  }

  emphasise(i) {
    this.frame.classList.toggle('dimmed', i !== null);
    for (const {from, to, path} of this.edges) {
      path.setAttribute('class', i === null ? '' : to === i ? 'producer' : from === i ? 'consumer' : '');
    }
    const near = i === null ? new Set() : new Set([i, ...this.belief.variables[i].parents, ...this.children[i]]);
    for (const [j, {made}] of this.nodes) {
      made.classList.toggle('near', near.has(j));
      made.classList.toggle('chosen', j === this.chosen);
    }
  }

  showDetails() {
    const i = this.chosen;
    if (i === null) {
      this.details.replaceChildren(element('p', {class: 'quiet'},
        'Choose a variable to see what it hangs on. Arrow keys go to parents, children and neighbours; Escape clears.'));
      return;
    }
    const variable = this.belief.variables[i];
    const facts = [['is', roles[variable.role]], ['about', this.belief.parts[variable.part].name]];
    if (variable.role !== 'launched' && variable.role !== 'hidden') facts.push(['counter', variable.counter || 'none: a wide prior instead']);
    const now = this.now();
    if (now && now.mean[i] !== null) {
      facts.push(['mean', share(now.mean[i])], ['spread', share(now.spread[i])]);
      if ((now.truth[i] ?? null) !== null) facts.push(['truth', share(now.truth[i])]);
    }
    if (variable.law) facts.push(['law', variable.law]);
    const links = (name, className, list) => list.length === 0 ? [] : [element('h4', {class: className}, `${name} (${list.length})`),
      element('ul', {}, list.map((other) => element('li', {}, element('button', {type: 'button', onclick: () => this.goToVariable(other)},
        `${this.belief.variables[other].name}${this.valueWords(other).replace(', ', ': ')}`))))];
    const parts = [[element('h3', {}, variable.name), element('dl', {}, facts.map(([name, text]) => [element('dt', {}, name), element('dd', {}, text)]))],
      this.history(i), this.constantTable(variable), links('Parents', 'producers', variable.parents),
      links('Children', 'consumers', this.children[i])];
    this.details.replaceChildren(...parts.filter((part) => !Array.isArray(part) || part.length > 0).map((part) => element('div', {}, part)));
  }

  constantTable(variable) {
    if (variable.constants.length === 0) return [];
    const isLearnt = this.belief.model !== '';
    const columns = [{name: 'constant', text: true}, {name: 'value'}, ...(isLearnt ? [{name: 'start'}] : [])];
    return table(columns, [...new Set(variable.constants)].map((c) => {
      const {name, value, start} = this.belief.constants[c];
      return {cells: [name, compact(value), ...(isLearnt ? [compact(start)] : [])]};
    }), {class: 'constants'});
  }

  // Mean, spread and truth over the moments.
  history(i) {
    const {moments} = this.belief;
    if (moments.length < 2 || moments.some((moment) => moment.mean[i] === null)) return [];
    const [width, height] = [260, 70];
    const last = moments[moments.length - 1].time_ns;
    const first = moments[0].time_ns;
    const x = (moment) => (width * (moment.time_ns - first)) / Math.max(1, last - first);
    const y = (number) => 2 + (height - 4) * (1 - Math.min(1, Math.max(0, number)));
    const line = (numbers) => `M${moments.map((moment, m) => `${x(moment).toFixed(1)},${y(numbers[m]).toFixed(1)}`).join('L')}`;
    const means = moments.map((moment) => moment.mean[i]);
    const low = moments.map((moment) => moment.mean[i] - moment.spread[i]);
    const high = moments.map((moment) => moment.mean[i] + moment.spread[i]);
    const back = moments.map((moment, m) => `${x(moment).toFixed(1)},${y(low[m]).toFixed(1)}`).reverse().join('L');
    const truths = moments.map((moment) => moment.truth[i] ?? null);
    const nowX = x(this.now());
    return svg('svg', {class: 'history', viewBox: `0 0 ${width} ${height}`, role: 'img',
      'aria-label': `mean and spread of ${this.belief.variables[i].name} from 0 to 1 over the moments`},
    svg('path', {class: 'band', d: `${line(high)}L${back}Z`}), svg('path', {class: 'line', d: line(means)}),
    truths.some((truth) => truth === null) ? [] : svg('path', {class: 'truth', d: line(truths)}),
    svg('path', {class: 'cursor', d: `M${nowX},0V${height}`}));
  }

  // Long, so made when it is opened.
  fillTable() {
    if (!this.list.open) return;
    const {variables, parts} = this.belief;
    const columns = [{name: 'variable', text: true}, {name: 'about', text: true}, {name: 'is', text: true}, {name: 'mean'},
      {name: 'spread'}, ...(this.knowsTruth() ? [{name: 'truth'}] : []), {name: 'parents', text: true}, {name: 'law', text: true}];
    const now = this.now();
    const figure = (number) => (number === null || number === undefined ? '–' : share(number));
    const rows = variables.map((variable, i) => ({cells: [variable.name, parts[variable.part].name,
      kindOf(variable) === 'uncounted' ? 'not counted' : roles[variable.role], figure(now?.mean[i]), figure(now?.spread[i]),
      ...(this.knowsTruth() ? [figure(now?.truth[i])] : []), variable.parents.map((parent) => variables[parent].name).join(', ') || '–',
      variable.law || '–']}));
    const made = table(columns, rows, {class: 'variables'});
    if (this.list.children.length > 1) this.list.lastElementChild.replaceWith(made);
    else this.list.append(made);
  }
}

const cut = (text, most) => (text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text);
