/**
 * What notifications share with the connectors, and no application may have: which addresses may be called, and the one
 * way to call them; and the running of other programs. The package does not export this module.
 */
export { collect, stopper } from './child.js';
export { isBase, isOpenBase, isReachableBase, whereIs } from './http/address.js';
export { type Resolve, reachPlain } from './http/connection.js';
export { ask } from './http/request.js';
