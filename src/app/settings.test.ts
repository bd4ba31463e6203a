/** Settings of a project: a closed form that can't reach the trust configuration, found from a folder upward. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readProjectFile as readOurs } from '../../test/support/files.js';
import { verifies } from '../../test/support/verifies.js';
import { Refusal } from '../core/index.js';
import { WrittenTrustConfig } from '../policy/index.js';
import { findProjectFile, readProjectFile, readSettings, writeStarter } from './project-file.js';
import { settingsFrom } from './settings.js';

const SECRET = 'hunter2-and-more';

async function refused(text: string): Promise<Refusal> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-settings-'));
  const path = join(folder, 'countersign.yaml');
  writeFileSync(path, text);
  try {
    await readProjectFile(path);
  } catch (error) {
    assert.ok(error instanceof Refusal, text);
    assert.ok(error.message.includes(path), 'the file is named');
    return error;
  } finally {
    rmSync(folder, { recursive: true });
  }
  throw new Error(`it was read: ${text}`);
}

describe('the file of a project', () => {
  it('has no key that chooses the gate or what it trusts, and says which one was there', async () => {
    verifies('app.settings.no-trust');
    for (const key of [
      ...Object.keys(WrittenTrustConfig.shape).filter((name) => name !== 'version'),
      'home',
      'store',
    ]) {
      for (const value of [SECRET, `{ a: ${SECRET} }`, `[${SECRET}]`, '']) {
        const { code, message, path } = await refused(`version: 1\n${key}: ${value}\n`);
        assert.deepEqual([code, path], ['config_location', key]);
        assert.match(message, new RegExp(`line 2: \`${key}\``));
        assert.ok(!message.includes(SECRET));
      }
    }
  });

  it('is a closed form: another key, another form or a value of another kind is refused with its line', async () => {
    verifies('app.settings.closed');
    const bad: readonly (readonly [string, RegExp])[] = [
      ['', /line 1/],
      ['- version: 1', /line 1/],
      ['project: web', /`version`/],
      ['version: 2', /line 1: `version`/],
      [`version: 1\nsurprise: ${SECRET}`, /line 2.*unknown key `surprise`/],
      [`version: 1\nproject: "${SECRET} "`, /line 2: `project`/],
      [`version: 1\nproject: [${SECRET}]`, /line 2: `project`/],
      ['version: 1\nby: human:alice', /line 2: `by`: an agent is named/],
      ['version: 1\nby: engine:gate', /`by`/],
      [`version: 1\nlog: ${SECRET}`, /`log`: the log tells one of silent/],
      ['version: 1\ntimeout: 5', /`timeout`/],
      ['version: 1\ntimeout: 5x', /`timeout`: a duration/],
      ['version: 1\nversion: 1', /line 2: a key stands here twice/],
      ['version: 1\nproject: {', /line 2: this is not well-formed/],
      ['project: web', /line 1: `version` is missing/],
      ['version: 1\nproject: &a web\nconnector: *a', /aliases are not allowed/],
      [`version: 1\n${' '.repeat(1024 * 1024)}`, /longer than the limit/],
    ];
    for (const [text, what] of bad) {
      const { code, message } = await refused(text);
      assert.equal(code, 'config_invalid', text);
      assert.match(message, what, text);
      assert.ok(!message.includes(SECRET), 'the value is not repeated');
    }
  });

  it('is the nearest one above a folder, and the variables win over it', async () => {
    verifies('app.settings.order');
    const root = mkdtempSync(join(tmpdir(), 'countersign-settings-'));
    const deep = join(root, 'a', 'b');
    mkdirSync(deep, { recursive: true });
    const variables: Record<string, string> = {};
    const environment = { folder: deep, variable: (name: string) => variables[name] };
    const read = async () => (await readSettings(environment)).settings;
    assert.deepEqual(await readSettings(environment), { settings: {}, file: findProjectFile(root) });
    writeFileSync(join(root, 'countersign.yaml'), 'version: 1\nproject: outer\nlog: warn\n');
    assert.deepEqual(await read(), { project: 'outer', log: 'warn' });
    mkdirSync(join(root, 'a', 'countersign.yaml'));
    assert.equal((await read()).project, 'outer', 'a folder of that name is no file');
    writeFileSync(join(deep, 'countersign.yaml'), 'version: 1\nproject: inner\n');
    assert.deepEqual(await read(), { project: 'inner' });
    Object.assign(variables, { COUNTERSIGN_PROJECT: 'mine', COUNTERSIGN_TIMEOUT: '5m', COUNTERSIGN_LOG: '' });
    assert.deepEqual(await read(), { project: 'mine', timeout: '5m' });
    writeFileSync(join(deep, 'trust.yaml'), '');
    assert.equal((await readSettings({ ...environment, variable: () => undefined })).settings.project, 'outer');
    const gone = { ...environment, folder: undefined };
    assert.deepEqual((await readSettings(gone)).settings, { project: 'mine', timeout: '5m' });
    rmSync(root, { recursive: true });
  });

  it('and a variable obey the same form', () => {
    verifies('app.settings.closed');
    for (const [name, value] of [
      ['COUNTERSIGN_BY', 'human:alice'],
      ['COUNTERSIGN_LOG', SECRET],
      ['COUNTERSIGN_APPROVE_WITHIN', 'soon'],
      ['COUNTERSIGN_PROJECT', 'a b'],
    ] as const) {
      const variable = (asked: string) => (asked === name ? value : undefined);
      assert.throws(
        () => settingsFrom(variable),
        (error: Refusal) => {
          assert.deepEqual([error.code, error.path], ['config_invalid', name]);
          return !error.message.includes(value);
        },
      );
    }
  });

  it('can be begun by init, and is described for editors', async () => {
    verifies('app.settings.starter');
    const folder = mkdtempSync(join(tmpdir(), 'countersign-settings-'));
    const path = writeStarter(folder, { project: 'web', connector: 'git-local', by: 'agent:bot' });
    assert.deepEqual(await readProjectFile(path ?? ''), { project: 'web', connector: 'git-local', by: 'agent:bot' });
    assert.equal(writeStarter(folder, { project: 'other' }), undefined, 'one that is there stays');
    assert.equal((await readProjectFile(path ?? '')).project, 'web');
    assert.throws(() => writeStarter(join(folder, 'nowhere'), { project: 'web' }), { code: 'invalid' });
    const schema = JSON.parse(readOurs('docs/reference/countersign.schema.json'));
    assert.equal(schema.additionalProperties, false);
    assert.deepEqual(schema.required, ['version']);
    const { files } = JSON.parse(readOurs('package.json'));
    assert.ok(files.includes('docs/reference/countersign.schema.json'), 'the package ships it');
    rmSync(folder, { recursive: true });
  });
});
