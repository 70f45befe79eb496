import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

/** The files of a part of the page did not arrive: the server is away, or serves another version by now. */
export class FilesMissing extends Error {
  override readonly name = 'FilesMissing';
}

/** A component whose files are loaded when it is shown. */
export function loadLater<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (cause) {
      throw new FilesMissing('The files of this part of the console did not arrive.', { cause });
    }
  });
}
