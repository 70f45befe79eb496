import { expect, it } from 'vitest';
import { shellTool, shopWith, TEXT } from './shell-shop.ts';

/** Commands that would read `{x}`, a text of the caller, as a part of their code. */
const CODE = [
  ['sh', '-c', 'echo {x}'],
  ['timeout', '5', 'bash', '-o', 'pipefail', '-ec', 'echo {x}'],
  ['tcsh', '-c', 'ls {x}'],
  ['fish', '--command=ls {x}'],
  ['env', '-S', "sh -c 'echo {x}'"],
  ['env', '-i', '-u', 'A', '--split-string=echo {x}'],
  ['flock', '-w', '5', 'lock', '-c', 'echo {x}'],
  ['script', '-qc', 'echo {x}', '/dev/null'],
  ['pwsh', '-NoProfile', '-Command', 'Get-Item {x}'],
  ['python3', '-c', 'print("{x}")'],
  ['python3', '-cprint("{x}")'],
  ['python3', '-W', 'ignore', '-Ic', 'print("{x}")'],
  ['python3.12', '-uX', 'dev', '-c', 'print("{x}")'],
  ['node', '-pe', 'f("{x}")'],
  ['node', '--eval=f("{x}")'],
  ['node', '-r', './a.js', '-e', 'f("{x}")'],
  ['node', '--import', './a.js', '--print', 'f("{x}")'],
  ['node', '--input-type', 'module', '--eval', 'f("{x}")'],
  ['deno', 'eval', '--ext', 'ts', 'f("{x}")'],
  ['perl', '-I', 'lib', '-Mstrict', '-lne', 'print if /{x}/'],
  ['perl', '-eprint "{x}"'],
  ['perl', '-e{x}; print'],
  ['ruby', '-r', 'json', '-e', 'puts "{x}"'],
  ['php', '-d', 'a=1', '-r', 'echo "{x}";'],
  ['lua', '-l', 'm', '-e', 'print("{x}")'],
  ['Rscript', '-e', 'f("{x}")'],
  ['awk', '/{x}/', 'file'],
  ['gawk', '-F', ':', '-v', 'a=1', '--', '$1 == "{x}"', 'file'],
  ['sed', '-n', '/{x}/p', 'file'],
  ['sed', '-i.bak', '-e', 's/a/b/', '-es/{x}/c/', 'file'],
  ['sed', '--expression=s/{x}/y/', 'file'],
  ['sed', '--expr=s/{x}/y/', 'file'],
  ['sed', '--exp', 's/{x}/y/', 'file'],
  ['env', '--spl=sh -c {x}'],
  ['flock', 'lock', '--comm', 'echo {x}'],
  ['script', '--comm=echo {x}'],
  ['gawk', '-i', 'inplace', '-l', 'time', '$1 == "{x}"'],
  ['gawk', '--sour', '$1 == "{x}"'],
  ['su', '--comm', 'ls {x}'],
  ['pwsh', '-Comm', 'ls {x}'],
  ['pwsh', '-ExecutionPolicy', 'Bypass', '-enc', 'a{x}'],
  ['bash5', '-c', 'ls {x}'],
  ['zsh-5.9', '-c', 'ls {x}'],
  ['bash-static', '-c', 'ls {x}'],
  ['bash.exe', '-c', 'ls {x}'],
  ['ksh93', '-c', 'ls {x}'],
  ['yash', '-c', 'ls {x}'],
  ['node24', '-e', 'f("{x}")'],
  ['python3.12-dbg', '-c', 'print("{x}")'],
];

/** Programs that would read code from their input, and others. */
const INPUT = [
  ['sh'],
  ['bash', '-'],
  ['bash', '-e', '/dev/stdin'],
  ['python3'],
  ['python3', '-u', '-W', 'ignore', '-'],
  ['node', '--input-type=module'],
  ['perl', '-n'],
  ['ruby', '-'],
  ['php'],
  ['awk', '-f', '-'],
  ['sed', '-n', '-f', '/dev/stdin'],
];
const NO_INPUT = [
  ['cat'],
  ['sh', '-c', 'cat "$1"', 'sh', '-'],
  ['bash', 'script.sh', '-'],
  ['python3', 'script.py', '-'],
  ['python3', '-m', 'json.tool'],
  ['python3', '-c', 'import sys'],
  ['node', '-e', 'f()', '-'],
  ['awk', '{{ print }}'],
  ['sed', '-n', '-e', '/a/p'],
  ['sed', '-es/a/b/'],
  ['env', 'A=1', 'cat'],
];

