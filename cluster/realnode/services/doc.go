// Package services makes the Services of a cluster with real nodes work: what kube-proxy does elsewhere.
//
//	proxy, err := services.New(informers, services.Options{Inside: machine, Server: "127.0.0.1:6443"})
//	informers.Start(ctx.Done())
//	go proxy.Run(ctx)
//
// For each port of each Service there is a listener on its address in the machine's network, and what arrives is passed
// on to one of the ready endpoints, TCP and UDP. A port that leads nowhere has no listener, so that connections to it
// are refused. The port of a NodePort is listened to on this machine's loopback. Without rules of a firewall an
// ordinary user can have this, and it shows in one place what goes where.
//
// Pods are strangers here, and the API server is in this process: connections of TCP and flows of UDP have limits, in
// all and for each pod, taken from the process's open files, and no shortage of these ends a listener (package
// [github.com/slipway-dev/slipway/cluster/connlimit]).
package services
