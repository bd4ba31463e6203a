/**
 * Values that no honest program hands over, by name. What throws throws the mark, which must not be seen again.
 */
export const MARK = 'ZQX-this-must-not-be-seen-again';

function fail(): never {
  throw new TypeError(MARK);
}

function hostileValues(): readonly (readonly [string, unknown])[] {
  const cycle: Record<string, unknown> = {};
  cycle['a'] = cycle;
  const bush: unknown[] = [];
  bush.push(bush, bush);
  const deep: Record<string, unknown> = {};
  for (let at = deep, level = 0; level < 100_000; level += 1) {
    const inner = {};
    at['a'] = inner;
    at = inner;
  }
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const revokedArray = Proxy.revocable([], {});
  revokedArray.revoke();
  const thrower = { get: fail, ownKeys: fail, has: fail, getPrototypeOf: fail, getOwnPropertyDescriptor: fail };
  const endless = { get: (_: unknown, key: unknown) => (key === 'length' ? 2 ** 53 : undefined) };
  return [
    ['undefined', undefined],
    ['null', null],
    ['a number', 1],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['minus one', -1],
    ['a big integer', 10n],
    ['a symbol', Symbol(MARK)],
    ['a function', () => MARK],
    ['a class', class {}],
    ['a cycle', cycle],
    ['a bush', bush],
    ['a proxy that throws', new Proxy({}, thrower)],
    ['an array that throws', new Proxy([], thrower)],
    ['an array without end', new Proxy([], endless)],
    ['a revoked proxy', revoked.proxy],
    ['a revoked array', revokedArray.proxy],
    ['getters that throw', Object.defineProperties({}, throwingGetters())],
    ['deep nesting', deep],
    ['an empty array', []],
    ['a sparse array', new Array(1_000_000)],
    ['a long array', new Array(1_500_000).fill(null)],
    ['a text', MARK],
    ['a long text', 'x'.repeat(5_000_000)],
    ['half a surrogate', `${MARK}\ud800`],
    ['an id with a null', 'act_\u0000'],
    ['no date', new Date(Number.NaN)],
    ['a map', new Map([[MARK, MARK]])],
    ['a boxed text', new String(MARK)],
    ['no primitive', { toString: MARK, valueOf: MARK, [Symbol.toPrimitive]: MARK }],
    ['a throwing text', { toString: fail, toJSON: fail }],
    ['a thenable', Object.fromEntries([['then', fail]])],
    ['a length', { length: 1 }],
    ['a prototype', Object.defineProperty({}, '__proto__', { value: { a: MARK }, enumerable: true })],
    ['bytes', new Uint8Array(10)],
    ['many bytes', new Array(100_000).fill(new Uint8Array(1_000_000))],
    ['numbers of eight bytes', new Float64Array(4)],
    ['an error', new TypeError(MARK)],
  ];
}

/** A getter that throws for every name that something of ours reads. */
function throwingGetters(): PropertyDescriptorMap {
  const names = ['action_id', 'project', 'kind', 'name', 'args', 'request', 'approver', 'limit', 'count', 'waitMs'];
  return Object.fromEntries(names.map((name) => [name, { get: fail, enumerable: true }]));
}

export const HOSTILE = hostileValues();
