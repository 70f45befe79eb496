import { withoutEnd } from '../../core/visible-text.ts';

/** How a program gets code on its command line. */
export interface Interpreter {
  readonly program: RegExp;
  /** Options before code; further options may stand between. */
  readonly code: RegExp;
  /** The beginning of options that contain code. */
  readonly glued?: RegExp;
  /** Options before a value that is not code. */
  readonly values?: RegExp;
  /** Options that name a file with the code. */
  readonly files?: RegExp;
  /** True if the first word that is not an option is code, without such options. */
  readonly isFirstCode?: boolean;
  /** True if a file stands before the options. */
  readonly isAfterFile?: boolean;
}

const INTERPRETERS: readonly Interpreter[] = [
  {
    program: /^(python|pypy)[\d.]*$/,
    code: /^-[A-Za-z]*c$/,
    glued: /^-(?![WX])[A-Za-z]*?c/,
    values: /^(-[A-Za-z]*[WX]|--check-hash-based-pycs)$/,
  },
  {
    program: /^(node|nodejs|bun|deno|tsx|ts-node)$/,
    code: /^(-[a-z]*[ep]|--eval|--print|eval)$/,
    glued: /^--(eval|print)=/,
    values: /^(-[rC]|--(require|import|loader|experimental-loader|conditions|env-file|input-type|preload|ext|config))$/,
  },
  { program: /^perl[\d.]*$/, code: /^-\w*[eE]$/, glued: /^-(?![IMmx])\w*?[eE]/, values: /^-I$/ },
  {
    program: /^ruby[\d.]*$/,
    code: /^-\w*e$/,
    glued: /^-(?![rICEFKTx])\w*?e/,
    values: /^(-[rICEF]|--(require|encoding))$/,
  },
  { program: /^lua(jit)?[\d.]*$/, code: /^-e$/, glued: /^-e/, values: /^-l$/ },
  {
    program: /^php[\d.]*$/,
    code: /^(-[rBRE]|--(run|process-(begin|code|end)))$/,
    glued: /^-[rBRE]/,
    values: /^-[dcz]$/,
  },
  {
    program: /^(Rscript|julia|osascript|elixir|groovy)$/,
    code: /^(-[eE]|--(eval|print))$/,
    glued: /^(-e|--(eval|print)=)/,
  },
  {
    program: /^(pwsh|powershell)$/i,
    code: /^--?(c(?!on|us)[a-z]*|e(?!x|p)[a-z]*)$/i,
    values: /^--?(con|cus|ex|ep|inp|out|set|ver|win|wo)[a-z]*$/i,
  },
  {
    program: /^[gmn]?awk$/,
    code: /^(-[a-z]*e|--so[a-z]*)$/,
    glued: /^--so[a-z]*=/,
    values: /^(-[FvilW]|--(field-separator|assign|include|load))$/,
    files: /^(-f|-E|--(file|exec)(=|$))/,
    isFirstCode: true,
  },
  {
    program: /^g?sed$/,
    code: /^(-[A-Za-z]*e|--e[a-z]*)$/,
    glued: /^(-(?!i)[A-Za-z]*?e|--e[a-z]*=)/,
    values: /^(-l|--line-length)$/,
    files: /^(-[A-Za-z]*f|--fi[a-z]*(=|$))/,
    isFirstCode: true,
  },
  {
    program: /^env$/,
    code: /^(-[a-z]*S|--s[a-z-]*)$/,
    glued: /^(-[a-z]*?S|--s[a-z-]*=)/,
    values: /^(-[uC]|--(unset|chdir))$/,
  },
  {
    program: /^flock$/,
    code: /^(-[A-Za-z]*c|--com[a-z]*)$/,
    glued: /^--com[a-z]*=/,
    values: /^-[wE]$/,
    isAfterFile: true,
  },
  { program: /^script$/, code: /^(-[A-Za-z]*c|--c[a-z]*)$/, glued: /^--c[a-z]*=/ },
];
const SHELL = /^(r?bash|sh|dash|ash|yash|posh|hush|osh|zsh|[lmo]?ksh|pdksh|t?csh|fish|nu|xonsh|elvish|su|runuser)$/;

/** Programs that start others, and read no code from stdin. */
export const STARTERS = /^(env|flock|script)$/;

/** The interpreter of this name, other than a shell. */
export function interpreterOf(name: string): Interpreter | undefined {
  return INTERPRETERS.find(({ program }) => program.test(name) || program.test(unversioned(name)));
}

/** True for the name of a shell. */
export function isShell(name: string): boolean {
  return SHELL.test(name) || SHELL.test(unversioned(name));
}

/** The name of a program without its version and build: `zsh-5.9`, `node24`, `bash-static`, `python.exe`. */
function unversioned(name: string): string {
  const plain = name.replace(/\.exe$/i, '').replace(/-(static|dbg)$/, '');
  return withoutEnd(plain, /[\d.]/).replace(/-$/, '');
}
