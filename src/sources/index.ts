import type { SourceTraits, SourceTraitsOf } from '../core/ports/extension-ports.ts';
import { CODE } from './code.ts';
import { databaseSource } from './database.ts';
import { filesSource } from './files.ts';
import { httpSource } from './http-list.ts';
import { INLINE } from './inline.ts';
import { moduleSource } from './module.ts';
import { modulesSource } from './modules/modules.ts';
import { packagesSource } from './modules/packages.ts';

/** Sources that do not belong to a kind; kinds bring theirs. To add one, add a file here and a line below. Discovered sources own names in this order. */
export const SOURCES = [filesSource, packagesSource, modulesSource, httpSource, databaseSource, moduleSource] as const;

const TRAITS = new Map<string, SourceTraits>([CODE, INLINE].map((source) => [source.name, source]));
const NO_TRAITS: SourceTraits = {};

/** The traits of the sources that every crib has; empty for a configured one. */
export const sourceTraitsOf: SourceTraitsOf = (source) => TRAITS.get(source) ?? NO_TRAITS;
