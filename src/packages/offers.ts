/**
 * What a package takes now: for each action an example envelope, judged by the machine itself, so that what is shown
 * as legal is accepted as it stands. Pure. Source: spec packages (model binding).
 */
import { Refusal, sha256Hex } from '../core/index.js';
import { exampleOf } from './fields.js';
import { actionsFrom, decide, placeOf } from './machine.js';
import { type ActionName, type Envelope, FIELDS, type PackageState, PROTOCOL_VERSION } from './schema.js';
import { setApart } from './stored.js';

/** An action that is legal in this state: with an envelope that is accepted, or with why none is yet. */
export type Offer =
  | { readonly action: ActionName; readonly example: Envelope }
  | { readonly action: ActionName; readonly missing: Refusal };

export interface OfferOptions {
  /** Also what at a door only a person's signature does. */
  readonly withHumanActs?: boolean;
}

/** The actions of this state, in the order of the vocabulary. */
export function offersOf(state: PackageState, options: OfferOptions = {}): readonly Offer[] {
  return actionsFrom(state.manifest.state)
    .filter((action) => options.withHumanActs === true || !placeOf(action).isHuman)
    .map((action) => {
      const example = exampleFor(state, action);
      const decided = decide(state, setApart(example).stored, 0);
      return decided instanceof Refusal ? { action, missing: decided } : { action, example };
    });
}

/** What only a person does in this state. */
export function humanActsOf(state: PackageState): readonly ActionName[] {
  return actionsFrom(state.manifest.state).filter((action) => placeOf(action).isHuman);
}

/** Every field with its example, the ids unused, the digest that of the summary that stands. */
function exampleFor({ manifest, manifest_sha256 }: PackageState, action: ActionName): Envelope {
  const { package_id, revision, summary, inputs } = manifest;
  const { basis, payload } = FIELDS[action];
  const fresh: Readonly<Record<string, unknown>> = {
    ...(action === 'record_input'
      ? { input_id: freshName('input', new Set(inputs.map(({ input_id }) => input_id))) }
      : {}),
    ...(summary === null ? {} : { summary_sha256: summary.canonical_sha256 }),
  };
  return {
    protocol_version: PROTOCOL_VERSION,
    // It follows from a digest that nobody could know before, so that no envelope has used it.
    action_id: `act_${sha256Hex(`${manifest_sha256} ${action}`).slice(0, 16)}`,
    package_id,
    expected_revision: revision,
    action,
    basis: { ...examplesOf(basis), ...pick(fresh, basis) },
    payload: { ...examplesOf(payload), ...pick(fresh, payload) },
  } as Envelope;
}

type Fields = Readonly<Record<string, Parameters<typeof exampleOf>[0]>>;

function examplesOf(fields: Fields): Readonly<Record<string, unknown>> {
  const examples = Object.entries(fields).map(([name, field]) => [name, exampleOf(field)] as const);
  return Object.fromEntries(examples.filter(([, example]) => example !== undefined));
}

function pick(values: Readonly<Record<string, unknown>>, fields: Fields): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(fields, name)));
}

/** `input-1`, `input-2` …: the first that is not taken. */
function freshName(word: string, taken: ReadonlySet<string>): string {
  let count = taken.size + 1;
  while (taken.has(`${word}-${count}`)) count += 1;
  return `${word}-${count}`;
}
