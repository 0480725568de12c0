// Package fdpass lets one process make sockets for another: over a unix socket of the kind SOCK_SEQPACKET that they
// share, the one asks ([Client]) and the other answers with the socket itself. Requests and replies are those of
// package [github.com/slipway-dev/slipway/cluster/realnode/containerinit].
//
// The cluster's process asks the machine for sockets in the nodes' network, and a node asks the cluster's process for
// connections of the host ([Serve]), by which it reaches registries, and for its containers' cgroups ([HostGroups]).
// Which connections a node can have the host decides ([Ways]), not the node.
package fdpass
