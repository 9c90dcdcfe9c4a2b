export default {
  sluice: {
    input: './generated/openapi.json',
    output: {
      target: './generated/orval/api.ts',
      client: 'fetch',
      baseUrl: { getBaseUrlFromSpecification: true },
    },
  },
};
