import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import { toDuration } from '../../parts/relative-time.tsx';
import classes from './tool.module.css';
import type { CallRow } from './tool-types.ts';

const HEIGHT = 72;

/** How long the last calls took, oldest first; failed ones have a mark of their own. */
export function DurationChart({ calls }: { readonly calls: readonly CallRow[] }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    const timed = calls.filter(({ durationMs }) => durationMs !== undefined).toReversed();
    const chart = new UPlot(optionsFor(current), dataOf(timed), current);
    const observer = new ResizeObserver(() => chart.setSize({ width: current.clientWidth, height: HEIGHT }));
    observer.observe(current);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [calls]);
  const failed = calls.filter(({ outcome }) => outcome !== 'done' && outcome !== 'waiting').length;
  return (
    <figure
      className={classes.chart}
      aria-label={`Durations of the last ${calls.length} calls, ${failed} of them failed`}
    >
      <div ref={place} />
    </figure>
  );
}

function dataOf(calls: readonly CallRow[]): UPlot.AlignedData {
  const isFailed = ({ outcome }: CallRow) => outcome !== 'done' && outcome !== 'waiting';
  return [
    calls.map((_, place) => place),
    calls.map((call) => (isFailed(call) ? null : (call.durationMs ?? null))),
    calls.map((call) => (isFailed(call) ? (call.durationMs ?? 0) : null)),
  ];
}

function optionsFor(element: HTMLElement): UPlot.Options {
  const colour = (token: string) => getComputedStyle(element).getPropertyValue(token).trim() || 'currentColor';
  const bars = UPlot.paths.bars?.({ size: [0.7, 10] });
  const series = (token: string): UPlot.Series => ({
    fill: colour(token),
    stroke: colour(token),
    width: 0,
    points: { show: false },
    ...(bars === undefined ? {} : { paths: bars }),
  });
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: (_, min, max) => [min - 0.5, max + 0.5] },
      y: { range: (_, __, max) => [0, Math.max(max, 1)] },
    },
    axes: [
      { show: false },
      {
        size: 56,
        stroke: colour('--tc-text-faint'),
        font: '11px sans-serif',
        grid: { stroke: colour('--tc-line'), width: 1 },
        ticks: { show: false },
        splits: (_, __, ___, max) => [0, max],
        values: (_, ticks) => ticks.map((tick) => (tick === 0 ? '0' : toDuration(tick))),
      },
    ],
    series: [{}, series('--tc-text-faint'), series('--tc-danger')],
  };
}
