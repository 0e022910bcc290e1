// How busy each device is over the time shown: one row each, on the time axis of the timeline.

import {fitCanvas} from './dom.js';
import {addBusy} from './lanes.js';
import {gutter} from './view.js';
import {percent} from './format.js';

const rowHeight = 26;
const binWidth = 3; // pixels
export const mostDevices = 64; // more are in the table alone

export class Utilisation {
  constructor({run, devices, view, theme}) {
    Object.assign(this, {run, devices: devices.slice(0, mostDevices), view, theme});
    this.canvas = document.createElement('canvas');
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', `Share of busy slots of each device of ${run.name} over time; the table below has the means`);
    this.context = this.canvas.getContext('2d');
    view.attach(this.canvas);
  }

  resize(width) {
    this.width = width;
    this.height = this.devices.length * rowHeight + 8;
    fitCanvas(this.canvas, this.width, this.height);
  }

  draw() {
    const {context, run, theme} = this;
    const [from, to] = this.view.shown();
    const bins = Math.max(1, Math.floor(this.view.plotWidth() / binWidth));
    context.clearRect(0, 0, this.width, this.height);
    context.font = '12px system-ui, "Liberation Sans", sans-serif';
    context.textBaseline = 'middle';
    const sums = this.devices.map(() => new Float32Array(bins));
    for (const lane of run.lanes) {
      if (lane.isDevice && lane.device < sums.length) addBusy(run, lane, from, to, sums[lane.device]);
    }
    this.devices.forEach((device, i) => {
      const top = 4 + i * rowHeight;
      const full = rowHeight - 6;
      const slots = run.lanes.filter((lane) => lane.device === i).length || 1;
      context.fillStyle = theme.colours.lane;
      context.fillRect(gutter, top, bins * binWidth, full);
      context.fillStyle = theme.colours.accent;
      context.globalAlpha = 0.75;
      let sum = 0;
      for (let bin = 0; bin < bins; ++bin) {
        const share = Math.min(1, sums[i][bin] / slots);
        sum += share;
        if (share > 0) context.fillRect(gutter + bin * binWidth, top + full * (1 - share), binWidth, full * share);
      }
      context.globalAlpha = 1;
      context.fillStyle = theme.colours.ink;
      const isNarrow = gutter < 100;
      if (isNarrow) context.font = '11px system-ui, "Liberation Sans", sans-serif';
      context.fillText(short(device.name, isNarrow ? 5 : 11), isNarrow ? 4 : 8, top + full / 2);
      context.fillStyle = theme.colours.quiet;
      const mean = percent(sum / bins);
      context.fillText(mean, gutter - (isNarrow ? 4 : 8) - context.measureText(mean).width, top + full / 2);
    });
  }
}

function short(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
