// Verifies with Cloudflare's http-message-sig a signed request and the answer with its key's directory,
// and prints what they say as JSON.
//
//	cd DIR # of scripts/peers.sh
//	node scripts/peers/botauth.mjs '{"url": URL, "fields": {…}, "directory": URL, "answer": {…}, "keys": {"keys": [{…}]}}'
import { createHash, webcrypto } from 'node:crypto';
import { createRequire } from 'node:module';

const sig = createRequire(process.cwd() + '/')('http-message-sig');
const said = JSON.parse(process.argv[2]);

const fieldsOf = header => Object.entries(header).map(([name, value]) => ({ name, value }));
const request = { kind: 'request', method: 'GET', targetUri: said.url, fields: fieldsOf(said.fields) };
const answer = {
  kind: 'response', status: 200, fields: fieldsOf(said.answer),
  request: { kind: 'request', method: 'GET', targetUri: said.directory, fields: [] },
};

async function check(message, requiredComponents) {
  const { parameters } = await sig.verifySignature(message, {
    policy: { algorithms: ['ed25519'], requiredComponents, requiredParameters: ['created', 'expires', 'keyid', 'tag'] },
    async resolveVerifier({ parameters }) {
      const { kty, crv, x } = said.keys.keys.find(k =>
        createHash('sha256').update(`{"crv":"${k.crv}","kty":"${k.kty}","x":"${k.x}"}`).digest('base64url') === parameters.keyid);
      return sig.webcrypto.verifier(await webcrypto.subtle.importKey('jwk', { kty, crv, x }, 'Ed25519', false, ['verify']));
    },
  });
  return parameters;
}

const { keyid, nonce, tag } = await check(request, ['@authority', sig.component('signature-agent', { key: 'sig1' })]);
const { tag: proof } = await check(answer, [sig.component('@authority', { req: true }), 'content-digest']);
console.log(JSON.stringify({ keyid, nonce, tag, proof }));
