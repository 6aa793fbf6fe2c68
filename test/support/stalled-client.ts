/**
 * Clients that send a request and read nothing. They run in a process of their own. Its arguments
 * are the port, the number of clients and the texts of the requests. After it has sent all
 * requests, the process prints `sent`, and the test pauses it with SIGSTOP.
 */
import { connect } from 'node:net';

const [port, count, ...requests] = process.argv.slice(2);
let sent = 0;
for (let at = 0; at < Number(count); at += 1) {
  const socket = connect(Number(port), '127.0.0.1', () => {
    socket.write(requests[at % requests.length] ?? '', () => {
      sent += 1;
      if (sent === Number(count)) console.log('sent');
    });
    socket.pause();
  });
  socket.on('error', () => undefined);
}
setInterval(() => undefined, 60_000);
