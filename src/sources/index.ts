import { databaseSource } from './database.ts';
import { filesSource } from './files.ts';
import { httpSource } from './http-list.ts';
import { moduleSource } from './module.ts';
import { modulesSource } from './modules/modules.ts';
import { packagesSource } from './modules/packages.ts';

/** Sources that do not belong to a kind; kinds bring theirs. To add one, add a file here and a line below. Discovered sources own names in this order. */
export const SOURCES = [filesSource, packagesSource, modulesSource, httpSource, databaseSource, moduleSource] as const;
