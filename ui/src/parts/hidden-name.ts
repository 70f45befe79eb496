/** Where a tool of this name would be, the server answers with counts: GET /api/tools/facets. */
export const HIDDEN_NAME = 'facets';
