/**
 * Clients that send a request and read nothing. They run in a separate process that is stopped. Its
 * arguments are the port, the number of clients and the text of the request. It prints `asked`
 * after it has sent all requests.
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
