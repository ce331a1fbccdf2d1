// Shows the OpenAPI document of this service. Nothing is asked of any other host.
const place = document.getElementById("api");
const { key } = place.dataset;

// What the library leaves out for those who see nothing, or have no mouse.
function complete() {
  for (const button of place.querySelectorAll("button:empty, .copy-to-clipboard > button")) {
    if (!button.getAttribute("aria-label")) button.setAttribute("aria-label", "Copy");
  }
  for (const field of place.querySelectorAll("select:not([aria-label]), input:not([aria-label])")) {
    const parameter = field.closest("tr")?.dataset.paramName;
    field.setAttribute("aria-label", parameter || field.placeholder || (field.id === "servers" ? "Server" : "Choice"));
  }
  for (const code of place.querySelectorAll("pre")) code.tabIndex = 0;
  // The button around it opens the operation, and puts it into the address.
  for (const link of place.querySelectorAll(".opblock-summary-control a[href]")) link.removeAttribute("href");
}
new MutationObserver(complete).observe(place, { childList: true, subtree: true });

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
