// When jobs of a server waited and ran: a bar for each, on as few rows as can be. From a run log, or from the server's list of
// jobs.

import {axisBottom} from 'd3-axis';
import {scaleLinear} from 'd3-scale';
import {select} from 'd3-selection';
import {axisFormat, count, time} from './format.js';
import {element, svg} from './dom.js';

const row = {least: 4, most: 20};
const mostRows = 400;
const margin = {left: 12, right: 24, top: 4, bottom: 26};
const failures = ['failed', 'cancelled'];

// {name, enters or null, start or null, end or null, state}, in ns from some beginning.
function jobsOf(output) {
  const [one] = output.tables;
  if (!one) return null;
  const at = Object.fromEntries(one.columns.map((name, i) => [name, i]));
  const value = (cells, name) => (typeof cells[at[name]] === 'number' ? cells[at[name]] : null);
  if ('started_after_ns' in at && 'took_ns' in at) {
    return one.rows.map((cells) => {
      const [start, took] = [value(cells, 'started_after_ns'), value(cells, 'took_ns')];
      return {name: String(cells[at.job]), enters: null, start, end: start !== null && took !== null ? start + took : null, state: cells[at.state]};
    });
  }
  if (!('accepted_unix_ms' in at) || !('started_unix_ms' in at)) return null;
  const first = Math.min(...one.rows.map((cells) => value(cells, 'accepted_unix_ms') ?? Infinity));
  const since = (cells, name) => {
    const ms = value(cells, name);
    return ms === null || ms === 0 ? null : (ms - first) * 1e6;
  };
  return one.rows.map((cells) => ({name: String(cells[at.id]), enters: since(cells, 'accepted_unix_ms'), start: since(cells, 'started_unix_ms'),
    end: since(cells, 'ended_unix_ms'), state: cells[at.state]}));
}

// The row of each job: the first that is free when it begins.
function packed(jobs) {
  const free = [];
  return jobs.map(({begin, end}) => {
    let at = free.findIndex((until) => until <= begin);
    if (at < 0) at = free.push(0) - 1;
    free[at] = end;
    return at;
  });
}

export function ganttOf(output, width) {
  const found = jobsOf(output)?.filter((job) => job.start !== null || job.enters !== null);
  if (!found || found.length === 0) return null;
  const last = Math.max(1, ...found.flatMap((job) => [job.enters ?? 0, job.start ?? 0, job.end ?? 0]));
  const jobs = found.map((job) => ({...job, begin: job.enters ?? job.start, end: job.end ?? last, isOpen: job.end === null}))
    .sort((a, b) => a.begin - b.begin);
  const rows = packed(jobs);
  const shown = Math.min(mostRows, Math.max(...rows) + 1);
  const high = Math.max(row.least, Math.min(row.most, Math.floor(440 / shown)));
  const height = margin.top + shown * high + margin.bottom;
  const x = scaleLinear().domain([0, last]).range([margin.left, width - margin.right]);
  const bars = jobs.flatMap((job, i) => {
    if (rows[i] >= shown) return [];
    const y = margin.top + rows[i] * high;
    const tall = Math.max(2, high - 2);
    const waits = job.enters !== null && (job.start ?? job.end) > job.enters;
    const words = [`${job.name}: ${job.state}`, waits ? `waited ${time((job.start ?? job.end) - job.enters)}` : '',
      job.start !== null ? `ran ${time(job.end - job.start)}${job.isOpen ? ' so far' : ''}` : ''].filter(Boolean).join(', ');
    const parts = [];
    if (waits) {
      parts.push(svg('rect', {class: 'waits', x: x(job.enters), y, width: Math.max(1, x(job.start ?? job.end) - x(job.enters)), height: tall,
        style: 'fill: var(--wait-ops)'}, svg('title', {}, words)));
    }
    if (job.start !== null) {
      const colour = failures.includes(job.state) ? '--critical' : job.isOpen ? '--bar' : '--bar-best';
      const room = x(job.end) - x(job.start);
      parts.push(svg('rect', {class: 'mean', x: x(job.start), y, width: Math.max(2, room), height: tall, rx: Math.min(2, tall / 4),
        style: `fill: var(${colour})`}, svg('title', {}, words)));
      if (tall >= 13 && room > 7 * job.name.length + 8) {
        parts.push(svg('text', {x: x(job.start) + 5, y: y + tall / 2 + 4, style: 'fill: var(--page); pointer-events: none'}, job.name));
      }
    }
    return parts;
  });
  const ticks = x.ticks(Math.max(2, Math.floor(width / 110)));
  const axis = svg('g', {transform: `translate(0,${height - margin.bottom + 2})`});
  select(axis).call(axisBottom(x).tickValues(ticks).tickFormat(axisFormat(ticks, last)).tickSizeOuter(0));
  const left = jobs.filter((_, i) => rows[i] >= shown).length;
  const about = `When each of ${count(jobs.length)} jobs ran${jobs.some((job) => job.enters !== null) ? '; grey: it waited' : ''}` +
    `${left > 0 ? `; ${count(left)} more ran at the same time as ${mostRows} others` : ''}`;
  return [element('p', {class: 'quiet'}, about), svg('svg', {class: 'output-chart gantt', width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
    'aria-label': about}, bars, axis)];
}
