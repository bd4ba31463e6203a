/** What the house itself promises. */
export const houseRequirements = {
  'house.walls': {
    source: 'architecture',
    behaviour: 'a folder imports only what the table allows, and only its index',
  },
  'house.pure': {
    source: 'architecture',
    behaviour: 'pure files use no node module, clock, chance or environment; node:crypto stands in two places',
  },
  'house.sizes': { source: 'style', behaviour: 'source files have at most 300 lines, and lines at most 120 columns' },
  'house.prose-head': { source: 'style', behaviour: 'every source file says in its first lines what it is' },
  'house.one-reader': { source: 'style', behaviour: 'files are read by one reader, which never waits and has a limit' },
  'house.no-loose-ends': {
    source: 'style',
    behaviour: 'no forgotten marker, no skipped or exclusive test, no silenced type error, no JSON.parse outside core',
  },
  'house.requirements': { source: 'style', behaviour: 'every promise has a test, and every citation a promise' },
  'house.codes': { source: 'core', behaviour: 'every code of the catalogue is cited by a test' },
  'house.failpoints': { source: 'reliability', behaviour: 'every failpoint is hit by a test' },
  'house.deploy': { source: 'doors', behaviour: 'container and service run what is built, as a user of their own' },
  'house.generated': { source: 'style', behaviour: 'generated pages are what their generator makes now' },
} as const;
