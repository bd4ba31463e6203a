/** Tests of `git-merge` against a stand-in of gh: the contract of all connectors, and every way a merge can go. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type ConnectorCase, callOf, connectorContract, readyCall } from '../../../test/contracts/connector.js';
import { GhWorld, PULL_REQUEST } from '../../../test/support/gh-world.js';
import { verifies } from '../../../test/support/verifies.js';
import { Fault, type Json, Refusal, sha256Hex } from '../../core/index.js';
import type { Call, Operation, Outcome } from '../index.js';
import { isRefusal } from './merge.js';
import { readTarget } from './schema.js';

const TARGET = 'acme/web#7';
const ARGS = { method: 'squash', delete_branch: true };
const REFUSED: Json[] = [
  {},
  { method: 'fast-forward' },
  { method: 'merge', delete_branch: 'yes' },
  { method: ['merge'] },
];

async function makeWorld() {
  const gh = await GhWorld.make();
  const cases: ConnectorCase[] = [
    { operation: 'merge', target: TARGET, args: ARGS, refused: REFUSED, effects: async () => gh.read().merges ?? 0 },
    {
      operation: 'view',
      target: TARGET,
      args: {},
      refused: [{ number: 7 }],
      effects: async () => gh.calls('view').length,
    },
  ];
  const close = async () => gh.remove();
  return { gh, connector: gh.connector(), changed: gh.connector({ codeVersion: '2' }), cases, close };
}

connectorContract('git-merge', makeWorld);

const SUBJECT: ConnectorCase = { operation: 'merge', target: TARGET, args: ARGS, refused: [], effects: async () => 0 };

async function withMerge(check: (gh: GhWorld, operation: Operation, call: Call) => Promise<void>): Promise<void> {
  const gh = await GhWorld.make();
  try {
    const operation = await gh.connector().operation('merge');
    assert.ok(operation !== undefined);
    await check(gh, operation, await readyCall(operation, callOf(SUBJECT)));
  } finally {
    gh.remove();
  }
}

async function reconciled(operation: Operation, call: Call): Promise<Outcome | undefined> {
  return operation.reconcile?.(call);
}

const MERGED = { result: 'confirmed', externalRef: 'c'.repeat(40) };

describe('git-merge', () => {
  it('pins both repositories, both branches, the head commit and the diff', () =>
    withMerge(async (gh, _operation, call) => {
      verifies('connectors.gh.pins');
      assert.deepEqual(call.preconditions, {
        base_repository: 'acme/web',
        base_ref: 'main',
        head_repository: 'helper/web',
        head_ref: 'repair-login',
        head_sha: 'a'.repeat(40),
        diff_sha256: sha256Hex(gh.read().diff ?? ''),
      });
    }));

  it('gives gh exactly the words of the merge, and no variable that is not named', () =>
    withMerge(async (gh, operation, call) => {
      verifies('connectors.gh.closed-process');
      process.env['COUNTERSIGN_TEST_LEAK'] = 'x';
      assert.equal((await operation.execute(call)).result, 'confirmed');
      delete process.env['COUNTERSIGN_TEST_LEAK'];
      const [merged, ...others] = gh.calls('merge');
      const words = ['pr', 'merge', '7', '--repo', 'acme/web', '--squash', '--match-head-commit', 'a'.repeat(40)];
      assert.deepEqual([merged?.words, others.length], [[...words, '--delete-branch'], 0]);
      const strange = gh
        .calls()
        .flatMap(({ variables }) =>
          variables.filter(
            (name) => !/^(PATH|HOME|XDG_|GH_|NO_COLOR|CLICOLOR|LC_ALL|TZ|PWD|SHLVL|_|OLDPWD)/.test(name),
          ),
        );
      assert.deepEqual(strange, []);
    }));

  it('hands the token of the configuration to gh alone', async () => {
    verifies('connectors.gh.closed-process');
    const gh = await GhWorld.make();
    const operation = await gh.connector({}, { token: 'GITHUB' }).operation('view');
    const secrets = new Map([['GITHUB', 'the token']]);
    const outcome = await operation?.execute(callOf({ ...SUBJECT, operation: 'view', args: {}, secrets }));
    assert.equal(outcome?.result, 'confirmed');
    assert.equal(gh.calls()[0]?.token, 'the token');
    assert.ok(!JSON.stringify(outcome).includes('the token'));
    gh.remove();
  });

  it('success: confirmed by the commit that the server names', () =>
    withMerge(async (gh, operation, call) => {
      verifies('connectors.gh.outcomes');
      const { result, externalRef } = await operation.execute(call);
      assert.deepEqual({ result, externalRef }, MERGED);
      assert.equal((await reconciled(operation, call))?.externalRef, MERGED.externalRef);
      assert.deepEqual([gh.read().merges, gh.read().deleted], [1, true]);
    }));

  it('a refusal by text, while the pull request is open: certainly not merged', () =>
    withMerge(async (gh, operation, call) => {
      verifies('connectors.gh.outcomes');
      gh.change({ merge: 'refuse' });
      const { result, code } = await operation.execute(call);
      assert.deepEqual([result, code], ['failed', 'refused']);
    }));

  it('other words, also of the server, are no refusal', () =>
    withMerge(async (gh, operation, call) => {
      verifies('connectors.gh.certain');
      const words = [
        'GraphQL: Something went wrong while executing your query. Please include `1741:4C3C` when reporting this issue.',
        'HTTP 502: Bad Gateway (https://api.github.com/graphql)',
        'gh: was merged? Pull Request is not mergeable',
        'Post "https://api.github.com/graphql": context deadline exceeded',
        '',
      ];
      for (const text of words) {
        gh.change({ merge: 'refuse', words: text });
        assert.equal((await operation.execute(call)).result, 'unknown', text);
      }
      assert.ok(isRefusal('GraphQL: Head branch was modified. Review and try the merge again. (mergePullRequest)'));
    }));

  it('dropped before: unknown, and a person decides as long as it is open', () =>
    withMerge(async (gh, operation, call) => {
      verifies('connectors.gh.outcomes');
      gh.change({ merge: 'drop-before' });
      assert.deepEqual(await operation.execute(call), { result: 'unknown', code: 'not_merged_yet' });
      assert.equal((await reconciled(operation, call))?.result, 'unknown');
    }));

  it('dropped after the effect: confirmed, because the pull request is read back', () =>
    withMerge(async (gh, operation, call) => {
      verifies('connectors.gh.outcomes');
      gh.change({ merge: 'drop-after' });
      const { result, externalRef } = await operation.execute(call);
      assert.deepEqual({ result, externalRef }, MERGED);
    }));

  it('hanging: stopped in time, and then as the server says', async () => {
    verifies('connectors.gh.outcomes');
    for (const [merge, expected] of [
      ['hang', 'unknown'],
      ['hang-after', 'confirmed'],
    ] as const) {
      await withMerge(async (gh, operation, call) => {
        gh.change({ merge });
        const controller = new AbortController();
        const running = operation.execute({ ...call, signal: controller.signal });
        while (gh.calls('merge').length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
        if (merge === 'hang-after')
          while (gh.read().merges === undefined) await new Promise((wait) => setTimeout(wait, 20));
        controller.abort();
        assert.equal((await running).result, expected);
      });
    }
  });

  it('a merge queue: gh says success, the pull request is open: unknown until it landed or was closed', () =>
    withMerge(async (gh, operation, call) => {
      verifies('connectors.gh.outcomes');
      gh.change({ merge: 'queue' });
      const { result, code } = await operation.execute(call);
      assert.deepEqual([result, code], ['unknown', 'merge_queue']);
      assert.equal((await reconciled(operation, call))?.result, 'unknown');
      gh.changePr({ state: 'MERGED', mergeCommit: { oid: 'd'.repeat(40) } });
      assert.equal((await reconciled(operation, call))?.externalRef, 'd'.repeat(40));
      gh.changePr({ state: 'CLOSED', mergeCommit: null });
      assert.equal((await reconciled(operation, call))?.result, 'failed');
    }));

  it('closed, or merged at another head: certainly not this merge', async () => {
    verifies('connectors.gh.outcomes');
    for (const [merge, code] of [
      ['close', 'closed'],
      ['moved', 'merged_other_head'],
    ] as const) {
      await withMerge(async (gh, operation, call) => {
        gh.change({ merge });
        const outcome = await operation.execute(call);
        assert.deepEqual([outcome.result, outcome.code], ['failed', code]);
        assert.equal((await reconciled(operation, call))?.result, 'failed');
      });
    }
  });

  it('an answer that can not be read tells nothing', () =>
    withMerge(async (gh, operation, call) => {
      verifies('connectors.gh.unreadable');
      gh.change({ merge: 'blind-after' });
      assert.deepEqual(await operation.execute(call), { result: 'unknown', code: 'unreadable' });
      const pr = { ...PULL_REQUEST };
      const answers = [
        'down',
        'missing',
        '',
        'not JSON',
        '[]',
        '{"number":7}',
        JSON.stringify({ ...pr, number: 8 }),
        JSON.stringify({ ...pr, state: 'SHUT' }),
        JSON.stringify({ ...pr, headRefOid: 'main' }),
        `${JSON.stringify(pr)}${JSON.stringify(pr)}`,
        JSON.stringify(pr).replace('{', '{"state":"MERGED",'),
        JSON.stringify({ ...pr, headRefName: 'a\u001b[2J' }),
      ];
      for (const view of answers) {
        gh.change({ view });
        assert.equal(await reconciled(operation, call), undefined, view);
        const again = await operation.execute(call);
        assert.deepEqual(again, { result: 'failed', code: 'unreadable' }, 'nothing was sent');
      }
      assert.equal(gh.calls('merge').length, 1);
      gh.changePr({ state: 'MERGED', mergeCommit: null });
      gh.write({ ...gh.read(), view: JSON.stringify(gh.read().pr) });
      assert.equal((await reconciled(operation, call))?.result, 'unknown', 'merged without a commit');
    }));

  it('sends nothing for a pull request that is another one than was pinned', async () => {
    verifies('connectors.gh.stale');
    const changes = [
      { headRefOid: 'b'.repeat(40) },
      { headRefName: 'other' },
      { baseRefName: 'release' },
      { headRepositoryOwner: { login: 'somebody' } },
      { headRepository: null },
      { isDraft: true },
      { mergeable: 'CONFLICTING' },
      { state: 'CLOSED' },
      { state: 'MERGED', mergeCommit: { oid: 'e'.repeat(40) } },
      { url: 'https://github.com/acme/moved/pull/7' },
    ];
    for (const change of changes) {
      await withMerge(async (gh, operation, call) => {
        gh.changePr(change);
        assert.equal((await operation.execute(call)).result, 'failed', JSON.stringify(change));
        const now = await Promise.resolve(operation.snapshot?.(callOf(SUBJECT))).catch((error: unknown) => error);
        assert.ok(now instanceof Refusal || !isDeepStrictEqual(now, call.preconditions), JSON.stringify(change));
        assert.equal(gh.calls('merge').length, 0);
      });
    }
    await withMerge(async (gh, operation, call) => {
      const bare = { ...call, preconditions: {} };
      assert.deepEqual(await operation.execute(bare), { result: 'failed', code: 'not_prepared' });
      gh.change({ diff: 'another\n' });
      await assert.rejects(async () => operation.preview?.(call), Refusal);
      gh.change({ diff: null });
      const pinned = await operation.snapshot?.(call);
      assert.equal(pinned?.['diff_sha256'], undefined, 'a diff that gh does not give is not pinned');
    });
  });

  it('takes a target by the exact name of its repository alone', async () => {
    verifies('connectors.gh.names');
    const good = ['acme/web#7', 'a/b#1', 'A-1/._-#4294967295'];
    for (const target of good) assert.ok(readTarget(target) !== undefined, target);
    const bad = [
      'acme/web',
      'acme/web#0',
      'acme/web#07',
      'acme/web#7\n',
      '-x/web#1',
      'acme/..#1',
      'a/b/c#1',
      'a/b#1#2',
    ];
    for (const target of [...bad, '--help/x#1', 'acme/we b#1', 'https://github.com/acme/web/pull/7']) {
      assert.equal(readTarget(target), undefined, target);
    }
    await withMerge(async (_gh, operation) => {
      for (const target of ['ACME/web#7', 'acme/Web#7', 'old/web#7']) {
        await assert.rejects(
          async () => operation.snapshot?.(callOf({ ...SUBJECT, target })),
          (error) => error instanceof Refusal && error.code === 'target_mismatch',
          target,
        );
      }
    });
  });

  it('begins nothing after the deadline, and says so where gh is not there', async () => {
    verifies('connectors.gh.certain');
    await withMerge(async (gh, operation, call) => {
      const late = await operation.execute({ ...call, deadline: Date.now() - 1 });
      assert.deepEqual([late, gh.calls('merge').length], [{ result: 'failed', code: 'too_late' }, 0]);
    });
    const gh = await GhWorld.make();
    const lost = gh.connector({}, { gh_path: `${gh.path}-gone` });
    assert.equal((await lost.check?.())?.length, 1);
    await assert.rejects(async () => (await lost.operation('view'))?.execute(callOf({ ...SUBJECT, args: {} })), Fault);
    gh.remove();
  });

  it('views a pull request as it is', async () => {
    verifies('connectors.gh.view');
    const gh = await GhWorld.make();
    const operation = await gh.connector().operation('view');
    const outcome = await operation?.execute(callOf({ ...SUBJECT, operation: 'view', args: {} }));
    assert.equal(outcome?.result, 'confirmed');
    const { headRefOid, state } = (outcome?.evidence ?? {}) as Record<string, unknown>;
    assert.deepEqual([headRefOid, state, gh.calls().length], ['a'.repeat(40), 'OPEN', 1]);
    gh.remove();
  });
});
