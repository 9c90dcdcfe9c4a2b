/**
 * Stands in for `@asteasolutions/zod-to-openapi` in the Worker. The build makes the API document, so at run time the
 * descriptions of schemas and routes are not kept. wrangler.toml puts this module in the library's place.
 * @module
 */
type Extendable = { readonly ZodType: { readonly prototype: object } };

/** zod copies members of this prototype to each schema. */
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
