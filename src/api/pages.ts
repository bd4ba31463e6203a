/**
 * The pages of the console: paths at which the server answers the page itself. Pure. The console has a view for each,
 * and a path that is none of them is no page.
 * Source: spec doors (console).
 */
import { matchPath } from './route.js';

export const PAGES = {
  inbox: '/',
  enrol: '/enrol',
  action: '/actions/{action_id}',
  request: '/requests/{request_id}',
  packages: '/packages',
  package: '/packages/{package_id}',
  standing: '/standing',
  people: '/people',
  policy: '/policy',
  threads: '/threads',
  thread: '/threads/{thread}',
  audit: '/audit',
  freeze: '/freeze',
  api: '/api',
} as const;

export type PageName = keyof typeof PAGES;

/** Whether a path is that of a page. */
export function isPage(path: string): boolean {
  return Object.values(PAGES).some((pattern) => matchPath(pattern, path) !== undefined);
}
