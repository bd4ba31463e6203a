/**
 * What packages promise: the action envelope of protocol 0.1. A test that shows a promise cites its id with `verifies`.
 */
const promise = (behaviour: string) => ({ source: 'packages', behaviour });

export const packageRequirements = {
  'packages.parse.one-object': promise('exactly one JSON object: two, another value, or none is INVALID_ENVELOPE'),
  'packages.parse.prose': promise(
    'prose around the one object is ignored; the second try follows a syntax error alone',
  ),
  'packages.parse.strict': promise(
    'a duplicate key, a fraction, true, a huge integer, deep nesting and 2 MiB of text and more are INVALID_ENVELOPE',
  ),
  'packages.parse.fields': promise('an unknown or missing field at any level is refused, `__proto__` among them'),
  'packages.parse.order': promise('the fields are checked in the order of the protocol, and all defects are listed'),
  'packages.parse.rules': promise('every rule of a field holds at its limit and refuses beyond it'),
  'packages.parse.lines': promise('text that a person confirms holds no control, invisible or direction character'),
  'packages.parse.hostile': promise('100,000 mutated envelopes: a coded refusal or an envelope, never anything else'),
  'packages.parse.values': promise('no value of any type gives anything but a coded refusal'),
  'packages.parse.silent': promise('no refusal of an envelope repeats a value of it'),
  'packages.vectors': promise('the vectors of the protocol hold: texts, summaries, manifests'),
  'packages.machine.table': promise(
    'every action in every state is the transition of the table, or ILLEGAL_TRANSITION',
  ),
  'packages.machine.gates': promise('each gate refuses by its code before anything is written'),
  'packages.machine.confirmed': promise('a draft stands on the confirmation of the summary that stands now'),
  'packages.machine.revise': promise(
    'revise_intake drops summary and confirmation, and keeps inputs, objective and intent',
  ),
  'packages.machine.path': promise('a draft has a relative path of plain segments, or INVALID_PAYLOAD'),
  'packages.create.same': promise('creating again with the same intent answers the same package, else PACKAGE_EXISTS'),
  'packages.order': promise('loading, idempotency, revision, legality, gate: the first that fails is the code'),
  'packages.refused.nothing': promise('a refused envelope changes nothing, and its action_id stays free'),
  'packages.idempotency.replay': promise('the same envelope again answers what was recorded, in any later state'),
  'packages.idempotency.reuse': promise(
    'another content under the same action_id is ACTION_ID_REUSE, before STALE_ACTION',
  ),
  'packages.idempotency.null': promise('absent and null differ for idempotency'),
  'packages.race.identical': promise('two identical envelopes at once: one event, and the same answer for both'),
  'packages.race.different': promise(
    'of two envelopes from one revision one wins, the other is STALE_ACTION with both',
  ),
  'packages.manifest.digest': promise(
    'a manifest is addressed by the SHA-256 of its canonical JSON, and names the one before',
  ),
  'packages.manifest.time': promise(
    'one clock reading for an action, in UTC, with microseconds where they are not zero',
  ),
  'packages.manifest.content': promise('inputs and drafts stand apart under their digests, and are read back by them'),
  'packages.load.recomputed': promise('a manifest that is not the one that its event names is MANIFEST_INVALID'),
  'packages.replay.clean': promise('every package that the library wrote replays to the same bytes'),
  'packages.replay.found': promise('a forged event with right hashes is found by replay, whatever it forges'),
  'packages.summary.bytes': promise('the canonical summary is exactly the bytes of the protocol'),
  'packages.summary.trimmed': promise('white space of Unicode and U+001C to U+001F is trimmed, U+FEFF is not'),
  'packages.summary.no-forgery': promise('no text in a field makes a line of the summary'),
  'packages.model.prompt': promise('every envelope that a prompt shows as legal is accepted as it stands'),
  'packages.model.complete': promise('a prompt shows every action that is legal now, or says what is missing for it'),
  'packages.model.tools': promise('tools are JSON Schema of draft-07 and of 2020-12, and take what a prompt shows'),
  'packages.model.correction': promise('a correction states the defects of an envelope and nothing of what it said'),
  'packages.confirm.human': promise('at every door a summary is confirmed by the signature of a person alone'),
  'packages.confirm.bare': promise('the bare library records a confirmation as its envelope says'),
  'packages.confirm.operator': promise('who is recorded as operator is who signed'),
  'packages.confirm.bound': promise('a receipt confirms the revision, manifest and summary that were shown, once'),
  'packages.confirm.shown': promise('who signs sees every line of the summary'),
  'packages.confirm.inbox': promise('a summary that waits is in the inbox until it is confirmed'),
  'packages.refusals.recorded': promise('refused envelopes are recorded: who, which code, the address of the bytes'),
  'packages.token': promise(
    'a token reaches packages where its scope says so, all of them; being signed in reads them and asks for a confirmation',
  ),
  'packages.read.intents': promise('a list of packages tells the beginning of each intent'),
  'packages.read.envelopes': promise(
    'the envelopes of a package are read by pages, the newest first, with who sent them and what they name',
  ),
  'packages.read.releases': promise(
    'the actions that carry a draft are found by pages of bounded work, each as far as the caller sees it',
  ),
  'packages.frozen': promise('while its agent or everything is frozen no envelope is accepted, but a cancellation is'),
  'packages.release.writes': promise('a release writes the draft to its path, with the package as its work item'),
  'packages.release.pinned': promise('a release is launched only while the package stands at its revision'),
  'packages.postgres': promise('the scenarios of packages pass on PostgreSQL'),
  'packages.limit.inputs': promise('a package holds 1,000 inputs, and refuses one more'),
  'packages.cli': promise('the command line carries a package from its intent to a released draft'),
  'packages.tutorial': promise('the tutorial is run as it stands: a model drives a package to a released draft'),
  'audit.package-authority': promise('the audit finds a confirmation that no person signed'),
} as const;
