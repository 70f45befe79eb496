import { Menu } from '@mantine/core';
import { memo, useRef, useState } from 'react';
import type { CallFilters } from './call-filters.ts';
import { type ExportFormat, exportCalls } from './export-calls.ts';

/** Saves the filtered calls as a file. */
export const ExportMenu = memo(function ExportMenu({ filters }: { readonly filters: CallFilters }) {
  const [state, setState] = useState('');
  const running = useRef<AbortController>(undefined);
  const isRunning = running.current !== undefined;
  const save = async (format: ExportFormat) => {
    const controller = new AbortController();
    running.current = controller;
    setState('Reading …');
    try {
      const onProgress = (count: number) => setState(`${count.toLocaleString('en')} calls …`);
      download(await exportCalls(filters, format, { signal: controller.signal, onProgress }), `calls.${format}`);
      setState('');
    } catch (cause) {
      setState(controller.signal.aborted ? '' : `Not exported: ${(cause as Error).message}`); // api throws errors alone
    } finally {
      running.current = undefined;
    }
  };
  return (
    <>
      {state !== '' && (
        <span className="soft" role="status">
          {state}
        </span>
      )}
      {isRunning ? (
        <button type="button" className="button" onClick={() => running.current?.abort()}>
          Cancel export
        </button>
      ) : (
        <Menu position="bottom-end">
          <Menu.Target>
            <button type="button" className="button">
              Export
            </button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => void save('jsonl')}>JSON lines</Menu.Item>
            <Menu.Item onClick={() => void save('csv')}>CSV</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  );
});

function download(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
