/** The HTTP door: a gate behind an address. */
export { type ServeOptions, type Serving, serve } from './serve.js';
