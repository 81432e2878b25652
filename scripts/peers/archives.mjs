// Reads web archives with warcio and prints each record as a line of JSON: fields of its header,
// and the digest and length of its payload.
//
//	cd DIR # of scripts/peers.sh
//	node scripts/peers/archives.mjs pages-00001.warc.gz…
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';

const { WARCParser } = createRequire(process.cwd() + '/')('warcio');
for (const file of process.argv.slice(2)) {
  for await (const record of new WARCParser(createReadStream(file))) {
    const payload = await record.readFully(false) ?? new Uint8Array();
    console.log(JSON.stringify({
      type: record.warcType,
      id: record.warcHeader('WARC-Record-ID'),
      url: record.warcTargetURI,
      refersTo: record.warcHeader('WARC-Refers-To'),
      status: record.httpHeaders?.statusCode,
      digest: record.warcPayloadDigest,
      length: payload.length,
      sha1: createHash('sha1').update(payload).digest('hex'),
    }));
  }
}
