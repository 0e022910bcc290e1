// The stretch of time that all timelines show. Each canvas hands its wheel, drag and double click to
// d3-zoom; whichever moves, the others follow.

import {scaleLinear} from 'd3-scale';
import {select} from 'd3-selection';
import {zoom, zoomIdentity} from 'd3-zoom';

export let gutter = 132; // where lanes have their names; less on a phone
const deepest = 1e7;
const rightMargin = 10;

export class View {
  constructor(end) {
    this.end = Math.max(1, end);
    this.width = 800;
    this.transform = zoomIdentity;
    this.canvases = [];
    this.listeners = [];
    this.base = scaleLinear().domain([0, this.end]);
    this.zoom = zoom()
      .scaleExtent([1, deepest])
      // Without a key the wheel scrolls the page, as everywhere else.
      .filter((event) => (event.type === 'wheel' ? event.ctrlKey || event.metaKey || event.altKey : !event.button && !event.ctrlKey))
      .wheelDelta((event) => -event.deltaY * (event.deltaMode === 1 ? 0.05 : event.deltaMode ? 1 : 0.004))
      .on('zoom', (event) => this.take(event.transform));
  }

  attach(canvas) {
    this.canvases.push(canvas);
    select(canvas).call(this.zoom);
    // Sideways scrolling pans.
    canvas.addEventListener('wheel', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.deltaX === 0) return;
      event.preventDefault();
      this.panBy(event.deltaX / this.plotWidth());
    }, {passive: false});
  }

  plotWidth() {
    return this.width - gutter - rightMargin;
  }

  resize(width) {
    if (width === this.width && this.sized) return;
    const [from, to] = this.shown();
    this.sized = true;
    this.width = width;
    gutter = width < 520 ? 84 : 132;
    this.base.range([gutter, width - rightMargin]);
    const area = [[gutter, 0], [width - rightMargin, 1]];
    this.zoom.extent(area).translateExtent(area);
    this.show(from, to);
  }

  take(transform) {
    this.transform = transform;
    for (const canvas of this.canvases) canvas.__zoom = transform; // where d3-zoom looks
    for (const listener of this.listeners) listener();
  }

  scale() {
    return this.transform.rescaleX(this.base);
  }

  shown() {
    return this.sized ? this.scale().domain() : [0, this.end];
  }

  show(from, to) {
    const length = Math.min(this.end, Math.max(to - from, this.end / deepest));
    const start = Math.min(Math.max(0, from), this.end - length);
    const k = this.end / length;
    const x = gutter - k * this.base(start);
    this.take(zoomIdentity.translate(x, 0).scale(k));
  }

  zoomBy(factor) {
    const [from, to] = this.shown();
    const middle = (from + to) / 2;
    const half = (to - from) / 2 / factor;
    this.show(middle - half, middle + half);
  }

  panBy(share) {
    const [from, to] = this.shown();
    const by = (to - from) * share;
    this.show(from + by, to + by);
  }

  showAll() {
    this.show(0, this.end);
  }

  // Scrolls to a span, with some room around it.
  reveal(start, finish) {
    const [from, to] = this.shown();
    if (start >= from && finish <= to && (finish - start) * this.plotWidth() > 4 * (to - from)) return;
    const length = Math.max(finish - start, this.end / deepest);
    this.show(start - 6 * length, finish + 6 * length);
  }

  onChange(listener) {
    this.listeners.push(listener);
  }
}
