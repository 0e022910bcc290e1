// What is known of the selected op or transfer; without one, of the critical path.

import * as format from './format.js';
import {element, table} from './dom.js';

const mostListed = 40;

const whys = {
  start: 'nothing: it is first',
  data: 'its data',
  slot: 'the slot to be free',
  channel: 'the channel to be free',
  memory: 'memory to be free',
  wait: 'something that the trace does not show',
};

export class Details {
  constructor({panel, report, selection, choose}) {
    Object.assign(this, {panel, report, selection, choose});
    selection.onChange(() => this.show());
    this.show();
  }

  show() {
    const {selection} = this;
    const content = selection.op !== null ? this.op(selection.op)
      : selection.transfer !== null ? this.transfer(selection.run, selection.transfer)
        : this.nothing();
    this.panel.replaceChildren(...content.flat(Infinity).filter(Boolean));
  }

  facts(pairs) {
    return element('dl', {}, pairs.filter(([, value]) => value !== null).map(([name, value]) =>
      [element('dt', {}, name), element('dd', {}, value)]));
  }

  op(op) {
    const {graph, runs} = this.report;
    const group = graph.groupOf[op] > 0 ? graph.groups[graph.groupOf[op] - 1] : null;
    const general = [
      ['kind', graph.kinds[graph.kindOf[op]]],
      ['group', group],
      ['makes', graph.bytes[op] > 0 ? format.bytes(graph.bytes[op]) : null],
      ['work', graph.flops[op] > 0 ? format.flops(graph.flops[op]) : null],
    ];
    return [
      element('h3', {}, graph.names[op]),
      this.facts(general),
      runs.map((run) => this.opInRun(run, op)),
      this.alternatives(op),
      this.list('producers', 'Producers', graph.producers(op)),
      this.list('consumers', 'Consumers', graph.consumers(op)),
    ];
  }

  opInRun(run, op) {
    const mark = run.markOfOp[op];
    const heading = this.report.runs.length > 1 ? element('h4', {}, run.name) : null;
    if (mark < 0) return [heading, element('p', {class: 'quiet'}, 'It did not run here.')];
    const lane = run.lanes[run.laneOf[mark]];
    const step = run.critical.find((one) => one.mark === mark);
    return [heading, this.facts([
      ['device', lane.of > 1 ? `${lane.name}, slot ${lane.row}` : lane.name],
      ['start', format.exactTime(run.start[mark])],
      ['finish', format.exactTime(run.finish[mark])],
      ['took', format.time(run.finish[mark] - run.start[mark])],
      ['predicted', run.expected && run.expected[op] > 0 ? format.time(run.expected[op]) : null],
      ['critical', step ? `yes; it waited for ${whys[step.why]}` : null],
    ])];
  }

  // What the run would take if this op, alone, went to another device, as tutti explain says it.
  alternatives(op) {
    const {alternatives, devices} = this.report;
    if (!alternatives) return null;
    const heading = element('h4', {}, `If it ran elsewhere (${alternatives.plan})`);
    if (alternatives.obstacle) return [heading, element('p', {class: 'quiet'}, alternatives.obstacle)];
    const found = alternatives.ops.find((one) => one.op === op);
    if (!found) {
      return [heading, element('p', {class: 'quiet'}, `Known of the ${format.count(alternatives.ops.length)} longest ops; tutti explain finds it for any op.`)];
    }
    const own = found.devices.find((one) => one.chosen);
    const rows = found.devices.map((one) => {
      const name = `${devices[one.device].name}${one === own ? ' (planned)' : ''}`;
      if (one.obstacle !== undefined) return {cells: [name, element('span', {title: one.obstacle}, 'cannot'), '']};
      const change = own && own.makespan_ns > 0 ? one.makespan_ns / own.makespan_ns - 1 : 0;
      const words = one === own ? format.time(one.makespan_ns) : `${change >= 0 ? '+' : '−'}${format.percent(Math.abs(change))}`;
      return {best: one === own, cells: [name, format.time(one.run_time_ns), element('span', {title: format.time(one.makespan_ns)}, words)]};
    });
    return [heading, table([{name: 'device', text: true}, {name: 'run time'}, {name: 'makespan'}], rows),
      element('p', {class: 'quiet'}, `It starts when it does because ${found.because}.`)];
  }

  transfer(run, transfer) {
    const {graph, memories} = this.report;
    const value = run.value[transfer];
    const producer = run.valueProducer[value];
    const start = run.transferStart[transfer];
    const finish = run.transferFinish[transfer];
    return [
      element('h3', {}, `Transfer of ${run.valueName(graph, value)}`),
      this.facts([
        ['from', memories[run.from[transfer]]],
        ['to', memories[run.to[transfer]]],
        ['hop', run.hop[transfer] > 0 ? String(run.hop[transfer] + 1) : null],
        ['size', format.bytes(run.valueBytes[value])],
        ['start', format.exactTime(start)],
        ['finish', format.exactTime(finish)],
        ['took', format.time(finish - start)],
      ]),
      producer >= 0 ? this.list('producers', 'Made by', [producer]) : element('p', {class: 'quiet'}, 'An input of the graph.'),
    ];
  }

  list(name, title, ops) {
    if (ops.length === 0) return null;
    const {graph} = this.report;
    const items = Array.from(ops.slice(0, mostListed), (op) => element('li', {},
      element('button', {type: 'button', onclick: () => this.choose(op)}, graph.names[op])));
    const more = ops.length - items.length;
    return [
      element('h4', {class: name}, `${title} (${format.count(ops.length)})`),
      element('ul', {}, items),
      more > 0 ? element('p', {class: 'quiet'}, `and ${format.count(more)} more`) : null,
    ];
  }

  nothing() {
    return [element('p', {class: 'quiet'}, 'Click an op or a transfer to see what it waited for.'),
      this.report.runs.map((run) => this.path(run))];
  }

  path(run) {
    if (run.critical.length === 0) return null;
    const ops = run.critical.filter((step) => step.isOp);
    const {ops: busy, transfers, waits} = run.criticalTime;
    const longest = [...ops].sort((a, b) => this.length(run, b) - this.length(run, a)).slice(0, 8);
    return [
      element('h4', {class: 'path'}, this.report.runs.length > 1 ? `Critical path of ${run.name}` : 'Critical path'),
      this.facts([
        ['ops', `${format.count(ops.length)}, ${format.time(busy)}`],
        ['transfers', `${format.count(run.critical.length - ops.length)}, ${format.time(transfers)}`],
        ['waiting', format.time(waits)],
      ]),
      element('p', {class: 'quiet'}, 'Its longest ops:'),
      element('ul', {}, longest.map((step) => element('li', {},
        element('button', {type: 'button', onclick: () => this.choose(step.index)}, this.report.graph.names[step.index]),
        element('span', {class: 'quiet'}, ` ${format.time(this.length(run, step))}`)))),
    ];
  }

  length(run, step) {
    return run.finish[step.mark] - run.start[step.mark];
  }
}
