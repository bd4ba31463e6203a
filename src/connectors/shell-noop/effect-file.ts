/**
 * The effect of `shell-noop`: one file for each action, made at most once.
 *
 * It promises: the file appears whole or not at all, since it is written and synced elsewhere in the folder and then
 * linked under its name; of two calls with one name the first wins; after `created` it survives a power loss. A crash
 * may leave a `.call-…` folder, which nothing reads.
 * It refuses to link once `mayLink` says no.
 */
import { link, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault, LIMITS } from '../../core/index.js';
import { readPlainFile, textOf } from '../plain-file.js';

/** More than an effect can have: its arguments, and what stands around them. */
const EFFECT_BYTES_MAX = 2 * LIMITS.argsBytesMax;

/** Whether this call's file stands there now: made by it, made before by an equal call, or by another one. */
export type Written = 'created' | 'same' | 'other' | 'too_late' | 'unwritable';

/**
 * Makes `<dir>/<name>` with the text. `unwritable` and `too_late` are certain: nothing was linked and nothing will be.
 * Throws a `Fault` where the link was tried and its result is not known.
 */
export async function writeOnce(dir: string, name: string, text: string, mayLink: () => boolean): Promise<Written> {
  const scratch = await prepared(dir, text);
  if (scratch === undefined) return 'unwritable';
  try {
    // Nothing may come between this question and the link: `failed` after the deadline leans on it.
    if (!mayLink()) return 'too_late';
    await link(join(scratch, 'effect'), join(dir, name));
    await syncFolder(dir);
    return 'created';
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw new Fault('internal', 'the effect could not be linked', error);
    return await compared(dir, name, text);
  } finally {
    await discard(scratch);
  }
}

/**
 * The text of `<dir>/<name>`; `absent` only where the folder is there and the name is not; undefined where that can't
 * be told.
 */
export async function readEffect(dir: string, name: string): Promise<{ text: string } | 'absent' | undefined> {
  try {
    if (!(await stat(dir)).isDirectory()) return undefined;
  } catch {
    return undefined;
  }
  const read = readPlainFile(join(dir, name), EFFECT_BYTES_MAX);
  if (read.ok) return { text: textOf(read.bytes) };
  return read.reason === 'absent' ? 'absent' : undefined;
}

/** The file stands there already: is it this call's? */
async function compared(dir: string, name: string, text: string): Promise<Written> {
  try {
    // The earlier call may have died between its link and its sync.
    await syncFolder(dir);
    const read = readPlainFile(join(dir, name), EFFECT_BYTES_MAX);
    if (!read.ok && read.cause !== undefined) throw read.cause;
    return read.ok && textOf(read.bytes) === text ? 'same' : 'other';
  } catch (error) {
    throw new Fault('internal', 'the earlier effect could not be read', error);
  }
}

/** A scratch folder inside `dir` that holds the synced text; undefined when it can't be made. */
async function prepared(dir: string, text: string): Promise<string | undefined> {
  let scratch: string | undefined;
  try {
    scratch = await mkdtemp(join(dir, '.call-'));
    const file = await open(join(scratch, 'effect'), 'wx', 0o600);
    try {
      await file.writeFile(text, 'utf8');
      await file.sync();
    } finally {
      await file.close();
    }
    return scratch;
  } catch {
    if (scratch !== undefined) await discard(scratch);
    return undefined;
  }
}

/** What can't be removed stays behind and harms nobody, so that it must not change what the caller is told. */
function discard(scratch: string): Promise<void> {
  return rm(scratch, { recursive: true, force: true }).catch(() => undefined);
}

/** Makes the entries of a folder survive a power loss. */
async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
