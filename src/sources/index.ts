import { databaseSource } from './database.ts';
import { filesSource } from './files.ts';
import { httpSource } from './http-list.ts';
import { moduleSource } from './module.ts';
import { modulesSource } from './modules/modules.ts';
import { packagesSource } from './modules/packages.ts';

/** The sources that stand by themselves; kinds bring theirs. A new one is a file beside these, and a line here. Those that are discovered own names in this order. */
export const SOURCES = [filesSource, packagesSource, modulesSource, httpSource, databaseSource, moduleSource] as const;
