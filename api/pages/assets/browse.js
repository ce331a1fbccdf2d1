// Shows the OpenAPI document of this service. Nothing is asked of any other host.
SwaggerUIBundle({
  url: "/schema/openapi.json",
  dom_id: "#api",
  deepLinking: true,
  validatorUrl: null,
  queryConfigEnabled: false,
  persistAuthorization: false,
});
