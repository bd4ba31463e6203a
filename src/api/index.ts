/** The HTTP contract: what a server answers and a client asks, and nothing of how. */
export { openApi } from './openapi.js';
export { errorOf, PROBLEM_TYPE, type Problem, problemOf } from './problem.js';
export { fillPath, matchPath, type PathParams, type Route } from './route.js';
export { ROUTES, type RouteName } from './routes.js';
