// The avatar redirect on Node's own http module: one event loop.
'use strict';
const http = require('node:http');

const images = 21;
const port = Number(process.argv[2]);

http.createServer((request, response) => {
  const image = Math.floor(Math.random() * images) + 1;
  response.writeHead(302, { Location: `https://avatar.spacefox.fr/Renard-${image}.png`, 'Content-Length': 0 });
  response.end();
}).listen(port, '127.0.0.1', 1024);
