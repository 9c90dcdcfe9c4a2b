/**
 * Replaces `@asteasolutions/zod-to-openapi` in the Worker. The build creates the API document, so
 * descriptions of schemas and routes are not needed at run time. wrangler.toml substitutes this module for
 * the library.
 * @module
 */
type Extendable = { readonly ZodType: { readonly prototype: object } };

/** zod copies this prototype's members to each schema. */
export function extendZodWithOpenApi({ ZodType }: Extendable): void {
  Object.assign(ZodType.prototype, {
    openapi(this: unknown) {
      return this;
    },
  });
}

export class OpenAPIRegistry {
  readonly definitions: readonly never[] = [];
  registerPath(): void {}
}

function noDocument(): never {
  throw new Error('the API document is made by the build');
}

export class OpenApiGeneratorV3 {
  generateDocument = noDocument;
}
export { noDocument as getOpenApiMetadata, OpenApiGeneratorV3 as OpenApiGeneratorV31 };
