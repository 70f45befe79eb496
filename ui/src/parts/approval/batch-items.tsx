import { useEffect, useState } from 'react';
import { Danger } from '../danger.tsx';
import { VisibleText } from '../visible-text.tsx';
import { AnswerBar, AnswerGiven } from './answer-bar.tsx';
import { ApprovalArguments, useOpened } from './approval-arguments.tsx';
import classes from './approval-card.module.css';
import { objectOf } from './approval-sentence.tsx';
import type { Approval, ApprovalItem } from './approval-types.ts';
import { useAnswer, useBinding } from './use-approval.ts';

/** Folded values of one call, and how to open them. */
export interface ItemFolds {
  readonly count: number;
  openNext(): void;
}

interface BatchItemsProps {
  readonly approval: Approval;
  readonly items: readonly ApprovalItem[];
  onFolds(id: string, folds: ItemFolds): void;
}

/** The calls of a batch, each with its arguments. They are answered together, or one by one. */
export function BatchItems({ approval, items, onFolds }: BatchItemsProps) {
  return (
    <ol className={classes.items}>
      {items.map((item, place) => (
        <li key={item.id} className={classes.item}>
          <BatchItem approval={approval} item={item} number={place + 1} onFolds={onFolds} />
        </li>
      ))}
    </ol>
  );
}

interface BatchItemProps extends Pick<BatchItemsProps, 'approval' | 'onFolds'> {
  readonly item: ApprovalItem;
  readonly number: number;
}

function BatchItem({ approval, item, number, onFolds }: BatchItemProps) {
  const { data: binding } = useBinding(item.id);
  const { mutate, isPending, error } = useAnswer(item.id);
  const { opened, folded, open, openNext } = useOpened(item.arguments);
  const [isAlone, setAlone] = useState(false);
  const isWaiting = item.state === 'waiting';
  const count = isWaiting ? folded.length : 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what openNext opens changes with the number of folded values
  useEffect(() => onFolds(item.id, { count, openNext }), [item.id, count, opened]);
  const { items: _items, batch: _batch, answer: _answer, ...around } = approval;
  const whole: Approval = { ...around, ...item, inside: [approval.tool, ...(approval.inside ?? [])] };
  return (
    <>
      <div className={classes.itemHead}>
        <h2 className={classes.itemTitle}>
          <span className="faint">{number}</span>{' '}
          <span className="name">
            <VisibleText text={item.tool} limit={100} />
          </span>
          <ItemObject item={item} />
        </h2>
        {isWaiting && (
          <button type="button" className={classes.link} aria-expanded={isAlone} onClick={() => setAlone(!isAlone)}>
            {isAlone ? 'Answer together' : 'Answer alone'}
          </button>
        )}
      </div>
      <p className={classes.reason}>
        {binding?.danger !== undefined && <Danger danger={binding.danger} />}
        <span>
          Asked because <VisibleText text={item.reason} limit={200} />.
        </span>
      </p>
      <ApprovalArguments given={item.arguments} binding={binding} opened={opened} onOpen={open} />
      {isWaiting && isAlone && (
        <AnswerBar
          approval={whole}
          binding={binding}
          folded={count}
          hasKeys={false}
          isSending={isPending}
          error={error}
          onOpenFolded={openNext}
          onAnswer={(decision) => mutate(decision)}
        />
      )}
      {!isWaiting && <AnswerGiven approval={whole} />}
    </>
  );
}

function ItemObject({ item }: { readonly item: ApprovalItem }) {
  const object = objectOf(item);
  if (object === undefined) return null;
  return (
    <span className="soft">
      {' '}
      <VisibleText text={object[0]} limit={40} /> <VisibleText text={String(object[1])} limit={80} />
    </span>
  );
}
