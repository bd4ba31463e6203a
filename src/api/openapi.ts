/**
 * The OpenAPI 3.1 document, from the routes and the catalogue of codes. Pure.
 * Source: spec doors (HTTP API).
 */
import * as z from 'zod';
import { CODES, type Json, type JsonObject } from '../core/index.js';
import { type Route, takesKey } from './route.js';
import { ROUTES } from './routes.js';

export function openApi(version: string, publicUrl: string): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, route] of Object.entries(ROUTES) as [string, Route][]) {
    const others = paths[route.path] ?? {};
    paths[route.path] = { ...others, [route.method.toLowerCase()]: operationOf(name, route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Countersign',
      version,
      description: 'The trust boundary between AI agents and the outside world.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: problemSchema() },
    },
  };
}

function operationOf(name: string, route: Route): JsonObject {
  const { body, query, answer, does, audience } = route;
  const isText = answer.type === 'string';
  return {
    operationId: name,
    summary: does,
    security: audience === 'public' ? [] : [{ token: [] }],
    parameters: [...pathParameters(route.path), ...queryParameters(query), ...keyParameter(route)],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body) } } } }),
    responses: {
      200: {
        description: does,
        content: isText ? { 'text/plain': {} } : { 'application/json': { schema: schemaOf(answer) } },
      },
      default: {
        description: 'what was refused, or failed on our side',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  };
}

function schemaOf(type: z.ZodType): Json {
  const { $schema: _, ...schema } = z.toJSONSchema(type, { unrepresentable: 'any' }) as JsonObject;
  return schema;
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => ({
    name: name as string,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(query: z.ZodObject | undefined): Json[] {
  return Object.entries(query?.shape ?? {}).map(([name, type]) => ({
    name,
    in: 'query',
    required: !(type as z.ZodType).safeParse(undefined).success,
    schema: schemaOf(type as z.ZodType),
  }));
}

/** What is asked twice under one key is done once. */
function keyParameter(route: Route): Json[] {
  if (!takesKey(route)) return [];
  return [{ name: 'Idempotency-Key', in: 'header', required: false, schema: KEY }];
}

const KEY = { type: 'string', pattern: '^[!-~]{1,255}$' };

function problemSchema(): JsonObject {
  return {
    type: 'object',
    required: ['type', 'title', 'status', 'code'],
    properties: {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      code: { type: 'string', enum: Object.keys(CODES) },
      next: { type: 'string' },
      path: { type: 'string' },
    },
  };
}
