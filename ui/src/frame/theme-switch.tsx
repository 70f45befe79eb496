import { chooseScheme, useScheme } from '../parts/color-scheme.ts';
import classes from './theme-switch.module.css';

const THEMES = [
  [
    'light',
    'Light',
    'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1.5V3M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1',
  ],
  ['dark', 'Dark', 'M13.5 9.5A6 6 0 0 1 6.5 2.5 6 6 0 1 0 13.5 9.5z'],
  ['auto', 'System', 'M2 3h12v8H2zM6 13.5h4M8 11v2.5'],
] as const;

/** Chooses dark, light, or the theme of the system. */
export function ThemeSwitch() {
  const chosen = useScheme();
  return (
    <fieldset className={classes.themes}>
      <legend className={classes.legend}>Theme</legend>
      {THEMES.map(([scheme, word, shape]) => (
        <label key={scheme} className={classes.theme} title={word}>
          <input
            type="radio"
            name="theme"
            className={classes.input}
            checked={chosen === scheme}
            onChange={() => chooseScheme(scheme)}
          />
          <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
            <path d={shape} />
          </svg>
          <span className={classes.legend}>{word}</span>
        </label>
      ))}
    </fieldset>
  );
}
