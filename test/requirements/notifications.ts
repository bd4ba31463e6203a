/**
 * What notifications promise, one sentence each. A test that shows a promise cites its id with `verifies`.
 */
export const notificationRequirements = {
  'notifications.settled': {
    source: 'doors',
    behaviour: 'a program hears by a signed webhook how each of its actions ended',
  },
  'notifications.inbox': {
    source: 'doors',
    behaviour: 'people hear of everything that the inbox shows: approvals, outcomes, acts, enrolments, summaries',
  },
  'notifications.due': {
    source: 'authority',
    behaviour: 'people are reminded, escalated to, and told before and after the time is over, once each',
  },
  'notifications.away': {
    source: 'authority',
    behaviour:
      'who is away is neither reminded nor escalated to; a delegate stands in who is of the same rule and there',
  },
  'notifications.escalation': {
    source: 'authority',
    behaviour:
      'escalation reaches whom the rule names, else the others of its list, else whoever is asked, else operators',
  },
  'notifications.lapsed': {
    source: 'doors',
    behaviour: 'what was decided meanwhile, or is too old, is delivered to nobody',
  },
  'notifications.once': {
    source: 'doors',
    behaviour: 'two gates, a restart and a replay write one entry for the same news, channel and address',
  },
  'notifications.at-least-once': {
    source: 'doors',
    behaviour:
      'what was put is delivered, also by another process after the first was killed, under one id at every try',
  },
  'notifications.bounded': {
    source: 'doors',
    behaviour: 'tries, waits, ages and queues have bounds; what is given up is shown and told over another channel',
  },
  'notifications.never-blocks': {
    source: 'doors',
    behaviour: 'no commit or launch waits for a delivery, or costs anything more by it',
  },
  'notifications.webhook': {
    source: 'doors',
    behaviour: 'a webhook is signed as Standard Webhooks has it, with a secret of 24 to 64 bytes in its one spelling',
  },
  'notifications.slack': {
    source: 'doors',
    behaviour: 'a Slack-compatible message is plain text in which nothing is read as markup or calls anybody',
  },
  'notifications.ntfy': {
    source: 'doors',
    behaviour: 'ntfy gets the message for a topic, with its link and its token, and no topic that is none',
  },
  'notifications.smtp': {
    source: 'doors',
    behaviour: 'mail is one plain text to one recipient, over TLS unless inside, and no header begins in a value',
  },
  'notifications.desktop': {
    source: 'doors',
    behaviour: 'a program of the desktop is run by its absolute path, with arguments and no shell',
  },
  'notifications.addresses': {
    source: 'reliability',
    behaviour: 'an address of a private network is called only where the trust configuration allows it, by any name',
  },
  'notifications.secrets': {
    source: 'doors',
    behaviour: 'secrets are named, read where they stand, and stand in no error, log, list or entry of the outbox',
  },
  'notifications.plain': {
    source: 'reliability',
    behaviour: 'what an agent chose is shown plain and bounded: no link, markup, control or direction in it',
  },
  'notifications.powerless': {
    source: 'doors',
    behaviour:
      'a message has one link, to the configured address, decides nothing, and carries no invitation or secret',
  },
  'notifications.configuration': {
    source: 'doors',
    behaviour: 'the part of the trust configuration is a closed schema, and every defect is told with its line',
  },
  'notifications.unconfigured': {
    source: 'doors',
    behaviour: 'without the part nothing is put or asked, and the version of a configuration is what it was',
  },
  'notifications.command-line': {
    source: 'doors',
    behaviour: '`notify test` tells of each channel whether it works, `notify list` what did not arrive, and why',
  },
  'notifications.doctor': {
    source: 'doors',
    behaviour: 'doctor tells of secrets that are not there, people whom nothing reaches, and what did not arrive',
  },
  'notifications.postgres': {
    source: 'doors',
    behaviour: 'gates that share a database tell people and programs as one gate does',
  },
  'notifications.served': {
    source: 'doors',
    behaviour: '`serve` delivers, with links to its public address, and counts by channel and state in its metrics',
  },
} as const;
