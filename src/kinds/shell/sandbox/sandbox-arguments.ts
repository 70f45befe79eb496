import type { Root } from './allowed-folders.ts';
import type { Sandbox } from './sandbox.ts';
import { foldersAbove, isInside } from './trace-path.ts';

/** What one program finds inside. */
export interface Inside {
  readonly roots: readonly Root[];
  /** Folders and files that must not be seen, or not be changed, wherever they lie. */
  readonly masks: readonly Mask[];
  /** Files beside the system that may be read: the program itself. */
  readonly extra: readonly string[];
  readonly network: boolean;
  readonly cwd: string;
  /** Variables that must not be set before it is inside. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Mask {
  readonly path: string;
  readonly kind: 'folder' | 'file' | 'readOnly';
}

/** What a program may keep in memory under the name of files. */
const MAX_KEPT_BYTES = 268_435_456;
/** Folders of its own, gone with it. */
const OWN = ['/tmp', '/var/tmp'];

// Without capabilities nobody undoes what follows, root neither.
const NAMESPACES = [
  ...['--die-with-parent', '--new-session', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--cap-drop', 'ALL'],
];

/** The arguments before the program: the system to read, the roots, folders of its own, and nothing else. */
export function sandboxArguments(sandbox: Sandbox, inside: Inside): readonly string[] {
  const { system, hasSizes } = sandbox;
  const { roots, masks, extra, network, cwd, env = {} } = inside;
  const size = hasSizes ? ['--size', String(MAX_KEPT_BYTES)] : [];
  const own = (path: string) => [...size, '--tmpfs', path];
  const isSeen = (path: string) => [...system, ...roots.map((root) => root.path)].some((seen) => isInside(path, seen));
  // What lies deeper comes later: a folder hides what was put into it before.
  const places = new Map<string, readonly string[]>([
    ...pinsOf(inside).map((path) => [path, ['--bind', path, path]] as const),
    ...system.map((path) => [path, ['--ro-bind', path, path]] as const),
    ...OWN.map((path) => [path, own(path)] as const),
    ...extra.filter((path) => !isSeen(path)).map((path) => [path, ['--ro-bind', path, path]] as const),
    ...roots.map(({ path, isWritable }) => [path, [isWritable ? '--bind' : '--ro-bind', path, path]] as const),
  ]);
  const sorted = [...places].toSorted(([a], [b]) => depthOf(a) - depthOf(b));
  const isRootShown = roots.some(({ path }) => path === '/');
  return [
    ...NAMESPACES,
    ...(network ? [] : ['--unshare-net']),
    ...sorted.flatMap(([, place]) => place),
    ...masks.filter(({ path }) => isSeen(path)).flatMap((mask) => maskOf(mask)),
    // Settings of the kernel belong to root, who needs no capability to change what is its own.
    ...['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev', ...own('/dev/shm'), '--remount-ro', '/dev'],
    ...(isRootShown ? ['--ro-bind-try', '/sys', '/sys'] : ['--remount-ro', '/']),
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--chdir', cwd, '--'],
  ];
}

/**
 * The folders between a root and what is covered in it. What is mounted cannot be moved; a folder around it could be, and
 * the next program would find under another name what is covered under this one only.
 */
function pinsOf({ roots, masks }: Inside): readonly string[] {
  const isWritable = (path: string) =>
    roots.findLast((root) => isInside(path, root.path))?.isWritable === true &&
    !roots.some((root) => root.path === path);
  return masks.flatMap(({ path }) => foldersAbove(path)).filter(isWritable);
}

function maskOf({ path, kind }: Mask): readonly string[] {
  if (kind === 'readOnly') return ['--ro-bind', path, path];
  return kind === 'folder' ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path];
}

function depthOf(path: string): number {
  return path === '/' ? 0 : path.split('/').length;
}
