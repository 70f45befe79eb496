import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { thirdPartyNotices } from '../scripts/third-party-notices.ts';

/** For `npm run -w ui dev`: a running server, and the operator token that the development server sends along. */
const { TOOLCRIB_URL = 'http://127.0.0.1:7420', TOOLCRIB_OPERATOR_TOKEN } = process.env;

const server = {
  target: TOOLCRIB_URL,
  ...(TOOLCRIB_OPERATOR_TOKEN === undefined ? {} : { headers: { authorization: `Bearer ${TOOLCRIB_OPERATOR_TOKEN}` } }),
};

/** Writes the licences of the packages in the build, fonts and styles included. */
const notices: Plugin = {
  name: 'third-party-notices',
  generateBundle() {
    const font = fileURLToPath(import.meta.resolve('@fontsource-variable/inter/package.json')); // a style refers to it, no module
    const paths = [...[...this.getModuleIds()].filter((id) => !id.startsWith('\0')), font];
    this.emitFile({
      type: 'asset',
      fileName: 'THIRD-PARTY-NOTICES.txt',
      source: thirdPartyNotices(paths, 'dist/ui'),
    });
  },
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), notices],
  build: {
    outDir: '../dist/ui',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0, // the policy of the page allows no data: scripts, and fonts are cached as files
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': server, '/openapi.json': server } },
});
