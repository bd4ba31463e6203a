/** The HTTP API, to read: every route with what it takes and answers, from the document that the server gives. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Json } from '../../api/index.js';
import { asRead } from '../documents.js';
import { call } from '../gate.js';
import { Badge, Card, Facts, FIELD, Field, Title, Waiting } from '../parts/basics.js';
import { shown } from '../words.js';

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Json }>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security: readonly Json[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export function ApiPage() {
  const { data, error } = useQuery({ queryKey: ['openapi'], queryFn: () => call('openapi', {}), staleTime: Infinity });
  const [wanted, setWanted] = useState('');
  if (data === undefined) {
    return (
      <>
        <Title>HTTP API</Title>
        <Waiting error={error} />
      </>
    );
  }
  const { paths, servers, info } = asRead<Document>(data);
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const word = wanted.trim().toLowerCase();
  const found = rows.filter(({ path, operation }) => `${path} ${operation.summary}`.toLowerCase().includes(word));
  return (
    <>
      <Title>HTTP API</Title>
      <p className="text-soft">
        Version {shown(info.version)} at {shown(servers[0]?.url)}. Programs read the same as an OpenAPI document:{' '}
        <span className="font-mono text-sm">/v1/openapi.json</span>. Agents come with a token.
      </p>
      <Field label="Find a route">
        {(id) => <input id={id} value={wanted} onChange={(event) => setWanted(event.target.value)} className={FIELD} />}
      </Field>
      {found.length === 0 ? <p className="py-6 text-center text-soft">There is no such route.</p> : null}
      {found.map((row) => (
        <Route key={`${row.method} ${row.path}`} {...row} />
      ))}
    </>
  );
}

function Route({
  path,
  method,
  operation,
}: {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}) {
  const { operationId, summary, security, parameters, requestBody, responses } = operation;
  const rows = [
    ['In the client', <code key="name">{operationId}</code>],
    ['For', security.length === 0 ? 'everybody' : 'whoever is known'],
    ...parameters.map(
      ({ name, in: place, required }) => [name, `in the ${place}${required ? '' : ', may be left out'}`] as const,
    ),
  ] as const;
  return (
    <Card title={`${method} ${path}`} aside={<Badge tone={method === 'GET' ? 'plain' : 'accent'}>{method}</Badge>}>
      <p className="mb-2 first-letter:uppercase">{summary}</p>
      <Facts rows={rows} />
      <Schema title="Body" content={requestBody} />
      <Schema title="Answer" content={responses['200']} />
    </Card>
  );
}

function Schema({ title, content }: { readonly title: string; readonly content: Content | undefined }) {
  const schema = content?.content?.['application/json']?.schema;
  if (schema === undefined) return null;
  return (
    <details className="mt-2">
      <summary className="min-h-11 cursor-pointer py-2 font-medium">{title}</summary>
      <p className="font-mono text-sm whitespace-pre-wrap [overflow-wrap:anywhere]" dir="ltr">
        {JSON.stringify(schema, null, 2)}
      </p>
    </details>
  );
}
