// The limit of sockets alone: every text frame comes back as it came. Prints its address, runs until it is killed.
import { WebSocketServer } from "ws";

const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
server.on("connection", (socket) => {
  socket.on("message", (data, binary) => socket.send(data, { binary }));
});
server.on("listening", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) console.log(`ws://127.0.0.1:${address.port}`);
});
