// Runs of one problem: a table of them, and their timelines, which share a View (which time is visible) and a Selection. The page
// of `tutti report` and that of a job of `tutti serve` show them.

import * as format from './format.js';
import {Colours} from './colours.js';
import {Dag} from './dag.js';
import {Details} from './details.js';
import {RunPanel} from './run.js';
import {Search} from './search.js';
import {View} from './view.js';
import {element, table} from './dom.js';
import {followKeys, followPointer} from './input.js';

class Selection {
  constructor() {
    this.listeners = [];
    this.op = null; // in every run
    this.transfer = null; // of one run
    this.run = null;
  }
  set(what) {
    Object.assign(this, {op: null, transfer: null, run: null}, what);
    for (const listener of this.listeners) listener();
  }
  onChange(listener) {
    this.listeners.push(listener);
  }
}

function runTable(report) {
  const bound = report.lower_bound_ns;
  const traces = report.runs.filter((run) => run.what === 'trace');
  const least = Math.min(...traces.map((run) => run.makespan));
  const columns = [{name: 'run', text: true}, {name: 'what', text: true}, {name: 'by', text: true}, {name: 'makespan'},
    {name: 'gap'}, {name: 'mean busy'}, {name: 'ops'}, {name: 'transfers'}, {name: 'moved'},
    {name: 'critical path: in ops'}, {name: 'in transfers'}, {name: 'waiting'}];
  const rows = report.runs.map((run) => {
    const devices = run.stats.devices;
    const busy = devices.reduce((sum, device) => sum + device.busy, 0) / Math.max(1, devices.length);
    const {ops, transfers, waits} = run.criticalTime;
    return {
      best: traces.length > 1 && run.what === 'trace' && run.makespan === least,
      cells: [run.name, run.what, run.by || '–', format.time(run.makespan), format.gap(run.makespan, bound),
        format.percent(busy), format.count(run.opCount), run.what === 'plan' ? '–' : format.count(run.stats.transfers),
        run.what === 'plan' ? '–' : format.bytes(run.stats.bytes_moved), format.time(ops), format.time(transfers),
        format.time(waits)],
    };
  });
  return table(columns, rows);
}

// The section, empty yet.
function parts(report, plain) {
  const option = (value) => element('option', {value}, value);
  const button = (id, words, label) => element('button', {id, type: 'button', 'aria-label': label}, words);
  return [
    plain ? [] : [element('h2', {}, 'Runs'), element('div', {id: 'run-table'}, runTable(report))],
    element('div', {class: 'bar', role: 'toolbar', 'aria-label': 'Timeline'},
      element('div', {class: 'search'},
        element('input', {id: 'search', type: 'search', role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'found',
          'aria-autocomplete': 'list', placeholder: 'Search ops (press /)', 'aria-label': 'Search ops by name', autocomplete: 'off',
          spellcheck: 'false'}),
        element('ul', {id: 'found', role: 'listbox', hidden: ''})),
      element('label', {}, 'Colour by ', element('select', {id: 'colour'}, option('kind'), option('group'))),
      element('label', {}, element('input', {id: 'critical', type: 'checkbox', checked: ''}), ' Critical path'),
      element('label', {title: 'A lane for each channel, instead of one for all transfers'},
        element('input', {id: 'transfers', type: 'checkbox'}), ' Each channel'),
      element('span', {class: 'buttons'}, button('zoom-in', '+', 'Zoom in'), button('zoom-out', '\u2212', 'Zoom out'),
        button('zoom-all', 'Show all')),
      element('output', {id: 'window', class: 'quiet'})),
    element('div', {id: 'legend', class: 'legend', 'aria-label': 'Colours'}),
    element('div', {class: 'stage'}, element('div', {id: 'timelines'}),
      element('aside', {id: 'details', 'aria-live': 'polite', 'aria-label': 'Selected op'})),
    element('p', {class: 'quiet keys'}, 'Ctrl + wheel zooms, dragging pans, a double click zooms in. Keys on a timeline: + and - zoom, ',
      'arrows left and right pan, Shift with arrows goes to the next op on the lane or to another lane, Enter zooms to the ',
      'selected op, 0 shows all, Escape clears.'),
  ];
}

