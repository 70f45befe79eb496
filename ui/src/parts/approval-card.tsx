import { useCallback, useState } from 'react';
import { Link } from 'wouter';
import { AnswerBar, AnswerGiven, Countdown } from './approval/answer-bar.tsx';
import { ApprovalArguments, useOpened } from './approval/approval-arguments.tsx';
import classes from './approval/approval-card.module.css';
import { ApprovalSentence } from './approval/approval-sentence.tsx';
import type { Approval, ApprovalBinding, ApprovalItem } from './approval/approval-types.ts';
import { compareWith } from './approval/argument-rows.ts';
import { BatchItems, type ItemFolds } from './approval/batch-items.tsx';
import { useAnswer, useApproval, useBinding } from './approval/use-approval.ts';
import { CouldNotLoad } from './could-not-load.tsx';
import { Danger } from './danger.tsx';
import { RelativeTime } from './relative-time.tsx';
import { VisibleText } from './visible-text.tsx';

interface ApprovalCardProps {
  readonly id: string;
  /** True if A, D, O and N answer this card. One card of a page may have the keys. */
  readonly hasKeys?: boolean;
}

/** A request for approval, with all that an approver must see before the answer. */
export function ApprovalCard({ id, hasKeys = false }: ApprovalCardProps) {
  const { data: approval, error } = useApproval(id);
  const { data: binding } = useBinding(approval === undefined || approval.items !== undefined ? undefined : id);
  if (error !== null && approval === undefined) return <CouldNotLoad what="The request" message={error.message} />;
  if (approval === undefined) return <CardSkeleton />;
  return approval.items === undefined ? (
    <LoadedCard key={id} approval={approval} binding={binding} hasKeys={hasKeys} />
  ) : (
    <BatchCard key={id} approval={approval} items={approval.items} hasKeys={hasKeys} />
  );
}

interface LoadedCardProps {
  readonly approval: Approval;
  readonly binding: ApprovalBinding | undefined;
  readonly hasKeys: boolean;
}

function LoadedCard({ approval, binding, hasKeys }: LoadedCardProps) {
  const { mutate, isPending, error } = useAnswer(approval.id);
  const { opened, folded, open, openNext } = useOpened(approval.arguments);
  const answers = approval.inputResponses ?? {};
  const answersOpened = useOpened(answers);
  return (
    <article className={classes.card} aria-label="Request for approval">
      <div className={classes.body}>
        <CardHead approval={approval} binding={binding} />
        <SectionTitle approval={approval} binding={binding} />
        <ApprovalArguments given={approval.arguments} binding={binding} opened={opened} onOpen={open} />
        {Object.keys(answers).length > 0 && (
          <>
            <h2 className={classes.section}>Answers to questions of the tool</h2>
            <ApprovalArguments given={answers} binding={undefined} {...answersOpened} onOpen={answersOpened.open} />
          </>
        )}
      </div>
      {approval.state === 'waiting' ? (
        <AnswerBar
          approval={approval}
          binding={binding}
          folded={folded.length + answersOpened.folded.length}
          hasKeys={hasKeys}
          isSending={isPending}
          error={error}
          onOpenFolded={() => {
            openNext();
            answersOpened.openNext();
          }}
          onAnswer={(decision) => mutate(decision)}
        />
      ) : (
        <AnswerGiven approval={approval} />
      )}
    </article>
  );
}

interface BatchCardProps {
  readonly approval: Approval;
  readonly items: readonly ApprovalItem[];
  readonly hasKeys: boolean;
}

/** The calls of a script that wait together: one answer for all, or one for each. */
function BatchCard({ approval, items, hasKeys }: BatchCardProps) {
  const { mutate, isPending, error } = useAnswer(approval.id);
  const [folds, setFolds] = useState<ReadonlyMap<string, ItemFolds>>(new Map());
  const onFolds = useCallback((id: string, one: ItemFolds) => setFolds((before) => new Map(before).set(id, one)), []);
  const folded = [...folds.values()].reduce((sum, { count }) => sum + count, 0);
  return (
    <article className={classes.card} aria-label="Request for approval">
      <div className={classes.body}>
        <CardHead approval={approval} binding={undefined} />
        <BatchItems approval={approval} items={items} onFolds={onFolds} />
      </div>
      {approval.state === 'waiting' ? (
        <AnswerBar
          approval={approval}
          binding={undefined}
          folded={folds.size < items.length ? 1 : folded}
          hasKeys={hasKeys}
          count={items.filter(({ state }) => state === 'waiting').length}
          isSending={isPending}
          error={error}
          onOpenFolded={() => {
            for (const { openNext } of folds.values()) openNext();
          }}
          onAnswer={(decision) => mutate(decision)}
        />
      ) : (
        approval.answer !== undefined && <AnswerGiven approval={approval} />
      )}
    </article>
  );
}

