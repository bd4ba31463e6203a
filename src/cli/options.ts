/** Values that options may have, where a parser needs them before a command loads. */
/** Rule packs that a first configuration can come from. */
export const TEMPLATE_NAMES = ['solo', 'team', 'payments'] as const;

/** What a token of an agent may be for. */
export const TOKEN_VERBS = ['read', 'propose', 'execute', 'cancel', 'work', 'package'] as const;

/** Shells whose words can be completed. */
export const SHELL_NAMES = ['bash', 'zsh', 'fish'] as const;

/** The states of a package, as its protocol names them. */
export const PACKAGE_STATE_NAMES = [
  'INTAKE',
  'SUMMARY_PENDING',
  'AUTHORING_AUTHORIZED',
  'DRAFT_READY',
  'CANCELLED',
] as const;
