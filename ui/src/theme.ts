import { createTheme, type MantineColorsTuple } from '@mantine/core';

/** The one accent colour, an ink blue. Everything else is grey, but for the words of danger and state. */
const ink: MantineColorsTuple = [
  '#eef1fd',
  '#dbe1f9',
  '#b4c0f1',
  '#8a9de9',
  '#687fe2',
  '#526cde',
  '#4561dc',
  '#3555d4',
  '#2b49b8',
  '#1f3a9a',
];

const gray: MantineColorsTuple = [
  '#f8f8f9',
  '#f1f1f3',
  '#e6e6e9',
  '#d5d6da',
  '#b3b5bc',
  '#8a8d96',
  '#6b6e78',
  '#4c4f58',
  '#2f3138',
  '#1b1c21',
];

const dark: MantineColorsTuple = [
  '#e3e4e8',
  '#b9bbc3',
  '#8e919b',
  '#6c6f79',
  '#3a3c44',
  '#2b2d33',
  '#212228',
  '#17181c',
  '#131417',
  '#0e0f11',
];

export const theme = createTheme({
  primaryColor: 'ink',
  primaryShade: { light: 7, dark: 5 },
  colors: { ink, gray, dark },
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  radius: { xs: '3px', sm: '4px', md: '6px', lg: '8px', xl: '12px' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'compact-sm' } },
    TextInput: { defaultProps: { size: 'xs' } },
    NumberInput: { defaultProps: { size: 'xs' } },
    Textarea: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { size: 'xs' } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: false } },
  },
});
