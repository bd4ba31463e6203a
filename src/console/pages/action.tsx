/**
 * One action: what would happen, in what is signed for it and in the connector's own view; what policy said; how it
 * stands; and the decision of whoever is signed in. What the agent says stands apart, and is said to be the agent's.
 */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { type ActionDocument, asRead } from '../documents.js';
import { call } from '../gate.js';
import { Badge, Card, Facts, Notice, riskTone, Said, stateTone, Title, Waiting } from '../parts/basics.js';
import { Comments } from '../parts/comments.js';
import { DecisionPanel } from '../parts/decision-panel.js';
import { type Preview, PreviewText } from '../parts/preview.js';
import { Resolve } from '../parts/resolve.js';
import { Summary } from '../parts/summary.js';
import { stateWords, Timeline } from '../parts/timeline.js';
import { FLAGS, OUTCOMES, RISKS, shown, timeOf, wordOf } from '../words.js';

export function ActionPage({ id }: { readonly id: string }) {
  const action = useQuery({ queryKey: ['action', id], queryFn: () => call('show', { action_id: id }) });
  const summary = useQuery({ queryKey: ['summary', id], queryFn: () => call('summary', { action_id: id }) });
  if (action.data === undefined) {
    return (
      <>
        <Title>Action</Title>
        <Waiting error={action.error} />
      </>
    );
  }
  if (action.data.sees !== 'all') return <Notice tone="warn">You may not see what this action says.</Notice>;
  const { args } = action.data;
  const document = asRead<ActionDocument>(action.data.action);
  return (
    <>
      <Head action={document} isAwaited={action.data.awaited} />
      {summary.data === undefined ? (
        <Waiting error={summary.error} />
      ) : (
        <Body
          action={document}
          args={args}
          lines={summary.data.lines}
          preview={asRead<Preview | undefined>(summary.data.preview)}
        />
      )}
    </>
  );
}

function Head({ action, isAwaited }: { readonly action: ActionDocument; readonly isAwaited: boolean }) {
  const { content } = action;
  const risk = RISKS[content.class];
  return (
    <>
      <Title aside={<Badge tone={stateTone(action.state)}>{stateWords(action)}</Badge>}>
        <Said text={`${content.connector} ${content.operation}`} />
      </Title>
      <p className="[overflow-wrap:anywhere]">
        <Said text={content.target} mono />
      </p>
      <p>
        <Badge tone={riskTone(content.class)}>Risk: {risk?.word ?? shown(content.class)}</Badge>{' '}
        <span className="text-soft">{risk?.means}</span>
        {isAwaited && action.state === 'proposed' ? (
          <>
            {' '}
            <Badge tone="accent">its caller waits</Badge>
          </>
        ) : null}
      </p>
      {content.flags.map((flag) => (
        <Notice key={flag} tone="warn">
          {wordOf(FLAGS, flag)}
        </Notice>
      ))}
    </>
  );
}

