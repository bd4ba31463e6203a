/** The whole ledger verified beside the server, and what was found. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { AnswerOf } from '../../api/index.js';
import { asRead } from '../documents.js';
import { call } from '../gate.js';
import { isRole, useMe } from '../session.js';
import { nameOf, timeOf } from '../words.js';
import { Button, Card, Facts, Notice, Refused, Said } from './basics.js';
import { useOnce } from './once.js';

interface Report {
  readonly events: number;
  readonly records: number;
  readonly payloads: number;
  readonly erased: number;
  readonly receipts: number;
  readonly launches: number;
  readonly packages: number;
  readonly head: { readonly sequence: number; readonly logHash: string };
  readonly defects: readonly { readonly where: string; readonly what: string }[];
  readonly recoveries: readonly { readonly person: string; readonly at: number }[];
}

const RUNNING_MS = 1_000;

export function Verify() {
  const me = useMe();
  const client = useQueryClient();
  const { data, error } = useQuery({
    queryKey: ['audit'],
    queryFn: () => call('audit', {}),
    refetchInterval: (query) => (query.state.data?.state === 'running' ? RUNNING_MS : false),
  });
  const beginning = useOnce<void, AnswerOf<'beginAudit'>>(
    () => call('beginAudit', {}),
    (told) => client.setQueryData(['audit'], told),
  );
  const isRunning = data?.state === 'running' || beginning.isRunning;
  const may = isRole(me, 'auditor') || isRole(me, 'operator');
  return (
    <Card title="Verify the whole ledger">
      <div className="space-y-3">
        <p className="text-soft">
          Every hash, link, receipt, launch and package is checked again, from the first event on. Whoever does not
          trust this server runs it elsewhere: countersign audit verify.
        </p>
        {may ? (
          <Button disabled={isRunning} onClick={() => beginning.start()}>
            {isRunning ? 'Verifying …' : 'Verify now'}
          </Button>
        ) : (
          <p className="text-soft">An auditor or an operator starts it.</p>
        )}
        <Refused error={error ?? beginning.error} />
        {data?.state === 'failed' ? (
          <Notice tone="bad">
            <p className="font-medium">The audit of {timeOf(data.at)} could not be carried out.</p>
            <p className="[overflow-wrap:anywhere]">
              <Said text={data.what} />
            </p>
            <p className="text-sm">Code: {data.code}</p>
          </Notice>
        ) : null}
        {data?.state === 'done' ? <Found report={asRead<Report>(data.report)} at={data.at} /> : null}
      </div>
    </Card>
  );
}

function Found({ report, at }: { readonly report: Report; readonly at: number }) {
  const { defects, recoveries, head } = report;
  const rows = [
    ['When', timeOf(at)],
    ['Events', `${report.events} of ${report.records} records`],
    ['Contents', `${report.payloads}, and ${report.erased} erased`],
    ['Signed approvals', report.receipts.toString()],
    ['Launches', report.launches.toString()],
    ['Packages', report.packages.toString()],
    ['The log ends at', <Said key="head" text={`${head.sequence} ${head.logHash}`} mono />],
  ] as const;
  return (
    <>
      {defects.length === 0 ? (
        <Notice tone="good">Everything verifies.</Notice>
      ) : (
        <Notice tone="bad">
          <p className="font-medium">The ledger does not verify: {defects.length} defects.</p>
          <ul className="list-disc pl-5">
            {defects.map(({ where, what }) => (
              <li key={`${where} ${what}`} className="[overflow-wrap:anywhere]">
                <Said text={where} mono />: <Said text={what} />
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {recoveries.map(({ person, at: then }) => (
        <Notice key={`${person} ${then}`} tone="warn">
          {nameOf(person)} came in by a recovery at the terminal on {timeOf(then)}.
        </Notice>
      ))}
      <Facts rows={rows} />
    </>
  );
}
