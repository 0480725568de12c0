// Package hostports serves the host ports of pods on real nodes on this machine's loopback. Kubelets elsewhere serve
// them at their hosts' addresses.
//
//	server, err := hostports.New(pods, hostports.Options{Dial: machine.DialContext, Refused: report, …})
//	server.Run(ctx)
//
// It reports a port that it cannot serve once for each pod, and tries again. It serves TCP only.
package hostports
