// Where a linear axis from 0 ends: at the largest value, unless a few values are so large that the others could not be told
// apart. Then it ends beyond the others, and what goes past it is drawn broken off.

const tooLarge = 3; // times the median
const beyond = 1.25;

export function axisEnd(values) {
  const sorted = values.filter((value) => Number.isFinite(value) && value > 0).sort((a, b) => a - b);
  if (sorted.length === 0) return {end: 1, cuts: false};
  const most = sorted[sorted.length - 1];
  const limit = tooLarge * sorted[Math.floor((sorted.length - 1) / 2)];
  if (most <= limit || sorted.length < 3) return {end: most, cuts: false};
  const largest = sorted.filter((value) => value <= limit).pop();
  return {end: Math.min(most, beyond * largest), cuts: most > beyond * largest};
}

// The end of a bar that is broken off at `x`: two slanted lines in the colour of the page.
export function breakPath(x, top, height) {
  return `M${x - 16},${top + height + 2}l6,${-height - 4}m4,0l-6,${height + 4}`;
}
