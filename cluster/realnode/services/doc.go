// Package services makes the Services of a cluster with real nodes work: what kube-proxy does elsewhere.
//
//	proxy, err := services.New(informers, services.Options{Inside: machine, Server: "127.0.0.1:6443"})
//	informers.Start(ctx.Done())
//	go proxy.Run(ctx)
//
// For each port of each Service there is a listener on its address in the machine's network, and what arrives is passed on to one of
// the ready endpoints, TCP and UDP. The port of a NodePort is listened to on this machine's loopback. Without rules of a firewall
// an ordinary user can have this, and it shows in one place what goes where.
package services
