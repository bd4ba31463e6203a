/** What the command line promises. */
export const cliRequirements = {
  'cli.serve.new-home': {
    source: 'doors',
    behaviour: 'serving a home that is not there makes one for the address that people use',
  },
  'cli.output.lost': {
    source: 'doors',
    behaviour: 'output that could not be written is a fault where all went well; a reader that went away is none',
  },
  'cli.question.ends': {
    source: 'doors',
    behaviour: 'the end of the input at a question is a refusal with its exit code',
  },
  'cli.like.whole': {
    source: 'doors',
    behaviour: 'what is asked for again takes nothing else, and nothing that was said is passed over',
  },
  'cli.version': { source: 'doors', behaviour: 'the version is that of the package' },
  'cli.usage': {
    source: 'doors',
    behaviour: 'a command that is not understood exits with 2, and every verb has an example',
  },
  'cli.main-job': {
    source: 'doors',
    behaviour: 'propose, request, sign, fetch and execute run an action once, with the exit codes of the specification',
  },
  'cli.json': {
    source: 'doors',
    behaviour:
      'with --json the result is one JSON value on standard output, a refusal one error object on standard error',
  },
  'cli.exit-codes': {
    source: 'doors',
    behaviour: 'exit 1 refused, 3 certain failure, 4 outcome unknown, 5 not signed yet, 70 a fault',
  },
  'cli.no-human': { source: 'authority', behaviour: 'no option, variable or file makes a command a person' },
  'cli.deny': { source: 'authority', behaviour: 'a signed denial cancels the action at once and keeps the words' },
  'cli.hostile-text': { source: 'core', behaviour: 'text from outside never reaches the terminal with controls in it' },
  'cli.terminal': {
    source: 'authority',
    behaviour:
      'the first approver is confirmed by typing the code at a terminal; another code, or no terminal, confirms nobody',
  },
  'cli.people.removed': {
    source: 'authority',
    behaviour:
      'a list shows that the key of a removed person signs nothing; nobody is asked to remove the last operator',
  },
  'cli.mistakes.field': {
    source: 'core, doors',
    behaviour: 'where the defect of a command has a field, people are told which one, as programs are',
  },
  'cli.keys.damaged': {
    source: 'authority',
    behaviour: 'a damaged key file is refused by its path, before its passphrase is asked for',
  },
  'cli.doctor.secrets': {
    source: 'doors',
    behaviour: 'doctor finds a secret of an endpoint that is not there, or that no header takes, and shows none',
  },
  'cli.serve.place': {
    source: 'doors',
    behaviour: 'an address that is taken, not of this machine, or not for this user is refused as each of these',
  },
  'cli.home.entry': {
    source: 'doors, authority',
    behaviour: 'a user who may not enter a home, and a home that is no folder, are told as that',
  },
  'cli.doctor.cause': {
    source: 'doors',
    behaviour: 'a store that can not be opened is told with what keeps it: its mode, its disk, its database',
  },
  'cli.init.goes-on': {
    source: 'doors',
    behaviour: 'what ends the ceremony of the first approver says the command by which it is gone on with',
  },
  'cli.people': {
    source: 'authority',
    behaviour: 'a further key and a revocation are carried out by an operator signature',
  },
  'cli.config': { source: 'authority', behaviour: 'a changed configuration is shown, signed, and active from then on' },
  'cli.backup': {
    source: 'ledger',
    behaviour: 'a backup is verified and can be put back; nothing is launched until an operator accepts it',
  },
  'cli.files.plain': {
    source: 'doors',
    behaviour:
      'a command reads plain files up to a limit: a pipe, a device or a folder is refused, and none is waited for',
  },
  'cli.files.home': {
    source: 'doors',
    behaviour: 'a pipe in the place of a file of the home or of a project is found and refused, and hangs nobody',
  },
  'cli.files.standard-input': {
    source: 'doors',
    behaviour: 'what is piped to a command is read to its end, up to the limit',
  },
  'cli.mistakes.paths': {
    source: 'core, doors',
    behaviour: 'a path where no folder or file can be made is refused with advice, and is no fault',
  },
  'cli.mistakes.store': {
    source: 'doors',
    behaviour: 'a store that no URL names is refused with advice, before anything is made',
  },
  'cli.mistakes.echo': {
    source: 'core',
    behaviour: 'what is typed in the place of a name is not said again in the refusal',
  },
  'cli.mistakes.keys': {
    source: 'core, doors',
    behaviour: 'an unknown key of a configuration is named where it is a word, and else by its line alone',
  },
  'cli.mistakes.ascii': { source: 'core, doors', behaviour: 'JSON on the command line is ASCII' },
  'cli.doctor': { source: 'doors', behaviour: 'doctor says what is not well and how to mend it' },
  'cli.doctor.thread-key': {
    source: 'doors',
    behaviour: 'doctor finds a thread key that is missing, damaged or another one, and says a way on',
  },
  'cli.doctor.files': { source: 'doors', behaviour: 'doctor finds every key, store and folder that others can read' },
  'cli.doctor.connectors': {
    source: 'doors',
    behaviour: 'doctor finds a connector that can not work here: its repository, its git, its folder',
  },
  'cli.doctor.unopened': {
    source: 'doors',
    behaviour: 'doctor tells why a gate can not be opened, and what it says to do leads out of it',
  },
  'cli.restore.thread-key': {
    source: 'ledger, authority',
    behaviour: 'a backup put back without the thread key can be read, and is accepted once the key is back',
  },
  'cli.doctor.project': {
    source: 'doors',
    behaviour: 'doctor shows the settings of a project, or why they are refused',
  },
  'cli.location': { source: 'authority', behaviour: 'a home inside a repository is refused' },
  'cli.explain': {
    source: 'authority',
    behaviour: 'policy explain gives the decision of an action, of its id, and of a what-if',
  },
  'cli.inbox': {
    source: 'actions',
    behaviour: 'the inbox lists what waits for a person with the command to type next',
  },
  'cli.show': {
    source: 'doors, actions',
    behaviour:
      'an action is shown with what lets it run, what its connector answered, and which action it replaces or is replaced by',
  },
  'cli.receipt-file': {
    source: 'authority',
    behaviour: 'a receipt in a file is verified, by the registry or offline by its key',
  },
  'cli.idempotency': {
    source: 'ledger',
    behaviour: 'the same key and command give the same action, another command is refused',
  },
  'cli.demo': { source: 'doors', behaviour: 'the demonstration runs every step with the exit code that it shows' },
  'cli.nobody-reads': {
    source: 'doors',
    behaviour: 'where nobody reads the output the exit code still says what was done, and nothing native is printed',
  },
  'cli.usage.refused': {
    source: 'doors',
    behaviour: 'a mistake of usage is a refusal like any other, also as JSON, and repeats no value that was typed',
  },
  'cli.list.known': {
    source: 'actions',
    behaviour: 'a list asked for by an unknown state, person or cursor is refused, not empty',
  },
  'cli.list.bounds': {
    source: 'doors',
    behaviour: 'a page is asked for by a whole number of rows within its bound, and is never silently a smaller one',
  },
  'cli.settings.begun': {
    source: 'doors',
    behaviour:
      'where a gate is there, init for a project alone writes its file; what it would say of a gate is refused',
  },
  'cli.settings': {
    source: 'doors',
    behaviour: 'the file of a project gives defaults that variables and options override, and can change no trust',
  },
  'cli.debug': {
    source: 'doors',
    behaviour: 'with --debug or COUNTERSIGN_LOG=debug the cause of a fault stands on standard error as a line of JSON',
  },
  'cli.completion': {
    source: 'doors',
    behaviour: 'bash, zsh and fish complete every command, option and choice of the program, and nothing else',
  },
  'cli.resolution': {
    source: 'doors',
    behaviour: 'finding, retry, replace and undo stand on the command line, each with the signature that it needs',
  },
  'cli.freeze': {
    source: 'doors',
    behaviour: 'freeze and unfreeze ask for a signature, and stop or release everything or one part',
  },
  'cli.standing': {
    source: 'doors',
    behaviour: 'standing approvals are asked for, shown with what is left, used and taken back on the command line',
  },
  'cli.agent': {
    source: 'doors',
    behaviour: 'tokens of agents are made, listed, replaced and taken back by signature',
  },
  'cli.at-server': {
    source: 'authority',
    behaviour: 'what a gate of another address tells of requests and receipts is verified here again, in every part',
  },
  'cli.serve': { source: 'doors', behaviour: 'one command serves the gate over HTTP, and ends when it is told to' },
} as const;
