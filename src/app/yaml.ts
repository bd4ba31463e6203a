/** YAML, in a module of its own, so that only commands that read or write a configuration load it. */
export { LineCounter, parseDocument, stringify } from 'yaml';
