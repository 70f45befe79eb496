import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { ToolcribError } from '../../core/tool-error.ts';
import { holdPlace, isThere } from '../../system/placeholders.ts';
import { type AllowedFolders, isInWritableRoot, type Root } from './allowed-folders.ts';
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

interface Mask {
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

/** What is covered while a program runs. */
export interface Cover {
  readonly masks: readonly Mask[];
  /** Removes what was made only to be covered. */
  release(): void;
}

/** What must be covered. What is not there yet is made where a command could make it: only what is there can be covered. */
export function findCover(found: AllowedFolders, system: readonly string[]): Cover {
  const folders = withSystem(found, system);
  requireFixedLinks(folders);
  const { hidden } = folders;
  const isWritable = (path: string) => isInWritableRoot(path, folders);
  // Whoever makes these first would otherwise say what keys there are.
  for (const path of hidden.folders.filter(isWritable)) make(() => mkdirSync(path, PRIVATE_FOLDER));
  for (const path of hidden.files.filter(isWritable)) {
    make(() => mkdirSync(dirname(path), PRIVATE_FOLDER));
    make(() => closeSync(openSync(path, 'wx', 0o600)));
  }
  const fixed = hidden.readOnly.filter(isWritable);
  const held = holdMissing(fixed);
  const masks = [
    ...fixed.map((path) => ({ path, kind: 'readOnly' }) as const),
    ...held.paths.map((path) => ({ path, kind: 'folder' }) as const),
    ...hidden.folders.map((path) => ({ path, kind: 'folder' }) as const), // what is hidden stays so
    ...hidden.files.map((path) => ({ path, kind: 'file' }) as const),
  ];
  return { masks: masks.filter(({ path }) => existsSync(path)), release: held.release };
}

/** The folders of the system are read-only inside of a wider root; a root inside of them, or one of them, is what it says. */
export function withSystem(folders: AllowedFolders, system: readonly string[]): AllowedFolders {
  const fixed = system.map((path) => ({ path, isWritable: false }));
  return { ...folders, roots: [...fixed, ...folders.roots].toSorted((a, b) => a.path.length - b.path.length) };
}

/** A link cannot be covered: what may write its folder may put another one in its place. */
function requireFixedLinks(folders: AllowedFolders): void {
  const [loose] = looseLinks(folders);
  if (loose === undefined) return;
  throw new ToolcribError(
    'loose_link',
    `it may write the folder of ${loose}, a link by which the crib finds its files`,
  );
}

/** The links by which the crib finds its files, as far as a command could replace them. */
export function looseLinks(folders: AllowedFolders): readonly string[] {
  return folders.links.filter((link) => isInWritableRoot(link, folders) && !folders.fixed.covers(dirname(link)));
}

/** Keeps the names of what is not there yet: of several folders that are missing, the outermost. */
function holdMissing(paths: readonly string[]): { readonly paths: readonly string[]; release(): void } {
  const places = new Set(paths.filter((path) => isMissing(path)).map(firstMissing));
  const held = [...places].flatMap((path) => {
    const letGo = holdPlace(path);
    return letGo === undefined ? [] : [{ path, letGo }];
  });
  return {
    paths: held.map(({ path }) => path),
    release() {
      for (const { letGo } of held) letGo();
    },
  };
}

function firstMissing(path: string): string {
  return foldersAbove(path).findLast(isMissing) ?? path;
}

function isMissing(path: string): boolean {
  return !isThere(path);
}

const PRIVATE_FOLDER = { recursive: true, mode: 0o700 } as const;

/** What we may not make, a command that runs as we do may not either. */
function make(create: () => void): void {
  try {
    create();
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException; // of the file system
    if (['EEXIST', 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR'].includes(code)) return;
    throw new ToolcribError('no_sandbox', 'what must be hidden from it cannot be hidden', { cause });
  }
}
