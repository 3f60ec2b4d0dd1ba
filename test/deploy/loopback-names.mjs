// RFC 6761: names below `localhost` lead to this machine. Resolvers of many machines do not know that, and the emulator gives the
// HTTP API such a name.
import dns from 'node:dns';

const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(String(name).endsWith('.localhost') ? 'localhost' : name, ...rest);