/** Commands in which it is an argument of the code, the whole code, or something else. */
const NO_CODE = [
  ['sh', '-c', 'echo "$1"', 'sh', 'a {x}'],
  ['python3', '-c', 'import sys; print(sys.argv[1])', 'a {x}'],
  ['python3', '-u', '-c', '{x}'],
  ['python3', 'script.py', '-c', 'a {x}'],
  ['python3', '-m', 'mod', '-c', 'a {x}'],
  ['python3', '-Wonce::{x}', 'script.py'],
  ['node', 'script.js', '-e', 'a {x}'],
  ['node', '-e', '{x}'],
  ['perl', '-e{x}'],
  ['perl', 'script.pl', '-e', 'a {x}'],
  ['php', '-f', 'x.php', '-r', 'a {x}'],
  ['awk', '-f', 'a.awk', 'a{x}'],
  ['awk', '-v', 'a=x{x}', 'BEGIN {{ print a }}', 'file{x}'],
  ['sed', '-f', 'a.sed', 'a{x}'],
  ['sed', '-n', '-e', '/a/p', 'a{x}'],
  ['sed', '-n', '{line}p', 'file'],
  ['flock', 'lock', 'grep', '-c', 'a{x}'],
  ['npm', 'run', 'script', '--', 'a{x}'],
  ['env', 'A=a{x}', 'printenv'],
];

it('a command that would read a text of the caller as a part of its code is refused, however its options are written', async () => {
  const toTool = (command: readonly string[], index: number) => {
    const used = { x: TEXT, line: { type: 'integer' } };
    const names = Object.entries(used).filter(([name]) => command.some((word) => word.includes(`{${name}}`)));
    return shellTool(`t${index}`, Object.fromEntries(names), { command });
  };
  const { crib } = await shopWith({ tools: [...CODE, ...NO_CODE].map(toTool) });
  const isListed = (_: unknown, index: number) => crib.catalog.get(`t${index}`) !== undefined;
  expect([...CODE, ...NO_CODE].filter(isListed)).toEqual(NO_CODE);
  expect(crib.warnings()).toHaveLength(CODE.length);
  for (const warning of crib.warnings()) expect(warning).toContain('{x} would be read as part of the script');
});

it('a text of the caller inside of code that a program reads from its input is refused', async () => {
  const toTool = (command: readonly string[], index: number) =>
    shellTool(`t${index}`, { x: TEXT }, { command, stdin: 'a {x}' });
  const { crib } = await shopWith({ tools: [...INPUT, ...NO_INPUT].map(toTool) });
  const isListed = (_: unknown, index: number) => crib.catalog.get(`t${index}`) !== undefined;
  expect([...INPUT, ...NO_INPUT].filter(isListed)).toEqual(NO_INPUT);
});

it('a variable that decides what code a program runs must not contain a text of the caller', async () => {
  const deciding = [
    ...[
      'PATH',
      'LD_PRELOAD',
      'PYTHONPATH',
      'NODE_OPTIONS',
      'NODE_PATH',
      'BASH_ENV',
      'GIT_SSH_COMMAND',
      'GIT_CONFIG_KEY_0',
    ],
    ...[
      'LUA_INIT',
      'LUA_PATH_5_4',
      'CLASSPATH',
      'JDK_JAVA_OPTIONS',
      'MAKEFLAGS',
      'TAR_OPTIONS',
      'RSYNC_RSH',
      'ZDOTDIR',
    ],
    ...[
      'OPENSSL_CONF',
      'npm_config_script_shell',
      'DOTNET_STARTUP_HOOKS',
      'MANPAGER',
      'SUDO_EDITOR',
      'PHPRC',
      'AWKPATH',
    ],
  ];
  const others = ['TARGET', 'MY_PATH', 'PATHS', 'TOKEN', 'LUA', 'MAKE', 'LANG', 'RELATIVE_PATH', 'OPTIONS'];
  const toTool = (name: string) => shellTool(name, { x: TEXT }, { command: ['true'], env: { [name]: '{x}' } });
  const { crib } = await shopWith({ tools: [...deciding, ...others].map(toTool) });
  expect(crib.catalog.specs.map(({ name }) => name)).toEqual(others);
});
