// The search of the site, and its menu on small screens. Pages come from search_index.js; nothing is fetched.
'use strict';
(() => {
  const root = document.body.dataset.root;
  const input = document.getElementById('search');
  const found = document.getElementById('found');
  const mostShown = 20;
  const mostOfAPage = 3;

  // One row for each heading, in lower case once.
  const rows = [];
  for (const [title, address, group, parts] of window.tuttiPages) {
    const inPage = parts.map(([heading, , text]) => `${heading} ${text}`).join(' ').toLowerCase();
    for (const [heading, anchor, text] of parts) {
      rows.push({
        title, address, group, heading, anchor, text, inPage,
        inTitle: title.toLowerCase(), inHeading: heading.toLowerCase(), inText: text.toLowerCase(),
      });
    }
  }

  // Pages that explain come before those that record.
  const weightOfGroup = {Notebook: 0.4, Decisions: 0.6, Results: 0.7, Releases: 0.5, Development: 0.6};

  function wordStart(text, word) {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      if (at === 0 || !/[a-z0-9]/.test(text[at - 1])) return at;
    }
    return -1;
  }

  // 0 if the page lacks a word, or this part of it lacks all. Where a word begins counts more than its middle.
  function score(row, words) {
    let sum = 0;
    let here = 0;
    for (const word of words) {
      let best = 0;
      if (wordStart(row.inHeading, word) >= 0) best = 12;
      else if (wordStart(row.inTitle, word) >= 0) best = 7;
      else if (row.inHeading.includes(word)) best = 5;
      if (wordStart(row.inText, word) >= 0) best += 3;
      else if (row.inText.includes(word)) best += 1;
      if (best > 0) ++here;
      else if (row.inPage.includes(word)) best = 0.1;
      else return 0;
      sum += best;
    }
    if (here === 0) return 0;
    sum *= here / words.length;
    const all = words.join(' ');
    if (row.inHeading === all || row.inHeading === `tutti ${all}`) sum += 20;
    else if (row.inTitle === all || row.inTitle === `tutti ${all}`) sum += 5;
    else if (words.length > 1 && row.inText.includes(all)) sum += 6;
    return sum * (weightOfGroup[row.group] ?? 1);
  }

  // `text` with the words marked, as nodes.
  function marked(text, words) {
    const nodes = document.createDocumentFragment();
    const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'gi');
    text.split(pattern).forEach((part, i) => {
      if (i % 2 === 0) nodes.append(part);
      else nodes.append(Object.assign(document.createElement('mark'), {textContent: part}));
    });
    return nodes;
  }

  function excerpt(row, words) {
    const at = Math.max(0, ...words.map((word) => row.inText.indexOf(word)).filter((place) => place >= 0).slice(0, 1));
    const from = at < 60 ? 0 : row.text.indexOf(' ', at - 60) + 1;
    return (from > 0 ? '... ' : '') + row.text.slice(from, from + 170);
  }

  let selected = -1;
  function select(index) {
    const items = [...found.querySelectorAll('li[role="option"]')];
    if (items.length === 0) return;
    selected = (index + items.length) % items.length;
    items.forEach((item, i) => item.setAttribute('aria-selected', String(i === selected)));
    items[selected].scrollIntoView({block: 'nearest'});
  }

  function show() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.replaceChildren();
    selected = -1;
    found.hidden = words.length === 0;
    input.setAttribute('aria-expanded', String(!found.hidden));
    if (found.hidden) return;
    const shown = new Map(); // how often a page stands in the list
    const best = rows.map((row) => ({row, value: score(row, words)})).filter(({value}) => value > 0)
      .sort((a, b) => b.value - a.value).filter(({row}) => {
        shown.set(row.address, (shown.get(row.address) ?? 0) + 1);
        return shown.get(row.address) <= mostOfAPage;
      }).slice(0, mostShown);
    for (const {row} of best) {
      const item = document.createElement('li');
      item.setAttribute('role', 'option');
      const link = document.createElement('a');
      link.href = `${root}/${row.address}${row.anchor ? '#' + row.anchor : ''}`;
      const name = document.createElement('b');
      name.append(marked(row.heading || row.title, words));
      link.append(name, row.heading && row.heading !== row.title ? ` - ${row.title}` : '', ` (${row.group})`);
      const text = document.createElement('small');
      text.append(marked(excerpt(row, words), words));
      link.append(text);
      item.append(link);
      found.append(item);
    }
    if (best.length === 0) {
      const none = Object.assign(document.createElement('li'), {className: 'none', textContent: `No page has all of: ${words.join(' ')}`});
      found.append(none);
    } else {
      select(0);
    }
  }

  input.addEventListener('input', show);
  input.addEventListener('focus', show);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') select(selected + 1);
    else if (event.key === 'ArrowUp') select(selected - 1);
    else if (event.key === 'Enter') found.querySelector('li[aria-selected="true"] a')?.click();
    else if (event.key === 'Escape') input.blur();
    else return;
    event.preventDefault();
  });
  const close = () => {
    found.hidden = true;
    input.setAttribute('aria-expanded', 'false');
  };
  document.addEventListener('click', (event) => {
    if (!event.target.closest('.search') || event.target.closest('#found a')) close();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close();
    if (event.key !== '/' || event.target.closest('input, textarea')) return;
    event.preventDefault();
    input.focus();
  });

  const button = document.getElementById('menu-button');
  button.addEventListener('click', () => {
    const open = document.getElementById('menu').classList.toggle('open');
    button.setAttribute('aria-expanded', String(open));
  });
  document.querySelector('nav a[aria-current]')?.scrollIntoView({block: 'center'});
  window.scrollTo({top: location.hash ? window.scrollY : 0});
  window.tuttiSite = {ready: true};
})();
