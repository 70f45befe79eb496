/** True if `bound` (`example.com`, `example.com:8443`, `*.example.com`) covers `host`, which may carry a port. */
export function isBoundTo(bound: string, host: string): boolean {
  const isWild = bound.startsWith('*.');
  const allowed = toAuthority(isWild ? bound.slice(2) : bound);
  const wanted = toAuthority(host);
  if (wanted === undefined || allowed === undefined) return false;
  if (allowed.port !== '' && allowed.port !== (wanted.port || HTTPS_PORT)) return false;
  return isWild ? wanted.name.endsWith(`.${allowed.name}`) : wanted.name === allowed.name;
}

/** True for what can be said under `hosts`: a host, with or without a port, or all hosts below one. */
export function isHostBinding(text: string): boolean {
  return toAuthority(text.startsWith('*.') ? text.slice(2) : text) !== undefined;
}

// `URL` leaves the usual port out of `host`; without a scheme the safe one is meant.
const HTTPS_PORT = '443';

interface Authority {
  readonly name: string;
  readonly port: string;
}

/** The one spelling of a host; nothing for what is more than a host and a port: a trick must not look like a match. */
function toAuthority(host: string): Authority | undefined {
  if (!/^[^\s/\\?#@*%]+$/.test(host) || !URL.canParse(`https://${host}`)) return undefined;
  const { hostname } = new URL(`https://${host}`);
  return { name: hostname.replace(/\.$/, ''), port: /:(\d+)$/.exec(host)?.[1] ?? '' };
}
