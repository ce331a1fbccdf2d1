// A certified OpenID Connect provider on a free port, which lies when it is told to.
// Arguments: the redirect addresses to register. Prints its address when it answers.
// POST /lie?about=<one of LIES> has the next token tell that lie; without `about`, the truth again.
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { createServer } from "node:http";

const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
const others = generateKeyPairSync("rsa", { modulusLength: 2048 });
const jwk = (pair) => ({ ...pair.privateKey.export({ format: "jwk" }), kid: "one", use: "sig" });

const base64 = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const rs256 = (pair) => (text) => sign("sha256", text, pair.privateKey).toString("base64url");
const hs256 = (secret) => (text) => createHmac("sha256", secret).update(text).digest("base64url");
const publicText = keys.publicKey.export({ type: "spki", format: "pem" });

// What becomes of the token's header and claims, and who signs.
const LIES = {
  audience: [{}, { aud: "somebody-else" }, rs256(keys)],
  audience_for_us: [{}, { aud: "somebody-else", azp: "assay" }, rs256(keys)],
  second_audience: [{}, { aud: ["assay", "somebody-else"], azp: "somebody-else" }, rs256(keys)],
  issuer: [{}, { iss: "https://issuer.example" }, rs256(keys)],
  issuers: [{}, { iss: ["https://issuer.example", null] }, rs256(keys)],
  expired: [{}, { exp: 1_000_000_000, iat: 999_999_000 }, rs256(keys)],
  no_end: [{}, { exp: undefined }, rs256(keys)],
  future: [{}, { iat: 4_000_000_000, exp: 4_000_000_600 }, rs256(keys)],
  nonce: [{}, { nonce: "another" }, rs256(keys)],
  no_nonce: [{}, { nonce: undefined }, rs256(keys)],
  no_subject: [{}, { sub: undefined }, rs256(keys)],
  empty_subject: [{}, { sub: "" }, rs256(keys)],
  access_token: [{}, { at_hash: "AAAAAAAAAAAAAAAAAAAAAA" }, rs256(keys)],
  key: [{}, {}, rs256(others)],
  unknown_key: [{ kid: "two" }, {}, rs256(others)],
  unsigned: [{ alg: "none" }, {}, () => ""],
  shared_secret: [{ alg: "HS256" }, {}, hs256("the-secret")],
  public_key: [{ alg: "HS256" }, {}, hs256(publicText)],
  signature: [{}, {}, (text) => rs256(keys)(text).replace(/^./, (c) => (c === "A" ? "B" : "A"))],
};
let lie;

function retell(token, about) {
  if (about === "garbage") return "not.a.token";
  if (about === "missing") return undefined;
  const [header, claims] = token.split(".").slice(0, 2).map((part) => {
    return JSON.parse(Buffer.from(part, "base64url"));
  });
  const [otherHeader, otherClaims, signed] = LIES[about];
  if (about === "issuers") otherClaims.iss[1] = claims.iss;
  const text = `${base64({ ...header, ...otherHeader })}.${base64({ ...claims, ...otherClaims })}`;
  return `${text}.${signed(text)}`;
}

console.warn = console.info = () => {}; // it warns of its defaults, which are what we want
const { default: Provider } = await import("oidc-provider");

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const address = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(address, {
    clients: [
      {
        client_id: "assay",
        client_secret: "the-secret",
        redirect_uris: process.argv.slice(2),
      },
      {
        client_id: "assay-public",
        token_endpoint_auth_method: "none",
        redirect_uris: process.argv.slice(2),
      },
    ],
    jwks: { keys: [jwk(keys)] },
    cookies: { keys: ["for a test"] },
    claims: { openid: ["sub"], email: ["email"] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@people.example` }),
    }),
  });
  provider.use(async (context, next) => {
    if (context.path === "/lie") {
      lie = context.query.about;
      context.status = 204;
      return;
    }
    await next();
    if (lie && context.path === "/token" && context.body?.id_token) {
      context.body.id_token = retell(context.body.id_token, lie);
    }
  });
  server.on("request", provider.callback());
  console.log(address);
});
