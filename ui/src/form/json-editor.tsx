import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, linter } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { basicSetup } from 'codemirror';
import { useEffect, useRef } from 'react';
import { parseJson } from '../json/json-text.ts';

interface JsonEditorProps {
  readonly text: string;
  readonly label: string;
  onChange(text: string): void;
  /** Ctrl+Enter. */
  readonly onRun?: (() => void) | undefined;
}

const COLOURS = HighlightStyle.define([
  // Isolated: otherwise a name and a value that are written from right to left change places.
  { tag: tags.propertyName, color: 'var(--tc-text)', unicodeBidi: 'isolate' },
  { tag: tags.string, color: 'var(--tc-good)', unicodeBidi: 'isolate' },
  { tag: [tags.number, tags.bool], color: 'var(--tc-accent)' },
  { tag: tags.null, color: 'var(--tc-text-faint)' },
  { tag: [tags.separator, tags.squareBracket, tags.brace], color: 'var(--tc-text-faint)' },
]);

const LOOK = EditorView.theme({
  '&': { fontSize: '12.5px', backgroundColor: 'transparent', color: 'var(--tc-text)', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '20px' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--tc-text-faint)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '.cm-cursor': { borderLeftColor: 'var(--tc-text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--tc-chosen)',
  },
  '.cm-content': { caretColor: 'var(--tc-text)', padding: '8px 0' },
  '.cm-tooltip': { backgroundColor: 'var(--tc-raised)', border: '1px solid var(--tc-line-strong)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--tc-hover)', border: 'none', color: 'var(--tc-text-soft)' },
});

/** The arguments as text. What does not parse stays as it is, with the place and the reason marked. */
export function JsonEditor({ text, label, onChange, onRun }: JsonEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const listeners = useRef({ onChange, onRun });
  listeners.current = { onChange, onRun };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once; the effect below follows the text
  useEffect(() => {
    if (place.current === null) return;
    const made = createEditor(place.current, { text, label, listeners });
    view.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const { current } = view;
    if (current === undefined || current.state.doc.toString() === text) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: text } });
  }, [text]);
  return <div ref={place} className="json-editor" />;
}

interface EditorOptions {
  readonly text: string;
  readonly label: string;
  readonly listeners: { readonly current: Pick<JsonEditorProps, 'onChange' | 'onRun'> };
}

function createEditor(parent: HTMLElement, { text, label, listeners }: EditorOptions): EditorView {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
  const run = () => {
    listeners.current.onRun?.();
    return true;
  };
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        keymap.of([{ key: 'Mod-Enter', run }]),
        basicSetup,
        json(),
        syntaxHighlighting(COLOURS),
        linter(({ state }) => toDiagnostics(state.doc.toString()), { delay: 200 }),
        LOOK,
        EditorView.domEventHandlers({ beforeinput: replaceOurselves }),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.updateListener.of(({ docChanged, state, transactions }) => {
          const isTyped = transactions.some(
            (one) =>
              one.isUserEvent('input') ||
              one.isUserEvent('delete') ||
              one.isUserEvent('undo') ||
              one.isUserEvent('redo') ||
              one.isUserEvent('move'),
          );
          if (docChanged && isTyped) listeners.current.onChange(state.doc.toString());
        }),
      ],
    }),
  });
}

/** Replaces a selection by typed text. Chromium would write style attributes for it, which the policy of the page forbids. */
function replaceOurselves(event: InputEvent, view: EditorView): boolean {
  const { data } = event;
  const { main } = view.state.selection;
  if (event.inputType !== 'insertText' || data === null || event.isComposing || main.empty) return false;
  event.preventDefault();
  const replace = () => view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type' });
  const handlers = view.state.facet(EditorView.inputHandler); // such as brackets that are closed
  if (!handlers.some((handle) => handle(view, main.from, main.to, data, replace))) view.dispatch(replace());
  return true;
}

function toDiagnostics(text: string): readonly Diagnostic[] {
  const parsed = parseJson(text);
  if (!('problem' in parsed)) return [];
  const from = Math.min(parsed.problem.offset, text.length);
  return [{ from, to: Math.min(from + 1, text.length), severity: 'error', message: parsed.problem.message }];
}
