/**
 * The one reader of files that a person, a configuration or a connector names. It reads plain files, up to a limit, and
 * never waits: a pipe, a device or a folder is refused before anything of it is read.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Why a file was not read, in words. */
export const FILE_REASONS = {
  absent: 'is not there',
  not_plain: 'is no plain file',
  too_long: 'is longer than the limit',
  unreadable: 'can not be read',
} as const;

export type FileResult =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly reason: keyof typeof FILE_REASONS; readonly cause?: unknown };

const CHUNK_BYTES = 65_536;
const STANDARD_INPUT = 0;
const PAUSE_MS = 20;

/** Reads the file at a path, following links. It never throws. */
export function readPlainFile(path: string, bytesMax: number): FileResult {
  let handle: number | undefined;
  try {
    // Without waiting for somebody to write into a pipe, which opening it would.
    handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(handle).isFile()) return { ok: false, reason: 'not_plain' };
    return readToEnd(handle, bytesMax);
  } catch (cause) {
    const isAbsent = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    return { ok: false, reason: isAbsent ? 'absent' : 'unreadable', cause };
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** Reads what is piped or redirected to this process, to its end. */
export function readStandardInput(bytesMax: number): FileResult {
  try {
    return readToEnd(STANDARD_INPUT, bytesMax);
  } catch (cause) {
    return { ok: false, reason: 'unreadable', cause };
  }
}

/** The text of bytes that were read, as UTF-8; a byte order mark stays. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** What the file says of its size is not believed: it may grow, or be one that the kernel writes. */
function readToEnd(handle: number, bytesMax: number): FileResult {
  const chunks: Uint8Array[] = [];
  for (let total = 0; ; ) {
    const chunk = new Uint8Array(Math.min(CHUNK_BYTES, bytesMax + 1));
    const count = readSome(handle, chunk);
    if (count === 0) return { ok: true, bytes: Buffer.concat(chunks) };
    total += count;
    if (total > bytesMax) return { ok: false, reason: 'too_long' };
    chunks.push(chunk.subarray(0, count));
  }
}

/** Whoever made the standard input one that does not wait left the waiting to us. */
function readSome(handle: number, chunk: Uint8Array): number {
  for (;;) {
    try {
      return readSync(handle, chunk);
    } catch (error) {
      const isEmpty = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
      if (handle !== STANDARD_INPUT || !isEmpty) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}
