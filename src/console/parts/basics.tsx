/** The small parts that pages are made of: cards, buttons, fields, notices, badges. */
import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { useEffect, useId, useRef } from 'react';
import { toldOf } from '../gate.js';
import { shown } from '../words.js';

type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'accent';

const TONES: Readonly<Record<Tone, string>> = {
  plain: 'bg-sunk text-text',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  accent: 'bg-accent-soft text-accent',
};

export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <span className={`inline-flex items-center rounded-full px-2.5 py-0.5 text-sm font-medium ${TONES[tone]}`}>
      {children}
    </span>
  );
}

export function riskTone(risk: unknown): Tone {
  if (risk === 'irreversible' || risk === 'costly') return 'bad';
  return risk === 'reversible' ? 'warn' : 'plain';
}

export function stateTone(state: unknown): Tone {
  if (state === 'confirmed') return 'good';
  if (state === 'failed' || state === 'cancelled') return 'plain';
  return state === 'unknown' ? 'bad' : 'accent';
}

export function packageTone(state: unknown): Tone {
  if (state === 'SUMMARY_PENDING') return 'accent';
  return state === 'DRAFT_READY' ? 'good' : 'plain';
}

export function Card({
  title,
  aside,
  children,
}: {
  readonly title?: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <section
      aria-labelledby={title === undefined ? undefined : id}
      className="rounded-xl border border-line bg-card p-4 sm:p-5"
    >
      {title === undefined ? null : (
        <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
          <h2 id={id} className="min-w-0 text-lg font-semibold [overflow-wrap:anywhere]">
            {title}
          </h2>
          {aside}
        </div>
      )}
      {children}
    </section>
  );
}

type Look = 'strong' | 'plain' | 'bad';

const LOOKS: Readonly<Record<Look, string>> = {
  strong: 'bg-accent text-accent-text border-accent',
  plain: 'bg-card text-text border-line hover:bg-sunk',
  bad: 'bg-card text-bad border-bad hover:bg-bad-soft',
};

export function Button({
  look = 'plain',
  className = '',
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly look?: Look;
}) {
  return (
    <button
      type="button"
      className={
        'inline-flex min-h-11 items-center justify-center gap-2 rounded-lg border px-4 py-2 font-medium ' +
        'disabled:cursor-not-allowed disabled:border-line disabled:bg-sunk disabled:text-soft ' +
        `${LOOKS[look]} ${className}`
      }
      {...rest}
    />
  );
}

export function Notice({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <div role={tone === 'bad' ? 'alert' : 'status'} className={`rounded-lg px-4 py-3 ${TONES[tone]}`}>
      {children}
    </div>
  );
}

/** What went wrong, and what to do next. */
export function Refused({ error }: { readonly error: unknown }) {
  if (error === null || error === undefined) return null;
  const { code, text, next } = toldOf(error);
  return (
    <Notice tone="bad">
      <p className="font-medium first-letter:uppercase">{shown(text)}</p>
      {next === undefined ? null : <p className="first-letter:uppercase">{shown(next)}</p>}
      <p className="text-sm">Code: {shown(code)}</p>
    </Notice>
  );
}

/** A page that waits for an answer, or got none. */
export function Waiting({ error }: { readonly error: unknown }) {
  if (error !== null && error !== undefined) return <Refused error={error} />;
  return (
    <p role="status" className="py-8 text-center text-soft">
      Loading …
    </p>
  );
}

export const FIELD = 'mt-1 block min-h-11 w-full rounded-lg border border-soft bg-card px-3 py-2 text-text';

export function Field({
  label,
  hint,
  children,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly children: (id: string) => ReactNode;
}) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {hint === undefined ? null : <p className="text-sm text-soft">{hint}</p>}
      {children(id)}
    </div>
  );
}

/** Text that somebody else chose, kept apart from ours. */
export function Said({ text, mono = false }: { readonly text: unknown; readonly mono?: boolean }) {
  return <bdi className={mono ? 'font-mono text-sm' : ''}>{shown(text)}</bdi>;
}

export function Facts({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-[minmax(8rem,auto)_1fr]">
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-soft">{name}</dt>
          <dd className="mb-2 min-w-0 [overflow-wrap:anywhere] sm:mb-0">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The first heading of a view, which is also the name of the page in the browser. */
export function Title({ children, aside }: { readonly children: ReactNode; readonly aside?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${heading.current?.textContent ?? ''} · Countersign`;
  });
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <h1 ref={heading} className="min-w-0 text-2xl font-bold [overflow-wrap:anywhere]">
        {children}
      </h1>
      {aside}
    </div>
  );
}
