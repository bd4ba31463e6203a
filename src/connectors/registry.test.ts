/** Tests of the registry: a configuration opens what it names and nothing else. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verifies } from '../../test/support/verifies.js';
import { Refusal } from '../core/index.js';
import { CONNECTORS, connectorsConfig, openConnectors } from './index.js';

const HOST = { stateDir: '/nonexistent/state', now: () => 0 };
const GOOD = {
  'git-local': { repositories: { acme: { path: '/abs' } } },
  'git-merge': { gh_path: '/abs/gh', token: 'GH_TOKEN', host: 'git.example.org' },
  http: {
    endpoints: {
      ping: {
        ...{ method: 'GET', base: 'https://api.example.com', path: '/ping', class: 'read' },
        outcomes: { confirmed: [200] },
      },
    },
  },
  'shell-noop': { dir: '/abs' },
  worker: { operations: { charge: { version: '1', class: 'costly', args: { text: { type: 'string' } } } } },
};

describe('the registry of connectors', () => {
  it('opens each connector under its own name', () => {
    verifies('connectors.registry');
    const opened = openConnectors(GOOD, HOST);
    assert.deepEqual([...opened.keys()].sort(), Object.keys(CONNECTORS).sort());
    for (const [name, connector] of opened) assert.equal(connector.name, name);
    assert.equal(openConnectors({}, HOST).size, 0);
  });

  it('refuses unknown connectors, unknown fields and relative paths', () => {
    verifies('connectors.registry');
    const bad: Record<string, unknown>[] = [
      { 'no-such': {} },
      { constructor: {} },
      { 'shell-noop': {} },
      { 'shell-noop': { dir: 'relative' } },
      { 'shell-noop': { dir: '/abs', extra: 1 } },
      { 'git-local': { repositories: { 'a#b': { path: '/abs' } } } },
      { 'git-local': { repositories: { acme: { path: '../x' } } } },
      { 'git-local': { ...GOOD['git-local'], git_path: 'git' } },
      { 'git-merge': { gh_path: 'gh' } },
      { http: { endpoints: { ping: { ...GOOD.http.endpoints.ping, base: 'http://api.example.com' } } } },
      { http: { endpoints: { 'a b': GOOD.http.endpoints.ping } } },
      { 'git-merge': { gh_path: '/abs/gh', host: 'evil.example.org/x' } },
      { 'git-merge': { gh_path: '/abs/gh', token: 'two words' } },
      { 'git-local': { ...GOOD['git-local'], identity: { name: 'A <x>', email: 'a@b' } } },
    ];
    for (const config of bad) {
      assert.ok(!connectorsConfig.safeParse(config).success, JSON.stringify(config));
      assert.throws(
        () => openConnectors(config, HOST),
        (error) => error instanceof Refusal && error.code === 'config_invalid',
      );
    }
    assert.ok(connectorsConfig.safeParse(GOOD).success);
  });
});
