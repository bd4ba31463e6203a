/**
 * What a call of the HTTP API takes and answers, as types: the typed client and the console are written against them.
 * Source: spec doors (client).
 */
import type * as z from 'zod';
import type { PathParams } from './route.js';
import type { ROUTES, RouteName } from './routes.js';

type Row<Name extends RouteName> = (typeof ROUTES)[Name];
type Member<Name extends RouteName, Key extends string> =
  Row<Name> extends Readonly<Record<Key, infer Type extends z.ZodType>> ? Type : never;

/** Routes that answer JSON. */
export type CallName = Exclude<RouteName, 'events' | 'metrics'>;
export type AnswerOf<Name extends CallName> = z.infer<Row<Name>['answer']>;

export type CallInput<Name extends CallName> = PathParams<Row<Name>['path']> &
  ([Member<Name, 'query'>] extends [never] ? object : { readonly query?: z.input<Member<Name, 'query'>> }) &
  ([Member<Name, 'body'>] extends [never] ? object : { readonly body?: z.input<Member<Name, 'body'>> }) &
  (Row<Name> extends { readonly method: 'GET' } | { readonly audience: 'public' } | { readonly key: 'none' }
    ? object
    : { readonly idempotencyKey?: string });
