import { VisibleText } from '../visible-text.tsx';
import classes from './approval-remember.module.css';
import type { GrantTerms, Json, JsonMembers } from './approval-types.ts';

interface VaryChoiceProps {
  readonly given: JsonMembers;
  readonly terms: GrantTerms;
  onChoose(terms: GrantTerms): void;
}

/** Chooses which arguments of further calls may differ, and within which bounds. All others stay exactly as they are. */
export function VaryChoice({ given, terms, onChoose }: VaryChoiceProps) {
  const simple = Object.entries(given).filter(([, value]) => usualSchema(value) !== undefined);
  if (simple.length === 0) return null;
  const choose = (name: string, schema: JsonMembers | undefined) => {
    const { [name]: _before, ...others } = terms.vary ?? {};
    const { vary: _vary, ...rest } = terms;
    const vary = schema === undefined ? others : { ...others, [name]: schema };
    onChoose(Object.keys(vary).length === 0 ? rest : { ...rest, vary });
  };
  return (
    <div className={classes.options}>
      <span className={classes.legend}>May differ:</span>
      {simple.map(([name, value]) => {
        const schema = terms.vary?.[name];
        return (
          <span key={name} className={classes.option}>
            <label className={classes.option}>
              <input
                type="checkbox"
                checked={schema !== undefined}
                onChange={({ target }) => choose(name, target.checked ? usualSchema(value) : undefined)}
              />
              <span className="name">
                <VisibleText text={name} limit={60} />
              </span>
            </label>
            {schema !== undefined && typeof value !== 'boolean' && (
              <Bound name={name} schema={schema} onChange={(bound) => choose(name, { ...schema, ...bound })} />
            )}
          </span>
        );
      })}
    </div>
  );
}

/** The bounds that a value of this type begins with: they contain the approved value. */
function usualSchema(value: Json): JsonMembers | undefined {
  if (typeof value === 'boolean') return { type: 'boolean' };
  if (typeof value === 'string') return { type: 'string', maxLength: Math.max(100, value.length) };
  return typeof value === 'number'
    ? { type: 'number', minimum: Math.min(0, value), maximum: Math.max(0, value) }
    : undefined;
}

interface BoundProps {
  readonly name: string;
  readonly schema: JsonMembers;
  onChange(bound: JsonMembers): void;
}

function Bound({ name, schema, onChange }: BoundProps) {
  const key = schema.type === 'string' ? 'maxLength' : 'maximum';
  return (
    <label className={classes.option}>
      {key === 'maxLength' ? 'at most' : 'up to'}
      <input
        type="number"
        className={classes.field}
        aria-label={key === 'maxLength' ? `Longest text of ${name}` : `Highest ${name}`}
        value={Number(schema[key])}
        onChange={({ target }) => onChange({ [key]: target.valueAsNumber || 0 })}
      />
      {key === 'maxLength' && 'characters'}
    </label>
  );
}
