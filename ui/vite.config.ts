import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** For `npm run -w ui dev`: a running server, and the operator token that the development server sends along. */
const { TOOLCRIB_URL = 'http://127.0.0.1:7420', TOOLCRIB_OPERATOR_TOKEN } = process.env;

const server = {
  target: TOOLCRIB_URL,
  ...(TOOLCRIB_OPERATOR_TOKEN === undefined ? {} : { headers: { authorization: `Bearer ${TOOLCRIB_OPERATOR_TOKEN}` } }),
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: '../dist/ui',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0, // the policy of the page allows no data: scripts, and fonts are cached as files
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': server, '/openapi.json': server } },
});
