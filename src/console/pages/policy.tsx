/** The active configuration, to read: what policy says rule by rule, who approves, and the rest as it is held. */
import { useQuery } from '@tanstack/react-query';
import type { Json, JsonObject } from '../../api/index.js';
import { asRead } from '../documents.js';
import { call } from '../gate.js';
import { Card, Facts, Said, Title, Waiting } from '../parts/basics.js';
import { Explain } from '../parts/explain.js';
import { shown } from '../words.js';

export function PolicyPage() {
  const { data, error } = useQuery({ queryKey: ['policy'], queryFn: () => call('policy', {}) });
  if (data === undefined) {
    return (
      <>
        <Title>Policy</Title>
        <Waiting error={error} />
      </>
    );
  }
  const { policy, approvals, ...rest } = data.config as JsonObject;
  const { rules, ...more } = asRead<JsonObject>(policy ?? {});
  return (
    <>
      <Title>Policy</Title>
      <p className="text-soft">
        Version <span className="font-mono text-sm [overflow-wrap:anywhere]">{data.version}</span>. It is changed at the
        terminal, by a signature.
      </p>
      <Rules
        title="What may run"
        none="No rule of its own: the built-in rule stands, which asks for what can’t be undone."
        rules={rules}
      />
      <Rules title="Who approves" none="No rule: nobody may approve." rules={approvals} />
      <Explain />
      <Card title="Everything else">
        <Members value={{ ...rest, ...more }} />
      </Card>
    </>
  );
}

function Rules({
  title,
  none,
  rules,
}: {
  readonly title: string;
  readonly none: string;
  readonly rules: Json | undefined;
}) {
  const list = Array.isArray(rules) ? asRead<readonly JsonObject[]>(rules) : [];
  return (
    <Card title={title}>
      {list.length === 0 ? <p className="text-soft">{none}</p> : null}
      <ol className="space-y-5">
        {list.map((rule, at) => {
          const { title: name, ...members } = rule;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: rules stand in their order
            <li key={at}>
              <h3 className="mb-1 font-semibold">
                {at + 1}. <Said text={name ?? 'without a title'} />
              </h3>
              <Members value={members} />
            </li>
          );
        })}
      </ol>
    </Card>
  );
}

function Members({ value }: { readonly value: JsonObject }) {
  const rows = Object.entries(value).map(
    ([name, member]) => [shown(name), <Said key={name} text={plain(member)} mono />] as const,
  );
  return <Facts rows={rows} />;
}

function plain(value: Json | undefined): string {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ') || 'none';
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
