/**
 * Stands in the console for the core's primitives, which are Node's: a page hashes and signs by its browser's own
 * functions. Whatever called one of these would stop at once.
 */
function absent(): never {
  throw new Error('a page uses the primitives of its browser');
}

export {
  absent as deriveKey,
  absent as equalBytes,
  absent as hmacSha256,
  absent as importPrivateKey,
  absent as importPrivateKeyPem,
  absent as importPublicKey,
  absent as isP256Point,
  absent as publicKeyBytes,
  absent as seal,
  absent as sha256,
  absent as sha256Hex,
  absent as signBytes,
  absent as unseal,
  absent as verifyBytes,
  absent as verifyBytesAsync,
};
