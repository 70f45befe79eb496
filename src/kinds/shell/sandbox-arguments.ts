import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { ToolcribError } from '../../core/tool-error.ts';
import { holdPlace, isThere } from '../../system/placeholders.ts';
import { type AllowedFolders, isInWritableRoot, type Root } from './allowed-folders.ts';
import type { Sandbox } from './sandbox.ts';
import { foldersAbove, isInside } from './trace-path.ts';

/** The view of one program inside the sandbox. */
export interface Inside {
  readonly roots: readonly Root[];
  /** Paths to hide or to make read-only, wherever they are. */
  readonly masks: readonly Mask[];
  /** Readable files outside the system folders: the program itself. */
  readonly extra: readonly string[];
  readonly network: boolean;
  readonly cwd: string;
  /** Variables that must be set only inside. */
  readonly env?: Readonly<Record<string, string>>;
}

interface Mask {
  readonly path: string;
  readonly kind: 'folder' | 'file' | 'readOnly';
}

/** Size limit of in-memory files. */
const MAX_KEPT_BYTES = 268_435_456;
/** Private folders, removed with the sandbox. */
const OWN = ['/tmp', '/var/tmp'];

// Without capabilities not even root can undo the following.
const NAMESPACES = [
  ...['--die-with-parent', '--new-session', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--cap-drop', 'ALL'],
];

/** The bubblewrap arguments before the program: system folders, roots, private folders, and nothing else. */
export function sandboxArguments(sandbox: Sandbox, inside: Inside): readonly string[] {
  const { system, hasSizes } = sandbox;
  const { roots, masks, extra, network, cwd, env = {} } = inside;
  const size = hasSizes ? ['--size', String(MAX_KEPT_BYTES)] : [];
  const own = (path: string) => [...size, '--tmpfs', path];
  const isSeen = (path: string) => [...system, ...roots.map((root) => root.path)].some((seen) => isInside(path, seen));
  // Deeper paths come later: mounting a folder hides earlier mounts inside it.
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
    // Kernel settings belong to root, which needs no capability to change its own files.
    ...['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev', ...own('/dev/shm'), '--remount-ro', '/dev'],
    ...(isRootShown ? ['--ro-bind-try', '/sys', '/sys'] : ['--remount-ro', '/']),
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--chdir', cwd, '--'],
  ];
}

/**
 * The folders between a root and a masked path. A mount point cannot be moved, but a folder around it could be, and
 * the next program would find the masked path under another name.
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

/** The masks for one run. */
export interface Cover {
  readonly masks: readonly Mask[];
  /** Removes placeholders that were created only to be masked. */
  release(): void;
}

/** Finds the paths to mask. A missing path that a command could create is created first, because only existing paths can be masked. */
export function findCover(found: AllowedFolders, system: readonly string[]): Cover {
  const folders = withSystem(found, system);
  requireFixedLinks(folders);
  const { hidden } = folders;
  const isWritable = (path: string) => isInWritableRoot(path, folders);
  // A command that created these first could plant its own keys.
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
    ...hidden.folders.map((path) => ({ path, kind: 'folder' }) as const), // hidden paths come last and win
    ...hidden.files.map((path) => ({ path, kind: 'file' }) as const),
  ];
  return { masks: masks.filter(({ path }) => existsSync(path)), release: held.release };
}

/** System folders are read-only inside a wider root; a root inside them, or equal to one, keeps its own mode. */
export function withSystem(folders: AllowedFolders, system: readonly string[]): AllowedFolders {
  const fixed = system.map((path) => ({ path, isWritable: false }));
  return { ...folders, roots: [...fixed, ...folders.roots].toSorted((a, b) => a.path.length - b.path.length) };
}

/** A link cannot be masked: a command that can write its folder can replace it. */
function requireFixedLinks(folders: AllowedFolders): void {
  const [loose] = looseLinks(folders);
  if (loose === undefined) return;
  throw new ToolcribError('loose_link', `it may write the folder of ${loose}, a link that leads to files of the crib`);
}

/** Links to files of the crib that a command could replace. */
export function looseLinks(folders: AllowedFolders): readonly string[] {
  return folders.links.filter((link) => isInWritableRoot(link, folders) && !folders.fixed.covers(dirname(link)));
}

/** Creates placeholders for missing paths; of several missing folders, only the outermost. */
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

/** Ignores paths that we may not create: a command, which runs as the same user, may not either. */
function make(create: () => void): void {
  try {
    create();
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException; // from the file system
    if (['EEXIST', 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR'].includes(code)) return;
    throw new ToolcribError('no_sandbox', 'private files of the crib cannot be hidden from it', { cause });
  }
}