function Body({
  action,
  args,
  lines,
  preview,
}: {
  readonly action: ActionDocument;
  readonly args: string;
  readonly lines: readonly string[];
  readonly preview: Preview | undefined;
}) {
  // Other lines are read from the beginning.
  const [readLines, setReadLines] = useState<readonly string[]>();
  const onRead = useCallback(() => setReadLines(lines), [lines]);
  const isRead = readLines === lines;
  const { content, decision, closed } = action;
  const isOpen = action.state === 'proposed';
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <div className="min-w-0 space-y-4">
        {preview === undefined ? null : (
          <Card title="The connector’s own view">
            <PreviewText preview={preview} of={shown(content.target)} />
          </Card>
        )}
        <Card title={isOpen ? 'What you sign' : 'The action in full'}>
          <Summary lines={lines} {...(isOpen ? { onRead } : {})} />
        </Card>
        <DecisionPanel action={action} lines={lines} isRead={isRead} />
        <Resolve action={action} />
      </div>
      <div className="min-w-0 space-y-4">
        <Card title="How it stands">
          <Timeline action={action} />
          {isOpen ? (
            <p className="mt-3 text-sm text-soft">
              {action.approvals.length} of {content.quorum} approvals · ends {timeOf(content.approve_by)}
            </p>
          ) : null}
          {closed?.words ? (
            <p className="mt-3">
              <span className="text-soft">Words of </span>
              <Said text={closed.by} />: <Said text={closed.words} />
            </p>
          ) : null}
        </Card>
        <Card title="What policy said">
          <p>
            <strong>{wordOf(OUTCOMES, decision.outcome)}</strong>: <Said text={decision.reason} />
          </p>
          {decision.outcome === 'REQUIRE_APPROVAL' ? (
            <p className="mt-1 text-sm text-soft">
              {content.rule === null ? 'No approval rule stands for it.' : 'Approval rule: '}
              {content.rule === null ? null : <Said text={content.rule} />}
            </p>
          ) : null}
        </Card>
        {action.state === 'confirmed' ? <Undo action={action} /> : null}
        <Words action={action} />
        <Comments id={content.action_id} />
        <Details action={action} args={args} />
      </div>
    </div>
  );
}

/** What the connector left that would undo it. Undoing is an action like any other, which an agent asks for. */
function Undo({ action: { content } }: { readonly action: ActionDocument }) {
  const { action_id } = content;
  const { data } = useQuery({ queryKey: ['undoing', action_id], queryFn: () => call('undoing', { action_id }) });
  if (data === undefined) return null;
  return (
    <Card title="What would undo it">
      {data.undo === null ? (
        <p className="text-soft">The operation left nothing that would undo it.</p>
      ) : (
        <>
          <Facts
            rows={[
              ['Operation', <Said key="operation" text={`${content.connector} ${data.undo.operation}`} />],
              ['Arguments', <Said key="args" text={data.undo.args} mono />],
            ]}
          />
          <p className="mt-2 text-sm text-soft">
            It is asked for as an action of its own: countersign action undo {shown(action_id)}
          </p>
        </>
      )}
    </Card>
  );
}

function Words({ action: { content } }: { readonly action: ActionDocument }) {
  const rows = [
    ['Work item', content.work_item === null ? 'none' : <Said key="item" text={content.work_item} />],
    ['Provenance', content.provenance === null ? 'none' : <Said key="from" text={content.provenance} mono />],
  ] as const;
  return (
    <Card title="In the agent’s words">
      <p className="mb-2 text-sm text-soft">
        Said by <Said text={content.proposed_by} />. Nobody checked it.
      </p>
      <Facts rows={rows} />
    </Card>
  );
}

function Details({ action: { content }, args }: { readonly action: ActionDocument; readonly args: string }) {
  const preconditions = Object.entries(content.preconditions ?? {});
  const rows = [
    ['Project', <ThreadLink key="project" name={content.project} />],
    ['On behalf of', <Said key="behalf" text={content.on_behalf_of.join(', ') || 'none'} />],
    ['May approve', <Said key="who" text={content.approvers.join(', ') || 'nobody'} />],
    [
      'Must still hold',
      preconditions.length === 0 ? 'nothing' : <Said key="held" text={Object.fromEntries(preconditions)} mono />,
    ],
    ['Fingerprint', <Said key="print" text={content.digest} mono />],
    ['Action', <Said key="id" text={content.action_id} mono />],
  ] as const;
  return (
    <Card title="Details">
      <Facts rows={rows} />
      <details className="mt-3">
        <summary className="min-h-11 cursor-pointer py-2 font-medium">All arguments</summary>
        <p className="font-mono text-sm whitespace-pre-wrap [overflow-wrap:anywhere]" dir="ltr">
          <bdi>{shown(args)}</bdi>
        </p>
      </details>
    </Card>
  );
}

function ThreadLink({ name }: { readonly name: string }) {
  return (
    <Link to="/threads/$name" params={{ name }} className="text-accent underline">
      <Said text={name} />
    </Link>
  );
}
