import { deprecate } from 'node:util';
import type { BundleInfo } from '../core/bundle.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Names } from './catalog/activation.ts';
import type { Chest } from './chest.ts';

/** Names of an earlier design. They work and warn once. */
export interface DeprecatedNames {
  /** @deprecated Use `activate`. */
  activateTool(names: Names): Promise<Outcome>;
  /** @deprecated Use `activate`. */
  activateToolset(names: Names): Promise<Outcome>;
  /** @deprecated Use `deactivate`. */
  deactivateToolset(names: Names): Promise<Outcome>;
  /** @deprecated Use `setActive`. */
  setActiveToolsets(names: Names): Promise<Outcome>;
  /** @deprecated Use `addEssential`. */
  addEssentialToolset(names: Names): Promise<Outcome>;
  /** @deprecated Bundles are set up by the first call or by `activate`. */
  initTools(): Promise<Outcome>;
  /** @deprecated Use `active`. */
  readonly activeTools: Readonly<Record<string, BundleInfo>>;
  /** @deprecated Use `active`. */
  readonly activeToolsets: Readonly<Record<string, BundleInfo>>;
  /** @deprecated Use `available`. */
  readonly toolClasses: readonly string[];
}

/** Where a chest keeps what the old records of active bundles were made of. */
export const ACTIVE_BUNDLES: unique symbol = Symbol('toolcrib.activeBundles');
type OldChest = Chest & { [ACTIVE_BUNDLES](): readonly BundleInfo[] };

function renamed<Result>(oldName: string, newName: string, use: (chest: OldChest, names: Names) => Result) {
  const message = `chest.${oldName} is deprecated; use chest.${newName}`;
  // Node warns once per code, however many chests there are.
  return deprecate(
    function (this: OldChest, names: Names = []): Result {
      return use(this, names);
    },
    message,
    `TOOLCRIB_${oldName}`,
  );
}

const recordOf = (chest: OldChest) => Object.fromEntries(chest[ACTIVE_BUNDLES]().map((info) => [info.name, info]));
const activeTools = renamed('activeTools', 'active()', recordOf);
const activeToolsets = renamed('activeToolsets', 'active()', recordOf);
const toolClasses = renamed('toolClasses', 'available()', (chest) => chest.available());

/** What every chest has on its prototype besides its own methods. */
export const deprecatedNames: DeprecatedNames & ThisType<OldChest> = {
  activateTool: renamed('activateTool', 'activate()', (chest, names) => chest.activate(names)),
  activateToolset: renamed('activateToolset', 'activate()', (chest, names) => chest.activate(names)),
  deactivateToolset: renamed('deactivateToolset', 'deactivate()', (chest, names) => chest.deactivate(names)),
  setActiveToolsets: renamed('setActiveToolsets', 'setActive()', (chest, names) => chest.setActive(names)),
  addEssentialToolset: renamed('addEssentialToolset', 'addEssential()', (chest, names) => chest.addEssential(names)),
  initTools: renamed('initTools', 'activate()', (chest) => chest.activate(chest.active())),
  get activeTools() {
    return activeTools.call(this);
  },
  get activeToolsets() {
    return activeToolsets.call(this);
  },
  get toolClasses() {
    return toolClasses.call(this);
  },
};
