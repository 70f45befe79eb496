import { useSyncExternalStore } from 'react';

/** The theme that the user has chosen; auto follows the system. */
export type Scheme = 'light' | 'dark' | 'auto';

/** Also read by theme.js, before the first paint. */
const KEY = 'mantine-color-scheme-value';
const changes = new EventTarget();
const system = matchMedia('(prefers-color-scheme: dark)');

/** The chosen theme. */
export function readScheme(): Scheme {
  try {
    const chosen = localStorage.getItem(KEY);
    return chosen === 'light' || chosen === 'dark' ? chosen : 'auto';
  } catch {
    return 'auto'; // storage is blocked
  }
}

/** Chooses the theme, for all tabs. */
export function chooseScheme(scheme: Scheme): void {
  try {
    localStorage.setItem(KEY, scheme);
  } catch {
    // Storage is blocked: the choice holds for this tab.
  }
  show(scheme);
  changes.dispatchEvent(new Event('change'));
}

function show(scheme: Scheme): void {
  const isDark = scheme === 'dark' || (scheme === 'auto' && system.matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light');
}

function follow(listener: () => void): () => void {
  const listen = (): void => {
    show(readScheme());
    listener();
  };
  changes.addEventListener('change', listener);
  system.addEventListener('change', listen);
  addEventListener('storage', listen);
  return () => {
    changes.removeEventListener('change', listener);
    system.removeEventListener('change', listen);
    removeEventListener('storage', listen);
  };
}

/** The chosen theme, kept up to date with the other tabs and the system. */
export function useScheme(): Scheme {
  return useSyncExternalStore(follow, readScheme);
}
