// One run on a canvas: a lane for each slot of each device and for each channel that carried
// something, with spans, the critical path and what is selected.

import {fitCanvas} from './dom.js';
import {axisFormat} from './format.js';
import {addBusy, drawLane, firstAfter} from './lanes.js';
import {gutter} from './view.js';

const axisHeight = 24;
const groupGap = 6;
const foldedColumn = 2; // pixels
const mostLinks = 400; // lines from and to the selected op
const mostSteps = 90; // of the visible critical path; lines between more would hide the rest

export class Timeline {
  constructor({run, graph, view, theme, selection, colours, options}) {
    Object.assign(this, {run, graph, view, theme, selection, colours, options});
    this.canvas = document.createElement('canvas');
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'application');
    this.canvas.setAttribute('aria-label',
      `Timeline of ${run.name}: ${run.lanes.length} lanes, ${run.opCount} ops, ${run.transferCount} transfers`);
    this.context = this.canvas.getContext('2d');
    this.wrapper = document.createElement('div');
    this.wrapper.className = 'lanes';
    this.spacer = document.createElement('div');
    this.spacer.append(this.canvas);
    this.wrapper.append(this.spacer);
    this.wrapper.addEventListener('scroll', () => this.draw());
    this.layOut();
    view.attach(this.canvas);
  }

  layOut() {
    const lanes = this.run.lanes;
    const folds = !this.options.channels;
    this.rows = folds ? Math.min(lanes.length, lanes.filter((lane) => lane.isDevice).length + 1) : lanes.length;
    this.rowHeight = this.rows <= 14 ? 22 : this.rows <= 40 ? 16 : 12;
    this.tops = [];
    let top = axisHeight + 2;
    lanes.forEach((lane, i) => {
      if (this.isFolded(i) && i > 0 && !lanes[i - 1].isDevice) { // all channels share a row
        this.tops.push(this.tops[i - 1]);
        return;
      }
      if (i > 0 && lane.name !== lanes[i - 1].name) top += groupGap;
      this.tops.push(top);
      top += this.rowHeight;
    });
    this.contentHeight = top + 6;
  }

  isFolded(i) {
    return !this.options.channels && !this.run.lanes[i].isDevice;
  }

  resize(width) {
    const shown = Math.min(this.contentHeight, Math.max(200, Math.floor(window.innerHeight * 0.62)));
    this.width = width;
    this.height = shown;
    fitCanvas(this.canvas, width, shown);
    this.wrapper.style.maxHeight = `${shown}px`;
    this.spacer.style.height = `${this.contentHeight}px`;
  }

  boxOf(lane) {
    return {
      top: this.tops[lane] - this.wrapper.scrollTop + 1,
      height: this.rowHeight - 2,
      left: gutter,
      right: this.width,
    };
  }

  isInSight(box) {
    return box.top + box.height > axisHeight && box.top < this.height;
  }

  draw() {
    const begin = performance.now();
    const {context, width, height} = this;
    const scale = this.view.scale();
    this.related = this.relatedOps();
    context.clearRect(0, 0, width, height);
    this.drawGrid(scale);
    this.run.lanes.forEach((lane, i) => this.drawLaneAndSpans(lane, i, scale));
    context.save();
    context.beginPath();
    context.rect(gutter, axisHeight, width - gutter, height - axisHeight);
    context.clip();
    if (this.options.critical) this.drawCritical(scale);
    this.drawSelected(scale);
    context.restore();
    this.drawLabels();
    this.drawAxis(scale);
    this.lastDrawMs = performance.now() - begin;
  }

  drawGrid(scale) {
    const {context, theme} = this;
    context.fillStyle = theme.colours.lane;
    this.run.lanes.forEach((lane, i) => {
      const box = this.boxOf(i);
      if (this.isInSight(box)) context.fillRect(gutter, box.top, this.width - gutter, box.height);
    });
    context.fillStyle = theme.colours.grid;
    for (const tick of this.ticks(scale)) context.fillRect(Math.round(scale(tick)), axisHeight, 1, this.height);
  }

  ticks(scale) {
    return scale.ticks(Math.max(2, Math.floor(this.view.plotWidth() / 110)));
  }

  colourOfMark(lane) {
    const {run, colours, theme} = this;
    if (!lane.isDevice) return () => theme.colours.transfer;
    return (mark) => colours.of(run.subject[mark]);
  }

  drawLaneAndSpans(lane, i, scale) {
    const box = this.boxOf(i);
    if (!this.isInSight(box)) return;
    const {context} = this;
    if (this.isFolded(i)) {
      if (i === 0 || this.run.lanes[i - 1].isDevice) this.drawFolded(i, box, scale);
    } else {
      drawLane(context, this.run, lane, scale, box, this.colourOfMark(lane));
    }
    if (this.isFolded(i) && i + 1 < this.run.lanes.length) return; // the last one of the row dims it
    if (this.related) { // all but what is selected steps back
      context.globalAlpha = 0.62;
      context.fillStyle = this.theme.colours.panel;
      context.fillRect(gutter, box.top, this.width - gutter, box.height);
      context.globalAlpha = 1;
    } else if (this.rowHeight >= 16 && !this.isFolded(i)) {
      this.drawNames(lane, box, scale);
    }
  }

  // The row of all channels: how many of them carry something, column by column.
  drawFolded(first, box, scale) {
    const {context, run} = this;
    const [from, to] = scale.domain();
    const columns = new Float32Array(Math.max(1, Math.floor(this.view.plotWidth() / foldedColumn)));
    const lanes = run.lanes.slice(first);
    for (const lane of lanes) addBusy(run, lane, from, to, columns);
    context.fillStyle = this.theme.colours.transfer;
    columns.forEach((sum, column) => {
      if (sum <= 0) return;
      const height = Math.max(2, box.height * Math.min(1, sum / lanes.length));
      context.fillRect(gutter + column * foldedColumn, box.top + box.height - height, foldedColumn, height);
    });
  }

  // Names of the spans that are wide enough for some letters.
  drawNames(lane, box, scale) {
    const [from, to] = scale.domain();
    const least = ((to - from) * 46) / this.view.plotWidth();
    if (lane.longest < least) return;
    const {context, run} = this;
    context.fillStyle = '#111';
    context.font = '11px system-ui, "Liberation Sans", sans-serif';
    context.textBaseline = 'middle';
    let left = 300;
    for (let i = firstAfter(run, lane, from); i < lane.end && run.start[i] < to && left > 0; ++i) {
      const x0 = Math.max(scale(run.start[i]), gutter);
      const x1 = Math.min(scale(run.finish[i]), this.width);
      if (x1 - x0 < 46) continue;
      --left;
      context.fillText(this.fit(this.nameOf(lane, i), x1 - x0 - 10), x0 + 5, box.top + box.height / 2 + 0.5);
    }
  }

  fit(text, room) {
    const {context} = this;
    let short = text.length > 200 ? text.slice(0, 200) : text;
    if (context.measureText(short).width <= room) return short;
    let low = 0;
    let high = short.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (context.measureText(`${short.slice(0, middle)}…`).width <= room) low = middle;
      else high = middle - 1;
    }
    return low === 0 ? '' : `${short.slice(0, low)}…`;
  }

  nameOf(lane, mark) {
    const {run, graph} = this;
    return lane.isDevice ? graph.names[run.subject[mark]] : run.valueName(graph, run.value[run.subject[mark]]);
  }

  drawLabels() {
    const {context, theme, run} = this;
    context.fillStyle = theme.colours.panel;
    context.fillRect(0, axisHeight, gutter, this.height);
    context.textBaseline = 'middle';
    run.lanes.forEach((lane, i) => {
      const box = this.boxOf(i);
      if (!this.isInSight(box)) return;
      const isFolded = this.isFolded(i);
      if (isFolded && i > 0 && !run.lanes[i - 1].isDevice) return;
      const isFirst = isFolded || i === 0 || run.lanes[i - 1].name !== lane.name;
      if (!isFirst && this.rowHeight < 12) return;
      context.font = '12px system-ui, "Liberation Sans", sans-serif';
      context.fillStyle = isFirst && lane.isDevice ? theme.colours.ink : theme.colours.quiet;
      const text = isFolded ? 'transfers' : isFirst ? lane.name : lane.isDevice ? `slot ${lane.row}` : '';
      const indent = isFirst ? 8 : 18;
      context.fillText(this.fit(text, gutter - indent - 8), indent, box.top + box.height / 2 + 0.5);
    });
  }

  drawAxis(scale) {
    const {context, theme} = this;
    context.fillStyle = theme.colours.panel;
    context.fillRect(0, 0, this.width, axisHeight);
    context.fillStyle = theme.colours.line;
    context.fillRect(0, axisHeight, this.width, 1);
    const ticks = this.ticks(scale);
    const label = axisFormat(ticks, scale.domain()[1]);
    context.fillStyle = theme.colours.quiet;
    context.font = '11px system-ui, "Liberation Sans", sans-serif';
    context.textBaseline = 'middle';
    for (const tick of ticks) {
      const x = Math.round(scale(tick));
      const text = label(tick);
      const room = context.measureText(text).width;
      if (x + 4 + room > this.width) continue;
      context.fillText(text, x + 4, axisHeight / 2);
      context.fillRect(x, axisHeight - 6, 1, 6);
    }
  }

  rectOf(mark, scale) {
    const box = this.boxOf(this.run.laneOf[mark]);
    const x0 = scale(this.run.start[mark]);
    const x1 = Math.max(scale(this.run.finish[mark]), x0 + 2);
    return {...box, x0, x1, width: x1 - x0, middle: box.top + box.height / 2};
  }

  drawCritical(scale) {
    const {context, run, theme} = this;
    const [from, to] = scale.domain();
    context.globalAlpha = this.related ? 0.35 : 1;
    context.fillStyle = theme.colours.critical;
    const isSeen = ({mark}) => mark >= 0 && run.finish[mark] >= from && run.start[mark] <= to;
    const steps = run.critical.filter(isSeen).map(({mark}) => this.rectOf(mark, scale));
    for (const rect of steps) {
      context.fillRect(rect.x0, rect.top, rect.width, 3);
      context.fillRect(rect.x0, rect.top + rect.height - 1.5, rect.width, 1.5);
    }
    if (steps.length <= mostSteps) this.drawWay(steps);
    context.globalAlpha = 1;
  }

  // From each step to the next, where that is on another lane.
  drawWay(steps) {
    const {context} = this;
    context.strokeStyle = this.theme.colours.critical;
    context.lineWidth = 1;
    context.beginPath();
    for (let i = 1; i < steps.length; ++i) {
      if (steps[i].top === steps[i - 1].top) continue;
      context.moveTo(steps[i - 1].x1, steps[i - 1].middle);
      context.lineTo(steps[i].x0, steps[i].middle);
    }
    context.stroke();
  }

  // The selected op with those it reads from and those that read it; null if none is selected.
  relatedOps() {
    const {selection, graph} = this;
    if (selection.op === null) return null;
    return {producers: graph.producers(selection.op), consumers: graph.consumers(selection.op)};
  }

  drawSelected(scale) {
    const {run, selection, theme} = this;
    if (selection.transfer !== null && selection.run === run) {
      const mark = run.marksOfTransfer[selection.transfer];
      if (mark >= 0) this.outline(mark, scale, theme.colours.transfer, theme.colours.accent, 2.5);
      return;
    }
    if (!this.related) return;
    const own = run.markOfOp[selection.op];
    if (own < 0) return;
    const rect = this.rectOf(own, scale);
    for (const [ops, colour, isBefore] of [[this.related.producers, theme.colours.producer, true],
      [this.related.consumers, theme.colours.consumer, false]]) {
      for (const op of ops.subarray(0, mostLinks)) this.link(run.markOfOp[op], rect, scale, colour, isBefore);
    }
    this.outline(own, scale, this.colours.of(selection.op), theme.colours.ink, 2.5);
  }

  link(mark, own, scale, colour, isBefore) {
    if (mark < 0) return;
    const {context} = this;
    const other = this.rectOf(mark, scale);
    this.outline(mark, scale, this.colours.of(this.run.subject[mark]), colour, 2);
    const [from, to] = isBefore ? [other, own] : [own, other];
    const bend = Math.max(12, Math.min(120, Math.abs(to.x0 - from.x1) / 2));
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(from.x1, from.middle);
    context.bezierCurveTo(from.x1 + bend, from.middle, to.x0 - bend, to.middle, to.x0, to.middle);
    context.stroke();
  }

  outline(mark, scale, fill, stroke, lineWidth) {
    const {context} = this;
    const rect = this.rectOf(mark, scale);
    const x0 = Math.max(rect.x0, -10);
    const width = Math.min(rect.x1, this.width + 10) - x0;
    context.fillStyle = fill;
    context.fillRect(x0, rect.top, width, rect.height);
    context.strokeStyle = stroke;
    context.lineWidth = lineWidth;
    context.strokeRect(x0, rect.top, width, rect.height);
    if (width < 46 || this.rowHeight < 16) return;
    const lane = this.run.lanes[this.run.laneOf[mark]];
    const textAt = Math.max(x0, gutter) + 5;
    context.fillStyle = '#111';
    context.font = '11px system-ui, "Liberation Sans", sans-serif';
    context.textBaseline = 'middle';
    context.fillText(this.fit(this.nameOf(lane, mark), x0 + width - textAt - 5), textAt, rect.middle + 0.5);
  }

  laneAt(y) {
    if (y < axisHeight) return -1;
    return this.tops.findIndex((top) => {
      const shown = top - this.wrapper.scrollTop;
      return y >= shown && y < shown + this.rowHeight;
    });
  }

  // The mark under a point of the canvas, or one that misses it by up to two pixels; -1 for none.
  markAt(x, y) {
    const index = this.laneAt(y);
    if (index < 0 || x < gutter) return -1;
    const scale = this.view.scale();
    const time = scale.invert(x);
    const slack = scale.invert(x + 2) - time;
    const lanes = this.isFolded(index) ? this.run.lanes.slice(index) : [this.run.lanes[index]];
    for (const lane of lanes) {
      const mark = this.markOn(lane, time, slack);
      if (mark >= 0) return mark;
    }
    return -1;
  }

  markOn(lane, time, slack) {
    const {run} = this;
    let best = -1;
    let least = slack;
    for (let i = firstAfter(run, lane, time - slack); i < lane.end && run.start[i] <= time + slack; ++i) {
      const miss = Math.max(0, run.start[i] - time, time - run.finish[i]);
      if (miss > least || (miss === least && best >= 0)) continue;
      best = i;
      least = miss;
      if (miss === 0) break;
    }
    return best;
  }

  // The mark of a lane that is nearest to a time.
  markNear(laneIndex, time) {
    const lane = this.run.lanes[laneIndex];
    if (!lane || lane.begin === lane.end) return -1;
    return Math.min(firstAfter(this.run, lane, time), lane.end - 1);
  }

  scrollToLane(laneIndex) {
    const top = this.tops[laneIndex];
    const {scrollTop} = this.wrapper;
    if (top - scrollTop < axisHeight || top + this.rowHeight - scrollTop > this.height) {
      this.wrapper.scrollTop = Math.max(0, top - this.height / 2);
    }
  }
}
