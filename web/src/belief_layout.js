// Where everything of a belief network is drawn. Variables about the same part of the hardware stand in one box; boxes of
// one sort (links, cores, ...) make a plate, titled and stacked; plates stand in columns, so that edges lead from left to
// right. A plate of very many boxes can be folded: then only the first of them are drawn.

const titles = {link: 'Links', switch: 'Switches', root: 'Root complexes', interconnect: 'Interconnect', memory: 'Memories',
  core: 'Cores', device: 'Devices', launch: 'Launched'};

export const node = {width: 92, height: 21};
const gap = {column: 11, row: 4, box: 6, plates: 22, between: 36};
const padding = {box: 6, title: 15, plate: 8, heading: 22};
export const mostBeside = 12; // letters
const foldAbove = 32;
const shownOfFolded = 8;

// What stands on a node, whose plate and box say the rest.
export function shortName(name) {
  const [what] = name.split('[');
  const threshold = /^outstanding(\d+)$/.exec(what);
  return threshold ? `≥${threshold[1]} open` : what;
}

// "core3", or "cpu1.core3" where there are several CPUs.
function namesBeside(boxes) {
  const owners = new Set(boxes.map((box) => box.name.slice(0, box.name.lastIndexOf('.'))));
  for (const box of boxes) box.label = owners.size > 1 ? box.name : box.name.slice(box.name.lastIndexOf('.') + 1);
}

// The longest way to each of `count` things, over pairs [from, to] without cycles.
function depths(count, pairs) {
  const depth = new Array(count).fill(0);
  for (let changed = true, round = 0; changed && round <= count; ++round) {
    changed = false;
    for (const [from, to] of pairs) {
      if (depth[to] > depth[from]) continue;
      depth[to] = depth[from] + 1;
      changed = true;
    }
  }
  return depth;
}

// The places of a box's variables within it: a column for each step from its roots; what is observed stands below what it
// tells about.
function placeInside(belief, members) {
  const at = new Map(members.map((variable, i) => [variable, i]));
  const isBelow = (variable) => belief.variables[variable].role === 'observed' && belief.variables[variable].parents.every((p) => at.has(p));
  const inner = members.flatMap((variable) => isBelow(variable) ? [] :
    belief.variables[variable].parents.filter((parent) => at.has(parent)).map((parent) => [at.get(parent), at.get(variable)]));
  const depth = depths(members.length, inner);
  const rows = [];
  const places = new Map();
  for (const variable of [...members.filter((v) => !isBelow(v)), ...members.filter(isBelow)]) {
    const column = isBelow(variable) ? places.get(belief.variables[variable].parents[0]).column : depth[at.get(variable)];
    rows[column] = rows[column] ?? 0;
    places.set(variable, {column, row: rows[column]++});
  }
  const columns = Math.max(...depth) + 1;
  const most = Math.max(...rows.filter((count) => count !== undefined));
  return {places, columns, rows: most};
}

function makePlates(belief) {
  const plates = new Map();
  const boxes = belief.parts.map((part) => ({...part, members: []}));
  belief.variables.forEach((variable, i) => boxes[variable.part].members.push(i));
  for (const box of boxes) {
    if (!plates.has(box.sort)) plates.set(box.sort, {sort: box.sort, title: titles[box.sort] ?? box.sort, boxes: []});
    plates.get(box.sort).boxes.push(Object.assign(box, placeInside(belief, box.members)));
  }
  return [...plates.values()];
}

// Plates that nothing leads to stand just before the first that they lead to; those without any edge to others, last.
function setColumns(belief, plates) {
  const plateOf = new Map(plates.flatMap((plate, p) => plate.boxes.flatMap((box) => box.members.map((variable) => [variable, p]))));
  const pairs = belief.variables.flatMap((variable, i) => variable.parents.map((parent) => [plateOf.get(parent), plateOf.get(i)]))
    .filter(([from, to]) => from !== to);
  const depth = depths(plates.length, pairs);
  plates.forEach((plate, p) => {
    const after = pairs.filter(([from]) => from === p).map(([, to]) => depth[to]);
    const isFirst = !pairs.some(([, to]) => to === p);
    plate.column = !isFirst ? depth[p] : after.length > 0 ? Math.min(...after) - 1 : Math.max(...depth);
  });
}

function measure(plate, fold) {
  const isFolded = fold && plate.boxes.length > foldAbove;
  plate.shown = isFolded ? plate.boxes.slice(0, shownOfFolded) : plate.boxes;
  plate.more = plate.boxes.length - plate.shown.length;
  const columns = Math.max(...plate.shown.map((box) => box.columns));
  const isPlain = plate.sort === 'core'; // many, small and alike: named at the side, not above
  if (isPlain) namesBeside(plate.boxes);
  plate.side = isPlain ? 10 + 6 * Math.min(mostBeside, Math.max(...plate.shown.map((box) => box.label.length))) : 0;
  plate.width = columns * node.width + (columns - 1) * gap.column + 2 * padding.box + 2 * padding.plate + plate.side;
  let y = padding.heading;
  for (const box of plate.shown) {
    box.top = isPlain ? 4 : padding.title;
    box.height = box.top + box.rows * node.height + (box.rows - 1) * gap.row + (isPlain ? 4 : padding.box);
    box.y = y;
    y += box.height + (isPlain ? 2 : gap.box);
  }
  plate.height = y + (plate.more > 0 ? 22 : 4);
}

// {plates, places: by variable {x, y} of its node, or undefined where it is folded away, width, height, folds: whether
// folding changes anything}
export function layOut(belief, fold) {
  const plates = makePlates(belief);
  setColumns(belief, plates);
  for (const plate of plates) measure(plate, fold);
  const columns = [];
  for (const plate of plates) (columns[plate.column] ??= []).push(plate);
  const heightOf = (column) => column.reduce((sum, plate) => sum + plate.height + gap.plates, -gap.plates);
  const height = Math.max(...columns.filter(Boolean).map(heightOf)) + 4;
  const places = new Array(belief.variables.length);
  let x = 2;
  for (const column of columns) {
    if (!column) continue;
    const width = Math.max(...column.map((plate) => plate.width));
    let y = (height - heightOf(column)) / 2;
    for (const plate of column) {
      Object.assign(plate, {x: x + (width - plate.width) / 2, y});
      placeBoxes(plate, places);
      y += plate.height + gap.plates;
    }
    x += width + gap.between;
  }
  return {plates, places, width: x - gap.between + 2, height, folds: plates.some((plate) => plate.boxes.length > foldAbove)};
}

function placeBoxes(plate, places) {
  for (const box of plate.shown) {
    box.x = plate.x + padding.plate;
    box.y += plate.y;
    box.width = plate.width - 2 * padding.plate;
    for (const [variable, {column, row}] of box.places) {
      places[variable] = {x: box.x + padding.box + plate.side + column * (node.width + gap.column),
        y: box.y + box.top + row * (node.height + gap.row)};
    }
  }
}
