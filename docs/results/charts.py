"""Charts of docs/results as SVG: dots with intervals by row, lines, and scattered points.

Standard library only; the same data gives the same bytes. Light and dark by prefers-color-scheme. A chart is 560 units
wide with type of 15 units, so that it can be read at 390 px."""

import math

WIDTH, SIZE = 560, 15
STYLE = """text{font:15px system-ui,sans-serif;fill:#1f2328}.b{font-weight:600}.m{fill:#59636e}.h{font-weight:600}
.bg{fill:#fff}.g{stroke:#d1d9e0}.r{stroke:#59636e;stroke-dasharray:5 4}.l{fill:none;stroke-width:2}
.s0{stroke:#0969da}.f0{fill:#0969da}.s1{stroke:#bc4c00}.f1{fill:#bc4c00}.s2{stroke:#1a7f37}.f2{fill:#1a7f37}
.s3{stroke:#8250df}.f3{fill:#8250df}.s4{stroke:#6e7781}.f4{fill:#6e7781}
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.m{fill:#9198a1}.bg{fill:#0d1117}.g{stroke:#30363d}.r{stroke:#9198a1}
.s0{stroke:#58a6ff}.f0{fill:#58a6ff}.s1{stroke:#f0883e}.f1{fill:#f0883e}.s2{stroke:#3fb950}.f2{fill:#3fb950}
.s3{stroke:#bc8cff}.f3{fill:#bc8cff}.s4{stroke:#8b949e}.f4{fill:#8b949e}}"""


def escaped(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def wide(text):
    """About how wide a text is."""
    return sum(0.36 if c in "ijlt.,:;' |()[]/-" else 0.62 if not c.isupper() else 0.72 for c in text) * SIZE


def wrapped(text, width):
    lines, line = [], ""
    for word in text.split():
        if line and wide(line + " " + word) > width:
            lines.append(line)
            line = word
        else:
            line = (line + " " + word).strip()
    return lines + [line]


def short(number):
    """A tick's label."""
    if number == 0:
        return "0"
    if abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.6f}".rstrip("0").rstrip(".")


class Axis:
    """Maps values to positions, from `first` to `last`."""

    def __init__(self, values, first, last, log=False, zero=False, count=6):
        low, high = min(values), max(values)
        self.log, self.first, self.last = log, first, last
        if log:
            self.ticks = self.log_ticks(low, high)
            for steps in ((1, 2, 5), (1, 3), (1,)):
                ticks = self.log_ticks(low, high, steps)
                if len(ticks) <= count + 2:
                    self.ticks = ticks
                    break
            if len(self.ticks) < 4:
                self.ticks = self.log_ticks(low, high, (1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9))
        else:
            if zero:
                low, high = min(low, 0.0), max(high, 0.0)
            span = (high - low) or 1.0
            step = 10 ** math.floor(math.log10(span / count))
            for factor in (1, 2, 2.5, 5, 10):
                if span / (step * factor) <= count:
                    step *= factor
                    break
            begin, end = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
            self.ticks = [i * step for i in range(begin, end + 1)]
        self.low, self.high = min([low] + self.ticks), max([high] + self.ticks)
        if log:  # no further than the data, give or take a little
            self.low, self.high = low / 1.03, high * 1.03
            self.ticks = [t for t in self.ticks if self.low <= t <= self.high]

    @staticmethod
    def log_ticks(low, high, steps=(1, 2, 5)):
        ticks = []
        for power in range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1):
            ticks += [factor * 10.0 ** power for factor in steps]
        return [t for t in ticks if low / 1.03 <= t <= high * 1.03]

    def at(self, value):
        f = math.log if self.log else float
        part = (f(value) - f(self.low)) / (f(self.high) - f(self.low))
        return self.first + part * (self.last - self.first)


class Sheet:
    def __init__(self, title):
        self.parts, self.y, self.title = [], 6, title
        for line in wrapped(title, WIDTH - 30):
            self.y += 19
            self.text(14, self.y, line, "b")

    def text(self, x, y, text, kind="", anchor="start", turn=False):
        extra = f' class="{kind}"' if kind else ""
        extra += f' text-anchor="{anchor}"' if anchor != "start" else ""
        extra += f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{escaped(text)}</text>')

    def line(self, x1, y1, x2, y2, kind, width=1):
        extra = f' stroke-width="{width}"' if width != 1 else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"{extra}/>')

    def mark(self, x, y, series, size=4.5):
        shape = series % 5
        if shape == 0:
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" class="f0"/>')
            return
        ends = {1: [(-1, -1), (1, -1), (1, 1), (-1, 1)], 2: [(0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)],
                3: [(0, -1.3), (1.2, 1), (-1.2, 1)], 4: [(0, 1.3), (1.2, -1), (-1.2, -1)]}[shape]
        size *= 0.9
        points = " ".join(f"{x + a * size:.1f},{y + b * size:.1f}" for a, b in ends)
        self.parts.append(f'<polygon points="{points}" class="f{shape}"/>')

    def legend(self, names):
        if not any(names):
            self.y += 8
            return
        x, self.y = 20, self.y + 24
        for index, name in enumerate(names):
            if x > 20 and x + 12 + wide(name) > WIDTH - 10:
                x, self.y = 20, self.y + 21
            self.mark(x, self.y - 5, index)
            self.text(x + 10, self.y, name, "m")
            x += 30 + wide(name)
        self.y += 6

    def bottom(self, label):
        for line in wrapped(label, WIDTH - 30):
            self.y += 19
            self.text(WIDTH / 2, self.y, line, "m", "middle")

    def svg(self):
        height = self.y + 12
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
                f'height="{height:.0f}" role="img"><title>{escaped(self.title)}</title>'
                f'<style>{STYLE}</style><rect class="bg" width="{WIDTH}" height="{height:.0f}"/>')
        return "\n".join([head] + self.parts + ["</svg>"]) + "\n"


