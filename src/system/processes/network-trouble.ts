type Environment = Readonly<Record<string, string | undefined>>;

const NETWORK_TROUBLE =
  /ENOTFOUND|EAI_AGAIN|getaddrinfo|could not resolve|name resolution|name or service not known|dns error|nodename nor servname|self[- ]signed certificate|SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER_CERT|VERIFY_LEAF)|issuer certificate|certificate[ _]verify[ _]failed|CERT_HAS_EXPIRED|UnknownIssuer|invalid peer certificate|SSLError|ERR_(SSL|TLS)_/i;

/** True if the output mentions names that cannot be resolved or certificates that are not trusted. */
export function isNetworkTrouble(output: string): boolean {
  return NETWORK_TROUBLE.test(output);
}

/** Variables for network access and trust. Their names may be shown to callers. */
const LEADS_TO_NETWORK =
  /^(all_proxy|https?_proxy|(requests|curl|aws)_ca_bundle|node_(use_env_proxy|use_system_ca|extra_ca_certs)|ssl_cert_(file|dir)|npm_config_(registry|proxy|https_proxy|cafile)|uv_(index|index_url|default_index|native_tls)|pip_(index_url|proxy|cert))$/i;

/** A child process that failed. */
interface FailedChild {
  /** Its output. */
  readonly said: string;
  /** Our environment. */
  readonly env: Environment;
  /** The child's environment; only the presence of its variables counts. */
  readonly given: Environment;
  /** The remedy: how to pass the variables on. */
  readonly cure: string;
}

/** A sentence that names the network variables a child did not get; empty for other failures. */
export function describeWithheld({ said, env, given, cure }: FailedChild): string {
  if (!isNetworkTrouble(said)) return '';
  const names = Object.keys(env).filter(
    (name) => LEADS_TO_NETWORK.test(name) && env[name] && given[name] === undefined,
  );
  return names.length === 0 ? '' : `These variables were not passed on: ${names.sort().join(', ')}; ${cure}.`;
}
