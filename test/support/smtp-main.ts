/**
 * An SMTP server for tests (the package smtp-server), as a process of its own. It prints its port, and then
 * each mail as one line of JSON.
 */
import { SMTPServer } from 'smtp-server';

const [user = '', password = ''] = process.argv.slice(2);

const server = new SMTPServer({
  authOptional: user === '',
  disabledCommands: ['STARTTLS'],
  allowInsecureAuth: true,
  onAuth(auth, _session, done) {
    if (auth.username === user && auth.password === password) done(null, { user });
    else done(new Error('wrong password'));
  },
  onRcptTo({ address }, _session, done) {
    done(address.startsWith('refused') ? new Error('no such mailbox') : null);
  },
  async onData(stream, { envelope }, done) {
    let text = '';
    for await (const chunk of stream) text += chunk;
    const to = envelope.rcptTo.map(({ address }) => address);
    process.stdout.write(`${JSON.stringify({ to, text })}\n`);
    done();
  },
});
const listening = server.listen(0, '127.0.0.1', () => {
  const address = listening.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
