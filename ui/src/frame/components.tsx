import '../mantine-components.css';
import { type MantineColorSchemeManager, MantineProvider } from '@mantine/core';
import type { ReactNode } from 'react';
import { readScheme } from '../parts/color-scheme.ts';
import { theme } from '../theme.ts';

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';

/** The switch of the frame sets the scheme; Mantine only follows it. */
const followed: MantineColorSchemeManager = {
  get: () => readScheme(),
  set: () => {},
  subscribe: () => {},
  unsubscribe: () => {},
  clear: () => {},
};

/** Mantine for pages that use its components. It is not part of the first load. */
export function Components({ children }: { readonly children: ReactNode }) {
  return (
    <MantineProvider theme={theme} colorSchemeManager={followed} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      {children}
    </MantineProvider>
  );
}
