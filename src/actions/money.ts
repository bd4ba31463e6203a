/**
 * Amounts for people: minor units as major ones, by the exponent of ISO 4217. Pure.
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

/** `12.30 EUR (1230 minor units)`: the second form leaves no doubt about the exponent. */
export function amountText(minorUnits: number, currency: string): string {
  const exponent = EXPONENTS[currency] ?? 2;
  const digits = String(minorUnits).padStart(exponent + 1, '0');
  const major = exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
  return `${major} ${currency} (${minorUnits} minor units)`;
}
