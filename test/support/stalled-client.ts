/**
 * Clients that ask and then read nothing: a process of its own, which is stopped. Arguments: port,
 * how many, the request's text. Says `asked` when all requests are on their way.
 */
import { connect } from 'node:net';

const [port, count, ...requests] = process.argv.slice(2);
let asked = 0;
for (let at = 0; at < Number(count); at += 1) {
  const socket = connect(Number(port), '127.0.0.1', () => {
    socket.write(requests[at % requests.length] ?? '', () => {
      asked += 1;
      if (asked === Number(count)) console.log('asked');
    });
    socket.pause();
  });
  socket.on('error', () => undefined);
}
setInterval(() => undefined, 60_000);
