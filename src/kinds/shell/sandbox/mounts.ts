import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isInside } from './trace-path.ts';

/** A part of a file system, and the folder or file where it is seen. */
interface Mount {
  readonly device: string;
  /** The part, as a path inside the file system. */
  readonly part: string;
  readonly at: string;
}

/** Every other path under which something of these is mounted as well, in one of the folders. */
export function otherMounts(paths: readonly string[], folders: readonly string[]): readonly string[] {
  const mounts = readMounts();
  const inReach = mounts.filter(({ at }) => folders.some((folder) => isInside(at, folder)));
  if (inReach.length === 0) return [];
  return paths.flatMap((path) => {
    const around = mounts.filter(({ at }) => isInside(path, at));
    const home = around.toSorted((a, b) => a.at.length - b.at.length).at(-1); // of two at one place the later one is seen
    if (home === undefined) return [];
    const inside = join(home.part, relative(home.at, path));
    const others = inReach.filter(({ device, at }) => device === home.device && at !== home.at);
    return others.flatMap(({ part, at }) => {
      if (isInside(inside, part)) return [join(at, relative(part, inside))];
      return isInside(part, inside) ? [at] : [];
    });
  });
}

function readMounts(): readonly Mount[] {
  if (process.platform !== 'linux') return [];
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, , device, part, at] = line.split(' ');
    return device === undefined || part === undefined || at === undefined
      ? []
      : [{ device, part: withoutEscapes(part), at: withoutEscapes(at) }];
  });
}

/** Spaces and the like are written as octal numbers. */
function withoutEscapes(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
