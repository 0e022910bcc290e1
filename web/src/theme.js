// Light, dark, or as the system says. The canvases ask here for the colours of the style sheet.

const choices = ['system', 'light', 'dark'];

function kept() {
  try {
    return localStorage.getItem('tutti-theme');
  } catch {
    return null; // some browsers keep nothing for files
  }
}

export class Theme {
  // `where`: an element in which the style sheet's variables hold.
  constructor(button, where = document.body) {
    this.button = button;
    this.listeners = [];
    this.choice = choices.includes(kept()) ? kept() : 'system';
    this.probe = where.appendChild(document.createElement('i'));
    this.probe.hidden = true;
    button.addEventListener('click', () => this.set(choices[(choices.indexOf(this.choice) + 1) % choices.length]));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.apply());
    this.apply();
  }

  set(choice) {
    this.choice = choice;
    try {
      localStorage.setItem('tutti-theme', choice);
    } catch {
      // then it holds until the page is closed
    }
    this.apply();
  }

  apply() {
    if (this.choice === 'system') document.documentElement.removeAttribute('data-theme');
    else document.documentElement.dataset.theme = this.choice;
    this.isDark = this.choice === 'dark' ||
      (this.choice === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
    this.button.textContent = `Theme: ${this.choice}`;
    this.colours = {};
    for (const name of ['page', 'panel', 'ink', 'quiet', 'line', 'grid', 'lane', 'accent', 'critical', 'producer',
      'consumer', 'transfer']) {
      this.probe.style.color = `var(--${name})`;
      this.colours[name] = getComputedStyle(this.probe).color;
    }
    for (const listener of this.listeners) listener();
  }

  onChange(listener) {
    this.listeners.push(listener);
  }
}

// Colours of kinds and groups, far apart in hue; red is left to the critical path. The same list
// serves both themes: on dark it is lighter.
const hues = [214, 152, 32, 268, 188, 52, 320, 98, 240, 20, 170, 290];

export function categoryColour(index, isDark) {
  if (index < 0) return isDark ? 'hsl(210 8% 55%)' : 'hsl(210 8% 62%)';
  const hue = hues[index % hues.length];
  const round = Math.floor(index / hues.length) % 3;
  const light = (isDark ? 62 : 52) + [0, -13, 13][round];
  return `hsl(${hue} ${isDark ? 48 : 55}% ${light}%)`;
}
