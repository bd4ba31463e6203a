/** Promises of the console. */
import type { Requirement } from '../requirements.js';

export const consoleRequirements = {
  'console.served': {
    source: 'doors',
    behaviour:
      'pages and their files are read by GET or HEAD without credentials, from memory; no path reaches the disk',
  },
  'console.csp': {
    source: 'doors',
    behaviour: 'a page runs nothing inline, asks no other host, is shown in no frame, and breaches none of its policy',
  },
  'console.no-service-worker': { source: 'doors', behaviour: 'a script is never served as a service worker' },
  'console.first-load': { source: 'doors', behaviour: 'the script of the console is under 200 KiB as it travels' },
  'console.challenge': {
    source: 'authority',
    behaviour: 'a page computes by itself what its passkey signs, and it is what the gate expects',
  },
  'console.enrolment': {
    source: 'authority',
    behaviour: 'somebody comes in by a link, a passkey and a typed code, without a terminal once there is an operator',
  },
  'console.session': { source: 'doors', behaviour: 'whoever is not signed in sees the door; signing out ends it' },
  'console.read-all': {
    source: 'doors',
    behaviour: 'approving opens only once the whole text was in view, and closes again when it is another one',
  },
  'console.approve': {
    source: 'doors',
    behaviour: 'the lines on the page are exactly those that are signed, and what was approved runs once',
  },
  'console.deny': {
    source: 'doors',
    behaviour: 'a person denies with a reason, sends back with words, or takes back, and the page says so',
  },
  'console.quorum': { source: 'doors', behaviour: 'two people approve one action, and each sees how many have' },
  'console.expired': {
    source: 'doors',
    behaviour: 'a request that ended while somebody looked is asked for anew; an action that ended says so',
  },
  'console.one-result': {
    source: 'doors',
    behaviour: 'double clicks, late clicks and two tabs give one result, and every page says which',
  },
  'console.standing': {
    source: 'authority',
    behaviour:
      'the narrowest standing approval is opened from an action by a signature, shown with what is left, revoked',
  },
  'console.acts': {
    source: 'authority',
    behaviour: 'freezes, keys and tokens are changed by signing the lines that the page shows; a freeze is a banner',
  },
  'console.inbox': {
    source: 'doors',
    behaviour: 'the inbox shows a page of what waits, and more of it on demand, all of it live',
  },
  'console.own': {
    source: 'authority',
    behaviour:
      'whoever is signed in takes an own key or standing approval back without a signature, in two clicks that say so; what is somebody else’s takes a signature',
  },
  'console.packages': {
    source: 'packages',
    behaviour:
      'packages are listed by state and by pages; a summary that waits is shown as it is confirmed, and confirmed by a signature over lines that were all in view',
  },
  'console.together': {
    source: 'doors',
    behaviour: 'one gesture approves several actions that were shown in full, and each has a result of its own',
  },
  'console.comments': {
    source: 'doors',
    behaviour: 'people talk about an action beside it, and the page says that nothing hangs on what they say',
  },
  'console.check': {
    source: 'doors',
    behaviour: 'a person has the connector asked what became of an unknown outcome',
  },
  'console.explain': {
    source: 'doors',
    behaviour: 'a person sees what policy would decide for an agent, and nothing is written',
  },
  'console.api': {
    source: 'doors',
    behaviour: 'a page shows every route of the API, from the document that programs read',
  },
  'console.audit': {
    source: 'doors',
    behaviour: 'the whole ledger is verified from the page, and its log is searched by an id',
  },
  'console.live': { source: 'doors', behaviour: 'what happens shows without loading a page again' },
  'console.hostile-text': {
    source: 'core',
    behaviour: 'text that an agent chose runs nothing, hides nothing and moves nothing on any page',
  },
  'console.accessible': {
    source: 'doors',
    behaviour: 'each page has no violation of WCAG 2.2 AA that axe finds, light and dark, and works by keyboard',
  },
} as const satisfies Readonly<Record<string, Requirement>>;
