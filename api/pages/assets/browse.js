// Shows the OpenAPI document of this service. Nothing is asked of any other host.
const { key } = document.getElementById("api").dataset;
const ui = SwaggerUIBundle({
  url: "/schema/openapi.json",
  dom_id: "#api",
  deepLinking: true,
  validatorUrl: null,
  queryConfigEnabled: false,
  persistAuthorization: false,
  defaultModelsExpandDepth: 0,
  onComplete: () => {
    if (key) ui.preauthorizeApiKey("ApiKey", key);
  },
});
