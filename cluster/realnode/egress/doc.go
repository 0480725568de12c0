// Package egress lets pods reach the network through this process, in clusters that allow it:
//
//	way := egress.New(egress.Policy{Cluster: ranges}, log, refused)
//	addresses, err := way.Lookup(ctx, "example.com.")
//	way.Serve(ctx, listener) // of the connections that pods make to addresses outside the cluster
//
// A pod's TCP connection ends in this process, which makes another one to the destination. So pods reach what the user
// of this machine reaches, except for what [Policy] refuses: above all this machine itself. The policy decides by the
// address of the connection, whatever its name was. This machine's resolver looks up names, and refused addresses are
// removed from its answers.
//
// Pods are untrusted: connections have limits, in all and for each pod, from the process's limit of open files.
package egress
