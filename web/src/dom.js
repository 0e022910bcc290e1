// Elements, made in one call. Text is always text: nothing from a file is read as HTML.

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  fill(made, attributes, children);
  return made;
}

export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(made, attributes, children);
  return made;
}

// Gives the canvas this size in CSS pixels, and the device's own pixels to draw with.
export function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0);
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity));
}

// rows: lists of texts or elements; columns: {name, text: true for text}.
export function table(columns, rows, attributes = {}) {
  const head = element('tr', {}, columns.map((column) =>
    element('th', {scope: 'col', class: column.text ? 'text' : undefined, title: column.title}, column.swatch ?? [], column.name)));
  const body = rows.map((row) => element('tr', {class: row.best ? 'best' : undefined}, row.cells.map((cell, i) =>
    element('td', {class: columns[i].text ? 'text wide' : undefined}, cell))));
  return element('div', {class: 'scroll'},
    element('table', attributes, element('thead', {}, head), element('tbody', {}, body)));
}
