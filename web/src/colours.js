// The colour of each op, by kind or by group, and the legend that explains it.

import {categoryColour} from './theme.js';
import {element} from './dom.js';

const mostShown = 24;

export class Colours {
  constructor(graph, theme) {
    Object.assign(this, {graph, theme});
    this.use('kind');
  }

  use(what) {
    this.what = what;
    this.refresh();
  }

  refresh() {
    const {graph, theme} = this;
    const isKind = this.what === 'kind';
    this.names = isKind ? graph.kinds.map((name) => name || '(no kind)') : graph.groups;
    this.category = isKind ? (op) => graph.kindOf[op] : (op) => graph.groupOf[op] - 1;
    this.styles = this.names.map((_, i) => categoryColour(i, theme.isDark));
    this.other = categoryColour(-1, theme.isDark);
  }

  of(op) {
    return this.styles[this.category(op)] ?? this.other;
  }

  legend() {
    const entry = (style, name) => {
      const swatch = element('i');
      swatch.style.background = style;
      return element('span', {title: name}, swatch, name);
    };
    const shown = this.names.slice(0, mostShown).map((name, i) => entry(this.styles[i], name));
    const more = this.names.length - shown.length;
    if (more > 0) shown.push(element('span', {}, `and ${more} more`));
    return [...shown, entry('var(--transfer)', 'transfer'), entry('var(--critical)', 'critical path')];
  }
}
