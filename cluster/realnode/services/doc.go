// Package services forwards connections to Services of a cluster with real nodes, as kube-proxy does elsewhere.
//
//	proxy, err := services.New(informers, services.Options{Inside: machine, Server: "127.0.0.1:6443"})
//	informers.Start(ctx.Done())
//	go proxy.Run(ctx, ready)
//
// Each port of a Service has a listener on its address in the machine's network, for TCP or UDP. The proxy forwards to
// one of the ready endpoints. A port without endpoints has no listener, so the kernel refuses connections to it.
// NodePorts listen on this machine's loopback. An ordinary user can do all this, because no firewall rules are needed.
//
// Pods are untrusted, and the API server is in this process. So TCP connections and UDP flows have limits, in all and
// for each pod, which depend on the process's limit of open files. Listeners survive a shortage of open files (package
// [github.com/slipway-dev/slipway/cluster/connlimit]).
package services
