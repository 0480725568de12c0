// Package stock runs the programs that this one embeds, etcd and kube-apiserver, under their own command lines; and
// hands over to kubectl, which lies beside it.
//
// A link with one of those names is all that envtest and other users of the stock programs need:
//
//	if program, ok := stock.Lookup(os.Args[0]); ok {
//		os.Exit(program(os.Args))
//	}
//
// The programs are upstream's own commands with upstream's flags, output and exit codes; nothing of Slipway's settings
// applies to them, with three exceptions, all of the API server: its slow start-up hooks do their work without sleeping
// first; with SLIPWAY_CONTROLLERS in its environment it brings controllers, scheduler and a node; with
// SLIPWAY_DEFINITIONS it begins with the custom resource definitions in that file. Their main functions are
// the counterparts of what is here: k8s.io/kubernetes/cmd/kube-apiserver and go.etcd.io/etcd/server/v3.
package stock
