/**
 * What whoever is signed in can do about an action that waits: approve once all of it was in view, deny with a reason,
 * send it back with words, or take it back. Each click has one result, and says which.
 */
import { useQueryClient } from '@tanstack/react-query';
import { Check, Undo2, X } from 'lucide-react';
import { useState } from 'react';
import type { ActionDocument } from '../documents.js';
import { call } from '../gate.js';
import { useMe } from '../session.js';
import { nameOf } from '../words.js';
import { AllowMore } from './allow-more.js';
import { Button, Card, FIELD, Field, Notice, Refused } from './basics.js';
import { type Choice, type Decided, useDecision } from './decide.js';
import { useOnce } from './once.js';

type Mode = 'deny' | 'send-back' | 'cancel';

export function DecisionPanel({
  action,
  lines,
  isRead,
}: {
  readonly action: ActionDocument;
  readonly lines: readonly string[];
  readonly isRead: boolean;
}) {
  const me = useMe();
  const [mode, setMode] = useState<Mode>();
  const decision = useDecision(action.content.action_id);
  const isOpen = action.state === 'proposed';
  const mayApprove = action.content.approvers.includes(me.principal);
  const hasSigned = action.approvals.some(({ approver }) => approver === me.principal);
  if (decision.done !== undefined) return <Result decided={decision.done} action={action} />;
  if (!isOpen) return decision.error === null ? null : <Refused error={decision.error} />;
  const decide = (choice: Omit<Choice, 'lines'>) => decision.start({ ...choice, lines });
  return (
    <Card title="Your decision">
      <div className="space-y-3">
        {hasSigned ? <Notice>You signed this. It waits for others.</Notice> : null}
        {mayApprove ? null : <Notice>You are not among those who may approve this.</Notice>}
        <Refused error={decision.error} />
        {decision.isAgain && decision.isRunning ? (
          <Notice tone="warn">The request ended before you signed. It is asked for anew: sign again.</Notice>
        ) : null}
        {mode === undefined ? (
          <Buttons
            canSign={mayApprove && !hasSigned}
            isRead={isRead}
            isRunning={decision.isRunning}
            onApprove={() => decide({ decision: 'approve' })}
            onMode={setMode}
          />
        ) : (
          <WordsForm
            mode={mode}
            id={action.content.action_id}
            isRunning={decision.isRunning}
            decide={decide}
            onClose={() => setMode(undefined)}
          />
        )}
        {mayApprove && mode === undefined ? <AllowMore action={action} /> : null}
      </div>
    </Card>
  );
}

function Buttons({
  canSign,
  isRead,
  isRunning,
  onApprove,
  onMode,
}: {
  readonly canSign: boolean;
  readonly isRead: boolean;
  readonly isRunning: boolean;
  readonly onApprove: () => void;
  readonly onMode: (mode: Mode) => void;
}) {
  return (
    <>
      {canSign ? (
        <Button look="strong" className="w-full" disabled={!isRead || isRunning} onClick={onApprove}>
          <Check aria-hidden="true" className="size-5" />
          {isRunning ? 'Signing …' : 'Approve with your passkey'}
        </Button>
      ) : null}
      {canSign && !isRead ? (
        <p className="text-sm text-soft">Approving opens once all that is signed was in view.</p>
      ) : null}
      <div className="flex flex-wrap gap-2">
        {canSign ? (
          <>
            <Button look="bad" disabled={isRunning} onClick={() => onMode('deny')}>
              <X aria-hidden="true" className="size-5" />
              Deny
            </Button>
            <Button disabled={isRunning} onClick={() => onMode('send-back')}>
              <Undo2 aria-hidden="true" className="size-5" />
              Send back
            </Button>
          </>
        ) : null}
        <Button disabled={isRunning} onClick={() => onMode('cancel')}>
          Cancel it
        </Button>
      </div>
    </>
  );
}

const MODES = {
  deny: {
    label: 'Why not',
    hint: 'The agent reads it. It is not part of what you sign.',
    verb: 'Deny with your passkey',
  },
  'send-back': {
    label: 'What should be different',
    hint: 'The agent reads it, and may ask again with something else.',
    verb: 'Send back with your passkey',
  },
  cancel: { label: 'Why', hint: 'The action is taken back. This needs no signature.', verb: 'Cancel it' },
} as const;

function WordsForm({
  mode,
  id,
  isRunning,
  decide,
  onClose,
}: {
  readonly mode: Mode;
  readonly id: string;
  readonly isRunning: boolean;
  readonly decide: (choice: Omit<Choice, 'lines'>) => void;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const [words, setWords] = useState('');
  const cancelling = useOnce<void, unknown>(
    () => call('cancel', { action_id: id, body: words === '' ? {} : { words } }),
    () => void client.invalidateQueries(),
  );
  const { label, hint, verb } = MODES[mode];
  const go = () => {
    if (mode === 'cancel') cancelling.start();
    else decide({ decision: 'deny', words, sendBack: mode === 'send-back' });
  };
  const isBusy = isRunning || cancelling.isRunning;
  return (
    <div className="space-y-3">
      <Field label={label} hint={hint}>
        {(field) => (
          <textarea
            id={field}
            rows={3}
            maxLength={4_000}
            value={words}
            onChange={(event) => setWords(event.target.value)}
            className={FIELD}
          />
        )}
      </Field>
      <Refused error={cancelling.error} />
      <div className="flex flex-wrap gap-2">
        <Button
          look={mode === 'deny' ? 'bad' : 'strong'}
          disabled={isBusy || (mode === 'send-back' && words.trim() === '')}
          onClick={go}
        >
          {isBusy ? 'One moment …' : verb}
        </Button>
        <Button disabled={isBusy} onClick={onClose}>
          Back
        </Button>
      </div>
    </div>
  );
}

function Result({
  decided: { choice, answer },
  action,
}: {
  readonly decided: Decided;
  readonly action: ActionDocument;
}) {
  return (
    <Card title="Your decision">
      <div className="space-y-3">
        <Notice tone={answer.settled?.state === 'unknown' || answer.refused !== undefined ? 'warn' : 'good'}>
          {resultWords(choice, answer, action)}
        </Notice>
        {choice.decision === 'approve' ? <AllowMore action={action} /> : null}
      </div>
    </Card>
  );
}

function resultWords(choice: Choice, answer: Decided['answer'], { content }: ActionDocument): string {
  if (choice.decision === 'deny') return choice.sendBack === true ? 'You sent it back.' : 'You denied it.';
  if (answer.refused !== undefined) return `Approved, and not run: ${answer.refused}.`;
  switch (answer.settled?.state) {
    case 'confirmed':
      return 'Approved. It ran once, and is confirmed.';
    case 'failed':
      return 'Approved. It failed without effect.';
    case 'unknown':
      return 'Approved. It ran, and its outcome is unknown: it may have happened.';
    default:
      break;
  }
  if (answer.state === 'approved') return `Approved. ${nameOf(content.proposed_by)} runs it.`;
  return `Signed: ${answer.approvals} of ${content.quorum} approvals.`;
}
