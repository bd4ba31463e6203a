/**
 * Money as people write it, `12.30 EUR`, and as it is held: whole minor units, by the exponent of ISO 4217. Pure.
 * A currency without an entry here has two decimals, as all others of the standard's list of active ones have.
 * Source: ISO 4217 (list one, minor units).
 */
const EXPONENTS: Readonly<Record<string, number>> = {
  BIF: 0,
  CLP: 0,
  DJF: 0,
  GNF: 0,
  ISK: 0,
  JPY: 0,
  KMF: 0,
  KRW: 0,
  PYG: 0,
  RWF: 0,
  UGX: 0,
  UYI: 0,
  VND: 0,
  VUV: 0,
  XAF: 0,
  XOF: 0,
  XPF: 0,
  BHD: 3,
  IQD: 3,
  JOD: 3,
  KWD: 3,
  LYD: 3,
  OMR: 3,
  TND: 3,
  CLF: 4,
  UYW: 4,
};

export interface Money {
  /** Minor units: 0 to 2^53 - 1. */
  readonly amount: number;
  readonly currency: string;
}

/** How many decimals the major unit of a currency has. */
export function currencyExponent(currency: string): number {
  return EXPONENTS[currency] ?? 2;
}

/** `500 EUR` or `12.30 EUR`; undefined for anything else, and for more decimals than the currency has. */
export function parseMoney(text: string): Money | undefined {
  const parts = /^(0|[1-9][0-9]{0,14})(?:\.([0-9]{1,4}))? ([A-Z]{3})$(?!\n)/.exec(text);
  if (parts === null) return undefined;
  const [, whole = '', decimals = '', currency = ''] = parts;
  const exponent = currencyExponent(currency);
  if (decimals.length > exponent) return undefined;
  const amount = Number(`${whole}${decimals.padEnd(exponent, '0')}`);
  return Number.isSafeInteger(amount) ? { amount, currency } : undefined;
}

/** `12.30 EUR`, the reverse of `parseMoney`. */
export function moneyText({ amount, currency }: Money): string {
  const exponent = currencyExponent(currency);
  const digits = String(amount).padStart(exponent + 1, '0');
  const major = exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
  return `${major} ${currency}`;
}
