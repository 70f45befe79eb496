/** What is wrong at a place of the arguments; the path is a JSON pointer. Hints and the server's issues have the same shape. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** What the hints and the server say of a required value that is absent. */
export const IS_REQUIRED = 'is required';
