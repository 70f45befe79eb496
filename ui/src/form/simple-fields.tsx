import { isJsonNumber, type JsonNode, parseJson } from '../json/json-text.ts';
import { printJson } from '../json/json-value.ts';
import { type FieldProps, FieldRow, placeholderOf } from './field-row.tsx';
import classes from './form.module.css';
import { isNull, usePlace } from './form-context.ts';
import { TimePicker } from './time-picker.tsx';

const SHORT_FORMATS = new Set([
  'email',
  'uri',
  'uuid',
  'date',
  'time',
  'date-time',
  'hostname',
  'ipv4',
  'ipv6',
  'duration',
]);
const INPUT_MODES = { email: 'email', uri: 'url' } as const;

/** A text. Typing sets it, removing all of it makes it absent; an empty text is chosen by the menu. */
export function TextField(props: FieldProps) {
  const { path, field, canBeAbsent = true } = props;
  const { id, node, issues, set, remove } = usePlace(path);
  // Text areas rewrite these line breaks, so the text would change unseen.
  if (node !== undefined && !isNull(node) && (node.type !== 'string' || /\r|\p{Cs}/u.test(node.value)))
    return <RawField {...props} />;
  const format = field.kind === 'text' ? field.format : undefined;
  const value = node?.type === 'string' ? node.value : '';
  const change = (text: string) => (text === '' && canBeAbsent ? remove() : set(JSON.stringify(text)));
  const isShort = format !== undefined && SHORT_FORMATS.has(format) && !value.includes('\n');
  const shared = {
    id,
    value,
    className: classes.input,
    placeholder: placeholderOf(field, node) || (format === 'date-time' ? '2026-11-16T18:00:00Z' : ''),
    'aria-invalid': issues.length > 0,
    'aria-describedby': issues.length > 0 ? `${id}-issue` : undefined,
    spellCheck: false,
    autoComplete: 'off',
  } as const;
  const mode = INPUT_MODES[format as keyof typeof INPUT_MODES] ?? 'text'; // a format without a keyboard of its own is text
  return (
    <FieldRow {...props}>
      <div className={classes.control}>
        {isShort ? (
          <input {...shared} inputMode={mode} onChange={({ target }) => change(target.value)} />
        ) : (
          <textarea {...shared} rows={1} onChange={({ target }) => change(target.value)} />
        )}
        {(format === 'date-time' || format === 'date' || format === 'time') && (
          <TimePicker format={format} value={value} onPick={change} />
        )}
      </div>
    </FieldRow>
  );
}

/** A number. Its digits are kept as they are typed; what is not a number yet is kept as well, and blocks running. */
export function NumberField(props: FieldProps) {
  const { path, field, canBeAbsent = true } = props;
  const { id, node, issues, draft, set, remove, keepDraft } = usePlace(path);
  if (node !== undefined && !isNull(node) && node.type !== 'number') return <RawField {...props} />;
  const change = (typed: string) => {
    const number = typed.trim();
    if (number === '' && canBeAbsent) remove();
    else if (isJsonNumber(number)) set(number);
    else keepDraft(typed);
  };
  return (
    <FieldRow {...props}>
      <input
        id={id}
        className={classes.input}
        inputMode="decimal"
        value={draft ?? (node?.type === 'number' ? node.raw : '')}
        placeholder={placeholderOf(field, node)}
        aria-invalid={issues.length > 0 || draft !== undefined}
        autoComplete="off"
        onChange={({ target }) => change(target.value)}
      />
      {draft !== undefined && <p className={classes.issue}>This is not a number.</p>}
    </FieldRow>
  );
}

/** True or false, or not set. Pressing the chosen one again makes it absent. */
export function BooleanField(props: FieldProps) {
  const { path, field, name, canBeAbsent = true } = props;
  const { id, node, set, remove } = usePlace(path);
  const value = node === undefined ? undefined : printJson(node);
  return (
    <FieldRow {...props}>
      <fieldset className={classes.segments} id={id} aria-label={name ?? field.title ?? 'Value'}>
        {['true', 'false', ...(field.isNullable ? ['null'] : [])].map((choice) => (
          <button
            key={choice}
            type="button"
            className={classes.segment}
            aria-pressed={value === choice}
            onClick={() => (value === choice && canBeAbsent ? remove() : set(choice))}
          >
            {choice}
            {node === undefined && field.preset === choice && <span className="faint"> (default)</span>}
          </button>
        ))}
      </fieldset>
    </FieldRow>
  );
}

/** A value that can only be one: written when it is chosen. */
export function ConstantField(props: FieldProps) {
  const { path, field, isRequired } = props;
  const { id, node, set, remove } = usePlace(path);
  if (field.kind !== 'constant') return null;
  const isSet = node !== undefined && printJson(node) === field.raw;
  return (
    <FieldRow {...props}>
      <label className={classes.check}>
        <input
          id={id}
          type="checkbox"
          checked={isSet}
          onChange={({ target }) => (target.checked ? set(field.raw) : remove())}
        />
        <span className="name">{field.raw.slice(0, 200)}</span>
        {isRequired && !isSet && <span className="faint">the only value it can have</span>}
      </label>
    </FieldRow>
  );
}

/** Any JSON, as text. What does not parse yet is kept, and blocks running. */
export function RawField(props: FieldProps) {
  const { path, field, canBeAbsent = true } = props;
  const { id, form, node, draft, issues, set, remove, keepDraft } = usePlace(path);
  const change = (typed: string) => {
    if (typed.trim() === '' && canBeAbsent) return remove();
    return 'node' in parseJson(typed) ? set(typed.trim()) : keepDraft(typed);
  };
  return (
    <FieldRow {...props}>
      <textarea
        id={id}
        className={`${classes.input} ${classes.code}`}
        rows={1}
        value={draft ?? writtenAt(form.text, node)}
        placeholder={placeholderOf(field, node) || 'JSON'}
        aria-invalid={issues.length > 0 || draft !== undefined}
        spellCheck={false}
        onChange={({ target }) => change(target.value)}
      />
      {draft !== undefined && <p className={classes.issue}>This is not JSON yet. Texts stand in double quotes.</p>}
    </FieldRow>
  );
}

function writtenAt(text: string, node: JsonNode | undefined): string {
  return node === undefined ? '' : text.slice(node.start, node.end);
}
