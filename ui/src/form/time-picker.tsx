import { Popover } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../parts/icons.tsx';
import classes from './form.module.css';
import listFieldClasses from './list-field.module.css';
import { localParts, type TimeFormat, toRfc3339, ZONES } from './rfc3339.ts';

interface TimePickerProps {
  readonly format: TimeFormat;
  readonly value: string;
  onPick(value: string): void;
}

const INPUT_TYPES = { 'date-time': 'datetime-local', date: 'date', time: 'time' } as const;

/** Picks a date, a time or both, and writes it as RFC 3339. */
export function TimePicker({ format, value, onPick }: TimePickerProps) {
  const [zone, setZone] = useState<(typeof ZONES)[number]>('UTC');
  const shown = localParts(value, zone);
  const pick = (local: string) => local !== '' && onPick(toRfc3339(local, format, zone));
  return (
    <Popover position="bottom-end" shadow="md" withinPortal trapFocus>
      <Popover.Target>
        <button type="button" className={classes.inside} aria-label="Pick a time">
          <Icon name="clock" />
        </button>
      </Popover.Target>
      <Popover.Dropdown className={classes.picker}>
        <input
          type={INPUT_TYPES[format]}
          step={1}
          aria-label="Date and time"
          className={classes.input}
          value={format === 'date' ? shown.date : format === 'time' ? shown.time : shown.both}
          onChange={({ target }) => pick(target.value)}
        />
        {format !== 'date' && (
          <div className={classes.segments}>
            {ZONES.map((one) => (
              <button
                key={one}
                type="button"
                className={classes.segment}
                aria-pressed={zone === one}
                onClick={() => setZone(one)}
              >
                {one}
              </button>
            ))}
          </div>
        )}
        <button
          type="button"
          className={listFieldClasses.link}
          onClick={() => onPick(toRfc3339(localParts(new Date().toISOString(), zone).both, format, zone))}
        >
          Now
        </button>
      </Popover.Dropdown>
    </Popover>
  );
}
