/** A line of a chart, as pairs of x and y. */
export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** A panel with a logarithmic x axis. */
export interface Panel {
  readonly title: string;
  readonly lines: readonly Line[];
}

const PANEL = { width: 380, height: 240, left: 46, top: 44, gap: 24 };
/** Distinguishable without colours, too: the second line is dashed. Both are readable on white and on black. */
const STYLES = ['stroke="#2f81f7"', 'stroke="#d9822b" stroke-dasharray="6 4"'];
const TICKS = 4;

/** Draws panels side by side. All have the same y axis, in `unit`, so that heights can be compared. */
export function drawPanels(panels: readonly Panel[], unit: string): string {
  const highest = Math.max(...panels.flatMap(({ lines }) => lines.flatMap(({ points }) => points.map(([, y]) => y))));
  const top = Math.ceil(highest / TICKS) * TICKS;
  const step = PANEL.width + PANEL.left + PANEL.gap;
  const [width, height] = [step * panels.length, PANEL.top + PANEL.height + 48];
  const drawn = panels.map(
    (panel, index) => `<g transform="translate(${index * step + PANEL.left} ${PANEL.top})">${draw(panel, top)}</g>`,
  );
  const style = 'text { font: 12px sans-serif; fill: #808890 } line { stroke: #80889055 }';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${panels.map(({ title }) => title).join('; ')}">
<style>${style}</style>
<text x="4" y="16">${unit}</text>
${drawn.join('\n')}
</svg>
`;
}

function draw({ title, lines }: Panel, top: number): string {
  const xs = lines[0]?.points.map(([x]) => x) ?? [];
  const [least = 1, most = 1] = [xs[0], xs.at(-1)];
  const toX = (x: number) => round((Math.log(x / least) / Math.log(most / least)) * PANEL.width);
  const toY = (y: number) => round(PANEL.height - (y / top) * PANEL.height);
  const { width, height } = PANEL;
  return [
    `<text x="0" y="-14" font-weight="bold">${title}</text>`,
    ...Array.from({ length: TICKS + 1 }, (_, index) => (top / TICKS) * index).map(
      (y) =>
        `<line x1="0" x2="${width}" y1="${toY(y)}" y2="${toY(y)}"/><text x="-8" y="${toY(y) + 4}" text-anchor="end">${y}</text>`,
    ),
    ...xs.map((x) => `<text x="${toX(x)}" y="${height + 18}" text-anchor="middle">${x.toLocaleString('en')}</text>`),
    ...lines.map(({ name, points }, index) => {
      const path = points.map(([x, y]) => `${toX(x)},${toY(y)}`).join(' ');
      const legend = `<text x="${index * 170}" y="${height + 38}">${index === 0 ? '———' : '– – –'} ${name}</text>`;
      return `<polyline points="${path}" fill="none" stroke-width="2" ${STYLES[index % STYLES.length]}/>${legend}`;
    }),
  ].join('\n');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