// Fills the section, without heading and table if it is to be plain; `tip` is shown next to the pointer. What it attaches to the window goes with `signal`.
export function showRuns({section, tip, report, theme, signal, plain = false, onDraw = () => {}}) {
  const view = new View(Math.max(...report.runs.map((run) => run.makespan)));
  const selection = new Selection();
  const colours = new Colours(report.graph, theme);
  const options = {critical: true, channels: false};
  section.hidden = false;
  section.replaceChildren(...parts(report, plain).flat());
  const byId = (id) => section.querySelector(`#${id}`);
  const panels = report.runs.map((run) => new RunPanel({run, report, graph: report.graph, view, theme, selection, colours, options,
    choose: (op) => choose(op)}));
  byId('timelines').append(...panels.map((panel) => panel.section));

  let waiting = false;
  const draw = () => {
    const begin = performance.now();
    for (const panel of panels) panel.draw();
    const [from, to] = view.shown();
    byId('window').textContent = `${format.time(to - from)} shown, from ${format.time(Math.max(0, from))}`;
    onDraw(performance.now() - begin);
  };
  const redraw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
  const choose = (op) => {
    tip.hidden = true;
    selection.set({op});
    for (const {run, timeline} of panels) {
      const mark = timeline ? run.markOfOp[op] : -1;
      if (mark < 0) continue;
      view.reveal(run.start[mark], run.finish[mark]);
      timeline.scrollToLane(run.laneOf[mark]);
      break;
    }
  };
  const resize = () => {
    for (const panel of panels) view.resize(panel.resize());
    draw();
  };

  const hasGroups = report.graph.groups.length > 0;
  byId('colour').disabled = !hasGroups;
  byId('colour').addEventListener('change', (event) => {
    colours.use(event.target.value);
    byId('legend').replaceChildren(...colours.legend());
    redraw();
  });
  byId('transfers').addEventListener('change', (event) => {
    options.channels = event.target.checked;
    for (const {timeline} of panels) timeline?.layOut();
    resize();
  });
  byId('critical').addEventListener('change', (event) => {
    options.critical = event.target.checked;
    redraw();
  });
  byId('zoom-in').addEventListener('click', () => view.zoomBy(2));
  byId('zoom-out').addEventListener('click', () => view.zoomBy(0.5));
  byId('zoom-all').addEventListener('click', () => view.showAll());
  byId('legend').replaceChildren(...colours.legend());
  const search = new Search({input: byId('search'), list: byId('found'), names: report.graph.names, choose});
  const dag = new Dag({report, theme, selection, choose, tip});
  byId('timelines').append(dag.section);
  new Details({panel: byId('details'), report, selection, choose});
  for (const {timeline} of panels) {
    if (!timeline) continue;
    followPointer({timeline, report, selection, tip});
    followKeys({timeline, view, selection, choose, tip});
  }
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || /^(input|select|textarea)$/i.test(event.target.tagName)) return;
    event.preventDefault();
    search.input.focus();
  }, {signal});
  view.onChange(redraw);
  selection.onChange(redraw);
  selection.onChange(() => dag.follow());
  theme.onChange(() => {
    colours.refresh();
    byId('legend').replaceChildren(...colours.legend());
    dag.recolour();
    redraw();
  });
  window.addEventListener('resize', () => {
    resize();
    dag.resize();
  }, {signal});
  resize();
  // Once the timelines are drawn; the layout takes some tenths of a second.
  const later = window.requestIdleCallback ?? ((act) => setTimeout(act, 50));
  later(() => {
    if (!signal?.aborted) dag.show();
  }, {timeout: 300});
  return {view, selection, panels, choose, dag};
}
