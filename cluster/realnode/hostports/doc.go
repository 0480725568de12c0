// Package hostports serves the host ports of pods on real nodes at this machine's loopback, as kubelets elsewhere have
// them served at their hosts' addresses.
//
//	server, err := hostports.New(pods, hostports.Options{Dial: machine.DialContext, Refused: report, …})
//	server.Run(ctx)
//
// A port that cannot be served is reported once for each pod, and tried again. TCP is served alone.
package hostports
