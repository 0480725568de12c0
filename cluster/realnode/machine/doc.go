// Package machine starts the machine that joins a cluster's real nodes: a process with a network of its own, apart from
// the host's. The process is slipway-container in its part machine, whose code is package
// [github.com/slipway-dev/slipway/cluster/realnode/containerinit].
//
//	m, err := machine.Start(ctx, machine.Options{Program: …, State: …})
//	conn, err := m.DialContext(ctx, "tcp", "10.128.0.7:8080")   // to a pod
//	listener, err := m.Listen(ctx, "10.0.0.1:443")              // for pods
//	node, err := m.StartNode(ctx, machine.NodeOptions{Name: "node-1", Program: …})
//
// The machine makes sockets in its network and hands them to this process, which reads and writes. So no relay is
// needed, and no address of the host. When this process ends, however it ends, the machine, its nodes and their
// processes end too. A [Kept] machine is restarted when it ends by itself.
package machine
