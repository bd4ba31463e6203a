/**
 * The views of the console by their paths, which are those of `PAGES` in the contract: the server answers the page at
 * them, and at no others.
 */
import { createRootRoute, createRoute, createRouter, Outlet, useParams } from '@tanstack/react-router';
import { ActionPage } from './pages/action.js';
import { ApiPage } from './pages/api.js';
import { AuditPage } from './pages/audit.js';
import { EnrolPage } from './pages/enrol.js';
import { FreezePage } from './pages/freeze.js';
import { InboxPage } from './pages/inbox.js';
import { PackagePage } from './pages/package.js';
import { PackagesPage } from './pages/packages.js';
import { PeoplePage } from './pages/people.js';
import { PolicyPage } from './pages/policy.js';
import { RequestPage } from './pages/request.js';
import { StandingPage } from './pages/standing.js';
import { ThreadPage, ThreadsPage } from './pages/threads.js';
import { NotFound } from './parts/not-found.js';
import { SignedIn } from './parts/signed-in.js';

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
const inside = createRoute({ getParentRoute: () => root, id: 'signed-in', component: SignedIn });

const enrol = createRoute({ getParentRoute: () => root, path: '/enrol', component: EnrolPage });
const inbox = createRoute({ getParentRoute: () => inside, path: '/', component: InboxPage });
const action = createRoute({
  getParentRoute: () => inside,
  path: '/actions/$id',
  component: function ActionView() {
    const { id } = useParams({ from: '/signed-in/actions/$id' });
    return <ActionPage key={id} id={id} />;
  },
});
const request = createRoute({
  getParentRoute: () => inside,
  path: '/requests/$id',
  component: function RequestView() {
    const { id } = useParams({ from: '/signed-in/requests/$id' });
    return <RequestPage key={id} id={id} />;
  },
});
const thread = createRoute({
  getParentRoute: () => inside,
  path: '/threads/$name',
  component: function ThreadView() {
    const { name } = useParams({ from: '/signed-in/threads/$name' });
    return <ThreadPage key={name} name={name} />;
  },
});
const packages = createRoute({ getParentRoute: () => inside, path: '/packages', component: PackagesPage });
const onePackage = createRoute({
  getParentRoute: () => inside,
  path: '/packages/$id',
  component: function PackageView() {
    const { id } = useParams({ from: '/signed-in/packages/$id' });
    return <PackagePage key={id} id={id} />;
  },
});
const standing = createRoute({ getParentRoute: () => inside, path: '/standing', component: StandingPage });
const people = createRoute({ getParentRoute: () => inside, path: '/people', component: PeoplePage });
const policy = createRoute({ getParentRoute: () => inside, path: '/policy', component: PolicyPage });
const threads = createRoute({ getParentRoute: () => inside, path: '/threads', component: ThreadsPage });
const audit = createRoute({ getParentRoute: () => inside, path: '/audit', component: AuditPage });
const api = createRoute({ getParentRoute: () => inside, path: '/api', component: ApiPage });
const freeze = createRoute({ getParentRoute: () => inside, path: '/freeze', component: FreezePage });

const tree = root.addChildren([
  enrol,
  inside.addChildren([
    inbox,
    action,
    request,
    packages,
    onePackage,
    thread,
    standing,
    people,
    policy,
    threads,
    audit,
    freeze,
    api,
  ]),
]);

export function consoleRouter() {
  return createRouter({ routeTree: tree, defaultPreload: false });
}

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: ReturnType<typeof consoleRouter>;
  }
}
