/**
 * Replaces Node's modules that @solana/kit imports for functions that the Worker does not use. The runtime would
 * load each real one, with all that it needs, before the first request. wrangler.toml puts this module in their place.
 * @module
 */
function absent(): never {
  throw new Error('Node’s own modules are not part of the Worker');
}

export { absent as dirname, absent as mkdir, absent as setMaxListeners, absent as writeFile };
