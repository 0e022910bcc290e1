// The timeline of one job, for the page of `tutti serve`: the same code as in the page of `tutti report`. It lives in a shadow
// root, so that the two style sheets do not meet.

import {Theme} from './theme.js';
import {element} from './dom.js';
import {readReport} from './data.js';
import {showRuns} from './runs.js';
import style from './style.css';

export class JobTimeline {
  constructor(host) {
    const shadow = host.attachShadow({mode: 'open'});
    this.section = element('section', {id: 'runs', 'aria-label': 'Timeline'});
    this.tip = element('div', {id: 'tip', role: 'tooltip', hidden: ''});
    this.root = element('div', {}, this.section, this.tip);
    shadow.append(element('style', {}, style.replaceAll(':root', ':host')), this.root);
    this.theme = new Theme(element('button'), this.root);
  }

  // `raw`: what /v1/jobs/ID/timeline answers.
  show(raw) {
    this.clear();
    this.attached = new AbortController();
    const report = readReport(raw);
    this.shown = showRuns({section: this.section, tip: this.tip, report, theme: this.theme, signal: this.attached.signal,
      plain: true});
  }

  clear() {
    this.attached?.abort();
    this.theme.listeners.length = 0;
    this.section.replaceChildren();
    this.tip.hidden = true;
  }
}
