// Draws the spans of one lane. Spans narrower than two pixels are gathered: each column of pixels is
// drawn once, in the colour of the longest span in it and as strong as it is filled. A redraw
// therefore reads the visible spans and draws at most one rectangle for each column.

const strengths = 4;

// The first mark of a lane that ends after `time`.
export function firstAfter(run, lane, time) {
  const overlaps = lane.overlapping;
  const values = overlaps ? run.start : run.finish;
  const bound = overlaps ? time - lane.longest : time;
  let low = lane.begin;
  let high = lane.end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Gathers neighbouring columns of one colour and strength into one rectangle.
class Columns {
  constructor(context, box) {
    Object.assign(this, {context, box, begin: 0, end: 0, style: null, strength: 0});
  }

  add(at, style, filled) {
    const strength = Math.max(1, Math.ceil(Math.min(1, filled) * strengths));
    if (at !== this.end || style !== this.style || strength !== this.strength) {
      this.flush();
      Object.assign(this, {begin: at, style, strength});
    }
    this.end = at + 1;
  }

  flush() {
    if (this.style === null) return;
    this.context.globalAlpha = this.strength / strengths;
    this.context.fillStyle = this.style;
    this.context.fillRect(this.begin, this.box.top, this.end - this.begin, this.box.height);
    this.style = null;
  }
}

export function drawLane(context, run, lane, scale, box, colourOf) {
  const [from, to] = scale.domain();
  const origin = scale(0);
  const pixels = scale(1) - origin; // of one nanosecond
  const columns = new Columns(context, box);
  let column = -1; // the one being filled
  let filled = 0;
  let longest = 0;
  let style = null;
  for (let i = firstAfter(run, lane, from); i < lane.end && run.start[i] < to; ++i) {
    const x0 = Math.max(origin + run.start[i] * pixels, box.left);
    const x1 = Math.min(origin + run.finish[i] * pixels, box.right);
    const width = x1 - x0;
    const at = width < 2 ? Math.floor(x0) : -1;
    if (at !== column) {
      if (column >= 0) columns.add(column, style, filled);
      column = at;
      filled = 0;
      longest = -1;
    }
    if (at < 0) {
      columns.flush();
      context.globalAlpha = 1;
      context.fillStyle = colourOf(i);
      context.fillRect(x0, box.top, width > 4 ? width - 1 : width, box.height);
      continue;
    }
    filled += Math.max(width, 0.1);
    if (width > longest) {
      longest = width;
      style = colourOf(i);
    }
  }
  if (column >= 0) columns.add(column, style, filled);
  columns.flush();
  context.globalAlpha = 1;
}

// Adds the share of each bin during which the lane was busy.
export function addBusy(run, lane, from, to, bins) {
  const perNs = bins.length / (to - from);
  for (let i = firstAfter(run, lane, from); i < lane.end && run.start[i] < to; ++i) {
    const begin = Math.max(0, (run.start[i] - from) * perNs);
    const end = Math.min(bins.length, (run.finish[i] - from) * perNs);
    for (let bin = Math.floor(begin); bin < end; ++bin) {
      bins[bin] += Math.min(end, bin + 1) - Math.max(begin, bin);
    }
  }
}
