import type { paths } from './types.ts';

/** The JSON of a successful GET, by the path of its route. */
export type Answer<Path extends keyof paths> = paths[Path] extends {
  readonly get: {
    readonly responses: { readonly 200: { readonly content: { readonly 'application/json': infer Json } } };
  };
}
  ? Json
  : never;
