// Figures as people read them; the same units and digits as the program prints.

function significant(value, digits = 4) {
  return String(Number(value.toPrecision(digits)));
}

export function time(ns) {
  if (ns === null || ns === undefined) return '–';
  const size = Math.abs(ns);
  if (size < 1e3) return `${significant(ns)} ns`;
  if (size < 1e6) return `${significant(ns / 1e3)} us`;
  if (size < 1e9) return `${significant(ns / 1e6)} ms`;
  return `${significant(ns / 1e9)} s`;
}

// As time, but with all digits: for points in time that lie close together.
export function exactTime(ns) {
  const [unit, name] = ns < 1e3 ? [1, 'ns'] : ns < 1e6 ? [1e3, 'us'] : ns < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
  return `${significant(ns / unit, 12)} ${name}`;
}

// Labels of an axis share a unit and show the digits in which neighbours differ.
export function axisFormat(ticks, widest) {
  const [unit, name] = widest < 1e3 ? [1, 'ns'] : widest < 1e6 ? [1e3, 'us'] : widest < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
  const step = ticks.length > 1 ? (ticks[1] - ticks[0]) / unit : 1;
  const digits = Math.min(9, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return (ns) => `${(ns / unit).toFixed(digits)} ${name}`;
}

export function bytes(count) {
  let value = count;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; ++unit) value /= 1024;
  return unit === 0 ? `${value} B` : `${value.toFixed(1)} ${units[unit]}`;
}

export function flops(count) {
  const units = ['', 'k', 'M', 'G', 'T', 'P'];
  let unit = 0;
  let value = count;
  for (; value >= 1000 && unit < units.length - 1; ++unit) value /= 1000;
  return `${significant(value)} ${units[unit]}flop`;
}

export function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

export function gap(makespan, bound) {
  return bound > 0 && makespan !== null ? percent(makespan / bound - 1) : '–';
}

export function count(number) {
  return number.toLocaleString('en-US');
}

// A number of any size in few digits: 0.9316, 1,250, 1.5 M.
export function compact(number) {
  const size = Math.abs(number);
  if (size >= 1e15) return number.toExponential(2);
  for (const [unit, name] of [[1e12, ' T'], [1e9, ' G'], [1e6, ' M']]) {
    if (size >= unit) return `${significant(number / unit)}${name}`;
  }
  if (size >= 1e4) return `${significant(number / 1e3)} k`;
  return size >= 1000 ? count(Math.round(number)) : significant(number);
}

// Seconds as people tell them: 45 s, 12 min 30 s, 3 h 5 min.
export function clock(seconds) {
  const pair = (large, size, name, smallName) => {
    const whole = Math.floor(large / size);
    const rest = Math.round(large - whole * size);
    return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${smallName}`;
  };
  if (seconds < 60) return `${significant(seconds, 3)} s`;
  if (seconds < 3600) return pair(Math.round(seconds), 60, 'min', 's');
  return pair(Math.round(seconds / 60), 60, 'h', 'min');
}
