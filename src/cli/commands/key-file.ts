/**
 * The file of a software key as a command reads it: a damaged one is refused by its name, before anything is asked.
 */
import { Refusal } from '../../core/index.js';
import { shown } from '../output.js';
import { readText } from './propose.js';

/** The text of a key file, and whose it is. Refuses `format`, naming the file. */
export async function readKey(path: string): Promise<{ text: string; person: string; publicKey: string }> {
  const { readKeyFile } = await import('../../app/index.js');
  const text = readText(path);
  try {
    return { text, ...readKeyFile(text) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(error.code, `\`${shown(path)}\`: ${error.message}`, { next: error.next });
  }
}
