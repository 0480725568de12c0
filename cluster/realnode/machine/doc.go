// Package machine is the outside of the machine that a cluster's real nodes stand on: one process that holds a network,
// apart from the host's, in which the nodes are joined. It is the program slipway-container in its part machine;
// package [github.com/slipway-dev/slipway/cluster/realnode/containerinit] is the inside.
//
//	m, err := machine.Start(ctx, machine.Options{Program: …, State: …})
//	conn, err := m.DialContext(ctx, "tcp", "10.128.0.7:8080")   // to a pod
//	listener, err := m.Listen("10.0.0.1:443")                   // for pods
//	node, err := m.StartNode("node-1", program, config, log)
//
// Sockets are made in the machine's network by the machine and handed over; this process reads and writes.
// So nothing has to be relayed, and no address of the host is taken. When this process ends, by whatever cause, so do
// the machine, its nodes, and all that those have begun. A [Kept] machine is started again when it ends by itself.
package machine
