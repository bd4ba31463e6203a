/** The HTTP contract: what a server answers and a client asks, and nothing of how. */
export { displayText, type Json, type JsonObject, parseDisplayText, Refusal, readJson } from '../core/index.js';
export type { AnswerOf, CallInput, CallName } from './call.js';
export { batchText, challengeText } from './challenge.js';
export { openApi } from './openapi.js';
export { PACKAGE_ROUTES } from './package-routes.js';
export { isPage, PAGES, type PageName } from './pages.js';
export { errorOf, PROBLEM_TYPE, type Problem, problemOf } from './problem.js';
export { fillPath, matchPath, type PathParams, type Route, takesKey } from './route.js';
export { ROUTES, type RouteName } from './routes.js';