/** The sentence, the reason and the facts of a request. */
function CardHead({ approval, binding }: Omit<LoadedCardProps, 'hasKeys'>) {
  return (
    <>
      <div className={classes.first}>
        <ApprovalSentence approval={approval} />
        {approval.state === 'waiting' && (
          <span className={classes.left}>
            <Countdown until={approval.expiresAt} />
          </span>
        )}
      </div>
      {approval.items === undefined && (
        <p className={classes.says}>
          {binding?.danger !== undefined && <Danger danger={binding.danger} />}
          {approval.description !== '' && <VisibleText text={approval.description} limit={300} />}
        </p>
      )}
      <p className={classes.reason}>
        {approval.items !== undefined && 'They wait together. Answer all of them at once, or one by one.'}
        {approval.question === undefined && approval.items === undefined && (
          <span>
            Asked because <VisibleText text={approval.reason} limit={500} />.
          </span>
        )}
      </p>
      <Facts approval={approval} binding={binding} />
    </>
  );
}

/** Says how the arguments differ from the last approved call. */
function SectionTitle({ approval, binding }: Omit<LoadedCardProps, 'hasKeys'>) {
  const count = Object.keys(approval.arguments).length;
  return (
    <div className={classes.heading}>
      <h2 className={classes.section}>Arguments{count > 0 && <span className="faint"> {count}</span>}</h2>
      {binding !== undefined && <span className="soft">{toDifference(approval, binding)}</span>}
      {binding?.previous !== undefined && (
        <span className="soft">
          <Link href={`/approvals/${binding.previous.id}`}>last approved call</Link>{' '}
          <RelativeTime at={binding.previous.at} />
        </span>
      )}
    </div>
  );
}

function toDifference({ arguments: given, caller }: Approval, { previous }: ApprovalBinding): string {
  if (previous === undefined)
    return `First request of ${caller.id === undefined ? 'such a caller' : 'this caller'} for this tool.`;
  if (previous.sameArguments) return 'The same arguments as the';
  const { changed, fresh, gone, same } = compareWith(given, previous).counts;
  const parts = [
    [changed, 'changed'],
    [fresh, 'new'],
    [gone, 'gone'],
    [same, 'the same'],
  ] as const;
  const said = parts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`])).join(', ');
  const definition = previous.sameDefinition ? '' : ' The definition of the tool has changed since.';
  return `${said === '' ? 'No difference' : said}.${definition} Compared with the`;
}

/** Who asks, from where, until when, and what the answer is bound to. */
function Facts({ approval, binding }: Omit<LoadedCardProps, 'hasKeys'>) {
  const { caller, profile, conversation, turn, door, createdAt, timeZone, idempotencyKey } = approval;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Roles', caller.roles?.join(', ') || undefined],
    ['Profile', profile],
    ['Door', door],
    ['Conversation', conversation],
    ['Turn', turn],
    ['Time zone', timeZone],
    ['Idempotency key', idempotencyKey],
  ];
  return (
    <dl className={classes.facts}>
      {facts.map(([label, value]) =>
        value === undefined ? null : (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <VisibleText text={value} limit={80} />
            </dd>
          </div>
        ),
      )}
      <div>
        <dt>Asked</dt>
        <dd>
          <RelativeTime at={createdAt} />
        </dd>
      </div>
      {binding !== undefined && (
        <div title={`Arguments ${binding.argumentsHash}\nDefinition ${binding.definitionHash}`}>
          <dt>Bound to</dt>
          <dd>
            arguments <span className="name">{binding.argumentsHash.slice(0, 8)}</span>, definition{' '}
            <span className="name">{binding.definitionHash.slice(0, 8)}</span>
          </dd>
        </div>
      )}
    </dl>
  );
}

function CardSkeleton() {
  return (
    <div className={classes.body} role="status" aria-label="Loading">
      <div className={classes.bone} data-size="wide" />
      <div className={classes.bone} />
      <div className={classes.bone} />
    </div>
  );
}
