// The pointer and the keyboard on a timeline.

import * as format from './format.js';

function describe(timeline, report, mark) {
  const {run, graph} = timeline;
  const lane = run.lanes[run.laneOf[mark]];
  const times = `${format.exactTime(run.start[mark])} to ${format.exactTime(run.finish[mark])}, ` +
    `${format.time(run.finish[mark] - run.start[mark])}`;
  const critical = run.criticalMarks.has(mark) ? '\non the critical path' : '';
  if (lane.isDevice) {
    const op = run.subject[mark];
    const kind = graph.kinds[graph.kindOf[op]];
    return `${graph.names[op]}${kind ? ` (${kind})` : ''}\n${times}${critical}`;
  }
  const transfer = run.subject[mark];
  const value = run.value[transfer];
  return `${run.valueName(graph, value)}, ${format.bytes(run.valueBytes[value])}\n` +
    `${report.memories[run.from[transfer]]} to ${report.memories[run.to[transfer]]}\n${times}${critical}`;
}

function selectMark(timeline, selection, mark) {
  const {run} = timeline;
  if (mark < 0) selection.set({});
  else if (run.lanes[run.laneOf[mark]].isDevice) selection.set({op: run.subject[mark]});
  else selection.set({transfer: run.subject[mark], run});
}

export function followPointer({timeline, report, selection, tip}) {
  const {canvas} = timeline;
  canvas.addEventListener('mousemove', (event) => {
    const mark = event.buttons ? -1 : timeline.markAt(event.offsetX, event.offsetY);
    tip.hidden = mark < 0;
    if (mark < 0) return;
    tip.textContent = describe(timeline, report, mark);
    const {width, height} = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - width - 8)}px`;
    tip.style.top = `${event.clientY + 18 + height > window.innerHeight ? event.clientY - height - 10 : event.clientY + 18}px`;
  });
  canvas.addEventListener('mouseleave', () => {
    tip.hidden = true;
  });
  // d3-zoom swallows the click that ends a drag.
  canvas.addEventListener('click', (event) => {
    canvas.focus({preventScroll: true});
    selectMark(timeline, selection, timeline.markAt(event.offsetX, event.offsetY));
  });
}

// The mark that stands for the selection in this run; -1 if there is none.
function selectedMark(timeline, selection) {
  const {run} = timeline;
  if (selection.op !== null) return run.markOfOp[selection.op];
  return selection.transfer !== null && selection.run === run ? run.marksOfTransfer[selection.transfer] : -1;
}

function step(timeline, view, selection, key) {
  const {run} = timeline;
  const [from, to] = view.shown();
  const now = selectedMark(timeline, selection);
  if (now < 0) {
    selectMark(timeline, selection, timeline.markNear(0, from));
    return;
  }
  const index = run.laneOf[now];
  const lane = run.lanes[index];
  const sideways = {ArrowLeft: now - 1, ArrowRight: now + 1}[key];
  const next = sideways !== undefined
    ? (sideways >= lane.begin && sideways < lane.end ? sideways : now)
    : timeline.markNear(index + (key === 'ArrowUp' ? -1 : 1), (run.start[now] + run.finish[now]) / 2);
  if (next < 0) return;
  selectMark(timeline, selection, next);
  timeline.scrollToLane(run.laneOf[next]);
  if (run.finish[next] < from || run.start[next] > to) view.panBy((run.start[next] - (from + to) / 2) / (to - from));
}

export function followKeys({timeline, view, selection, choose, tip}) {
  const acts = {
    '+': () => view.zoomBy(1.5),
    '=': () => view.zoomBy(1.5),
    '-': () => view.zoomBy(1 / 1.5),
    0: () => view.showAll(),
    ArrowLeft: () => view.panBy(-0.15),
    ArrowRight: () => view.panBy(0.15),
    Escape: () => selection.set({}),
    Enter: () => selection.op !== null && choose(selection.op),
  };
  timeline.canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    tip.hidden = true;
    if (event.shiftKey && event.key.startsWith('Arrow')) step(timeline, view, selection, event.key);
    else if (event.key in acts) acts[event.key]();
    else return;
    event.preventDefault();
  });
}
