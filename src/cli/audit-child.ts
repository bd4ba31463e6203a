/**
 * An audit in a process of its own: `audit verify` of this program, so that a server answers meanwhile.
 */
import { execFile } from 'node:child_process';
import type { AuditReport } from '../app/index.js';
import { CODES, type Code, Fault, type JsonObject, parseTrusted } from '../core/index.js';

/** A report names a hundred defects at most. */
const REPORT_BYTES_MAX = 1024 * 1024;
const AUDIT_MS_MAX = 6 * 3_600_000;

/**
 * The auditor of a home; `program` is the file of this command line. Faults with the code of the audit where a ledger
 * is too damaged to be opened, and `internal` where the process said nothing.
 */
export function auditInChild(
  home: string,
  program = process.argv[1] ?? '',
): (signal: AbortSignal) => Promise<AuditReport> {
  const words = [program, 'audit', 'verify', '--json', '--home', home];
  return (signal) =>
    new Promise((resolve, reject) => {
      const options = { signal, maxBuffer: REPORT_BYTES_MAX, timeout: AUDIT_MS_MAX };
      execFile(process.execPath, [...process.execArgv, ...words], options, (error, stdout, stderr) => {
        // A ledger with defects is a report as well, behind which the process says that it failed.
        const report = objectIn(stdout) as Partial<AuditReport> | undefined;
        if (Array.isArray(report?.defects)) resolve(report as AuditReport);
        else reject(faultIn(stderr) ?? new Fault('internal', 'the audit gave no report', error));
      });
    });
}

function faultIn(stderr: string): Fault | undefined {
  const told = objectIn(stderr)?.['error'] as { code?: string; message?: string; path?: string } | undefined;
  if (told?.code === undefined || !Object.hasOwn(CODES, told.code)) return undefined;
  const where = told.path === undefined ? {} : { path: told.path };
  return new Fault(told.code as Code, String(told.message), undefined, where);
}

function objectIn(text: string): JsonObject | undefined {
  try {
    return parseTrusted(text) as JsonObject;
  } catch {
    return undefined;
  }
}
