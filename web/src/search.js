// Finds ops by a part of their name. Down and Up walk the list, Enter takes, Escape leaves.

import {element} from './dom.js';

const mostFound = 30;

export class Search {
  constructor({input, list, names, choose}) {
    Object.assign(this, {input, list, names, choose});
    this.found = [];
    this.at = -1;
    input.addEventListener('input', () => this.look());
    input.addEventListener('keydown', (event) => this.key(event));
    input.addEventListener('blur', () => setTimeout(() => this.close(), 150));
  }

  look() {
    const wanted = this.input.value.trim().toLowerCase();
    this.found = [];
    if (wanted !== '') {
      // An op of exactly that name goes first.
      const exact = this.names.findIndex((name) => name.toLowerCase() === wanted);
      if (exact >= 0) this.found.push(exact);
      for (let op = 0; op < this.names.length && this.found.length < mostFound; ++op) {
        if (op !== exact && this.names[op].toLowerCase().includes(wanted)) this.found.push(op);
      }
    }
    this.at = this.found.length > 0 ? 0 : -1;
    this.render(wanted !== '');
  }

  render(isOpen) {
    const items = this.found.map((op, i) => element('li', {
      id: `found-${i}`,
      role: 'option',
      'aria-selected': String(i === this.at),
      onmousedown: (event) => {
        event.preventDefault();
        this.take(i);
      },
    }, this.names[op]));
    if (items.length === 0) items.push(element('li', {class: 'none'}, 'No op has this in its name.'));
    this.list.replaceChildren(...items);
    this.list.hidden = !isOpen;
    this.input.setAttribute('aria-expanded', String(isOpen));
    if (this.at >= 0) this.input.setAttribute('aria-activedescendant', `found-${this.at}`);
    else this.input.removeAttribute('aria-activedescendant');
    this.list.children[Math.max(0, this.at)].scrollIntoView?.({block: 'nearest'});
  }

  key(event) {
    const steps = {ArrowDown: 1, ArrowUp: -1};
    if (event.key in steps && this.found.length > 0) {
      event.preventDefault();
      this.at = (this.at + steps[event.key] + this.found.length) % this.found.length;
      this.render(true);
    } else if (event.key === 'Enter') {
      this.take(this.at);
    } else if (event.key === 'Escape') {
      this.close();
    }
  }

  take(i) {
    if (i < 0) return;
    this.choose(this.found[i]);
    this.close();
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute('aria-expanded', 'false');
  }
}
