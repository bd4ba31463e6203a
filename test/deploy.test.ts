/** The files by which a gate is deployed name what there is. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, readProjectFile } from './support/files.js';
import { verifies } from './support/verifies.js';

test('the container and the service run the built command line as a user of their own', () => {
  verifies('house.deploy');
  const container = readProjectFile('deploy/Dockerfile');
  const service = readProjectFile('deploy/countersign.service');
  for (const [, path = ''] of container.matchAll(/^COPY --from=build \S+ \/build\/(\S+) /gm)) {
    assert.ok(path === 'dist' || path === 'node_modules' || existsSync(join(ROOT, path)), path);
  }
  assert.match(container, /^USER countersign$/m);
  assert.match(service, /^User=countersign$/m);
  const main = 'dist/bin/main.js';
  assert.ok(existsSync(join(ROOT, main)), 'the tests run behind a build');
  for (const text of [container, service]) assert.ok(text.includes(`/opt/countersign/${main}`));
  const { engines } = JSON.parse(readProjectFile('package.json')) as { engines: { node: string } };
  const major = /^>=(\d+)/.exec(engines.node)?.[1];
  for (const [, version] of container.matchAll(/^FROM node:(\d+)-/gm)) assert.equal(version, major);
});
