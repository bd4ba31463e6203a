/** Tests of where `http` may go: addresses in every spelling, names that lead inside, and names that change their mind. */
import assert from 'node:assert/strict';
import { promises as dns } from 'node:dns';
import { describe, it } from 'node:test';
import { endpointOf, httpCall, nameServer, operationOf, rawServer } from '../../../test/support/http-world.js';
import { verifies } from '../../../test/support/verifies.js';
import { mayCall, whereIs } from './address.js';
import { httpConfig } from './index.js';

const INSIDE: readonly string[] = [
  ...['127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1'],
  ...['::1', 'fc00::1', 'fd12:3456::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.1.2.3'],
];
const NOWHERE: readonly string[] = [
  ...['0.0.0.0', '0.1.2.3', '169.254.169.254', '169.254.0.1', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
  ...['192.0.2.1', '192.88.99.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1'],
  ...['255.255.255.255', '::', '::7f00:1', '::127.0.0.1', '::ffff:169.254.169.254', '::ffff:0:7f00:1', 'fe80::1'],
  ...['fe80::1%eth0', '2606:4700::1%eth0', 'fec0::1', 'ff02::1', '100::1', '2001::1', '2001:db8::1', '3fff::1'],
  ...['2002:7f00:1::', '2002:808:808::1', '64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1', 'fd00:ec2::254'],
  ...['2606:4700::5efe:7f00:1', '2606:4700::200:5efe:a00:1', '5f00::1', '4000::1', '2001:2::1', '2001:20::1'],
  ...['0x7f.1', '127.1', '2130706433', '0177.0.0.1', '127.0.0.01', ' 127.0.0.1', '8.8.8.8 ', '', 'localhost', '[::1]'],
];
const OPEN: readonly string[] = [
  '1.1.1.1',
  '8.8.8.8',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700::1111',
  '::ffff:8.8.8.8',
];

/** Bases that lead inside, that are no address of https on its port, or that are spelled in a way of their own. */
const REFUSED: readonly string[] = [
  ...['https://127.0.0.1', 'https://2130706433', 'https://0x7f000001', 'https://0177.0.0.1', 'https://127.1'],
  ...['https://0x7f.0.0.1', 'https://017700000001', 'https://127.0.0.1.', 'https://0.0.0.0', 'https://0'],
  ...['https://10.0.0.1', 'https://192.168.0.1', 'https://172.16.0.1', 'https://100.64.0.1', 'https://169.254.169.254'],
  ...['https://2852039166', 'https://0xa9fea9fe', 'https://[::1]', 'https://[::]', 'https://[::ffff:127.0.0.1]'],
  ...['https://[::ffff:7f00:1]', 'https://[::7f00:1]', 'https://[2002:7f00:1::]', 'https://[64:ff9b::7f00:1]'],
  ...['https://[fe80::1]', 'https://[fe80::1%25eth0]', 'https://[fd00:ec2::254]', 'https://[2001:0:7f00:1::]'],
  ...['https://localhost', 'https://localhost.', 'https://a.localhost', 'https://metadata', 'https://api.example.com.'],
  ...['https://user@api.example.com', 'https://user:pass@api.example.com', 'https://@api.example.com'],
  ...['https://api.example.com:443', 'https://api.example.com:8443', 'https://api.example.com:22'],
  ...['http://api.example.com', 'ftp://api.example.com', 'file:///etc/passwd', 'gopher://a.example.com', 'data:,x'],
  ...[
    'https://api.example.com/',
    'https://api.example.com/v1',
    'https://api.example.com?x',
    'https://api.example.com#x',
  ],
  ...['https:api.example.com', 'https:/api.example.com', 'https:\\\\api.example.com', 'HTTPS://api.example.com'],
  ...['https://API.example.com', 'https://api.example.com\\@evil.example', 'https://api.example.com%2eevil.example'],
  ...['https://①②⑦.0.0.1', 'https://ａpi.example.com', 'https://äpi.example.com', ' https://api.example.com', ''],
  ...['https://api.example.com\n', 'https://api.exa\tmple.com', '//api.example.com', 'api.example.com', 'https://'],
];

function isTaken(base: string, changes: Readonly<Record<string, unknown>>): boolean {
  return httpConfig.safeParse({ endpoints: { call: endpointOf(base, changes) } }).success;
}

describe('addresses of http', () => {
  it('are open, near, or none that is called', () => {
    verifies('connectors.http.addresses');
    for (const [expected, addresses] of [
      ['near', INSIDE],
      ['none', NOWHERE],
      ['open', OPEN],
    ] as const) {
      for (const address of addresses) assert.equal(whereIs(address), expected, address);
    }
    assert.deepEqual(
      [mayCall('8.8.8.8', true, false), mayCall('8.8.8.8', true, true), mayCall('10.0.0.1', true, true)],
      [true, true, true],
    );
    // In plain text to the open network, or inside without the operator's word: never.
    assert.deepEqual([mayCall('8.8.8.8', false, true), mayCall('10.0.0.1', true, false)], [false, false]);
  });

  it('are refused in a configuration in every spelling but one', () => {
    verifies('connectors.http.base');
    assert.ok(REFUSED.length >= 40);
    for (const base of REFUSED) assert.ok(!isTaken(base, { private_network: false }), JSON.stringify(base));
    for (const base of ['https://api.example.com', 'https://1.1.1.1', 'https://xn--pi-yia.example']) {
      assert.ok(isTaken(base, { private_network: false }), base);
    }
    for (const base of [
      'http://127.0.0.1:8080',
      'https://[::1]:8443',
      'http://payments.internal',
      'http://localhost',
    ]) {
      assert.ok(isTaken(base, {}), base);
    }
    for (const base of [
      'http://169.254.169.254',
      'http://127.1',
      'http://8.8.8.8',
      'https://[fe80::1]',
      'http://0.0.0.0',
    ]) {
      assert.ok(!isTaken(base, {}), base);
    }
  });

  it('are looked at for every name, all of them, before a connection', async () => {
    verifies('connectors.http.addresses');
    const operation = (addresses: readonly string[], base = 'https://api.example.com', private_network = false) =>
      operationOf(endpointOf(base, { private_network }), {
        resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      });
    const blocked = { result: 'failed', code: 'blocked_address' };
    for (const address of [...INSIDE, ...NOWHERE]) {
      assert.deepEqual(await (await operation([address])).execute(httpCall()), blocked, address);
    }
    for (const list of [[], ['1.1.1.1', '127.0.0.1'], ['127.0.0.1', '1.1.1.1'], ['2606:4700::1111', '::1']]) {
      assert.deepEqual(await (await operation(list)).execute(httpCall()), blocked, list.join());
    }
    const plain = await operation(['1.1.1.1'], 'http://api.example.com', true);
    assert.deepEqual(await plain.execute(httpCall()), blocked);
  });

  it('are those of the first answer, whatever a server of names says later', async () => {
    verifies('connectors.http.rebinding');
    const server = await rawServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\n')));
    const asked = async (answers: readonly (readonly string[])[], endpoint: unknown, timeoutMs: number) => {
      const names = await nameServer(answers);
      const resolver = new dns.Resolver();
      resolver.setServers([`127.0.0.1:${names.port}`]);
      const resolve = async (name: string) =>
        (await resolver.resolve4(name)).map((address) => ({ address, family: 4 }));
      const outcome = await (await operationOf(endpoint, { resolve })).execute(
        httpCall({}, { deadline: Date.now() + timeoutMs }),
      );
      names.close();
      assert.equal(names.state.questions, 1, 'the name is asked for once');
      return outcome;
    };
    try {
      const near = endpointOf(`http://payments.example.com:${server.port}`);
      const far = endpointOf('https://api.example.com', { private_network: false });
      assert.equal((await asked([['127.0.0.1'], ['8.8.8.8']], near, 5_000)).result, 'confirmed');
      assert.equal(server.state.opened, 1);
      const blocked = { result: 'failed', code: 'blocked_address' };
      assert.deepEqual(await asked([['169.254.169.254'], ['127.0.0.1']], near, 5_000), blocked);
      assert.deepEqual(await asked([['1.1.1.1', '127.0.0.1'], ['1.1.1.1']], far, 5_000), blocked);
      assert.equal(server.state.opened, 1);
    } finally {
      await server.close();
    }
    // First open and then inside: the second answer would have been taken by whoever resolves again to connect. The
    // open address is of a block that nobody was given.
    let questions = 0;
    const resolve = async () => {
      questions += 1;
      return questions === 1 ? [{ address: '2fff:ffff::1', family: 6 }] : [{ address: '127.0.0.1', family: 4 }];
    };
    const far = await operationOf(endpointOf('https://api.example.com', { private_network: false }), { resolve });
    const outcome = await far.execute(httpCall({}, { deadline: Date.now() + 300 }));
    assert.equal(outcome.result, 'failed');
    assert.match(outcome.code ?? '', /^(?:not_connected|too_late)$/);
    assert.equal(questions, 1);
  });
});
