/**
 * One package: where it stands and what it waits for; the summary exactly as it is confirmed, with the confirmation of
 * whoever is signed in; its inputs and drafts; the envelopes that made it; and where its draft went.
 */
import { useQuery } from '@tanstack/react-query';
import { asRead, type ManifestDocument } from '../documents.js';
import { call } from '../gate.js';
import { Badge, Button, Card, Facts, Notice, packageTone, Refused, Said, Title, Waiting } from '../parts/basics.js';
import { ContentOf } from '../parts/package-content.js';
import { Envelopes, Releases } from '../parts/package-history.js';
import { issuedOf, useAsking } from '../parts/signing.js';
import { Summary } from '../parts/summary.js';
import { PACKAGE_STATES, PACKAGE_WAITS, shown, timeOf, wordOf } from '../words.js';

const AGAIN_MS = 10_000;

export function PackagePage({ id }: { readonly id: string }) {
  const { data, error } = useQuery({
    queryKey: ['package', id],
    queryFn: () => call('package', { package_id: id }),
    refetchInterval: AGAIN_MS,
  });
  if (data === undefined) {
    return (
      <>
        <Title>Package</Title>
        <Waiting error={error} />
      </>
    );
  }
  const manifest = asRead<ManifestDocument>(data.manifest);
  return (
    <>
      <Title aside={<Badge tone={packageTone(manifest.state)}>{wordOf(PACKAGE_STATES, manifest.state)}</Badge>}>
        <Said text={id} />
      </Title>
      <p className="[overflow-wrap:anywhere]">
        <Said text={manifest.intent.clarified ?? manifest.intent.raw} />
      </p>
      <p>
        <span className="text-soft">Waits for: </span>
        {wordOf(PACKAGE_WAITS, manifest.state)}
      </p>
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <div className="min-w-0 space-y-4">
          <Confirmation manifest={manifest} />
          <Inputs manifest={manifest} />
          <Drafts manifest={manifest} />
        </div>
        <div className="min-w-0 space-y-4">
          <Card title="How it stands">
            <Stands manifest={manifest} digest={data.manifest_sha256} />
          </Card>
          <Envelopes id={id} revision={manifest.revision} />
        </div>
      </div>
    </>
  );
}

function Stands({ manifest, digest }: { readonly manifest: ManifestDocument; readonly digest: string }) {
  const { objective, revision, created_at, updated_at } = manifest;
  const rows = [
    ['Objective', objective === null ? 'none yet' : <Said key="objective" text={objective.statement} />],
    ...(objective?.desired_outcomes ?? []).map(
      (outcome, at) => [`Outcome ${at + 1}`, <Said key={outcome} text={outcome} />] as const,
    ),
    ['Revision', revision.toString()],
    ['Begun', timeOf(Date.parse(created_at))],
    ['Changed', timeOf(Date.parse(updated_at))],
    ['Fingerprint', <Said key="digest" text={digest} mono />],
  ] as const;
  return <Facts rows={rows} />;
}

/** The lines that a person confirms. They are signed with those of the ledger and the revision around them. */
function Confirmation({ manifest: { package_id, summary, state } }: { readonly manifest: ManifestDocument }) {
  const asking = useAsking<void>('What you confirm', async (_, person) =>
    issuedOf(await call('confirmPackage', { package_id, body: { person } })),
  );
  if (summary === null) return null;
  const { content, canonical_sha256, confirmation } = summary;
  const isOpen = state === 'SUMMARY_PENDING';
  return (
    <Card title="The summary">
      <div className="space-y-3">
        {confirmation.status === 'confirmed' ? (
          <Notice tone="good">
            Confirmed by <Said text={confirmation.operator_id} />
            {confirmation.confirmed_at === null ? '' : `, ${timeOf(Date.parse(confirmation.confirmed_at))}`}
          </Notice>
        ) : null}
        <Summary lines={content.split('\n').slice(0, -1).map(shown)} label="The summary, line by line" />
        <Facts rows={[['Fingerprint', <Said key="summary" text={canonical_sha256} mono />]]} />
        <Refused error={asking.error} />
        {isOpen ? (
          <>
            <Button look="strong" className="w-full" disabled={asking.isRunning} onClick={() => asking.start()}>
              {asking.isRunning ? 'One moment …' : 'Confirm the summary …'}
            </Button>
            <p className="text-sm text-soft">
              You are shown every line that your passkey signs, and sign once all of them were in view. After that a
              draft may be written on this summary.
            </p>
          </>
        ) : null}
      </div>
    </Card>
  );
}

function Inputs({ manifest: { package_id, inputs } }: { readonly manifest: ManifestDocument }) {
  return (
    <Card title={`Inputs: ${inputs.length}`}>
      {inputs.length === 0 ? <p className="text-soft">None was recorded.</p> : null}
      <ul className="divide-y divide-line empty:hidden">
        {inputs.map(({ input_id, kind, source, disposition, exclusion_reason, content_sha256, content_size }) => (
          <li key={input_id} className="py-3 [overflow-wrap:anywhere]">
            <p>
              <strong>
                <Said text={input_id} />
              </strong>{' '}
              <span className="text-soft">
                {kind}, from {source === 'operator' ? 'an operator' : 'an adapter'}, {content_size} bytes
              </span>
            </p>
            {disposition === 'excluded' ? (
              <p>
                <Badge tone="warn">excluded</Badge> <Said text={exclusion_reason} />
              </p>
            ) : null}
            <ContentOf id={package_id} sha256={content_sha256} name={input_id} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Drafts({ manifest: { package_id, artifacts, state } }: { readonly manifest: ManifestDocument }) {
  if (artifacts.length === 0) return null;
  return (
    <>
      <Card title="Drafts">
        <ul className="divide-y divide-line">
          {artifacts.map(({ artifact_id, kind, logical_path, sha256, byte_count }) => (
            <li key={artifact_id} className="py-3 [overflow-wrap:anywhere]">
              <p>
                <strong>
                  <Said text={logical_path} mono />
                </strong>{' '}
                <span className="text-soft">
                  <Said text={artifact_id} />, <Said text={kind} />, {byte_count} bytes
                </span>
              </p>
              <ContentOf id={package_id} sha256={sha256} name={artifact_id} />
            </li>
          ))}
        </ul>
      </Card>
      <Releases id={package_id} isReady={state === 'DRAFT_READY'} />
    </>
  );
}
