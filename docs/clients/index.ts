/** Client of the Assay API: `openapi-fetch` with the types of its OpenAPI document. */
import createClient, { type Client, type ClientOptions } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type { components, operations, paths } from "./schema.js";
export { type Json, read, type Truth } from "./truth.js";

/** The objects of requests and answers, by name. */
export type Schemas = components["schemas"];

/**
 * Returns a client of the service at `baseUrl`. Each call resolves to `{ data, error, response }`.
 *
 * `apiKey` is sent as `X-API-Key`; without one, only routes that need no key answer.
 */
export function createAssay({ apiKey, ...options }: ClientOptions & { apiKey?: string }): Client<paths> {
  const client = createClient<paths>(options);
  if (apiKey !== undefined) {
    client.use({
      onRequest({ request }) {
        request.headers.set("X-API-Key", apiKey);
        return request;
      },
    });
  }
  return client;
}