def dots(title, rows, axis, series=("",), log=False, zero=False, reference=None, unit=""):
    """Rows are (label, [(value, low, high) or None or a list of them for each series]); a row without a list is a heading."""
    sheet = Sheet(title)
    sheet.legend(series)
    values = [reference] if reference is not None else []
    for _, cells in rows:
        for cell in cells or []:
            for one in cell if isinstance(cell, list) else [cell] if cell else []:
                values += [number for number in one if number is not None]
    left = min(290, 24 + max(wide(label) for label, cells in rows if cells))
    scale = Axis(values, left + 10, WIDTH - 22, log, zero)
    top = sheet.y + 6
    each = 12 if len(series) > 1 else 10
    marks, y = [], top
    for label, cells in rows:
        if not cells:
            y += 24
            marks.append((y - 6, label, None, 0))
            continue
        high = max(24, each * len(cells) + 10)
        marks.append((y + high / 2, label, cells, high))
        y += high
    for tick in scale.ticks:
        sheet.line(scale.at(tick), top, scale.at(tick), y, "g")
        sheet.text(scale.at(tick), y + 19, short(tick) + unit, "m", "middle")
    if reference is not None:
        sheet.line(scale.at(reference), top, scale.at(reference), y, "r", 1.5)
    for middle, label, cells, _ in marks:
        if cells is None:
            sheet.text(14, middle, label, "h")
            continue
        sheet.text(left, middle + 5, label, "", "end")
        for index, cell in enumerate(cells):
            at = middle + (index - (len(cells) - 1) / 2) * each
            many = isinstance(cell, list)
            for value, low, last in (cell if many else [cell] if cell else []):
                if low is not None:
                    sheet.line(scale.at(low), at, scale.at(last), at, f"s{index % 5}", 2)
                sheet.mark(scale.at(value), at, index, 2.2 if many else 4.5)
    sheet.y = y + 22
    sheet.bottom(axis)
    return sheet.svg()


def frame(sheet, xs, ys, x_label, y_label, height, x_names=None):
    """Draws grid and labels of a plot; its y label stands above it."""
    sheet.y += 20
    sheet.text(14, sheet.y, y_label, "m")
    top, bottom = sheet.y + 12, sheet.y + 12 + height
    ys.first, ys.last = bottom, top
    for tick in ys.ticks:
        sheet.line(xs.first, ys.at(tick), xs.last, ys.at(tick), "g")
        sheet.text(xs.first - 8, ys.at(tick) + 5, short(tick), "m", "end")
    for tick in xs.ticks if x_names is None else x_names:
        sheet.text(xs.at(tick), bottom + 20, short(tick), "m", "middle")
        sheet.line(xs.at(tick), top, xs.at(tick), bottom, "g")
    sheet.y = bottom + 24
    sheet.bottom(x_label)


def lines(title, series, x_label, y_label, logx=False, logy=False, reference=None, x_ticks=None, marks=True, zero=False):
    """Series are (name, [(x, value, low, high)])."""
    sheet = Sheet(title)
    sheet.legend([name for name, _ in series])
    values = [number for _, points in series for point in points for number in point[1:] if number is not None]
    if reference is not None:
        values.append(reference)
    xs = Axis([point[0] for _, points in series for point in points], 70, WIDTH - 48, logx)
    ys = Axis(values, 0, 1, logy, zero)
    frame(sheet, xs, ys, x_label, y_label, 270, x_ticks)
    if reference is not None:
        sheet.line(xs.first, ys.at(reference), xs.last, ys.at(reference), "r", 1.5)
    for index, (_, points) in enumerate(series):
        shift = (index - (len(series) - 1) / 2) * (5 if points[0][2] is not None else 0)
        path = " ".join(f"{xs.at(p[0]) + shift:.1f},{ys.at(p[1]):.1f}" for p in points)
        sheet.parts.append(f'<polyline points="{path}" class="l s{index % 5}"/>')
        for x, value, low, high in points if marks else []:
            if low is not None:
                sheet.line(xs.at(x) + shift, ys.at(low), xs.at(x) + shift, ys.at(high), f"s{index % 5}", 1.5)
            sheet.mark(xs.at(x) + shift, ys.at(value), index)
    return sheet.svg()


def scatter(title, series, x_label, y_label):
    """Series are (name, [(x, y)]), on logarithmic axes with the line y = x."""
    sheet = Sheet(title)
    sheet.legend([name for name, _ in series])
    every = [number for _, points in series for point in points for number in point]
    xs, ys = Axis(every, 70, WIDTH - 30, True), Axis(every, 0, 1, True)
    frame(sheet, xs, ys, x_label, y_label, 400)
    sheet.line(xs.at(xs.low), ys.at(xs.low), xs.at(xs.high), ys.at(xs.high), "r", 1.5)
    for index, (_, points) in enumerate(series):
        for x, y in points:
            sheet.mark(xs.at(x), ys.at(y), index, 2.4)
    return sheet.svg()
