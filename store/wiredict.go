package store

// wireDict is what headers often have, the commonest last: what wire packs is told as places
// in it. It is part of the format: another one needs another version.
const wireDict = "x-amz-cf-pop: \r\nx-amz-cf-id: \r\nx-amz-request-id: \r\nVia: 1.1 varnish\r\nvia: 1.1 google\r\nX-Timer: S" +
	"X-Served-By: cache-\r\nX-Cache-Hits: 0\r\nX-Cache: MISS\r\nX-Cache: HIT\r\nX-Varnish: \r\nAge: 0\r\nalt-svc: h3=\":443\"; ma=86400\r\n" +
	"cf-cache-status: DYNAMIC\r\ncf-ray: \r\nserver: cloudflare\r\nServer: cloudflare\r\nreport-to: {\"group\":\"cf-nel\",\"max_age\":604800,\"endpoints\":[{\"url\":\"https://\"}]}\r\n" +
	"nel: {\"success_fraction\":0,\"report_to\":\"cf-nel\",\"max_age\":604800}\r\nContent-Security-Policy: default-src 'self' 'unsafe-inline' 'unsafe-eval' data: https: ; script-src 'self'; style-src 'self'; img-src * data:; frame-ancestors 'self'; upgrade-insecure-requests\r\n" +
	"content-security-policy: Permissions-Policy: geolocation=(), microphone=(), camera=()\r\nReferrer-Policy: strict-origin-when-cross-origin\r\nreferrer-policy: no-referrer-when-downgrade\r\n" +
	"Strict-Transport-Security: max-age=31536000; includeSubDomains; preload\r\nstrict-transport-security: max-age=63072000\r\nX-XSS-Protection: 1; mode=block\r\nx-xss-protection: 0\r\n" +
	"X-Frame-Options: SAMEORIGIN\r\nx-frame-options: DENY\r\nX-Content-Type-Options: nosniff\r\nx-content-type-options: nosniff\r\n" +
	"Access-Control-Allow-Origin: *\r\naccess-control-allow-origin: *\r\nP3P: CP=\"NOI DSP COR CUR\"\r\nX-UA-Compatible: IE=edge\r\nX-AspNet-Version: 4.0.30319\r\nX-Powered-By: ASP.NET\r\nX-Powered-By: PHP/8.2.7\r\nx-powered-by: PHP/7.4.33\r\n" +
	"X-Drupal-Cache: HIT\r\nX-Generator: Drupal 10 (https://www.drupal.org)\r\nX-Pingback: /xmlrpc.php\r\nLink: </wp-json/>; rel=\"https://api.w.org/\"\r\nlink: <https://www.>; rel=shortlink\r\nrel=\"alternate\"; rel=\"canonical\"; title=\"JSON\"; type=\"application/json\"\r\n" +
	"Set-Cookie: PHPSESSID=; path=/; domain=.; expires=; Max-Age=; HttpOnly; Secure; SameSite=Lax\r\nset-cookie: ; Path=/; Domain=; Expires=; Max-Age=0; HttpOnly; secure; SameSite=None\r\nJSESSIONID=" +
	"X-Robots-Tag: noindex, nofollow, noarchive\r\nX-Request-Id: \r\nX-Runtime: 0.0\r\nContent-Disposition: inline; filename=\"\r\nRefresh: 0; url=\r\nRetry-After: 120\r\nContent-Language: en\r\ncontent-language: en-US\r\nContent-Location: index.html.en\r\nTCN: choice\r\nStatus: 200 OK\r\n" +
	"Pragma: no-cache\r\npragma: no-cache\r\nExpires: Thu, 19 Nov 1981 08:52:00 GMT\r\nexpires: Thu, 01 Jan 1970 00:00:00 GMT\r\nExpires: -1\r\n" +
	"Cache-Control: no-store, no-cache, must-revalidate, post-check=0, pre-check=0\r\ncache-control: private, max-age=0, must-revalidate\r\nCache-Control: public, max-age=3600, s-maxage=86400\r\ncache-control: max-age=600\r\nstale-while-revalidate=" +
	"Vary: Accept-Encoding, Cookie, User-Agent\r\nvary: Accept-Encoding,Origin\r\nKeep-Alive: timeout=5, max=100\r\nConnection: close\r\nConnection: Keep-Alive\r\nProxy-Connection: Upgrade: h2,h2c\r\nConnection: Upgrade, Keep-Alive\r\n" +
	"server: Apache\r\nserver: nginx\r\nServer: Microsoft-IIS/10.0\r\nServer: LiteSpeed\r\nServer: openresty\r\nServer: gunicorn\r\nServer: Apache/2.4.57 (Debian) OpenSSL/3.0.9 mod_ssl PHP/\r\nServer: Apache/2.4.41 (Ubuntu)\r\nServer: Apache/2.2.15 (Red Hat) DAV/2\r\nServer: Apache/1.3.37 (Unix) mod_perl/1.29\r\nServer: nginx/1.18.0 (Ubuntu)\r\nServer: nginx\r\nServer: Apache\r\n" +
	"Content-Type: application/xhtml+xml\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Type: text/html; charset=ISO-8859-1\r\nLocation: http://www.\r\nlocation: https://www.\r\n" +
	"GMT Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec 2019 2020 2021 2022 2023 2024 2025 2026 2027 2028 :00:00 GMT\r\n" +
	" HTTP/1.1\r\nhost: www.\r\naccept: text/html, application/xhtml+xml, text/plain\r\naccept-encoding: gzip\r\nif-modified-since: \r\nif-none-match: \"\r\nuser-agent: fossick/1.0 (+https://\r\n" +
	"GET / HTTP/1.1\r\nHost: www.\r\nUser-Agent: fossick/1.0 (+https://www..org/bot.html)\r\nAccept: text/html, application/xhtml+xml, text/plain\r\nAccept-Encoding: gzip\r\nIf-Modified-Since: \r\nIf-None-Match: W/\"\r\n" +
	"HTTP/1.1 404 Not Found\r\nHTTP/1.1 302 Found\r\nHTTP/1.1 301 Moved Permanently\r\nHTTP/1.1 304 Not Modified\r\n" +
	"HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ndate: Thu, \r\nlast-modified: Wed, \r\netag: W/\"\r\naccept-ranges: bytes\r\ncontent-length: \r\nvary: Accept-Encoding\r\ncontent-encoding: gzip\r\n" +
	"HTTP/1.1 200 OK\r\nServer: Apache\r\nDate: Sun, Date: Sat, Date: Fri, Date: Thu, Date: Wed, Date: Tue, Date: Mon, Last-Modified: Sun, Last-Modified: Sat, Last-Modified: Fri, Last-Modified: Thu, Last-Modified: Wed, Last-Modified: Tue, Last-Modified: Mon, GMT\r\nETag: \"\"\r\nAccept-Ranges: bytes\r\n" +
	"Vary: Accept-Encoding\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\nConnection: keep-alive\r\nContent-Type: text/html\r\nContent-Type: text/html; charset=utf-8\r\nContent-Type: text/html; charset=UTF-8\r\n"
