/**
 * Replaces src/http/answers.ts in the Worker. The build creates the API document, so the answers' schemas and
 * descriptions are not needed at run time. The bundler removes the calls of empty functions with their arguments.
 * @module
 */
export function errorResponses(): void {}
export function jsonResponse(): void {}
export function lazily(): void {}
export function listResponse(): void {}
export function nextCursor(): void {}
export function Problem(): void {}
