/** What the gate as a whole promises: its home, its tools, its audit. */
export const appRequirements = {
  'app.backup': {
    source: 'doors',
    behaviour:
      'a backup is a whole store: it is verified, refuses to replace anything, and is put back only for its own ledger',
  },
  'app.decisions': {
    source: 'doors',
    behaviour: 'what waits for a person is listed with what to do next, and is gone when it is done or has expired',
  },
  'app.gate.close': {
    source: 'doors',
    behaviour: 'a gate that is closed says so, and its ledger is closed even where its memory can not be written',
  },
  'app.home.location': {
    source: 'doors',
    behaviour: 'the home of a gate lies in no repository, whatever links lead there and whether it exists yet',
  },
  'app.home.order': {
    source: 'doors',
    behaviour:
      'the home of a gate is where it is told, else where the environment says, else below the user’s configuration',
  },
  'app.init.once': {
    source: 'doors',
    behaviour: 'the home of a gate holds one ledger, made once, of a configuration that can be opened',
  },
  'app.restore.shown': {
    source: 'doors',
    behaviour:
      'a store that misses what the gate has seen is accepted as what it is: not by what whoever asks says of it',
  },
  'app.restore.voids': {
    source: 'doors',
    behaviour:
      'a store that misses what the gate has seen launches nothing until a person accepts it; then every open action is unknown and every receipt void',
  },
  'app.seen.barrier': {
    source: 'doors',
    behaviour:
      'a store that misses what the gate has seen launches nothing until a person accepts it; then every open action is unknown and every receipt void',
  },
  'app.seen.damaged': {
    source: 'doors',
    behaviour:
      'a store that misses what the gate has seen is noticed also where the memory itself is damaged, and restored all the same',
  },
  'app.tool.closed': {
    source: 'doors',
    behaviour: 'a tool that needs a person is told when it is denied, taken back or too late',
  },
  'app.tool.definition': { source: 'doors', behaviour: 'the definition of a tool is checked where it is made' },
  'app.tool.frozen-args': {
    source: 'doors',
    behaviour:
      'a tool that policy allows gets a frozen copy of exactly the bytes that were stored: the output of its schema',
  },
  'app.tool.idempotency': {
    source: 'doors',
    behaviour: 'a tool that policy allows runs once under one idempotency key',
  },
  'app.tool.no-effect': {
    source: 'doors',
    behaviour: 'what a tool throws is an unknown outcome, but where it says that there was no effect',
  },
  'app.tool.one-commit': {
    source: 'doors',
    behaviour:
      'a tool that policy allows is proposed, approved and launched in one commit, and its answer is passed on',
  },
  'app.tool.own': { source: 'doors', behaviour: 'a tool that needs a person goes on with its own actions alone' },
  'app.tool.pending': {
    source: 'doors',
    behaviour:
      'a tool that needs a person is irreversible unless it says less: it is pending, and goes on once it is approved',
  },
  'app.tool.preview': { source: 'doors', behaviour: 'the definition of a tool shows its own view to the person' },
  'app.tool.reconcile': {
    source: 'doors',
    behaviour: 'what a tool throws and its time-out leave an outcome that it can establish later',
  },
  'app.tool.undo': {
    source: 'doors',
    behaviour: 'the definition of a tool says how to undo what it did; that is kept as evidence',
  },
  'app.tool.version': {
    source: 'doors',
    behaviour: 'a tool that needs a person is held when its version changed meanwhile',
  },
  'audit.clean': {
    source: 'doors',
    behaviour: 'the audit of a ledger finds nothing in a ledger that the gate wrote, whatever happened in it',
  },
  'audit.every-byte': {
    source: 'doors',
    behaviour:
      'one changed byte in the store in what only lists and the log use launches the signed bytes or nothing, and the audit finds it',
  },
  'audit.launch-authority': {
    source: 'doors',
    behaviour: 'the audit of a ledger finds a launch without an approval, and one with a receipt that is not there',
  },
  'audit.legal-steps': { source: 'doors', behaviour: 'the audit of a ledger finds a step that an action can not take' },
  'audit.receipts': {
    source: 'doors',
    behaviour:
      'the audit of a ledger finds a receipt that was not signed, is of another key, another person, another epoch, or too late',
  },
  'audit.registry-authority': {
    source: 'doors',
    behaviour: 'the audit of a ledger finds people, keys and a configuration that nobody signed for',
  },
} as const;
