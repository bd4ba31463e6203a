/** What people and the agent said about an action. A comment decides nothing, and is part of nothing that is signed. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { call } from '../gate.js';
import { nameOf, timeOf } from '../words.js';
import { Button, Card, FIELD, Field, Refused, Said, Waiting } from './basics.js';
import { useOnce } from './once.js';

export function Comments({ id }: { readonly id: string }) {
  const client = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ['comments', id],
    queryFn: () => call('comments', { action_id: id }),
  });
  const [text, setText] = useState('');
  const saying = useOnce<void, unknown>(
    () => call('comment', { action_id: id, body: { text } }),
    () => {
      setText('');
      void client.invalidateQueries({ queryKey: ['comments', id] });
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saying.start();
  };
  return (
    <Card title="Comments">
      {data === undefined ? <Waiting error={error} /> : null}
      {data?.comments.length === 0 ? <p className="text-soft">Nobody said anything yet.</p> : null}
      <ol className="space-y-3 empty:hidden">
        {data?.comments.map(({ no, by, at, text: said }) => (
          <li key={no}>
            <p className="text-sm text-soft">
              <Said text={nameOf(by)} />
              {by.startsWith('human:') ? '' : ', an agent'} · {timeOf(at)}
            </p>
            <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">
              {said === null ? (
                <em>Erased</em>
              ) : (
                said.split('\n').map((line, lineNo) => <Line key={`${no}.${lineNo.toString()}`} text={line} />)
              )}
            </p>
          </li>
        ))}
      </ol>
      <form onSubmit={submit} className="mt-3 space-y-2">
        <Field
          label="Your comment"
          hint="Everybody who sees the action reads it, the agent as well. It decides nothing."
        >
          {(field) => (
            <textarea
              id={field}
              rows={2}
              maxLength={4_096}
              value={text}
              onChange={(event) => setText(event.target.value)}
              className={FIELD}
            />
          )}
        </Field>
        <Refused error={saying.error} />
        <Button type="submit" disabled={text.trim() === '' || saying.isRunning}>
          Comment
        </Button>
      </form>
    </Card>
  );
}

function Line({ text }: { readonly text: string }) {
  return (
    <span className="block min-h-[1lh]">
      <Said text={text} />
    </span>
  );
}
