// One run: its heading, timeline, utilisation, and the table that says why devices waited.

import * as format from './format.js';
import {element, table} from './dom.js';
import {resourceParts, weightTable} from './resources.js';
import {Predicted} from './predicted.js';
import {Timeline} from './timeline.js';
import {Utilisation, mostDevices} from './utilisation.js';

const shares = [
  ['busy', 'busy', '--accent'],
  ['waiting_for_data', 'waits for data', '--wait-data'],
  ['waiting_for_ops', 'waits for producers', '--wait-ops'],
  ['waiting_for_memory', 'waits for memory', '--wait-memory'],
];

function swatch(colour) {
  const made = element('i', {class: 'swatch'});
  made.style.background = `var(${colour})`;
  return made;
}

function shareBar(device) {
  const bar = element('span', {class: 'shares', role: 'img', 'aria-label': `busy ${format.percent(device.busy)}`});
  for (const [key, , colour] of shares) {
    const part = element('i');
    part.style.width = `${100 * device[key]}%`;
    part.style.background = `var(${colour})`;
    bar.append(part);
  }
  return bar;
}

function deviceTable(run, devices) {
  const columns = [{name: 'device', text: true}, {name: ''}, {name: 'ops'},
    ...shares.map(([, name, colour]) => ({name, swatch: swatch(colour)})), {name: 'done', title: 'nothing was left to start'}, {name: 'peak memory'}];
  const rows = run.stats.devices.map((device, i) => ({cells: [devices[i].name, shareBar(device), format.count(device.ops),
    ...shares.map(([key]) => format.percent(device[key])), format.percent(device.finished),
    format.bytes(device.peak_memory_bytes)]}));
  return table(columns, rows);
}

function channelTable(run) {
  const busy = run.stats.channels.filter((channel) => channel.busy > 0);
  if (busy.length === 0) return null;
  return table([{name: 'channel', text: true}, {name: 'busy'}],
    busy.map((channel) => ({cells: [channel.name, format.percent(channel.busy)]})));
}

export class RunPanel {
  constructor(parts) {
    const {run, report} = parts;
    this.run = run;
    const kind = run.what === 'plan' ? 'plan' : 'trace';
    const heading = element('h3', {}, run.name, ' ',
      element('small', {}, `${kind}${run.by ? `, ${run.by}` : ''}: ${format.time(run.makespan)}`));
    this.note = element('small');
    heading.append(' ', this.note);
    this.section = element('div', {class: 'run'}, heading);
    this.frame = element('div', {class: 'canvas'});
    this.drawings = [];
    if (run.opCount === 0) {
      const why = run.what === 'plan' ? 'This plan has no timeline of its own: simulate it and add the trace.'
        : 'Nothing ran.';
      this.section.append(element('p', {class: 'message'}, why));
      return;
    }
    this.timeline = new Timeline(parts);
    this.utilisation = new Utilisation({...parts, devices: report.devices});
    this.drawings = [this.timeline, this.utilisation];
    const some = report.devices.length > mostDevices ? `, of the first ${mostDevices} devices` : '';
    this.frame.append(this.timeline.wrapper, element('h4', {}, `Busy slots, over the time shown${some}`), this.utilisation.canvas);
    for (const {drawing, details} of resourceParts(parts)) {
      this.drawings.push(drawing);
      this.frame.append(details);
    }
    this.section.append(this.frame, deviceTable(run, report.devices));
    const weights = weightTable(run, report);
    if (weights) this.section.append(weights);
    if (run.expected) {
      const predicted = new Predicted(parts);
      this.drawings.push(predicted);
      this.section.append(predicted.details);
    }
    const channels = channelTable(run);
    if (channels) this.section.append(element('details', {}, element('summary', {class: 'quiet'}, 'Channels'), channels));
  }

  resize() {
    const width = Math.max(280, this.frame.clientWidth);
    for (const drawing of this.drawings) drawing.resize(width);
    if (this.timeline) {
      const isCut = this.timeline.contentHeight > this.timeline.height;
      this.note.textContent = `(${this.timeline.rows} lanes${isCut ? ', scroll to see all' : ''})`;
    }
    return width;
  }

  draw() {
    for (const drawing of this.drawings) drawing.draw();
  }
}
