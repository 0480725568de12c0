// Package egress lets pods reach the network by way of this process, where their cluster is started so:
//
//	way := egress.New(egress.Policy{Cluster: ranges}, log)
//	addresses, err := way.Lookup(ctx, "example.com.")
//	way.Serve(ctx, listener) // of the connections that pods make to addresses outside of the cluster
//
// A pod's connection over TCP ends here, and is joined to one that this process makes. So pods reach what the user of
// this machine reaches, but for what [Policy] refuses: this machine itself above all. It decides on the address that is
// connected to, whatever name led there. Names are looked up by this machine's resolver; addresses that would be
// refused are left out of the answer.
//
// Pods are strangers here: connections have limits, in all and for each pod, taken from the process's open files.
package egress
