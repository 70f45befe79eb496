/** Variables that name files of trusted certificates. */
export const CERTIFICATES: readonly string[] = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];

/** Variables that a child inherits: enough to find programs and use the user's language, but no credentials. */
const PASSED_ON: readonly string[] = [
  ...[...CERTIFICATES, 'NO_PROXY', 'no_proxy'],
  ...(process.platform === 'win32'
    ? [
        ...['APPDATA', 'COMSPEC', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA'],
        ...['PATH', 'PATHEXT', 'PROCESSOR_ARCHITECTURE', 'PROGRAMDATA', 'PROGRAMFILES'],
        ...['PROGRAMFILES(X86)', 'PROGRAMW6432', 'SYSTEMDRIVE', 'SYSTEMROOT', 'TEMP'],
        ...['TMP', 'USERNAME', 'USERPROFILE', 'WINDIR'],
      ]
    : ['HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER']),
];

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of a child: the inherited variables, overridden by the configured ones. */
export function childEnvironment(env: Environment, configured: Environment = {}): Readonly<Record<string, string>> {
  const isGiven = (entry: [string, string | undefined]): entry is [string, string] => entry[1] !== undefined;
  // Exported shell functions start with "() {" and are code, so they are not passed on.
  const passed = PASSED_ON.map((name): [string, string | undefined] => [name, env[name]]).filter(
    (entry) => isGiven(entry) && !entry[1].startsWith('()'),
  );
  return Object.fromEntries([...passed, ...Object.entries(configured)].filter(isGiven));
}
